"""Where each item of a spec's documents went: an id, a part of one, a group, context, or nothing. Nothing else exists.
And what is said of those that went nowhere: each with its line, and a remedy.

An item is a heading, a list item, a box, a table's row, or a line with SHALL or MUST, outside of comments and code.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from agent_fox.core.spec import Severity
from agent_fox.core.values import dataclass
from agent_fox.specs.document import forget_documents, read_markdown, text_at
from agent_fox.specs.files import TextFile, error, warning
from agent_fox.specs.lines import listed
from agent_fox.specs.outline import Above, Block, Kind
from agent_fox.specs.plain.dialect import PLAIN, spec_heading
from agent_fox.specs.unread import (
    ID,
    TASKS,
    WORD,
    About,
    Known,
    about,
    bare,
    counted,
    documents_beside,
    is_whole,
    obliges,
)  # fmt: skip
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem, Spec
    from agent_fox.specs.document import Markdown

_LIKE = patterns_in(__file__)

BOX, SENTENCE = "box", "sentence"

_BOXES = ("[ ]", "[x]", "[X]")
_HEADING, _ITEM, _ROW, _FENCE, _MATTER = Kind.HEADING, Kind.ITEM, Kind.ROW, Kind.FENCE, Kind.FRONT_MATTER
_OF_A_GROUP = ("task ", "group ")
_NO_GROUP = "boxes that belong to no task group: {lines}. Not read; move those that are tasks into one"
_NO_WORDS = "no words"
_FOREWORD = "what was said, quoted before all sections"
_MARKS_BEFORE = 12
_SHOWN = 10


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
    forget_documents()
    named = lines_named(spec, problems)
    known = Known(spec)
    for document in counted(spec, root):
        yield from DocumentAccount(known, document, named).entries
    yield from (entry for _, entries in beside(known, root) for entry in entries)


def beside(known: Known, root: Path) -> Iterator[tuple[str, list[Entry]]]:
    """By document from which requirements were drawn: what it demands. In Markdown, that is what says SHALL or MUST or
    has a box in a section that is about requirements, acceptance, tests or tasks; in JSON, each text that says it."""
    for where in documents_beside(known.spec):
        file = text_at(root / where, root)
        if not isinstance(file, TextFile) or not (obliges(file.text) or any(box in file.text for box in _BOXES)):
            continue
        if where.endswith(".md"):
            yield where, [*DocumentAccount(known, read_markdown(file)).demands]
            continue
        from agent_fox.specs.agent_fox.json_form import strings_of, unescaped  # noqa: PLC0415 - most specs are Markdown

        entries = []
        for written, lines in strings_of(file).lines.items() if obliges(file.text) else ():
            text = unescaped(written) if obliges(written) else ""
            owner = (known.owner(text, where) or known.planned.owner(text) or "") if text else ""
            fate = Fate.PART if owner else Fate.LEFTOVER
            entries += [Entry(where, lines[0], SENTENCE, text, fate, owner)] if text else []
        yield where, entries


def lines_named(spec: Spec, problems: Collection[Problem]) -> frozenset[str]:
    """Every `path:line` that a problem about the spec names, in its place or in its words."""
    lines: set[str] = set()
    for problem in problems:
        path, _, number = problem.where.rpartition(":")
        if problem.spec == spec.name and path:
            written = (_LIKE["digits"].findall(match["numbers"]) for match in _LIKE["numbers"].finditer(problem.what))
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
    above: Above

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
        self._titles: dict[int, tuple[str, About]] = {}

    @property
    def entries(self) -> Iterator[Entry]:
        return map(self._entry, self._items())

    def doubtful(self, lines: Container[int] | None = None) -> Iterator[Entry]:
        """What is left over, and what demands or has a box and is context; of some lines, or of all. Most of a document
        stands in what was read as it is, and of the rest most is context: neither is looked at further."""
        held = self.known.holders(self.document.where, is_demand=False)[0].lines
        for item in self._items(self.placed, held):
            if lines is not None and item.line not in lines:
                continue
            is_demand = item.is_demand
            may_be_left = is_demand or item.line in self.named or self._without_owner(item)[0] is Fate.LEFTOVER
            if may_be_left and self._gone_on_with(item) is None:
                entry = self._entry(item)
                if entry.fate is Fate.LEFTOVER or (entry.fate is Fate.CONTEXT and is_demand):
                    yield entry

    @property
    def demands(self) -> Iterator[Entry]:
        """What says SHALL or MUST or has a box where a title says that the section is about that. What tasks hold is
        theirs; what nothing holds is no error: the requirements decide."""
        for item in self._items():
            if not item.is_demand or not self._section(item.above)[0] or self._section(item.above)[1] != About.SUBJECT:
                continue
            entry = self._entry(item)
            planned = self.known.planned.owner(entry.text) if entry.fate is Fate.LEFTOVER else None
            yield replace(entry, fate=Fate.GROUP, name=planned) if planned else replace(entry, is_subject=False)

    def _chapters_of_others(self) -> frozenset[int]:
        """The lines of the headings of the first rank below which other specs of the same file stand. A heading that
        begins no spec belongs to the one above it; a document that is one of several of a spec is that one's alone."""
        others: set[int] = set()
        is_ours = True
        for block in self.document.blocks.children if is_whole(self.known.spec) and self.placed else ():
            if block.kind is _HEADING and block.level == 1:
                begins = self.known.spec.dialect != PLAIN or spec_heading(block.text) is not None
                is_ours = self._has_placed(block.line, block.end) if begins else is_ours
                others.update(() if is_ours else (block.line,))
        return frozenset(others)

    def _has_placed(self, first: int, last: int) -> bool:
        place = bisect_left(self._lines, first)
        return place < len(self._lines) and self._lines[place] <= last

    def _items(self, passed_over: Container[int] = (), held: Container[str] = ()) -> Iterator[_Item]:
        """The items, without those in lines that are passed over, and those that demand nothing and are held as is."""
        others = self._chapters_of_others()
        for block, above in self.document.blocks.walk():
            kind, texts = block.kind, block.texts
            if others and (above[0] if above else block).line in others:
                continue
            own = kind is _ITEM
            if (own or kind is _HEADING or (kind is _ROW and block.level)) and block.line not in passed_over:
                text = texts[0] if texts else ""
                if (text not in held and bare(text) not in held) or obliges(text):
                    yield _Item(kind if block.box is None else BOX, block.line, text, block, above)
            if len(texts) > own and not (kind is _HEADING or kind is _ROW or kind is _FENCE):
                first = block.line + own + (kind is _MATTER)
                for line, text in enumerate(texts[own:], first):
                    if obliges(text) and line not in passed_over:
                        yield _Item(SENTENCE, line, text, block, above)

    def _entry(self, item: _Item) -> Entry:
        fate, name = self._fate(item)
        is_subject = fate is Fate.LEFTOVER and self._section(item.above)[1] is About.SUBJECT
        return Entry(self.document.where, item.line, str(item.kind), item.text, fate, name, is_subject)

    def _fate(self, item: _Item) -> tuple[Fate, str]:
        line, text, known = item.line, item.text, self.known
        if line in self.placed:
            name = self.placed[line]
            return (Fate.GROUP if name.startswith(_OF_A_GROUP) else Fate.ID), name
        if not WORD.search(text):
            return Fate.CONTEXT, _NO_WORDS
        owner = known.owner(text, self.document.where)
        above = self._last_placed(line)
        if owner is None and above and known.says(above, text):  # a few words are known only there
            owner = above
        if owner is None and item.kind is _ROW and not obliges(text):
            owner = known.in_row(item.block.cells)
        owner = owner or self._gone_on_with(item)
        if owner is not None:
            return (Fate.GROUP if owner.startswith(_OF_A_GROUP) else Fate.PART), owner
        if line in self.named:
            return Fate.LEFTOVER, ""
        # A quote below the title of a plain spec, where a draft has the issue it comes from.
        first = next((place for place, block in enumerate(item.above) if block.kind is Kind.QUOTE), None)
        is_foreword = first is not None and is_whole(known.spec) and all(each.level == 1 for each in item.above[:first])
        return (Fate.CONTEXT, _FOREWORD) if is_foreword else self._without_owner(item)

    def _without_owner(self, item: _Item) -> tuple[Fate, str]:
        """A title is context by itself: of sections that have none of what they are about the items are left over. One
        with a number, such as `Requirement 3`, names something, and is left over where nothing stands under it."""
        block = item.block
        if block.kind is not _HEADING:
            title, kind = self._section(item.above)
            return (Fate.CONTEXT, title) if kind is About.CONTEXT else (Fate.LEFTOVER, "")
        is_filled = block.level == 1 or self._has_placed(block.line + 1, block.end)
        is_numbered = not is_filled and _LIKE["digits"].search(block.text) is not None
        is_left = is_numbered and about(block.text, self.known.spec.dialect) is About.SUBJECT
        return (Fate.LEFTOVER, "") if is_left else (Fate.CONTEXT, block.text)

    def _last_placed(self, line: int, first: int = 0) -> str:
        """The name of what stands last above a line, and not above the first; empty where nothing does."""
        place = bisect_left(self._lines, line)
        return self.placed[self._lines[place - 1]] if place and self._lines[place - 1] >= first else ""

    def _gone_on_with(self, item: _Item) -> str | None:
        """The id that the same item or paragraph began with, where that has the line's words or was taken back; or one
        that was taken back, whose heading stands above."""
        titles = (self.placed.get(block.line) for block in reversed(item.above) if block.kind is _HEADING)
        if (titled := next(filter(None, titles), None)) in self.known.spec.withdrawn:
            return titled
        begins = next((other.line for other in item.above if other.kind is _ITEM), item.block.line)
        name = self._last_placed(item.line, begins)
        is_part = name in self.known.spec.withdrawn or (name != "" and self.known.holds(name, item.text))
        return name if is_part else None

    def _section(self, above: Above) -> tuple[str, About]:
        """The nearest title that says what it holds, and what that is. Where none says it, a document with one title
        at most is about what is to be proven or done."""
        nearest = next((block.line for block in reversed(above) if block.kind is _HEADING), 0)
        if nearest not in self._titles:
            headings = [block.text for block in reversed(above) if block.kind is _HEADING]
            titles = ((title, about(title, self.known.spec.dialect)) for title in headings)
            untold = ("", About.SUBJECT if len(headings) < 2 else About.UNKNOWN)
            self._titles[nearest] = next((each for each in titles if each[1] is not About.UNKNOWN), untold)
        return self._titles[nearest]


