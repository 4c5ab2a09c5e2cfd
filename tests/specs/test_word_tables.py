"""Each table of words is held to the examples beside it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import agent_fox.specs
from agent_fox.specs.word_tables import patterns_in, tables_in, words_in

ROOT = Path(agent_fox.specs.__file__).parent
FILES = sorted(ROOT.rglob("words.toml"))
PATTERNS = sorted(ROOT.rglob("patterns.toml"))
EXAMPLES = tables_in(Path(__file__).with_name("patterns.toml"))
LONG = 40
KEYS = {"before", "words", "after", "is", "is_not"}


def tables() -> list[tuple[str, str, dict[str, Any]]]:
    return [(str(path), name, table) for path in FILES for name, table in tables_in(path).items()]


def test_every_room_that_asks_for_words_has_tables() -> None:
    sources = [(path.parent, path.read_text(encoding="utf-8")) for path in ROOT.rglob("*.py")]
    asking = {room for room, text in sources if re.search(r"(?:words|patterns)_in\(__file__\)", text)}
    assert asking == {path.parent for path in (*FILES, *PATTERNS)}


def test_every_pattern_is_asked_for_somewhere_in_its_room() -> None:
    unused = []
    for path in PATTERNS:
        texts = "".join(source.read_text(encoding="utf-8") for source in (*path.parent.glob("*.py"), path))
        unused += [f"{path.parent.name}.{name}" for name in tables_in(path) if not _is_asked_for(name, texts)]
    assert unused == []


def _is_asked_for(name: str, texts: str) -> bool:
    made_up = name.startswith(("starts_", "holds_")) or name in ("arrow", "comes_after", "comes_before")
    return f'_LIKE["{name}"]' in texts or f"{{{name}}}" in texts or (made_up and name.rpartition("_")[2] in texts)


def test_every_long_pattern_has_examples_and_none_is_left_over() -> None:
    long = {
        f"{path.parent.name}.{name}"
        for path in PATTERNS
        for name, text in tables_in(path).items()
        if len(text) > LONG and not name.startswith("part_")
    }
    assert set(EXAMPLES) == long


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_pattern_matches_its_examples_and_no_others(name: str) -> None:
    room, _, own = name.partition(".")
    example = EXAMPLES[name]
    looks = getattr(patterns_in(str(ROOT / room / "dialect.py"))[own], example.get("how", "match"))
    assert [] not in (example["yes"], example["no"])
    assert [text for text in example["yes"] if not looks(text)] == []
    assert [text for text in example["no"] if looks(text)] == []


@pytest.mark.parametrize(("path", "name", "table"), tables())
def test_a_table_knows_its_examples(path: str, name: str, table: dict[str, Any]) -> None:
    pattern = words_in(path)[name]
    assert {"words", "is", "is_not"} <= set(table) <= KEYS
    assert [] not in (table["is"], table["is_not"])
    assert [text for text in table["is"] if not pattern.search(text)] == []
    assert [text for text in table["is_not"] if pattern.search(text)] == []


@pytest.mark.parametrize(("path", "name", "table"), tables())
def test_each_word_of_a_table_is_a_pattern_of_its_own(path: str, name: str, table: dict[str, Any]) -> None:
    assert [re.compile(word).groups for word in table["words"]] == [0] * len(table["words"])
