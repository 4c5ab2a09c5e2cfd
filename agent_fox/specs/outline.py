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


@dataclass(slots=True)
class Block:
    """One block of a document: `line` is its first line, `end` the last one that it or what is in it has; lines count
    from 1.

    `level` is a heading's rank, `column` where an item's text begins; `box` is what stands in an item's box, None where
    it has none. `texts` are its own lines, without mark and box. A heading holds its section.
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

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    @property
    def cells(self) -> tuple[str, ...]:
        """Those of a row."""
        return cells_of(self.texts[0]) if self.kind is Kind.ROW else ()

    def walk(self, above: tuple[Block, ...] = ()) -> Iterator[tuple[Block, tuple[Block, ...]]]:
        """Every block below this one in the order of the document, each with the blocks that it stands in."""
        waiting = [(child, above) for child in reversed(self.children)]
        while waiting:
            block, chain = waiting.pop()
            yield block, chain
            if block.children:
                inner = (*chain[-_MOST_ABOVE:], block)
                waiting += [(child, inner) for child in reversed(block.children)]


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
    document = Block(Kind.DOCUMENT, 1, len(lines))
    begins = _front_matter(lines, document)
    _Builder(document).read(lines[begins:])
    return document


def tables_of(root: Block) -> Iterator[Table]:
    """Every table that has a rule below its header, with the headings above it."""
    for block, above in root.walk():
        if block.kind is Kind.TABLE and block.children:
            header, *rows = block.children
            names = tuple(cell.strip("*_` ").lower() for cell in header.cells)
            yield Table(section_of(above), names, tuple(Row(row.line, row.cells) for row in rows))


def section_of(above: Iterable[Block]) -> str:
    """The titles of the headings among the blocks that one stands in, in lower case, joined by ` / `."""
    titles = [block.texts[0] for block in above if block.kind is Kind.HEADING and block.level < _IN_BOLD]
    return " / ".join(titles).lower()


def _front_matter(lines: Sequence[Line], document: Block) -> int:
    """How many lines the front matter has; a block of it where there is any."""
    if not lines or lines[0].text != _FRONT_MATTER:
        return 0
    end = next((place for place, line in enumerate(lines[1:], 1) if line.text in (_FRONT_MATTER, "...")), 0)
    if end:
        texts = [line.text for line in lines[1:end]]
        document.children.append(Block(Kind.FRONT_MATTER, 1, end + 1, texts))
        return end + 1
    return 0


class _Builder:
    """Goes through lines. Knows in which headings and items it stands, and which leaf the next line may go on with."""

    def __init__(self, root: Block, quotes: int = 0) -> None:
        self.root, self.quotes = root, quotes
        self.headings: list[Block] = []
        self.items: list[Block] = []
        self.leaf: Block | None = None
        self.after_gap = True
        self.quoted: list[Line] = []

    def read(self, lines: Sequence[Line]) -> None:
        for place, line in enumerate(lines):
            bare = line.text.lstrip()
            if self.quoted and bare[:1] != ">":
                self._end_quote()
            if bare or line.is_code:
                self._line(line, bare, lines[place + 1 : place + 2])
                self.after_gap = False
            else:
                self.leaf, self.after_gap = None, True
        self._end_quote()
        _close(self.root)

    def _line(self, line: Line, bare: str, following: Sequence[Line]) -> None:
        first = bare[:1]
        if line.heading is not None:
            self._heading(line, line.heading)
        elif line.is_code:
            self._leave_items(line.indent)
            self._go_on(Kind.FENCE, line, line.text)
        elif first in _BOLD and self.leaf is None and (title := in_bold(line)):
            self._heading(line, Heading(_IN_BOLD, title))
        elif first in _RULES and bare[-1] == first and is_rule(bare.replace(" ", "")):
            self._leave_items(line.indent)
            self._add(Block(Kind.RULE, line.number))
        elif first in MARKS and (match := MARK.match(bare)) is not None:
            self._items(line, match)
        else:
            self._text(line, bare, following)

    def _text(self, line: Line, bare: str, following: Sequence[Line]) -> None:
        is_in_table = self.leaf is not None and self.leaf.kind is Kind.TABLE
        if bare[0] == ">":
            self._leave_items(line.indent)
            self.leaf = None
            self.quoted.append(line._replace(text=bare[1:].removeprefix(" ")))
        elif "|" in bare and (is_in_table or any(is_rule_of_table(after.text) for after in following)):
            self._row(line, bare, is_in_table)
        elif is_in_table:
            self._go_on(Kind.PARAGRAPH, line, bare)
        elif self.leaf is None and bare[0] == "<" and _HTML.match(bare):
            self._leave_items(line.indent)
            self._go_on(Kind.HTML, line, bare)
        else:
            if self.leaf is None:
                self._leave_items(line.indent)
            self._go_on(self.leaf.kind if self.leaf else Kind.PARAGRAPH, line, bare)

    def _heading(self, line: Line, heading: Heading) -> None:
        self.items, self.leaf = [], None
        level, title = heading
        while self.headings and self.headings[-1].level >= level:
            self.headings.pop()
        block = Block(Kind.HEADING, line.number, line.number, [title], level)
        self._add(block)
        self.headings.append(block)

    def _items(self, line: Line, match: re.Match[str]) -> None:
        """An item, and the items that begin in the same line: `- 1. text`."""
        self._leave_items(line.indent)
        begins = line.indent
        for _ in range(_MOST_MARKS):
            begins += match.end()
            rest = line.text[begins:]
            block = Block(Kind.ITEM, line.number, line.number, [], len(self.items) + 1, begins, match["mark"])
            self._add(block)
            self.items.append(block)
            further = MARK.match(rest) if rest[:1] in MARKS else None
            if further is None:
                break
            match = further
        if rest[:1] == "[" and (box := box_at_start(rest)) is not None:
            block.box, rest = box[0], box[1].removeprefix("*").lstrip(" ")
        block.texts.append(rest)
        self.leaf = block

    def _leave_items(self, indent: int) -> None:
        """Leave the items whose text begins further right. What is below `1. text` may stand one column left of it."""
        while self.items and indent < self.items[-1].column - (len(self.items[-1].mark) > 1):
            self.items.pop()

    def _row(self, line: Line, bare: str, is_in_table: bool) -> None:
        table = self.leaf if is_in_table else None
        if table is None:
            self._leave_items(line.indent)
            table = Block(Kind.TABLE, line.number, line.number)
            self._add(table)
            self.leaf = table
        if not is_rule_of_table(bare):
            level = len(table.children)
            table.children.append(Block(Kind.ROW, line.number, line.number, [bare], level))

    def _go_on(self, kind: Kind, line: Line, text: str) -> None:
        if self.leaf is None or self.leaf.kind is not kind:
            leaf = Block(kind, line.number)
            self._add(leaf)
            self.leaf = leaf
        self.leaf.texts.append(text)
        self.leaf.end = line.number

    def _add(self, block: Block) -> None:
        self.leaf = None
        above = self.items[-1] if self.items else self.headings[-1] if self.headings else self.root
        block.end = block.end or block.line
        above.children.append(block)

    def _end_quote(self) -> None:
        if not self.quoted:
            return
        lines, self.quoted = self.quoted, []
        block = Block(Kind.QUOTE, lines[0].number, lines[-1].number)
        self._add(block)
        if self.quotes < _DEEPEST_QUOTE:
            inner = scan("\n".join(line.text for line in lines)).lines
            numbered = [line._replace(number=line.number + block.line - 1) for line in inner]
            _Builder(block, self.quotes + 1).read(numbered)
        else:
            block.texts += [line.text for line in lines]


def _close(root: Block) -> None:
    """Each block ends where the last block in it does."""
    order = [root]
    for block in order:
        order += block.children
    for block in reversed(order):
        if block.children:
            block.end = max(block.end, block.children[-1].end)


def is_rule_of_table(text: str) -> bool:
    """Whether a line is what stands between a table's header and its rows: `|---|:-:|`."""
    return "-" in text and not text.strip("|:- ")


def cells_of(text: str) -> tuple[str, ...]:
    """The cells of a row; `\\|` is a bar in one."""
    inner = text.strip().replace("\\|", _ESCAPED).removeprefix("|").removesuffix("|")
    cells = [cell.strip() for cell in inner.split("|")]
    return tuple([cell.replace(_ESCAPED, "|") for cell in cells] if _ESCAPED in inner else cells)
