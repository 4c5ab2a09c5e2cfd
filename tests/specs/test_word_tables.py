"""Each table of words is held to the examples beside it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import agent_fox.specs
from agent_fox.specs.word_tables import tables_in, words_in

FILES = sorted(Path(agent_fox.specs.__file__).parent.rglob("words.toml"))
KEYS = {"before", "words", "after", "is", "is_not"}


def tables() -> list[tuple[str, str, dict[str, Any]]]:
    return [(str(path), name, table) for path in FILES for name, table in tables_in(path).items()]


def test_every_room_that_asks_for_words_has_tables() -> None:
    rooms = {path.parent for path in FILES}
    sources = [path for path in Path(agent_fox.specs.__file__).parent.rglob("*.py") if path.name != "word_tables.py"]
    assert {path.parent for path in sources if "words_in(__file__)" in path.read_text(encoding="utf-8")} == rooms


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
