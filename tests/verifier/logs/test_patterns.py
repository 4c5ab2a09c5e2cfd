"""Every pattern of the rooms of logs has lines that it matches, and some like them that it does not."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from agent_fox.verifier.logs.kinds import DATA, patterns_in, written

LOGS = DATA.parent
MODULES = [
    room.with_name(f"{module}.py")
    for room in sorted(LOGS.rglob("patterns.toml"))
    for module in sorted(written(room).keys() - {"parts"})
]
EXAMPLES = tomllib.loads(Path(__file__).with_name("patterns.toml").read_text(encoding="utf-8"))
PATTERNS = {
    ".".join((*module.relative_to(LOGS).with_suffix("").parts, name)): pattern
    for module in MODULES
    for name, pattern in patterns_in(str(module)).items()
}


def test_every_pattern_has_examples() -> None:
    assert PATTERNS.keys() == EXAMPLES.keys()


def test_every_pattern_is_used() -> None:
    sources = {module: module.read_text(encoding="utf-8") for module in MODULES}
    unused = [name for module in MODULES for name in patterns_in(str(module)) if f'"{name}"' not in sources[module]]
    assert unused == []


@pytest.mark.parametrize("name", sorted(EXAMPLES))
def test_a_pattern_matches_what_it_is_for_and_nothing_like_it(name: str) -> None:
    row = EXAMPLES[name]
    match = getattr(PATTERNS[name], str(row.get("how", "search")))
    assert row["yes"]
    assert row["no"]
    assert [text for text in row["yes"] if not match(text)] == []
    assert [text for text in row["no"] if match(text)] == []
