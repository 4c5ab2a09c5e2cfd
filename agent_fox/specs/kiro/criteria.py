"""The criteria and edge cases of one requirement's block: which lines begin one, and which number each has.

Sections come first (a label says what the list below it is), then the items of each. Ids are not made here.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING

from agent_fox.specs.kiro.ids import LETTERS, Kind, Mark, mark_of, numbered
from agent_fox.specs.lines import Line, is_rule, joined, plain
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.specs.kiro.blocks import Block

_LIKE = patterns_in(__file__)


class Sort(Enum):
    """What a section's list is. What stands before any label, or under a strange one, is UNKNOWN."""

    UNKNOWN = auto()
    CRITERIA = auto()
    EDGE = auto()
    STORY = auto()
    ASIDE = auto()


@dataclass(slots=True)
class Item:
    """One criterion or edge case as written. `restarts`: its list begins at 1 again, after others of the block."""

    mark: Mark
    line: int
    is_edge: bool
    number: int = 0
    restarts: bool = False
    section: int = 0
    lines: list[Line] = field(default_factory=list)

    @property
    def text(self) -> str:
        return joined(self.lines)


@dataclass(slots=True)
class Contents:
    """What a block holds. `doubled` are pairs of items that have one number; in `passed_over` lines stand numbered
    sentences that read like criteria below what is only a note."""

    text: str = ""
    items: list[Item] = field(default_factory=list)
    passed_over: list[int] = field(default_factory=list)
    doubled: list[tuple[Item, Item]] = field(default_factory=list)


@dataclass(slots=True)
class _Section:
    """`wraps` counts numbers that may be prose: they begin an indented line right below other text."""

    sort: Sort
    level: int
    lines: list[Line] = field(default_factory=list)
    marks: dict[int, Mark] = field(default_factory=dict)
    wraps: int = 0

    def add(self, line: Line) -> None:
        is_below_text = bool(self.lines) and not self.lines[-1].is_blank
        self.lines.append(line)
        mark = _mark(line)
        if mark is not None:
            self.marks[line.number] = mark
            is_bare = bool(mark.dotted) and not mark.is_bullet and line.heading is None
            self.wraps += is_bare and is_below_text and line.indent > 0


def contents_of(block: Block) -> Contents:
    """Read a block: prose, then its items with numbers that tell them apart."""
    sections = _sections(block)
    taken = _with_items(sections)
    contents = Contents()
    intro: list[Line] = []
    for place, (section, begins) in enumerate(taken):
        items, before = _items(section, begins)
        for item in items:
            item.section = place
        if not contents.items:
            intro += before
        contents.items += items
    contents.passed_over = [line for section in sections for line in _passed_over(section)]
    contents.text = joined(line for line in intro if not is_rule(line.text.strip()))
    _number(contents)
    return contents


def _sections(block: Block) -> list[_Section]:
    sections = [_Section(Sort.UNKNOWN, 0)]
    for line in block.lines:
        label = _label(line, sections[-1])
        if label is None:
            sections[-1].add(line)
        else:
            sections.append(label)
    return sections


def _label(line: Line, current: _Section) -> _Section | None:
    """A heading, a bold line, or a known word with a colon begins a section."""
    if line.is_code:
        return None
    if line.heading is not None:
        head = numbered(line.heading.title)
        is_item = head is not None and head.kind in (Kind.CRITERION, Kind.WORD, Kind.ID)
        return None if is_item else _begun(line.heading.title, line.heading.level, current)
    match = _LIKE["label"].match(line.text) if ":" in line.text or "：" in line.text or "*" in line.text else None
    if match is None:
        return None
    title = plain((match["bold"] or match["plain"]).rstrip(":： "))
    if mark_of(title) is not None or (match["bold"] is None and _sort(title) is Sort.UNKNOWN):
        return None
    return _begun(title, max(current.level, 7), current)