def with_leftovers(
    specs: Sequence[Spec], problems: Sequence[Problem], root: Path
) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """The problems about some specs, and those about what their documents have beside all that was read of them and is
    reported already. A warning of a line is an error where the line is a grave leftover of a spec without errors."""
    each_known = [Known(spec) for spec in specs if not spec.is_withdrawn]
    every = (*problems, *(problem for known in each_known for problem in _leftovers(known, problems, root)))
    broken = {problem.spec for problem in problems if problem.severity is Severity.ERROR}
    warned = {problem.spec for problem in problems if problem.severity is Severity.WARNING and ":" in problem.where}
    places, grave = {problem.where for problem in every}, set()
    for known in (known for known in each_known if known.spec.name in warned - broken):
        named = lines_named(known.spec, every)
        for document in counted(known.spec, root):
            if lines := lines_at(document.where, places):
                entries = DocumentAccount(known, document, named).doubtful(lines)
                grave |= {entry.where for entry in entries if entry.is_grave}
    raised = [replace(each, severity=Severity.ERROR) if each.where in grave else each for each in every]
    return tuple(raised[: len(problems)]), tuple(raised[len(problems) :])


def _leftovers(known: Known, problems: Sequence[Problem], root: Path) -> Iterator[Problem]:
    name = known.spec.name
    for document in counted(known.spec, root):
        is_of_tasks = document.where.rpartition("/")[2] == TASKS
        if known.spec.groups or not is_of_tasks:
            left = _Leftovers(document, known, problems)
            remarks = left.of_tasks() if is_of_tasks else left.of_requirements()
            yield from (replace(each, spec=name) for each in remarks)
    for where, entries in beside(known, root):
        lines = sorted({entry.line for entry in entries if entry.fate is Fate.LEFTOVER and entry.name == ""})
        if lines:
            what = "demanded here, and part of nothing that is to be proven or done"
            remedy = "Not read; write it as a requirement or a task, or below a heading such as Notes"
            yield warning(f"{where}:{lines[0]}", f"{what}: {listed(lines, _SHOWN)}. {remedy}", spec=name)


