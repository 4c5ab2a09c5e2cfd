"""A Markdown document as one tree of blocks with the lines they stand in. What a block means is not here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from agent_fox.core.regex import regex
from agent_fox.specs.lines import MARK, MARKS, Heading, Line, box_at_start, in_bold, is_rule, scan

_FRONT_MATTER = "---"
_HTML = regex(r"</?[A-Za-z][\w-]*(?:[\s/>]|$)")
_IN_BOLD = 7
"""The rank of a title in bold: below every heading with `#`."""
_DEEPEST_QUOTE, _MOST_MARKS = 8, 8
_FAR = 1 << 30
"""An indentation that leaves no item."""
_ESCAPED = "\0"
_BOLD, _RULES = ("*", "_"), ("-", "*", "_")


class Kind(StrEnum):
    DOCUMENT = "document"
    FRONT_MATTER = "front matter"
    HEADING = "heading"
    ITEM = "item"
    TABLE = "table"
    ROW = "row"
    FENCE = "fence"
    QUOTE = "quote"
    HTML = "html"
    RULE = "rule"
    PARAGRAPH = "paragraph"


Above = tuple["Block", ...]
"""The blocks that one stands in, the outermost first."""


@dataclass(slots=True)
class Block:
    """One block of a document: `line` is its first line, `end` the last one that it or what is in it has; lines count
    from 1.

    `level` is a heading's rank, `column` where an item's text begins; `box` is what stands in an item's box, None where
    it has none. `texts` are its own lines, without mark and box. A heading holds its section, whose name tells the
    headings that it stands under, too. `order` is what `walk` gives, which the document itself keeps.
    """

    kind: Kind
    line: int
    end: int = 0
    texts: list[str] = field(default_factory=list)
    level: int = 0
    column: int = 0
    mark: str = ""
    box: str | None = None
    children: list[Block] = field(default_factory=list)
    section: str = ""
    order: list[tuple[Block, Above]] | None = None

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    @property
    def cells(self) -> tuple[str, ...]:
        """Those of a row."""
        return cells_of(self.texts[0]) if self.kind is Kind.ROW else ()

    def walk(self) -> Iterable[tuple[Block, Above]]:
        """Every block below this one in the order of the document, each with the blocks that it stands in."""
        if self.order is not None:
            return self.order
        below: list[tuple[Block, Above]] = []
        waiting: list[tuple[Block, Above]] = [(child, ()) for child in reversed(self.children)]
        while waiting:
            block, above = waiting.pop()
            below.append((block, above))
            inner = (*above, block)[-_MOST_ABOVE:]
            waiting += [(child, inner) for child in reversed(block.children)]
        return below


_HEADING, _ITEM, _TABLE, _FENCE, _PARAGRAPH = Kind.HEADING, Kind.ITEM, Kind.TABLE, Kind.FENCE, Kind.PARAGRAPH
"""Without the way through the enumeration, which takes as long as making a block."""
_MOST_ABOVE = 40
"""Blocks that are told above another: what stands deeper than that stands in these."""


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


def outline(text: str) -> Block:
    """The tree of a document. Nothing is raised, whatever the text; the time is linear in its length."""
    return tree_of(scan(text.removeprefix("\ufeff")).lines)


def tree_of(lines: Sequence[Line]) -> Block:
    """The tree of a document that was looked at already."""
    order: list[tuple[Block, Above]] = []
    document = Block(Kind.DOCUMENT, 1, len(lines), order=order)
    below = lines[1:] if lines and lines[0].text == _FRONT_MATTER else ()
    begins = next((place for place, line in enumerate(below, 2) if line.text in (_FRONT_MATTER, "...")), 0)
    if begins:
        matter = Block(Kind.FRONT_MATTER, 1, begins, [line.text for line in lines[1 : begins - 1]])
        document.children.append(matter)
        order.append((matter, ()))
    _Builder(document, order).read(lines[begins:])
    for block, _ in reversed(order):  # each ends where the last block in it does
        if block.children and (last := block.children[-1].end) > block.end:
            block.end = last
    return document


def tables_of(root: Block) -> Iterator[Table]:
    """Every table that has a rule below its header, with the headings above it."""
    for block, above in root.walk():
        if block.kind is _TABLE and block.children:
            header, *rows = block.children
            names = tuple(cell.strip("*_` ").lower() for cell in header.cells)
            yield Table(section_of(above), names, tuple(Row(row.line, row.cells) for row in rows))


def section_of(above: Sequence[Block]) -> str:
    """The titles of the headings among the blocks that one stands in, in lower case, joined by ` / `."""
    for block in reversed(above):
        if block.kind is _HEADING:
            return block.section
    return ""


class _Builder:
    """Goes through lines. Knows in which headings and items it stands, and which leaf the next line may go on with.
    `above` are the headings, `inner` these and the items that what comes next stands in."""

    def __init__(self, root: Block, order: list[tuple[Block, Above]], above: Above = (), quotes: int = 0) -> None:
        self.root, self.order, self.quotes = root, order, quotes
        self.headings: list[Block] = []
        self.items: list[Block] = []
        self.above, self.inner, self.inmost = above, above, root
        self.around = above
        self.leaf: Block | None = None
        self.quoted: list[Line] = []

    def read(self, lines: Sequence[Line]) -> None:
        for place, line in enumerate(lines):
            number, text, indent, is_code, heading = line
            bare = text.lstrip()
            first = bare[:1]
            if self.quoted and first != ">":
                self._end_quote()
            if heading is not None:
                self._heading(number, heading)
            elif is_code:
                self._go_on(_FENCE, number, indent, text)
            elif not bare:
                self.leaf = None
            elif first.isalpha() and "|" not in bare:  # most lines; no other test is about such a one
                self._text(number, indent, bare)
            elif first in _BOLD and self.leaf is None and (title := in_bold(line)):
                self._heading(number, Heading(_IN_BOLD, title))
            elif first in _RULES and bare[-1] == first and is_rule(bare.replace(" ", "")):
                self._add(Block(Kind.RULE, number), indent)
            elif first in MARKS and (match := MARK.match(bare)) is not None:
                self._items(number, indent, text, match)
            elif first == ">":
                self._leave_items(indent)
                self.leaf = None
                self.quoted.append(line._replace(text=bare[1:].removeprefix(" ")))
            elif "|" in bare:
                self._row(number, indent, bare, lines[place + 1 : place + 2])
            else:
                self._text(number, indent, bare)
        self._end_quote()

    def _text(self, number: int, indent: int, bare: str) -> None:
        """A line that goes on with an item or a paragraph, or begins one; below a table it is one in its place."""
        leaf = self.leaf
        if leaf is not None and leaf.kind is not _TABLE and leaf.kind is not _FENCE:
            leaf.texts.append(bare)
            leaf.end = number
        else:
            is_html = leaf is None and bare[0] == "<" and _HTML.match(bare) is not None
            self._go_on(Kind.HTML if is_html else _PARAGRAPH, number, indent, bare)

    def _go_on(self, kind: Kind, number: int, indent: int, text: str) -> None:
        leaf = self.leaf
        if leaf is None or leaf.kind is not kind:
            is_below_table = leaf is not None and leaf.kind is _TABLE
            leaf = Block(kind, number)
            self._add(leaf, _FAR if is_below_table else indent)
            self.leaf = leaf
        leaf.texts.append(text)
        leaf.end = number

    def _heading(self, number: int, heading: Heading) -> None:
        self.items = []
        level, title = heading
        while self.headings and self.headings[-1].level >= level:
            self.headings.pop()
        self.above = (*self.around, *self.headings)
        block = Block(_HEADING, number, number, [title], level, section=section_of(self.above))
        if level < _IN_BOLD:
            block.section = f"{block.section} / {title}".lower().removeprefix(" / ")
        self._add(block, 0)
        self.headings.append(block)
        self.above = (*self.above, block)

    def _items(self, number: int, indent: int, text: str, match: re.Match[str]) -> None:
        """An item, and the items that begin in the same line: `- 1. text`."""
        self._leave_items(indent)
        items, begins = self.items, indent
        for _ in range(_MOST_MARKS):
            begins += match.end()
            rest = text[begins:]
            block = Block(_ITEM, number, number, [], len(items) + 1, begins, match[1])
            self._put(block)
            items.append(block)
            further = MARK.match(rest) if rest[:1] in MARKS else None
            if further is None:
                break
            match = further
        if rest[:1] == "[" and (box := box_at_start(rest)) is not None:
            block.box, rest = box[0], box[1].removeprefix("*").lstrip(" ")
        block.texts.append(rest)
        self.leaf = block

    def _row(self, number: int, indent: int, bare: str, following: Sequence[Line]) -> None:
        """A row of a table, which a line with a bar is where a rule follows; else it is text."""
        table = self.leaf if self.leaf is not None and self.leaf.kind is _TABLE else None
        if table is None and not any(is_rule_of_table(after.text) for after in following):
            self._text(number, indent, bare)
            return
        if table is None:
            table = Block(_TABLE, number)
            self._add(table, indent)
            self.leaf = table
        if not is_rule_of_table(bare):
            row = Block(Kind.ROW, number, number, [bare], len(table.children))
            table.children.append(row)
            self.order.append((row, (*self._inner(), table)))

    def _leave_items(self, indent: int) -> None:
        """Leave the items whose text begins further right. What is below `1. text` may stand one column left of it."""
        while self.items and indent < self.items[-1].column - (len(self.items[-1].mark) > 1):
            self.items.pop()

    def _add(self, block: Block, indent: int) -> None:
        """Put a block below the last of the items in which something of this indentation stands."""
        self._leave_items(indent)
        self.leaf = None
        block.end = block.end or block.line
        self._put(block)

    def _put(self, block: Block) -> None:
        if self.items:
            self.items[-1].children.append(block)
            self.order.append((block, self._inner()))
        else:
            (self.headings[-1] if self.headings else self.root).children.append(block)
            self.order.append((block, self.above))

    def _inner(self) -> Above:
        """Headings and items; made once for all that stands in one item."""
        if not self.items:
            return self.above
        if self.items[-1] is not self.inmost:
            self.inmost = self.items[-1]
            self.inner = (*self.above, *self.items)[-_MOST_ABOVE:]
        return self.inner

    def _end_quote(self) -> None:
        if not self.quoted:
            return
        lines, self.quoted = self.quoted, []
        block = Block(Kind.QUOTE, lines[0].number, lines[-1].number)
        self._add(block, _FAR)
        if self.quotes < _DEEPEST_QUOTE:
            inner = scan("\n".join(line.text for line in lines)).lines
            numbered = [line._replace(number=line.number + block.line - 1) for line in inner]
            _Builder(block, self.order, (*self._inner(), block), self.quotes + 1).read(numbered)
        else:
            block.texts += [line.text for line in lines]


def is_rule_of_table(text: str) -> bool:
    """Whether a line is what stands between a table's header and its rows: `|---|:-:|`."""
    return "-" in text and not text.strip("|:- ")


def cells_of(text: str) -> tuple[str, ...]:
    """The cells of a row; `\\|` is a bar in one."""
    inner = text.strip().replace("\\|", _ESCAPED).removeprefix("|").removesuffix("|")
    cells = [cell.strip() for cell in inner.split("|")]
    return tuple([cell.replace(_ESCAPED, "|") for cell in cells] if _ESCAPED in inner else cells)