def _begun(title: str, level: int, current: _Section) -> _Section:
    """A strange title below a known one goes on with what that one holds."""
    sort = _sort(title)
    goes_on = sort is Sort.UNKNOWN and current.sort not in (Sort.UNKNOWN, Sort.STORY)
    if goes_on and level > current.level:
        return _Section(current.sort, current.level)
    if goes_on and level == 7 and current.level >= 7:
        return _Section(current.sort, current.level)
    return _Section(sort, level)


def _sort(title: str) -> Sort:
    known = ((_LIKE["edge"], Sort.EDGE), (_LIKE["criteria"], Sort.CRITERIA), (_LIKE["story"], Sort.STORY))
    sort_of_title = next((sort for words, sort in known if words.search(title)), Sort.UNKNOWN)
    return Sort.ASIDE if sort_of_title is Sort.UNKNOWN and _LIKE["aside"].match(title) else sort_of_title


def _with_items(sections: list[_Section]) -> list[tuple[_Section, str]]:
    """Each section with what begins its items: `number`, `bullet`, or nothing."""
    has_label = any(section.sort is Sort.CRITERIA and _begins(section) for section in sections)
    has_numbers = any(_begins(section) == "number" for section in sections if section.sort is not Sort.ASIDE)
    taken: list[tuple[_Section, str]] = []
    for section in sections:
        begins = _begins(section)
        if section.sort in (Sort.ASIDE, Sort.STORY):
            begins = ""
        if section.sort is Sort.UNKNOWN and begins:
            counts = _is_ears(section) if has_label else begins == "number" or not has_numbers
            begins = begins if counts and (begins == "number" or not has_label) else ""
        taken.append((section, begins))
    return taken


def _passed_over(section: _Section) -> Iterable[int]:
    if section.sort is not Sort.ASIDE:
        return ()
    return (line for line, mark in section.marks.items() if _is_numbered(mark) and _LIKE["demands"].search(mark.text))


def _begins(section: _Section) -> str:
    marks = section.marks.values()
    numbers = sum(_is_numbered(mark) for mark in marks)
    if numbers and (numbers > section.wraps or len(marks) < 2 * numbers):
        return "number"
    return "bullet" if any(not _LIKE["field"].match(mark.text) for mark in marks) else ""


def _is_ears(section: _Section) -> bool:
    marks = [mark for mark in section.marks.values() if _is_numbered(mark)]
    return bool(marks) and all(_LIKE["ears"].search(mark.text) for mark in marks[:20])


def _is_numbered(mark: Mark) -> bool:
    return bool(mark.id or mark.dotted or mark.ordinal is not None)


def _mark(line: Line) -> Mark | None:
    """How a line begins an item; a heading `Criterion 2: T` does too."""
    if line.is_code:
        return None
    if line.heading is None:
        return mark_of(line.text.strip())
    head = numbered(line.heading.title)
    if head is None:
        return None
    text = head.title or line.heading.title
    if head.kind is Kind.CRITERION:
        return Mark(text, ordinal=int(head.number)) if head.number.isdigit() else Mark(text, dotted=head.number)
    is_id = head.kind is Kind.ID
    return Mark(text, id=head.number if is_id else "", dotted="" if is_id else head.number)


def _items(section: _Section, begins: str) -> tuple[list[Item], list[Line]]:
    """A section's items with the lines below them, and the lines before the first one."""
    items: list[Item] = []
    before: list[Line] = []
    base: int | None = None
    is_open, after_gap = True, True
    for line in section.lines:
        mark = section.marks.get(line.number) if begins else None
        is_item = mark is not None and _is_item(mark, line, begins, base) and not _is_next_step(mark, items, begins)
        if mark is not None and is_item and (after_gap or _goes_on(mark, line, items)):
            base = line.indent if base is None else min(base, line.indent)
            items.append(Item(mark, line.number, section.sort is Sort.EDGE, lines=[line._replace(text=mark.text)]))
            is_open = True
        elif _ends(line, after_gap and base is not None and line.indent <= base):
            is_open = False
        elif not items:
            before.append(line)
        elif is_open:
            items[-1].lines.append(line)
        after_gap = line.is_blank
    return items, before


