"""Where each item of a spec's documents went: an id, a part of one, a group, context, or nothing. Nothing else exists.

An item is a heading, a list item, a box, a table's row, or a line with SHALL or MUST, outside of comments and code.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Container, Iterable, Iterator
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.specs.document import read_markdown
from agent_fox.specs.files import TextFile, read_text_file
from agent_fox.specs.outline import Block, Kind
from agent_fox.specs.plain.dialect import PLAIN, spec_heading
from agent_fox.specs.unread import ID, WORD, About, Known, about, counted, documents_beside, is_whole, obliges

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem, Spec
    from agent_fox.specs.document import Markdown

BOX, SENTENCE = "box", "sentence"
_NUMBERS = regex(r"\blines? (?P<numbers>\d+(?:(?:, | and | to |-|–)\d+(?!\d| more))*)")
"""`lines 3, 5 to 7 and 12 more` names 3, 5 and 7; 12 is how many are not named."""
_DIGITS = regex(r"\d+")
_BOXES = ("[ ]", "[x]", "[X]")
_TEXTS = (Kind.ITEM, Kind.PARAGRAPH, Kind.HTML, Kind.QUOTE, Kind.FRONT_MATTER)
_OF_A_GROUP = ("task ", "group ")
_NO_WORDS = "no words"
_FOREWORD = "what was said, quoted before all sections"
_MARKS_BEFORE = 12


class Fate(StrEnum):
    """What became of an item."""

    ID = "id"
    PART = "part"
    GROUP = "group"
    CONTEXT = "context"
    LEFTOVER = "leftover"


@dataclass(frozen=True, slots=True)
class Entry:
    """One item: `kind` is heading, item, box, row or sentence; `name` is the id, `task 1.1`, `group 1`, or the title of
    the section whose context it is. It `is_subject` where its section is about what is to be proven or done."""

    document: str
    line: int
    kind: str
    text: str
    fate: Fate
    name: str = ""
    is_subject: bool = False

    @property
    def where(self) -> str:
        return f"{self.document}:{self.line}"

    @property
    def is_unheard(self) -> bool:
        """Whether nothing that was read holds it, wherever it stands."""
        return self.fate in (Fate.LEFTOVER, Fate.CONTEXT) and self.name not in (_NO_WORDS, _FOREWORD)

    @property
    def is_grave(self) -> bool:
        """Whether it is left over, and obliges, has a box or begins with an id, in a section that is about that."""
        if self.fate is not Fate.LEFTOVER or not self.is_subject:
            return False
        is_weighty = self.kind in (BOX, SENTENCE) or obliges(self.text)
        return is_weighty or ((match := ID.search(self.text)) is not None and match.start() < _MARKS_BEFORE)


def account_of(spec: Spec, root: Path, problems: Collection[Problem]) -> Iterator[Entry]:
    """Every item of a spec's documents in their order, then what the documents demand from which they were drawn.

    TOML, whose schema refuses what it does not know, is not counted here, nor design.md, which says how, nor a file
    that can't be read, which is an error.
    """
    named = lines_named(spec, problems)
    known = Known(spec)
    for document in counted(spec, root):
        yield from DocumentAccount(known, document, named).entries
    yield from (entry for _, entries in beside(known, root) for entry in entries)


def beside(known: Known, root: Path) -> Iterator[tuple[str, list[Entry]]]:
    """By document from which requirements were drawn: what it demands. In Markdown, that is what says SHALL or MUST or
    has a box in a section that is about requirements, acceptance, tests or tasks; in JSON, each text that says it."""
    for where in documents_beside(known.spec):
        file = read_text_file(root / where, root)
        if not isinstance(file, TextFile) or not (obliges(file.text) or any(box in file.text for box in _BOXES)):
            continue
        if where.endswith(".json"):
            yield where, [*_demanded_in_json(known, file)]
        else:
            yield where, [*DocumentAccount(known, read_markdown(file)).demands]


def _demanded_in_json(known: Known, file: TextFile) -> Iterator[Entry]:
    from agent_fox.specs.agent_fox.json_form import strings_of, unescaped  # noqa: PLC0415 - most specs are Markdown

    for written, lines in strings_of(file).lines.items():
        if obliges(written):
            text = unescaped(written)
            owner = known.owner(text, file.where) or known.planned.owner(text)
            yield Entry(file.where, lines[0], SENTENCE, text, Fate.PART if owner else Fate.LEFTOVER, owner or "")


def lines_named(spec: Spec, problems: Collection[Problem]) -> frozenset[str]:
    """Every `path:line` that a problem about the spec names, in its place or in its words."""
    lines: set[str] = set()
    for problem in problems:
        path, _, number = problem.where.rpartition(":")
        if problem.spec == spec.name and path:
            written = (_DIGITS.findall(match["numbers"]) for match in _NUMBERS.finditer(problem.what))
            lines.update(f"{path}:{n}" for n in (number, *(n for numbers in written for n in numbers)))
    return frozenset(lines)


def lines_at(where: str, places: Iterable[str]) -> frozenset[int]:
    """Those of the `path:line` that are of a document, as numbers."""
    parts = (place.rpartition(":") for place in places)
    return frozenset(int(number) for path, _, number in parts if path == where and number.isdigit())


class _Item(NamedTuple):
    """An item on its way to be an entry: `above` are the blocks that its block stands in."""

    kind: str
    line: int
    text: str
    block: Block
    above: tuple[Block, ...]

    @property
    def is_demand(self) -> bool:
        return self.kind is BOX or obliges(self.text)


class DocumentAccount:
    """The account of one document. `named` are the `path:line` that a problem is about: nothing there is context."""

    def __init__(self, known: Known, document: Markdown, named: Collection[str] = ()) -> None:
        self.known, self.document = known, document
        self.named = lines_at(document.where, named)
        self.placed = known.placed.get(document.where, {})
        self._lines = sorted(self.placed)
        self._last: tuple[tuple[Block, ...], tuple[str, About]] = (), self._nearest_title(())

    @property
    def entries(self) -> Iterator[Entry]:
        return (self._entry(item) for item in self._items())

    @property
    def doubtful(self) -> Iterator[Entry]:
        """What is left over, and what demands or has a box and is context. Most of a document stands in what was read
        as it is, and of the rest most is context: neither is looked at further."""
        demands, others = (self.known.holders(self.document.where, is_demand=each) for each in (True, False))
        for item in self._items(self.placed):
            is_demand = item.is_demand
            holders = demands if is_demand and obliges(item.text) else others
            if not (is_demand or self._may_be_left(item)) or any(held.has(item.text) for held in holders):
                continue
            entry = self._entry(item)
            if entry.fate is Fate.LEFTOVER or (entry.fate is Fate.CONTEXT and is_demand):
                yield entry

    @property
    def demands(self) -> Iterator[Entry]:
        """What says SHALL or MUST or has a box where a title says that the section is about that."""
        for item in self._items():
            if item.is_demand:
                title, kind = self._section(item.above)
                if title and kind is About.SUBJECT:
                    yield self._or_planned(self._entry(item))

    def _may_be_left(self, item: _Item) -> bool:
        return item.line in self.named or self._without_owner(item)[0] is Fate.LEFTOVER

    def _or_planned(self, entry: Entry) -> Entry:
        """A demand that tasks hold is theirs; one that nothing holds is no error: the requirements decide."""
        planned = self.known.planned.owner(entry.text) if entry.fate is Fate.LEFTOVER else None
        return replace(entry, fate=Fate.GROUP, name=planned) if planned else replace(entry, is_subject=False)

    def _chapters_of_others(self) -> frozenset[int]:
        """The lines of the headings of the first rank below which other specs of the same file stand. A heading that
        begins no spec belongs to the one above it; a document that is one of several of a spec is that one's alone."""
        if not (is_whole(self.known.spec) and self.placed):
            return frozenset()
        others: set[int] = set()
        is_ours = True
        for block in self.document.blocks.children:
            if block.kind is Kind.HEADING and block.level == 1:
                begins = self.known.spec.dialect != PLAIN or spec_heading(block.text) is not None
                is_ours = self._has_placed(block.line, block.end) if begins else is_ours
                others.update(() if is_ours else (block.line,))
        return frozenset(others)

    def _has_placed(self, first: int, last: int) -> bool:
        place = bisect_left(self._lines, first)
        return place < len(self._lines) and self._lines[place] <= last

    def _items(self, passed_over: Container[int] = ()) -> Iterator[_Item]:
        others = self._chapters_of_others()
        for block, above in self.document.blocks.walk():
            if others and (above[0] if above else block).line in others:
                continue
            kind = block.kind
            is_item = kind is Kind.ITEM or kind is Kind.HEADING or (kind is Kind.ROW and block.level > 0)
            if is_item and block.line not in passed_over:
                yield _Item(
                    kind if block.box is None else BOX, block.line, block.texts[0] if block.texts else "", block, above
                )
            if kind in _TEXTS:
                own = int(kind is Kind.ITEM)
                first = block.line + own + (kind is Kind.FRONT_MATTER)
                for line, text in enumerate(block.texts[own:], first):
                    if obliges(text) and line not in passed_over:
                        yield _Item(SENTENCE, line, text, block, above)

    def _entry(self, item: _Item) -> Entry:
        fate, name = self._fate(item)
        is_subject = fate is Fate.LEFTOVER and self._section(item.above)[1] is About.SUBJECT
        return Entry(self.document.where, item.line, str(item.kind), item.text, fate, name, is_subject)

    def _fate(self, item: _Item) -> tuple[Fate, str]:
        line, text = item.line, item.text
        if line in self.placed:
            name = self.placed[line]
            return (Fate.GROUP if name.startswith(_OF_A_GROUP) else Fate.ID), name
        if not WORD.search(text):
            return Fate.CONTEXT, _NO_WORDS
        owner = self.known.owner(text, self.document.where) or self._above(line, text)
        if owner is None and item.kind is Kind.ROW and not obliges(text):
            owner = self.known.in_row(item.block.cells)
        owner = owner or self._gone_on_with(item)
        if owner is not None:
            return (Fate.GROUP if owner.startswith(_OF_A_GROUP) else Fate.PART), owner
        if line in self.named:
            return Fate.LEFTOVER, ""
        return (Fate.CONTEXT, _FOREWORD) if self._is_foreword(item.above) else self._without_owner(item)

    def _is_foreword(self, above: tuple[Block, ...]) -> bool:
        """Whether it stands in a quote below the title of a plain spec, where a draft has the issue it comes from."""
        first = next((place for place, block in enumerate(above) if block.kind is Kind.QUOTE), None)
        return first is not None and is_whole(self.known.spec) and all(block.level == 1 for block in above[:first])

    def _without_owner(self, item: _Item) -> tuple[Fate, str]:
        if item.block.kind is Kind.HEADING:
            return self._heading(item.block)
        title, kind = self._section(item.above)
        return (Fate.CONTEXT, title) if kind is About.CONTEXT else (Fate.LEFTOVER, "")

    def _above(self, line: int, text: str) -> str | None:
        """What stands above a line and has its words: a few words are known only there."""
        place = bisect_left(self._lines, line)
        name = self.placed[self._lines[place - 1]] if place else ""
        return name if name and self.known.has_words(name, text) else None

    def _gone_on_with(self, item: _Item) -> str | None:
        """The id that the same item or paragraph began with, where that has the line's words or was taken back; or one
        that was taken back, whose heading stands above."""
        titles = (self.placed.get(block.line) for block in reversed(item.above) if block.kind is Kind.HEADING)
        if (titled := next(filter(None, titles), None)) in self.known.spec.withdrawn:
            return titled
        begins = next((other.line for other in item.above if other.kind is Kind.ITEM), item.block.line)
        place = bisect_left(self._lines, item.line)
        name = self.placed[self._lines[place - 1]] if place and self._lines[place - 1] >= begins else ""
        is_part = name in self.known.spec.withdrawn or (name != "" and self.known.holds(name, item.text))
        return name if is_part else None

    def _heading(self, block: Block) -> tuple[Fate, str]:
        """A title is context by itself: of sections that have none of what they are about the items are left over. One
        with a number, such as `Requirement 3`, names something, and is left over where nothing stands under it."""
        is_numbered = any(map(str.isdigit, block.text)) and self._about(block.text) is About.SUBJECT
        is_filled = block.level == 1 or self._has_placed(block.line + 1, block.end)
        return (Fate.LEFTOVER, "") if is_numbered and not is_filled else (Fate.CONTEXT, block.text)

    def _section(self, above: tuple[Block, ...]) -> tuple[str, About]:
        """The nearest title that says what it holds, and what that is. Where none says it, a document with one title
        at most is about what is to be proven or done."""
        if above is not self._last[0]:
            self._last = above, self._nearest_title(above)
        return self._last[1]

    def _nearest_title(self, above: tuple[Block, ...]) -> tuple[str, About]:
        headings = [block for block in reversed(above) if block.kind is Kind.HEADING]
        titles = ((block.text, self._about(block.text)) for block in headings)
        untold = ("", About.SUBJECT if len(headings) < 2 else About.UNKNOWN)
        return next((each for each in titles if each[1] is not About.UNKNOWN), untold)

    def _about(self, title: str) -> About:
        return about(title, self.known.spec.dialect)
