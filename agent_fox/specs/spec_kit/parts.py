"""spec.md cut at its headings and bold labels, and each part into items. What an item means is not decided here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby

from agent_fox.specs.lines import Chain, Line, is_rule, joined, with_headings
from agent_fox.specs.outline import Row, Table, tables_of, tree_of
from agent_fox.specs.spec_kit.identifiers import declared
from agent_fox.specs.spec_kit.words import step_at_start
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_LEAST_CELLS = 2
_NOT_TEXT = (
    "priority", "status", "source", "task", "phase", "owner", "trace", "优先级", "優先度", "状态", "prioridad",
    "우선순위",
)  # fmt: skip


@dataclass(slots=True)
class Item:
    """A list item, a table's row or a paragraph, with the lines below it that belong to it."""

    line: int
    indent: int
    mark: str
    text_of_first: str
    lines: list[Line] = field(default_factory=list)

    @property
    def is_listed(self) -> bool:
        return self.mark != ""

    @property
    def is_row(self) -> bool:
        return self.mark == "|"

    @property
    def text(self) -> str:
        first = Line(self.line, self.text_of_first, 0)
        return joined([first, *self.lines]) if self.lines else self.text_of_first.strip()


@dataclass(slots=True)
class Part:
    """What stands under one heading or label, before the next. `path` are the headings it stands under."""

    path: Chain
    label: str
    line: int
    lines: list[Line] = field(default_factory=list)


def parts_of(lines: Iterable[Line]) -> list[Part]:
    parts = [Part((), "", 1)]
    for path, line in with_headings(lines):
        if line.heading is not None:
            parts.append(Part(path, "", line.number))
        elif (label := _label(line)) is not None:
            parts.append(Part(path, label[0], line.number))
            parts[-1].lines += [line._replace(text=label[1])] if label[1] else []
        else:
            parts[-1].lines.append(line)
    return parts


def _label(line: Line) -> tuple[str, str] | None:
    """A bold line on its own, or bold words with a colon; an id is none, nor is a step such as Given."""
    text = line.text.strip()
    if line.is_code or line.indent > 1 or text[:2] not in ("**", "__"):
        return None
    match = _LIKE["parts_label"].match(text)
    if match is None or declared(text, is_item=False) is not None or step_at_start(text) is not None:
        return None
    is_label = bool(match["colon"] or match["after"] or not match["rest"])
    return (match["label"].strip(), match["rest"]) if is_label else None


def items_of(lines: Iterable[Line], splits: Callable[[str], bool] = lambda text: False) -> list[Item]:
    """The items of a part, in the order of the file. `splits`: a text that begins an item of its own, however deep."""
    items: list[Item] = []
    for is_row, group in groupby(lines, _is_row):
        here = list(group)
        within = _within_last(items, here) if is_row else []
        if within:
            items[-1].lines += within
        else:
            items += _rows(here) if is_row else _Cut(splits).read(here)
    return items


def _is_row(line: Line) -> bool:
    return not line.is_code and line.text.lstrip().startswith("|")


def _within_last(items: list[Item], rows: list[Line]) -> list[Line]:
    """The rows of a table that stands inside the last item: it belongs to what the item says."""
    last = items[-1] if items else None
    return rows if last is not None and last.is_listed and not last.is_row and rows[0].indent > last.indent + 1 else []


class _Cut:
    """Goes through lines. Knows only the item it stands in, and whether a gap came since."""

    def __init__(self, splits: Callable[[str], bool]) -> None:
        self.splits = splits
        self.items: list[Item] = []
        self.open: Item | None = None
        self.gap = False

    def read(self, lines: Iterable[Line]) -> list[Item]:
        for line in lines:
            self._line(line)
        return self.items

    def _line(self, line: Line) -> None:
        text = line.text.strip()
        if not text or (is_rule(text) and not line.is_code):
            self.gap = True
            self.open = None if text else self.open
        elif not self._begins(line, text):
            self._goes_on(line, text)
            self.gap = False

    def _begins(self, line: Line, text: str) -> bool:
        if line.is_code:
            return False
        bullet = _LIKE["bullet"].match(text)
        rest = bullet["rest"] if bullet else text
        is_deeper = self.open is not None and self.open.is_listed and line.indent > self.open.indent + 1
        if not self.splits(rest) and (bullet is None or is_deeper):
            return False
        self._open(line, rest, (bullet["mark"] or bullet["number"]) if bullet else "-")
        return True

    def _goes_on(self, line: Line, text: str) -> None:
        is_inside = self.open is not None and (not self.gap or (self.open.is_listed and line.indent > self.open.indent))
        if self.open is not None and (is_inside or line.is_code):
            self.open.lines.append(line)
        elif not line.is_code:
            self._open(line, text, "")

    def _open(self, line: Line, text: str, mark: str) -> None:
        self.open, self.gap = Item(line.number, line.indent, mark, text), False
        self.items.append(self.open)


def _rows(lines: list[Line]) -> Iterator[Item]:
    for table in tables_of(tree_of(lines)):
        for row in table.rows:
            text = _text(table, row)
            if text:
                yield Item(row.line, 0, "|", text)


def _text(table: Table, row: Row) -> str:
    """What a row says: its cells, without those about the work on it."""
    cells = [
        cell
        for column, cell in enumerate(row.cells)
        if cell and not any(word in (table.header[column] if column < len(table.header) else "") for word in _NOT_TEXT)
    ]
    return " — ".join(cells) if len(cells) >= _LEAST_CELLS else ""
