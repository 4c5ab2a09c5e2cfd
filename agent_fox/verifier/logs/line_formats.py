"""Formats of lines as data: a file of rows, each a pattern and what its lines are. The row reader reads by them.

The built-in files are in `data/`; `docs/contributing.md` says what a file holds. What is asked of somebody else's file
is in `outside_formats`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from functools import cache
from typing import Any

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind, Parsed
from agent_fox.verifier.logs.gathering import Gathering
from agent_fox.verifier.logs.kinds import DATA, with_parts, written
from agent_fox.verifier.logs.parsers import read_lines
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.row_reader import RowReader
from agent_fox.verifier.logs.rows import Row, Rows

_MADE = {"tools", "rows", "turned", "words"}  # what a file does not say of its format as it stands


class LineFormat(Rows):
    """A format of lines that reads the logs of its tools."""

    def reader(self, workspace: Workspace) -> RowReader:
        return RowReader(self, Gathering(), workspace)

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        return read_lines(lines, self.reader(workspace))


@cache
def built_in(name: str) -> LineFormat:
    """The format of `data/NAME.lines.toml`, whose patterns are compiled when they are first asked for."""
    return format_of(written(DATA / f"{name}.lines.toml"))


def format_of(document: Mapping[str, Any]) -> LineFormat:
    """The format that a file describes. Raises KeyError, TypeError and ValueError for one that is written wrongly."""
    parts = document.get("parts", {})
    rows = tuple(_row(written, document, parts) for written in document["row"])
    turned = document.get("turned")
    return LineFormat(
        tuple(document["tools"]),
        rows,
        (FailureKind(turned["kind"]), turned.get("code", "")) if turned else None,
        words={word: name for name, words in document.get("words", {}).items() for word in texts_of(words)},
        **{each.name: document[each.name] for each in fields(Rows) if each.name in document.keys() - _MADE},
    )


def _row(written: Mapping[str, Any], document: Mapping[str, Any], parts: Mapping[str, str]) -> Row:
    known = {"kind": document.get("kind", FailureKind.UNKNOWN), **written}
    patterns = [regex(with_parts(pattern, parts)) for pattern in texts_of(known.pop("pattern"))]
    known["kind"] = FailureKind(known["kind"])
    known |= {name: texts_of(known[name]) for name in ("when", "within") if name in known}
    if "inner" in known:
        known["inner"] = built_in(known["inner"])
    for name in {"above", "spot", "symbol"} & known.keys():
        known[name] = regex(with_parts(known[name], parts))
    return Row(tuple(patterns), **known)


def texts_of(value: str | Sequence[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)
