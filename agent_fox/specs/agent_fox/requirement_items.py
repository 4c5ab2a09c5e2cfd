"""requirements.md cut into blocks, one for each heading of a requirement, and each into its criteria and edge cases as
they are written: with ids, or counted where ids are left out. Ids are not made here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from agent_fox.specs.lines import Line, aside_below, is_rule, joined, plain
from agent_fox.specs.outline import cells_of
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_SENTENCE_ENDS = frozenset(".!?;—–")
_EDGE, _CRITERIA, _ASIDE = "edge", "criteria", "aside"
_LABELS = {
    _EDGE: ("edge case", "error case", "edge-case"),
    _CRITERIA: ("acceptance criteri", "requirements", "criteria", "functional requirements"),
    _ASIDE: ("note", "rationale", "example", "out of scope", "assumption", "depend", "correctness"),
}


class Declared(NamedTuple):
    """An id that a heading, an item, or the end of an item declares: `tail` is what follows `REQ-`, `text` what stands
    beside it. It `is_sure` with a whole id in a heading, behind an item's mark, or marked as one at the end of a whole
    sentence: another may be a mention, and declares what no other line does."""

    tail: str
    prefix: str
    text: str
    is_sure: bool

    def is_foreign(self, prefix: str) -> bool:
        """Whether it is an id of another spec than that whose ids begin with the prefix."""
        return bool(self.prefix and prefix) and int(self.prefix) != int(prefix)

    @property
    def is_edge(self) -> bool:
        """Whether it is the id of an edge case, such as `1.E2`."""
        return "E" in self.tail.rpartition(".")[2]


@dataclass(slots=True)
class Item:
    """One criterion or edge case. `tail` is empty where no id is written; `number` is a list number."""

    is_edge: bool
    line: int
    tail: str = ""
    number: int | None = None
    lines: list[Line] = field(default_factory=list)

    @property
    def text(self) -> str:
        return joined(self.lines)


@dataclass(slots=True)
class Block:
    """A requirement's heading, the prose below it, and the items. `tail` is empty for text under other headings."""

    tail: str
    title: str
    level: int
    line: int
    is_numbered_only: bool = False
    lines: list[Line] = field(default_factory=list)
    intro: list[Line] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)


def read_blocks(lines: Iterable[Line], number: str) -> tuple[str, list[Block]]:
    """What this file's ids begin with, and its blocks: cut at every requirement heading of this spec, and where another
    of its rank or higher ends it. A heading below a requirement's own is a part of it: a label, or a criterion that has
    a heading. Ids in prose are text; `number` is the folder's."""
    lines = tuple(lines)
    prefix, sure = _ids_in(lines, number)
    blocks = [Block("", "", 0, 0)]
    elsewhere: int | None = None
    for line in lines:
        heading, current = line.heading, blocks[-1]
        title = requirement_title(heading.title) if heading is not None else None
        title = None if title is not None and title.is_foreign(prefix) else title
        is_part = heading is None or (title is None and heading.level > current.level)
        is_part = is_part or (title is not None and title.tail.rpartition(".")[0] == current.tail and title.is_sure)
        if heading is None or (current.tail and is_part):
            if elsewhere is None:
                current.lines.append(line)
        elif title is not None:
            elsewhere = None
            blocks.append(Block(title.tail, title.text, heading.level, line.number, not title.is_sure))
        else:
            elsewhere = aside_below(heading, elsewhere, _LIKE["elsewhere"])
            blocks.append(Block("", "", heading.level, line.number))
    for block in blocks:
        _Reading(block, prefix, sure).read()
    return prefix, blocks


def requirement_title(text: str) -> Declared | None:
    """A heading such as `Requirement 1: T`, `[01-REQ-1] T`, `04-REQ-1.1: T`, `REQ-1: T`; None for others."""
    match = _LIKE["title"].match(text)
    if match is None:
        return None
    tail = (match["tail"] or match["plain"]).upper()
    return Declared(tail, match["prefix"] or "", match["title"].strip("*_ "), match["plain"] is None)


def declared(line: Line) -> Declared | None:
    """The id that a line declares: after a list mark, or decorated where there is no mark; or in the first cell of a
    row that demands something, for tables that only name ids declare none."""
    return _declared_in(line.text) if "REQ-" in line.text and not line.is_code else None


@lru_cache(maxsize=1024)
def _declared_in(text: str) -> Declared | None:
    if text.lstrip().startswith("|"):
        first, *others = cells_of(text)
        cell = _LIKE["title"].fullmatch(first)
        rest = " — ".join(other for other in others if other)
        if cell is None or cell["tail"] is None or cell["title"] or not _LIKE["demands"].search(rest):
            return None
        return Declared(cell["tail"].upper(), cell["prefix"] or "", rest, False)
    match = _LIKE["item"].match(text)
    if match is None or not (match["mark"] or set(match["open"]) & set("[`*")):
        return None
    struck = "~~" if "~~" in match["open"] else ""
    rest = struck + match["rest"].lstrip(" :—–-.")
    return Declared(match["tail"].upper(), match["prefix"] or "", rest, bool(match["mark"]))


@lru_cache(maxsize=1024)
def closing_id(text: str) -> Declared | None:
    """The id that a text declares at its end: marked as an id, or behind a whole sentence; None where it has none."""
    match = _LIKE["at_the_end"].search(text) if "REQ-" in text else None
    if match is None:
        return None
    text_before, sign = text[: match.start("open")].rstrip(), match["sign"] or ""
    if not (match["open"] or (sign and sign in _SENTENCE_ENDS)) or _LIKE["mentions"].search(text_before):
        return None
    is_sure = match["sign"] is not None and bool(match["open"])
    return Declared(match["tail"].upper(), match["prefix"] or "", text_before.rstrip(" —–-"), is_sure)


