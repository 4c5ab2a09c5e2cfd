"""The requirements of a plain Markdown spec: list items, or headings with list items below. Tasks are not read here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.core.spec import Criterion, Requirement
from agent_fox.specs.collected import Declarations, ReadRequirements
from agent_fox.specs.lines import Heading, Line, is_rule, joined, plain
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.specs.document import Markdown

_LIKE = patterns_in(__file__)

_WRITTEN_IDS = (_LIKE["in_brackets"], _LIKE["in_bold"], _LIKE["dotted_id"], _LIKE["in_ticks"], _LIKE["before_colon"])

_EMPTY = " []"  # a box alone says nothing either
STANDS_TWICE = "stands twice: in lines {} and {}. Give one of them another id"


@dataclass(slots=True)
class _Part:
    """A requirement or a criterion while it is read: the lines of its own text, and what stands below it."""

    line: int
    indent: int
    is_edge: bool = False
    heading: str | None = None
    lines: list[Line] = field(default_factory=list)
    parts: list[_Part] = field(default_factory=list)

    @property
    def text(self) -> str:
        return joined(self.lines)


def read_plain_requirements(markdown: Markdown, lines: Iterable[Line]) -> ReadRequirements:
    cut = _Cut()
    for line in lines:
        cut.line(line)
    naming = _Naming(markdown)
    for number in cut.lost:
        naming.warn(
            number, "what this line asks for is not read: it stands in no item, or below notes. Make it an item"
        )
    return naming.read(naming.named(cut.found))


class _Cut:
    """Goes through the lines: headings, and items where no heading is above, begin a requirement; items below one are
    its criteria. What stands deeper than a criterion is a part of its text; notes are nobody's. `lost` are lines that
    ask for something, and belong to nothing."""

    def __init__(self) -> None:
        self.found: list[_Part] = []
        self.lost: list[int] = []
        self.is_aside = False
        self.headed: _Part | None = None
        self.level = 0
        self.item: _Part | None = None
        self.is_edge = False
        self.after_blank = False

    def line(self, line: Line) -> None:
        mark = _LIKE["item"].match(line.text) if not line.is_code and line.heading is None else None
        if line.heading is None and self.is_aside and not line.is_code:  # notes go on until another label stands there
            self.is_aside = _LIKE["label"].match(line.text.strip()) is None or is_aside(_label(line.text))
        if line.heading is not None:
            self._heading(line, line.heading)
        elif self.is_aside:
            self._lose(line)
        elif line.is_code:
            self._text(line)
        elif is_rule(line.text.strip()):
            self.item = None
        elif mark is not None:
            self._item(_Part(line.number, line.indent, self.is_edge, lines=[line._replace(text=mark["rest"] or "")]))
        elif not self._is_label(line):
            self._text(line)
        self.after_blank = line.is_blank

    def _heading(self, line: Line, heading: Heading) -> None:
        """One of the rank of requirements is one, whatever its words: notes may be what a program keeps."""
        is_inside = heading.level > self.level if self.headed is not None else bool(self.found)
        self.is_aside = is_inside and is_aside(heading.title)
        if self.is_aside:
            return
        self.is_edge, self.item = _LIKE["edge"].match(heading.title) is not None, None
        is_part = self.is_edge or _LIKE["criteria"].match(heading.title)
        if self.headed is None or not is_part:
            self.headed, self.level = _Part(line.number, 0, heading=heading.title), heading.level
            self.found.append(self.headed)

    def _is_label(self, line: Line) -> bool:
        """A line of its own that says what the items below it are."""
        match, label = _LIKE["label"].match(line.text.strip()) if self.found else None, _label(line.text)
        is_edge = _LIKE["edge"].match(label) is not None
        if match is None or not (is_edge or _LIKE["criteria"].match(label) or (match["bold"] and line.indent < 2)):
            return False
        self.is_edge, self.item = is_edge, None
        self.is_aside = match["bold"] is not None and is_aside(label)
        return True

    def _item(self, new: _Part) -> None:
        if self.headed is not None:
            above, edge = self.headed.parts, -1
        elif not self.found or new.indent <= self.found[0].indent + 1:
            self.found.append(new)
            self.item, self.is_edge, new.is_edge = new, False, False
            return
        else:
            above, edge = self.found[-1].parts, self.found[-1].indent
        if self.item is not None and above and edge < above[-1].indent < new.indent - 1:
            above[-1].lines.append(new.lines[0]._replace(text=f"- {new.lines[0].text}"))
            self.item = above[-1]
            return
        if self._is_label(new.lines[0]):
            return
        above.append(new)
        self.item = new

    def _text(self, line: Line) -> None:
        """What stands deeper than an item, or goes on without a gap, is the item's; else the heading's."""
        if self.item is not None and (line.indent > self.item.indent or not self.after_blank):
            self.item.lines.append(line)
        elif self.headed is not None:
            self.headed.lines.append(line)
        else:
            self._lose(line)

    def _lose(self, line: Line) -> None:
        if _LIKE["obliges"].search(line.text) and not line.is_code:
            self.lost.append(line.number)


def is_aside(title: str) -> bool:
    """Whether what stands below a heading or a label asks for nothing."""
    return _LIKE["aside"].match(plain(title)) is not None


def _label(text: str) -> str:
    return plain(plain(text).rstrip(":\uff1a"))


class _Naming(Declarations):
    """Gives ids to what has none."""

    doubled = STANDS_TWICE

    def named(self, drafts: list[_Part]) -> Iterator[Requirement]:
        for draft, identifier, title in self._each("", drafts, [_named(draft) for draft in drafts]):
            own = draft.text if draft.heading is not None else title
            kinds: list[tuple[Criterion, ...]] = []
            for is_edge, head in ((False, f"{identifier}."), (True, f"{identifier}.E")):
                kind = [part for part in draft.parts if part.is_edge == is_edge]
                each = self._each(head, kind, [(*_id_at(part.text), False) for part in kind])
                kinds.append(tuple(Criterion(name, f"{own}\n{text}" if own else text) for _, name, text in each))
            is_whole = draft.heading is None and "\n" not in title
            yield Requirement(identifier, title.split("\n", 1)[0], "" if is_whole else own, kinds[0], kinds[1])

    def _each(
        self, head: str, parts: list[_Part], named: list[tuple[str, str, bool]]
    ) -> Iterator[tuple[_Part, str, str]]:
        """Each part with its id, or the next that is free, and its text; none that says nothing, whose id stands
        elsewhere, or that was taken back. A requirement may say it in what stands below it."""
        free = FreeIds(head, (name for name, *_ in named if name))
        for place, (part, (name, text, is_counted)) in enumerate(zip(parts, named, strict=True), 1):
            identifier = name or free.at(place)
            self.implied |= {identifier} if is_counted or not name else set()
            if not (text.strip(_EMPTY) or (head == "" and (part.parts or part.text.strip(_EMPTY)))):
                self.warn(part.line, "this item says nothing: not read. Fill it, or take it out")
            elif self.declares(identifier, part.line):
                if _LIKE["taken_back"].match(text):
                    self.withdrawn.append(identifier)
                else:
                    yield part, identifier, text


def _named(draft: _Part) -> tuple[str, str, bool]:
    """The id that is written (empty where none is), the title, and whether the id is only a count."""
    if draft.heading is None:
        return (*_id_at(draft.text), False)
    name, title = _id_at(draft.heading)
    counted = _LIKE["headed"].match(draft.heading)
    if counted is not None and (not name or name.isdecimal()):
        return counted["number"], plain(counted["title"]) or draft.heading, True
    return name, plain(title) if name else draft.heading, False


def _id_at(text: str) -> tuple[str, str]:
    """The id that a text begins with, and the rest; no id and the whole text where it begins with none."""
    match = next((match for pattern in _WRITTEN_IDS if (match := pattern.match(text))), None)
    return (match[1], text[match.end() :]) if match else ("", text)


class FreeIds:
    """Ids made from places, past those that are written: `1.E` and place 2 make `1.E2`, or the next that is free."""

    def __init__(self, head: str, written: Iterable[str]) -> None:
        self._head, self._written, self._last = head, frozenset(written), 0

    def at(self, place: int) -> str:
        """Places are asked for in their order."""
        self._last = max(place, self._last + 1)
        while f"{self._head}{self._last}" in self._written:
            self._last += 1
        return f"{self._head}{self._last}"
