"""Criteria that stand in tables: a number or an id in the first column, what is demanded in another."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.specs.kiro.criteria import Contents, Item, contents_of
from agent_fox.specs.kiro.ids import Mark, mark_of
from agent_fox.specs.lines import plain
from agent_fox.specs.outline import Table, tables_of, tree_of
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.specs.kiro.blocks import Block

_LIKE = patterns_in(__file__)


def contents_with_rows(block: Block) -> Contents:
    """What a block holds; where no list of a requirement has criteria, the rows of its tables are them."""
    contents = contents_of(block)
    tables = (
        []
        if contents.items or block.head is None
        else [table for table in _tables(block) if _is_of_criteria(table, block)]
    )
    if not tables:
        return contents
    taken = {line for table in tables for line in range(table.rows[0].line - 2, table.rows[-1].line + 1)}
    contents = contents_of(replace(block, lines=[line for line in block.lines if line.number not in taken]))
    contents.items = _items(block, tables)
    return contents


def rows_with_ids(block: Block) -> list[Item]:
    """Rows that are requirements by themselves: they have ids, and the heading or the column says what they are."""
    is_of_requirements = _LIKE["requirement"].search(block.section) or _LIKE["criteria"].search(block.section)
    tables = [table for table in _tables(block) if is_of_requirements or _column(table) is not None]
    return [item for item in _items(block, tables) if item.mark.id]


def _tables(block: Block) -> list[Table]:
    has_any = any("|" in line.text for line in block.lines)
    return [table for table in tables_of(tree_of(block.lines)) if table.rows] if has_any else []


def _is_of_criteria(table: Table, block: Block) -> bool:
    """A column says so, or the rows have the requirement's own numbers: `2.1` below `R2`."""
    marks = [mark for mark, _ in _marks(table)]
    own = block.head.number.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ-0") if block.head else ""
    return bool(marks) and (_column(table) is not None or all(mark.dotted.startswith(f"{own}.") for mark in marks))


def _items(block: Block, tables: list[Table]) -> list[Item]:
    lines = {line.number: line for line in block.lines}
    marks = [pair for table in tables for pair in _marks(table)]
    return [
        Item(mark, number, is_edge=False, number=mark.ordinal or place, lines=[lines[number]._replace(text=mark.text)])
        for place, (mark, number) in enumerate(marks, 1)
    ]


def _marks(table: Table) -> list[tuple[Mark, int]]:
    """A mark for each row, with its line; none where a row has no number."""
    column = _column(table)
    marks: list[tuple[Mark, int]] = []
    for row in table.rows:
        begin, text = plain(row.cell(0)).rstrip(".:"), row.cell(column or 1)
        is_place = begin.isascii() and begin.isdigit() and len(begin) < 4
        mark = Mark(text, ordinal=int(begin)) if is_place else mark_of(f"{begin}: {text}")
        if mark is None or not text or not (mark.id or mark.dotted or mark.ordinal):
            return []
        marks.append((mark, row.line))
    return marks


def _column(table: Table) -> int | None:
    """The column whose header says that it holds criteria or requirements; the first one holds numbers."""
    names = enumerate(table.header)
    return next(
        (n for n, name in names if n and (_LIKE["criteria"].search(name) or _LIKE["requirement"].search(name))), None
    )
