"""Tables of the words by which sections, labels and sentences are known, a `words.toml` in each room that has some; and
of how items, ids and references look, a `patterns.toml`.

What follows from a word is not here.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from agent_fox.core.regex import regex


def words_in(module: str) -> Mapping[str, re.Pattern[str]]:
    """The tables beside a module, by name, each as one pattern.

    A table has `words`, of which any counts, between what stands `before` and `after` each of them. Case does not
    count. `is` and `is_not` are examples, which the tests hold the pattern to.
    """
    return _words(Path(module).with_name("words.toml"))


def patterns_in(module: str) -> Mapping[str, re.Pattern[str]]:
    """The tables of words beside a module, and the patterns in `patterns.toml` there. In one of these `{name}` stands
    for another, or for a table of words; those whose names begin with `part_` are but parts of others."""
    return _forms(Path(module).parent)


@cache
def tables_in(path: Path) -> Mapping[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


@cache
def _words(path: Path) -> Mapping[str, re.Pattern[str]]:
    tables = tables_in(path) if path.exists() else {}
    words = {name: f"(?:{'|'.join(table['words'])})" for name, table in tables.items()}
    return {
        name: regex(f"{table.get('before', '')}{words[name]}{table.get('after', '')}", re.IGNORECASE)
        for name, table in tables.items()
    }


@cache
def _forms(room: Path) -> Mapping[str, re.Pattern[str]]:
    """The patterns with their parts written out. What counts in braces is a number, and no name: `\\d{1,3}`."""
    forms, written = {**_words(room / "words.toml")}, tables_in(room / "patterns.toml")
    texts = {**{name: table.pattern for name, table in forms.items()}, **written}
    for name, text in written.items():
        while parts := [part for part in texts if f"{{{part}}}" in text]:
            for part in parts:
                text = text.replace(f"{{{part}}}", texts[part])
        forms[name] = regex(text)
    return forms
