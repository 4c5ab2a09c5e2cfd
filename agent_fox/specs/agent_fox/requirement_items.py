"""The criteria and edge cases of one block, as written: with ids, or counted where ids are left out."""

from __future__ import annotations

from dataclasses import dataclass, field

from agent_fox.core.regex import regex
from agent_fox.specs.agent_fox.requirement_blocks import Block, Declared, closing_id, declared, requirement_title
from agent_fox.specs.lines import Line, is_rule, joined, plain

_EDGE, _CRITERIA, _ASIDE = "edge", "criteria", "aside"
_LABEL = regex(r"[*_]{2}[^*_]{1,80}[*_]{2}:?$|[A-Z][A-Za-z ()/&-]{1,60}:$")
_NUMBERED = regex(
    r" ?[\[*_`(]{0,4}(?P<tail>\d{1,9}\.[Ee]?\d{1,9})(?:[\]*_`)]{1,4}[.:)]?|[.:)][*_`]{0,3})\s+(?P<rest>\S.*)$"
)
"""`3.2. THE lock SHALL close.`, `**3.2** THE lock`, `3.E1: IF it`; not `3.5 kg` or `version 3.2. It`."""
_MARKED = regex(r"(?P<indent> *)(?P<mark>[-*+]|(?P<number>\d{1,3})[.)])\s+(?P<rest>\S.*)$")


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

    def take_closing_id(self, place: int, found: Declared) -> None:
        """Be called by the id that the line at `place` ends with, which is then no part of the text."""
        self.tail, self.is_edge = found.tail, is_edge(found.tail)
        self.lines[place] = self.lines[place]._replace(text=found.text)


@dataclass(slots=True)
class Contents:
    """What stands in a block: prose before the items, and the items."""

    intro: list[Line] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)


class _Reading:
    """Goes through the lines of a block. Knows only where it stands: under which label, in which item."""

    def __init__(self, block: Block, prefix: str, sure: frozenset[str]) -> None:
        self.block, self.prefix, self.sure = block, prefix, sure
        self.contents = Contents()
        self.section = _CRITERIA
        self.is_labelled = False
        self.section_level = 0
        self.item: Item | None = None
        self.seen: set[str] = set()
        self.is_counted = bool(block.tail) or any(self._closed_by(line) or self._declared(line) for line in block.lines)

    def read(self) -> Contents:
        for line in self.block.lines:
            self._line(line)
        self._take_closing_ids()
        return self.contents

    def _take_closing_ids(self) -> None:
        """Items that end with an id of this requirement are declared there, each id by the first such item."""
        for item in self.contents.items:
            closing = (
                (place, closed_by) for place, line in enumerate(item.lines) if (closed_by := self._closed_by(line))
            )
            place, closed_by = next(closing, (0, None)) if not item.tail else (0, None)
            if closed_by is not None and closed_by.tail not in self.seen:
                item.take_closing_id(place, closed_by)
                self.seen.add(closed_by.tail)

    def _is_own(self, found: Declared) -> bool:
        is_foreign = found.prefix and self.prefix and int(found.prefix) != int(self.prefix)
        is_below = found.tail.startswith(f"{self.block.tail}.") if self.block.tail else "." in found.tail
        return is_below and not is_foreign

    def _closed_by(self, line: Line) -> Declared | None:
        identifier = closing_id(line.text) if not line.is_code else None
        if (
            identifier is None
            or not self._is_own(identifier)
            or not (identifier.is_sure or identifier.tail not in self.sure)
        ):
            return None
        return identifier

    def _line(self, line: Line) -> None:
        item = self._declared(line)
        if item is not None:
            self._begin(Item(is_edge(item.tail), line.number, item.tail), line, item.text)
        elif self._is_label(line) or (is_rule(line.text.strip()) and not line.is_code):
            self.item = None
        elif not self._begins_unnamed(line):
            self._goes_on(line)

    def _declared(self, line: Line) -> Declared | None:
        item = _heading_item(line) or declared(line) or self._numbered(line)
        if item is None or (item.prefix and self.prefix and int(item.prefix) != int(self.prefix)):
            return None
        is_prose = item.tail == self.block.tail or (item.tail in self.seen and not item.is_sure)
        return None if is_prose or self._closes_item(item, line) else item

    def _numbered(self, line: Line) -> Declared | None:
        """What a paragraph declares that begins with a number of this requirement: `3.2. THE lock SHALL close.`"""
        match = _NUMBERED.match(line.text) if not (line.is_code or line.heading) else None
        if match is None or match["tail"].partition(".")[0] != self.block.tail:
            return None
        return Declared(match["tail"].upper(), "", match["rest"], True)

    def _closes_item(self, found: Declared, line: Line) -> bool:
        """An id alone on the last line of an item that has none belongs to that item."""
        is_open = self.item is not None and not self.item.tail and not self.item.lines[-1].is_blank
        return is_open and not (found.is_sure or found.text or line.heading)

    def _is_label(self, line: Line) -> bool:
        """A heading or a bold line on its own says what the items below it are."""
        heading = line.heading
        text = heading.title if heading else line.text.strip()
        if line.is_code or (heading is None and (line.indent > 1 or not _LABEL.match(text))):
            return False
        section = _section(plain(text.rstrip(":")).rstrip(":").lower())
        level = heading.level if heading else 0
        if section is None and (heading is None or (self.is_labelled and level > self.section_level > 0)):
            return False
        self.section, self.is_labelled = section or _ASIDE, section is not None
        self.section_level = level
        return True

    def _begins_unnamed(self, line: Line) -> bool:
        match = _MARKED.match(line.text) if not line.is_code and self.section != _ASIDE and line.indent < 2 else None
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
        self.contents.items.append(item)

    def _goes_on(self, line: Line) -> None:
        if self.item is not None:
            self.item.lines.append(line)
        elif not self.contents.items:
            self.contents.intro.append(line)


def contents_of(block: Block, prefix: str, sure: frozenset[str]) -> Contents:
    """Read a block. Items of other specs, and ids in prose, are text; `sure` are the ids that the file declares."""
    return _Reading(block, prefix, sure).read()


def is_edge(tail: str) -> bool:
    """Whether what follows `REQ-` is the number of an edge case, such as `1.E2`."""
    return "E" in tail.rpartition(".")[2]


def _heading_item(line: Line) -> Declared | None:
    heading = line.heading
    title = requirement_title(heading.title) if heading else None
    return title if title is not None and title.is_sure and "." in title.tail else None


def _section(label: str) -> str | None:
    if label.startswith(("edge case", "error case", "edge-case")):
        return _EDGE
    if label.startswith(("acceptance criteri", "requirements", "criteria", "functional requirements")):
        return _CRITERIA
    is_aside = label.startswith(("note", "rationale", "example", "out of scope", "assumption", "depend", "correctness"))
    return _ASIDE if is_aside else None