def _ends(line: Line, is_outside: bool) -> bool:
    """A rule ends an item, and so does a field of the requirement, such as `**Priority:** high`."""
    if line.is_code:
        return False
    return is_rule(line.text.strip()) or (is_outside and _LIKE["field"].match(line.text.strip()) is not None)


def _is_item(mark: Mark, line: Line, begins: str, base: int | None) -> bool:
    if base is not None and line.indent > base + 1:
        return False
    return mark.is_bullet and not _LIKE["field"].match(mark.text) if begins == "bullet" else _is_numbered(mark)


def _is_next_step(mark: Mark, items: list[Item], begins: str) -> bool:
    """Bullets *Given*, *When* and *Then* of one scenario are one item; *When* begins one unless after *Given* alone."""
    step = _LIKE["step"].match(mark.text) if items and begins == "bullet" else None
    scenario = _LIKE["step"].match(items[-1].mark.text) if step else None
    if step is None or scenario is None or step[1].lower() == "given":
        return False
    if step[1].lower() != "when":
        return True
    return scenario[1].lower() == "given" and not any(_LIKE["when"].search(line.text) for line in items[-1].lines)


def _goes_on(mark: Mark, line: Line, items: list[Item]) -> bool:
    """A number without a list mark, right below other text, is an item only if it is the next one: `1.5 seconds` may
    be prose."""
    if not mark.dotted or mark.is_bullet or line.heading is not None or not items:
        return True
    before, _, last = items[-1].mark.dotted.rpartition(".")
    digits = last.rstrip(LETTERS)
    if not digits.isdigit():
        return False
    number = mark.dotted.rstrip(LETTERS)
    return number == f"{before}.{int(digits) + 1}" or (number == f"{before}.{digits}" and number != mark.dotted)


def _number(contents: Contents) -> None:
    """Numbers for the items that have no id: as written where they are a count, else counted on."""
    for is_edge in (False, True):
        highest = 0
        kind = [item for item in contents.items if item.is_edge == is_edge and not (item.mark.id or item.mark.dotted)]
        for run in _runs(kind):
            highest = _number_run(run, highest, contents)
    _edges_that_run_on(contents)


def _runs(items: list[Item]) -> Iterable[list[Item]]:
    """Lists that begin at 1; one in which every item has a 1 is one list."""
    runs: list[list[Item]] = []
    for item in items:
        last = runs[-1][-1] if runs else None
        if last is None or (item.mark.ordinal == 1 and (last.mark.ordinal != 1 or last.section != item.section)):
            runs.append([])
        runs[-1].append(item)
    return runs


def _number_run(run: list[Item], highest: int, contents: Contents) -> int:
    ordinals = [item.mark.ordinal for item in run]
    is_counted = None in ordinals or (len(run) > 1 and {(i.mark.ordinal, i.mark.letter) for i in run} == {(1, "")})
    offset = highest if is_counted or ordinals[0] == 1 else 0
    first: dict[tuple[int, str], Item] = {}
    for place, item in enumerate(run, 1):
        item.number = offset + (place if is_counted else item.mark.ordinal or place)
        item.restarts = highest > 0 and item is run[0] and offset > 0 and item.mark.ordinal is not None
        key = item.number, item.mark.letter
        if key in first:
            contents.doubled.append((first[key], item))
        first.setdefault(key, item)
    return max([highest, *(number for number, _ in first)])


def _edges_that_run_on(contents: Contents) -> None:
    """A list of edge cases whose numbers go on from the criteria's is a part of that list."""
    edges = [item for item in contents.items if item.is_edge and item.mark.ordinal is not None]
    criteria = [item.number for item in contents.items if not item.is_edge]
    if edges and criteria and edges[0].number == max(criteria) + 1 and edges[0].number > 1:
        for item in edges:
            item.is_edge = False
