"""Markdown tables: a header, rows with their lines, and the section they stand in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from agent_fox.specs.lines import Line, with_sections

_ESCAPED = "\0"
_RULE = frozenset("|:- ")


class Row(NamedTuple):
    line: int
    cells: tuple[str, ...]

    def cell(self, column: int | None) -> str:
        return self.cells[column] if column is not None and column < len(self.cells) else ""


class Table(NamedTuple):
    """`header` is in lower case, without marks."""

    section: str
    header: tuple[str, ...]
    rows: tuple[Row, ...]

    def column(self, *words: str) -> int | None:
        """The first column whose header is one of the words."""
        return next((n for n, name in enumerate(self.header) if name in words), None)

    def column_with(self, *parts: str) -> int | None:
        """The first column whose header holds one of the parts."""
        return next((n for n, name in enumerate(self.header) if any(part in name for part in parts)), None)


def tables_of(lines: Iterable[Line]) -> Iterator[Table]:
    """Every table: a row, a rule below it, and the rows that follow without a gap."""
    pending: list[tuple[str, Line]] = []
    for section, line in with_sections(line for line in lines if "|" in line.text or line.heading is not None):
        is_row = "|" in line.text and not line.is_code
        if pending and not (is_row and line.number == pending[-1][1].number + 1):
            yield from _table(pending)
            pending = []
        if is_row:
            pending.append((section, line))
    yield from _table(pending)


def _table(found: list[tuple[str, Line]]) -> Iterator[Table]:
    if len(found) < 2 or not is_rule_of_table(found[1][1].text):
        return
    section, header = found[0]
    rows = tuple(Row(line.number, cells_of(line.text)) for _, line in found[2:] if not is_rule_of_table(line.text))
    yield Table(section, tuple(cell.strip("*_` ").lower() for cell in cells_of(header.text)), rows)


def is_rule_of_table(text: str) -> bool:
    """Whether a line is what stands between a table's header and its rows: `|---|:-:|`."""
    return "-" in text and set(text) <= _RULE


def cells_of(text: str) -> tuple[str, ...]:
    """The cells of a row; `\\|` is a bar in one."""
    inner = text.strip().replace("\\|", _ESCAPED).removeprefix("|").removesuffix("|")
    cells = [cell.strip() for cell in inner.split("|")]
    return tuple([cell.replace(_ESCAPED, "|") for cell in cells] if _ESCAPED in inner else cells)
