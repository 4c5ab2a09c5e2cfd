"""tasks.md cut into the sections that are task groups, and each into its tasks. What they name is read elsewhere."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.specs.common.task_lists import Draft, rolled_up, state_of
from agent_fox.specs.openspec.words import unstruck
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.core.spec import TaskState
    from agent_fox.specs.lines import Line

_LIKE = patterns_in(__file__)
_NESTED = 2


@dataclass(slots=True)
class Section:
    """A heading with its own lines, and the sections below it. The file itself is the section of rank 0."""

    title: str = ""
    level: int = 0
    line: int = 1
    lines: list[Line] = field(default_factory=list)
    children: list[Section] = field(default_factory=list)

    @property
    def number(self) -> int | None:
        """The whole number that the heading begins with: `3. T`, `Phase 3: T`."""
        return numbered(self.title)[0]

    @property
    def boxes(self) -> list[Box]:
        return [box for line in self.lines if (box := box_in(line))]

    @property
    def holds_samples(self) -> bool:
        return _LIKE["samples"].match(self.title) is not None

    @property
    def is_no_tasks(self) -> bool:
        is_said = self.holds_samples or _LIKE["not_tasks"].match(self.title) is not None
        return is_said and self.number is None

    @property
    def has_tasks(self) -> bool:
        """Whether any box stands in it that is a task's."""
        return not self.is_no_tasks and (bool(self.boxes) or any(child.has_tasks for child in self.children))

    def every(self) -> Iterator[Section]:
        """The section and all below it, in the order of the file."""
        yield self
        for child in self.children:
            yield from child.every()


@dataclass(slots=True)
class Box:
    """A list item with a box: what the box holds, and the text after it."""

    mark: str
    rest: str
    is_optional: bool
    line: Line


@dataclass(slots=True)
class Unit:
    """What one group is made of. `box` is its own, where that and the lines below it are a group."""

    title: str
    number: int | None
    line: int
    sections: list[Section]
    box: Box | None = None

    @property
    def lines(self) -> list[Line]:
        return [line for section in self.sections for line in section.lines]


def box_in(line: Line, *, is_any_item: bool = False) -> Box | None:
    """The box of a list item; of any item, as an open one, where no task has a box."""
    match = _LIKE["box"].match(line.text) if "[" in line.text and not line.is_code else None
    match = match or (_LIKE["list"].match(line.text) if is_any_item and not line.is_code else None)
    if match is None:
        return None
    mark = "x" if match["box"] in ("✓", "✔", "✅") else match["box"] or " "
    return Box(mark, match["rest"], match["star"] is not None, line)


def numbered(title: str) -> tuple[int | None, str]:
    """The number that a heading begins with, and its title without it."""
    match = _LIKE["task_drafts_numbered"].match(title[:200])
    if match is None:
        return None, title
    rest = title[match.start("title") :].strip("*_ ")
    return int(match["plain"] or match["ordinal"] or match["named"]), rest or title


def deep_number(title: str) -> tuple[str, str] | None:
    """A number such as `1.2` before a title, and the title."""
    match = _LIKE["deep_number"].match(title)
    return (unicodedata.normalize("NFKC", match["number"]), match["title"].strip("*_ ")) if match else None


def sections_of(lines: Iterable[Line]) -> Section:
    """The file as a tree of its headings."""
    root = Section()
    above = [root]
    for line in lines:
        if line.heading is None:
            above[-1].lines.append(line)
            continue
        while above[-1].level >= line.heading.level:
            above.pop()
        section = Section(line.heading.title.strip(), line.heading.level, line.number)
        above[-1].children.append(section)
        above.append(section)
    return root


def units_of(root: Section, has_boxes: bool) -> list[Unit]:
    """The groups of a file: sections, or where these are one without a number, the boxes in it that are groups
    themselves: `- [ ] 1. T` with boxes below it, or with `1.1` beside it."""
    units = _units_in(root, has_boxes)
    if len(units) != 1 or units[0].number is not None:
        return units
    boxes = [box for line in units[0].lines if (box := box_in(line))]
    wholes = [(box, whole) for box in boxes if box.line.indent < _NESTED and (whole := _LIKE["whole"].match(box.rest))]
    nested = wholes[0][0].line.indent + _NESTED if wholes else 0
    if not wholes or not any(deep_number(box.rest) or box.line.indent >= nested for box in boxes):
        has_items = any(box_in(line, is_any_item=True) for line in units[0].lines)
        return units if has_boxes or has_items else []
    begins = {box.line.number: (box, whole) for box, whole in wholes}
    listed: list[Unit] = []
    for line in units[0].lines:
        if line.number in begins:
            box, whole = begins[line.number]
            listed.append(Unit(whole["title"], int(whole["number"]), line.number, [Section(line=line.number)], box))
        elif listed:
            listed[-1].sections[0].lines.append(line)
    return listed


