"""spec.md cut at its headings and bold labels, and each part into items. What an item means is not decided here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
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
    for is_row, group in groupby(lines, lambda line: not line.is_code and line.text.lstrip().startswith("|")):
        here, last = list(group), items[-1] if items else None
        if not is_row:
            items += _listed(here, splits)
        elif last is not None and last.is_listed and not last.is_row and here[0].indent > last.indent + 1:
            last.lines += here  # a table that stands inside an item belongs to what that says
        else:
            rows = ((table, row) for table in tables_of(tree_of(here)) for row in table.rows)
            items += [Item(row.line, 0, "|", text) for table, row in rows if (text := _text(table, row))]
    return items


def _listed(lines: Iterable[Line], splits: Callable[[str], bool]) -> list[Item]:
    """List items and paragraphs. What is indented below an item, or goes on with it, belongs to it."""
    items: list[Item] = []
    current: Item | None = None
    gap = False
    for line in lines:
        text = line.text.strip()
        if not text or (is_rule(text) and not line.is_code):
            gap, current = True, None if text else current
            continue
        bullet = None if line.is_code else _LIKE["bullet"].match(text)
        rest = bullet["rest"] if bullet else text
        is_deeper = current is not None and current.is_listed and line.indent > current.indent + 1
        is_inside = current is not None and (not gap or (current.is_listed and line.indent > current.indent))
        begins = not line.is_code and (splits(rest) or (bullet is not None and not is_deeper))
        if current is not None and not begins and (is_inside or line.is_code):
            current.lines.append(line)
        elif not line.is_code:
            mark = (bullet["mark"] or bullet["number"]) if bullet else "-"
            current = Item(line.number, line.indent, mark if begins else "", rest if begins else text)
            items.append(current)
        gap = False
    return items


def _text(table: Table, row: Row) -> str:
    """What a row says: its cells, without those about the work on it."""
    headers = (*table.header, *("" for _ in row.cells))
    cells = [
        c for name, c in zip(headers, row.cells, strict=False) if c and not any(word in name for word in _NOT_TEXT)
    ]
    return " — ".join(cells) if len(cells) >= _LEAST_CELLS else ""
