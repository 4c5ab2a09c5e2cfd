"""Every pattern of the rooms of logs has lines that it matches, and some like them that it does not."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from agent_fox.verifier.logs.kinds import DATA, patterns_in, written

ROOMS = sorted(DATA.parent.glob("*/patterns.toml"))
EXAMPLES = tomllib.loads(Path(__file__).with_name("patterns.toml").read_text(encoding="utf-8"))
PATTERNS = {
    f"{room.parent.name}.{module}.{name}": pattern
    for room in ROOMS
    for module in written(room).keys() - {"parts"}
    for name, pattern in patterns_in(str(room.with_name(f"{module}.py"))).items()
}


def test_every_pattern_has_examples_and_is_used() -> None:
    assert PATTERNS.keys() == EXAMPLES.keys()
    unused = [
        name
        for name in PATTERNS
        if f'"{name.split(".")[2]}"' not in (DATA.parent / f"{'/'.join(name.split('.')[:2])}.py").read_text("utf-8")
    ]
    assert unused == []


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_a_pattern_matches_what_it_is_for_and_nothing_like_it(name: str) -> None:
    row = EXAMPLES[name]
    match = getattr(PATTERNS[name], str(row.get("how", "search")))
    assert row["yes"]
    assert row["no"]
    assert [text for text in row["yes"] if not match(text)] == []
    assert [text for text in row["no"] if match(text)] == []