def _ids_in(lines: Iterable[Line], number: str) -> tuple[str, frozenset[str]]:
    """What this file's ids begin with: the folder's number if any id has it, else the most common one. And what follows
    `REQ-` in all ids that a line begins with, or surely ends with."""
    seen: Counter[str] = Counter()
    sure: set[str] = set()
    for line in lines:
        has_id = "REQ-" in line.text
        begins = requirement_title(line.heading.title) if line.heading else declared(line) if has_id else None
        ends = closing_id(line.text) if begins is None and has_id else None
        own = begins or (ends if line.heading is None else None)
        if own is not None and own.prefix:
            seen[own.prefix] += 1
        if has_id and not line.is_code:
            sure |= {begins.tail} if begins else {ends.tail} if ends and ends.is_sure else set()
    same = [prefix for prefix in seen if number and int(prefix) == int(number)]
    return (same or [prefix for prefix, _ in seen.most_common(1)] or [number])[0], frozenset(sure)


class _Reading:
    """Goes through the lines of a block. Knows only where it stands: under which label, in which item."""

    def __init__(self, block: Block, prefix: str, sure: frozenset[str]) -> None:
        self.block, self.prefix, self.sure = block, prefix, sure
        self.section, self.section_level, self.is_labelled = _CRITERIA, 0, False
        self.item: Item | None = None
        self.seen: set[str] = set()
        self.is_counted = bool(block.tail) or any(self._closed_by(line) or self._declared(line) for line in block.lines)

    def read(self) -> None:
        for line in self.block.lines:
            item = self._declared(line)
            if item is not None:
                self._begin(Item(item.is_edge, line.number, item.tail), line, item.text)
            elif self._is_label(line) or (is_rule(line.text.strip()) and not line.is_code):
                self.item = None
            elif not self._begins_unnamed(line):
                lines = self.item.lines if self.item else [] if self.block.items else self.block.intro
                lines.append(line)
        self._take_closing_ids()

    def _take_closing_ids(self) -> None:
        """Items that end with an id of this requirement are declared there, each id by the first such item."""
        for item in (item for item in self.block.items if not item.tail):
            ends = ((place, self._closed_by(line)) for place, line in enumerate(item.lines))
            place, own = next((end for end in ends if end[1] is not None), (0, None))
            if own is not None and own.tail not in self.seen:
                item.tail, item.is_edge = own.tail, own.is_edge
                item.lines[place] = item.lines[place]._replace(text=own.text)
                self.seen.add(own.tail)

    def _closed_by(self, line: Line) -> Declared | None:
        own = closing_id(line.text) if not line.is_code else None
        if own is None or own.is_foreign(self.prefix) or not (own.is_sure or own.tail not in self.sure):
            return None
        is_below = own.tail.startswith(f"{self.block.tail}.") if self.block.tail else "." in own.tail
        return own if is_below else None

    def _declared(self, line: Line) -> Declared | None:
        title = requirement_title(line.heading.title) if line.heading else None
        heading_item = title if title is not None and title.is_sure and "." in title.tail else None
        item = heading_item or declared(line)
        if item is None and not (line.is_code or line.heading):  # a paragraph `3.2. THE lock SHALL close.` of `3`
            match = _LIKE["numbered"].match(line.text)
            is_own = match is not None and match["tail"].partition(".")[0] == self.block.tail
            item = Declared(match["tail"].upper(), "", match["rest"], True) if match and is_own else None
        if item is None or item.is_foreign(self.prefix):
            return None
        is_prose = item.tail == self.block.tail or (item.tail in self.seen and not item.is_sure)
        is_open = self.item is not None and not self.item.tail and not self.item.lines[-1].is_blank
        closes_item = is_open and not (item.is_sure or item.text or line.heading)  # an id alone on an item's last line
        return None if is_prose or closes_item else item

    def _is_label(self, line: Line) -> bool:
        """A heading or a bold line on its own says what the items below it are."""
        heading = line.heading
        text = heading.title if heading else line.text.strip()
        if line.is_code or (heading is None and (line.indent > 1 or not _LIKE["label"].match(text))):
            return False
        label = plain(text.rstrip(":")).rstrip(":").lower()
        section = next((kind for kind, words in _LABELS.items() if label.startswith(words)), None)
        level = heading.level if heading else 0
        if section is None and (heading is None or (self.is_labelled and level > self.section_level > 0)):
            return False
        self.section, self.section_level, self.is_labelled = section or _ASIDE, level, section is not None
        return True

    def _begins_unnamed(self, line: Line) -> bool:
        may_be = not line.is_code and self.section != _ASIDE and line.indent < 2
        match = _LIKE["marked"].match(line.text) if may_be else None
        if match is None or not self.is_counted or not (match["number"] or self.is_labelled or self._closed_by(line)):
            return False
        is_unlike = self.item is not None and (self.item.number is None) != (match["number"] is None)
        if is_unlike and self.item is not None and not self.item.tail and self._closed_by(line) is None:
            return False
        number = int(match["number"]) if match["number"] else None
        self._begin(Item(self.section == _EDGE, line.number, number=number), line, match["rest"])
        return True

    def _begin(self, item: Item, line: Line, text: str) -> None:
        item.lines.append(line._replace(text=text))
        self.item = item
        self.seen.add(item.tail)
        self.block.items.append(item)