def _units_in(section: Section, has_boxes: bool, *, is_title: bool = True) -> list[Unit]:
    """The groups in a section: the outermost numbered headings, or those that hold the boxes where none is numbered.

    A heading above all tasks is only a title.
    """
    kids = [child for child in section.children if (child.has_tasks if has_boxes else _has_numbered(child))]
    any_numbered = any(child.number is not None for child in kids)
    if section.number is not None or not kids or not (is_title or any_numbered):
        return [_unit(section, section.children)]
    own = [_unit(section, [])] if section.boxes else []
    is_only = len(kids) == 1 and not own
    return own + [unit for kid in kids for unit in _units_in(kid, has_boxes, is_title=is_title and is_only)]


def _has_numbered(section: Section) -> bool:
    return any(part.number is not None or deep_number(part.title) is not None for part in section.every())


def _unit(section: Section, children: Iterable[Section]) -> Unit:
    number, title = numbered(section.title)
    below = [part for child in children if not child.is_no_tasks for part in child.every()]
    own = Section(section.title, section.level, section.line, section.lines)
    return Unit(title, number, section.line, [own, *below])


def drafts_of(unit: Unit, has_boxes: bool) -> Iterator[Draft]:
    """The tasks of a group: boxes, or a section's heading with a number; any items, where no task has a box."""
    for place, section in enumerate(_gathered(unit.sections)):
        boxes = [box for line in section.lines if (box := box_in(line, is_any_item=not has_boxes))]
        number, title = deep_number(section.title) or numbered(section.title)
        is_headed = place > 0 and number is not None and (bool(boxes) or not has_boxes)
        if is_headed and not any(_LIKE["task_number"].match(box.rest) for box in boxes):
            lines = [line for line in section.lines if not line.is_blank]
            yield Draft(str(number), title, section.line, indent=-1, lines=lines)
        else:
            yield from _listed(section.lines, boxes)


def _gathered(sections: list[Section]) -> list[Section]:
    """The sections of a group, where a heading that is a task takes in those below it that hold no numbered tasks."""
    kept: list[Section] = []
    above: Section | None = None
    for place, section in enumerate(sections):
        if above is not None and section.level > above.level:
            above.lines += section.lines
            continue
        above = None
        if place and deep_number(section.title):
            ends = (end for end in range(place + 1, len(sections)) if sections[end].level <= section.level)
            below = sections[place : next(ends, len(sections))]
            if not any(_LIKE["task_number"].match(box.rest) for part in below for box in part.boxes):
                above = section = Section(section.title, section.level, section.line, list(section.lines))
        kept.append(section)
    return kept


def _listed(lines: Iterable[Line], boxes: list[Box]) -> Iterator[Draft]:
    """Boxes of the outermost rank are tasks; what is indented below one, or wraps its title, belongs to it."""
    at = {box.line.number: box for box in boxes}
    margin = min((box.line.indent for box in boxes), default=0)
    draft: Draft | None = None
    is_open = False
    for line in lines:
        box = at.get(line.number)
        if box is not None and box.line.indent < margin + _NESTED:
            if draft is not None:
                yield draft
            draft, is_open = _task(box), True
        elif draft is not None and not line.is_blank and (line.indent > draft.indent or is_open):
            wraps = not line.is_code and _LIKE["task_drafts_bullet"].match(line.text) is None
            is_title = is_open and not draft.lines and wraps
            draft.title += f" {line.text.strip()}" if is_title else ""
            draft.lines += [] if is_title else [line]
        is_open = is_open and not line.is_blank
    if draft is not None:
        yield draft


def _task(box: Box) -> Draft:
    parallel = _LIKE["parallel"].match(box.rest)
    rest = box.rest[parallel.end() :].strip() if parallel else box.rest
    inside = unstruck(rest)
    match = _LIKE["task_number"].match(inside or rest)
    number = unicodedata.normalize("NFKC", match["number"]) if match else ""
    title = match["title"] if match else inside or rest
    bare = unstruck(title)
    return Draft(
        number,
        bare or title,
        box.line.number,
        "~" if inside or bare else box.mark,
        box.line.indent,
        is_optional=box.is_optional,
        is_parallel=parallel is not None,
    )


def details_of(draft: Draft) -> tuple[str, ...]:
    """Each bullet below a task with the lines that it wraps over."""
    details: list[list[str]] = []
    for line in draft.lines:
        bullet = _LIKE["task_drafts_bullet"].match(line.text) if not line.is_code else None
        if bullet or not details:
            details.append([])
        details[-1].append(line.text[bullet.end() :] if bullet else line.text.strip())
    return tuple(text for words in details if (text := " ".join(words).strip()))


def task_state(draft: Draft) -> TaskState:
    if draft.box is not None:
        return state_of(draft.box)
    return rolled_up([state_of(box.mark) for line in draft.lines if (box := box_in(line))])


def wrapped(lines: Iterable[Line]) -> Iterator[str]:
    """The paragraphs and list items that go over several lines, each as one text."""
    words: list[str] = []
    for line in lines:
        is_text = not (line.is_blank or line.is_code)
        if words and not (is_text and _LIKE["task_drafts_bullet"].match(line.text) is None):
            yield from [" ".join(words)] if len(words) > 1 else ()
            words = []
        words += [line.text.strip()] if is_text else []
    if len(words) > 1:
        yield " ".join(words)
