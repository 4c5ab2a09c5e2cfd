"""Tasks that are written as rows of tables: `| T001 | [P] | Make it | T000 | done |`. Phases are not known here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from agent_fox.core.regex import regex
from agent_fox.specs.lines import plain
from agent_fox.specs.spec_kit.identifiers import stories_in_label

if TYPE_CHECKING:
    from agent_fox.specs.outline import Row, Table

_TEXT_HEADINGS = (
    "description", "task", "title", "what", "任务", "任務", "描述", "タスク", "内容", "작업", "설명", "aufgabe",
    "задача", "descripción", "descrição", "tarea", "tarefa", "description", "tâche", "beschreibung", "описание",
)  # fmt: skip
_STATE = ("status", "state", "done", "estado", "状态", "狀態", "状態", "상태", "statut", "статус")
_IS_DONE = regex(
    r"\W*(?:\[x\]|✅|✓|✔|☑|(?:done|completed?|finished|完了|完成|已完成|completado|concluíd[oa])\b)", re.IGNORECASE
)
_IS_GOING_ON = regex(r"\W*(?:\[[-/]\]|🔄|🚧|(?:in[ -]progress|doing|wip|started)\b)", re.IGNORECASE)
_IS_SKIPPED = regex(r"\W*(?:\[~\]|(?:skipped|dropped|cancell?ed|removed|n/a)\b)", re.IGNORECASE)
_FIRST_CELLS = 3


class TaskRow(NamedTuple):
    """A task's row: `title` begins with the labels of other cells; `box` is what a box would say."""

    line: int
    number: str
    title: str
    box: str
    others: tuple[str, ...]


def task_rows(table: Table, number: re.Pattern[str]) -> Iterator[TaskRow]:
    """The rows that begin with a task's number, of a table with a column that says what is to be done."""
    for row in table.rows:
        cells = [plain(cell) for cell in row.cells[:_FIRST_CELLS]]
        own = next((place for place, cell in enumerate(cells) if number.fullmatch(cell)), None)
        column = _column(table, _TEXT_HEADINGS, own) if own is not None else None
        if own is not None and column is not None and row.cell(column):
            yield _row(table, row, own, column)


def _row(table: Table, row: Row, own: int, column: int) -> TaskRow:
    state = _column(table, _STATE, own)
    labels, others = "", []
    for place, cell in enumerate(row.cells):
        if place in (own, column, state) or not cell.strip("-–— "):
            continue
        if plain(cell) == "P" or tuple(stories_in_label(plain(cell))):
            labels += f"[{plain(cell)}] "
        else:
            others.append(f"{table.header[place]}: {cell}" if place < len(table.header) else cell)
    box = _box(row.cell(state))
    return TaskRow(row.line, plain(row.cells[own]), labels + row.cell(column), box, tuple(others))


def _column(table: Table, words: tuple[str, ...], own: int | None) -> int | None:
    """The column whose header holds the first of the words that any holds, but that of the number."""
    columns = (
        place for word in words for place, name in enumerate(table.header) if place != own and word in name.split()
    )
    return next(columns, None)


def _box(cell: str) -> str:
    if _IS_DONE.match(cell):
        return "x"
    return "-" if _IS_GOING_ON.match(cell) else "~" if _IS_SKIPPED.match(cell) else ""
