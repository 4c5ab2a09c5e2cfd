"""Tables of the words by which sections, labels and sentences are known, a `words.toml` in each room that has some; and
of how items, ids and references look, a `patterns.toml`.

What follows from a word is not here.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from agent_fox.core.regex import regex


def words_in(module: str) -> Mapping[str, re.Pattern[str]]:
    """The tables beside a module, by name, each as one pattern.

    A table has `words`, of which any counts, between what stands `before` and `after` each of them. Case does not
    count. `is` and `is_not` are examples, which the tests hold the pattern to.
    """
    return _patterns(Path(module).with_name("words.toml"))


def patterns_in(module: str) -> Mapping[str, re.Pattern[str]]:
    """The tables of words beside a module, and the patterns in `patterns.toml` there. In one of these `{name}` stands
    for another, or for a table of words; those whose names begin with `part_` are but parts of others."""
    return _forms(Path(module).parent)


@cache
def tables_in(path: Path) -> Mapping[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def _patterns(path: Path) -> Mapping[str, re.Pattern[str]]:
    return {name: _pattern(**table) for name, table in tables_in(path).items()}


def _pattern(words: Sequence[str], before: str = "", after: str = "", **_examples: object) -> re.Pattern[str]:
    return regex(f"{before}(?:{'|'.join(words)}){after}", re.IGNORECASE)


@cache
def _forms(room: Path) -> Mapping[str, re.Pattern[str]]:
    words, written = room / "words.toml", tables_in(room / "patterns.toml")
    tables = _patterns(words) if words.exists() else {}
    texts = {**{name: table.pattern for name, table in tables.items()}, **written}
    return {**tables, **{name: regex(_whole(text, texts)) for name, text in written.items()}}


def _whole(text: str, texts: Mapping[str, str]) -> str:
    """A pattern with its parts written out. What counts in braces is a number, and no name: `\\d{1,3}`."""
    while names := [name for name in texts if f"{{{name}}}" in text]:
        for name in names:
            text = text.replace(f"{{{name}}}", texts[name])
    return text