class _Leftovers:
    """What is said of the leftovers of one document. Boxes below a heading such as a legend's are samples."""

    def __init__(self, document: Markdown, known: Known, problems: Collection[Problem]) -> None:
        self.document, self.known, self.problems = document, known, problems
        self.entries = [*DocumentAccount(known, document).doubtful()]
        self.left = [entry for entry in self.entries if entry.fate is Fate.LEFTOVER]

    def of_requirements(self) -> Iterator[Problem]:
        unheard = [entry for entry in self.entries if entry.is_unheard and obliges(entry.text)]
        silent = [entry.line for entry in unheard if not _LIKE["speaks_of_words"].search(entry.text)]
        what = "SHALL or MUST outside of all that is to be proven: {lines}. Not read; make each an item below a"
        yield from self._report(silent, f"{what} requirement, or say it without these words")
        ids = self.known.unknown_ids(self.document)
        what = "ids that nothing is read under: {names} ({lines}). Not expected; begin an item with each, or correct it"
        yield from self._report(ids.values(), what, ids)
        boxes = [entry.line for entry in self.left if entry.kind == BOX]
        yield from self._report(boxes, _NO_GROUP)
        yield from self._others({*silent, *ids.values(), *boxes}, "part of nothing that is to be proven", "requirement")

    def of_tasks(self) -> Iterator[Problem]:
        silent = {entry.line for entry in self.entries if entry.is_unheard and entry.kind == BOX}
        for block, _ in self.document.blocks.walk() if silent else ():
            if block.kind is _HEADING and _LIKE["samples"].match(block.text):
                silent -= {*range(block.line, block.end + 1)}
        yield from self._report(silent, _NO_GROUP)
        yield from self._others(silent, "part of no task group", "task")

    def _report(self, numbers: Collection[int], what: str, ids: Mapping[str, int] | None = None) -> Iterator[Problem]:
        """An error about the lines in sections about what is to be proven or done, a warning about the others."""
        of_subject = {entry.line for entry in self.left if entry.is_subject}
        every = set(numbers) - self.named if numbers else set()
        for make, lines in ((error, every & of_subject), (warning, every - of_subject)):
            some = sorted(lines)
            names = sorted((number, name) for name, number in (ids or {}).items() if number in lines)
            shown = ", ".join(name for _, name in names[:_SHOWN])
            if some:
                yield make(f"{self.document.where}:{some[0]}", what.format(lines=listed(some, _SHOWN), names=shown))

    def _others(self, reported: Collection[int], what: str, below: str) -> Iterator[Problem]:
        rest = {entry.line for entry in self.left} - {*reported}
        lines = sorted(rest - self.named) if rest else []
        if lines:
            remedy = f"put each below a {below}, or below a heading such as Notes"
            yield warning(f"{self.document.where}:{lines[0]}", f"{what}: {listed(lines, _SHOWN)}. Not read; {remedy}")

    @cached_property
    def named(self) -> frozenset[int]:
        """The lines that a problem names or a withdrawn id begins, each with what goes on from it: a heading's section,
        an item's wrapped lines."""
        spec = self.known.spec
        places = {*lines_named(spec, self.problems), *(spec.places.get(name, "") for name in spec.withdrawn)}
        named = lines_at(self.document.where, places)
        lines = {*named}
        for block, _ in self.document.blocks.walk() if named else ():
            own = range(block.line, block.line + len(block.texts))
            if not named.isdisjoint(own):
                first = min(line for line in own if line in named)
                lines.update(range(first, block.end + 1 if block.kind is _HEADING else own.stop))
        return frozenset(lines)
