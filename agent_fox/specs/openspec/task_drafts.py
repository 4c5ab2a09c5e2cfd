"""tasks.md cut into the sections that are task groups, and each into its tasks. What they name is read elsewhere."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from agent_fox.specs.common.task_lists import Draft
from agent_fox.specs.lines import Line
from agent_fox.specs.openspec.deltas import unstruck
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_NESTED = 2
_TICKS = ("✓", "✔", "✅")


@dataclass(slots=True)
class Section:
    """A heading with its own lines, and the sections below it. The file itself is the section of rank 0; `heading` is
    the line that has it, for all others."""

    title: str = ""
    level: int = 0
    line: int = 1
    heading: list[Line] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    children: list[Section] = field(default_factory=list)

    @property
    def number(self) -> str:
        """The whole number that the heading begins with: `3. T`, `Phase 3: T`."""
        return numbered(self.title)[0]

    @property
    def boxes(self) -> list[re.Match[str]]:
        return [box for line in self.lines if (box := box_in(line))]

    @property
    def is_no_tasks(self) -> bool:
        says_so = _LIKE["samples"].match(self.title) or _LIKE["not_tasks"].match(self.title)
        return says_so is not None and not self.number

    @property
    def has_tasks(self) -> bool:
        """Whether any box stands in it that is a task's."""
        return not self.is_no_tasks and (bool(self.boxes) or any(child.has_tasks for child in self.children))

    @property
    def has_numbers(self) -> bool:
        return any(part.number or deep_number(part.title) for part in self.every())

    def every(self) -> Iterator[Section]:
        """The section and all below it, in the order of the file."""
        yield self
        for child in self.children:
            yield from child.every()


def box_in(line: Line, *, is_any_item: bool = False) -> re.Match[str] | None:
    """The box of a list item; of any item, as an open one, where no task has a box."""
    match = _LIKE["box"].match(line.text) if "[" in line.text and not line.is_code else None
    return match or (_LIKE["list"].match(line.text) if is_any_item and not line.is_code else None)


def mark_in(box: re.Match[str]) -> str:
    """What a box holds."""
    return "x" if box["box"] in _TICKS else box["box"] or " "


def numbered(title: str) -> tuple[str, str]:
    """The number that a heading begins with, and its title without it."""
    match = _LIKE["task_drafts_numbered"].match(title[:200])
    if match is None:
        return "", title
    rest = title[match.start("title") :].strip("*_ ")
    return str(int(match["plain"] or match["ordinal"] or match["named"])), rest or title


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
        section = Section(line.heading.title.strip(), line.heading.level, line.number, [line])
        above[-1].children.append(section)
        above.append(section)
    return root


def groups_of(root: Section, has_boxes: bool) -> list[Draft]:
    """The groups of a file: sections, or where these are one without a number, the boxes in it that are groups
    themselves: `- [ ] 1. T` with boxes below it, or with `1.1` beside it."""
    groups = _groups_in(root, has_boxes)
    if len(groups) != 1 or groups[0].number:
        return groups
    lines = [line for line in groups[0].lines if line.heading is None]
    boxes = [(line, box["rest"]) for line in lines if (box := box_in(line))]
    begins = {
        line.number: whole for line, rest in boxes if line.indent < _NESTED and (whole := _LIKE["whole"].match(rest))
    }
    nested = next((line.indent + _NESTED for line, _ in boxes if line.number in begins), 0)
    if not begins or not any(deep_number(rest) or line.indent >= nested for line, rest in boxes):
        return groups if has_boxes or any(box_in(line, is_any_item=True) for line in lines) else []
    listed: list[Draft] = []
    for line in lines:
        whole, box = begins.get(line.number), box_in(line)
        if whole and box:
            is_optional = box["star"] is not None
            group = Draft(str(int(whole["number"])), whole["title"], line.number, mark_in(box), is_optional=is_optional)
            listed.append(group)
        if listed:
            listed[-1].lines.append(line)
    return listed


def _groups_in(section: Section, has_boxes: bool, *, is_title: bool = True) -> list[Draft]:
    """The groups in a section: the outermost numbered headings, or those that hold the boxes where none is numbered.

    A heading above all tasks is only a title.
    """
    kids = [child for child in section.children if (child.has_tasks if has_boxes else child.has_numbers)]
    number, title = numbered(section.title)
    group = Draft(number, title, section.line, level=section.level, lines=[*section.lines])
    if number or not kids or not (is_title or any(child.number for child in kids)):
        below = [part for child in section.children if not child.is_no_tasks for part in child.every()]
        group.lines += [line for part in below for line in (*part.heading, *part.lines)]
        return [group]
    groups = [group] if section.boxes else []
    is_only = len(kids) == 1 and not groups
    return groups + [each for kid in kids for each in _groups_in(kid, has_boxes, is_title=is_title and is_only)]


def tasks_of(group: Draft, has_boxes: bool) -> list[Draft]:
    """The tasks of a group: boxes, or a section's heading with a number; any items, where no task has a box."""
    tasks: list[Draft] = []
    for place, section in enumerate(_gathered(group)):
        boxes = [box for line in section.lines if (box := box_in(line, is_any_item=not has_boxes))]
        number, title = deep_number(section.title) or numbered(section.title)
        is_headed = place > 0 and number and (bool(boxes) or not has_boxes)
        if is_headed and not any(_LIKE["task_number"].match(box["rest"]) for box in boxes):
            lines = [line for line in section.lines if not line.is_blank]
            tasks.append(Draft(number, title, section.line, indent=-1, lines=lines))
        else:
            tasks += _listed(section.lines, is_any_item=not has_boxes)
    return tasks


def _gathered(group: Draft) -> list[Section]:
    """The sections of a group, where a heading that is a task takes in those below it that hold no numbered tasks."""
    sections = [Section(level=group.level)]
    for line in group.lines[group.box is not None :]:
        if line.heading is not None:
            sections.append(Section(line.heading.title.strip(), line.heading.level, line.number))
        else:
            sections[-1].lines.append(line)
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
            is_numbered = any(_LIKE["task_number"].match(box["rest"]) for part in below for box in part.boxes)
            above = None if is_numbered else section
        kept.append(section)
    return kept


def _listed(lines: list[Line], is_any_item: bool) -> list[Draft]:
    """Boxes of the outermost rank are tasks; what is indented below one, or wraps its title, belongs to it."""
    boxes = [(line, box) for line in lines if (box := box_in(line, is_any_item=is_any_item))]
    margin = min((line.indent for line, _ in boxes), default=0)
    outermost = {line.number: box for line, box in boxes if line.indent < margin + _NESTED}
    drafts: list[Draft] = []
    is_open = False
    for line in lines:
        if line.number in outermost:
            drafts.append(_task(line, outermost[line.number]))
            is_open = True
        elif drafts and not line.is_blank and (line.indent > drafts[-1].indent or is_open):
            wraps = not line.is_code and _LIKE["task_drafts_bullet"].match(line.text) is None
            if is_open and not drafts[-1].lines and wraps:
                drafts[-1].title += f" {line.text.strip()}"
            else:
                drafts[-1].lines.append(line)
        is_open = is_open and not line.is_blank
    return drafts


def _task(line: Line, box: re.Match[str]) -> Draft:
    parallel = _LIKE["parallel"].match(box["rest"])
    rest = box["rest"][parallel.end() :].strip() if parallel else box["rest"]
    inside = unstruck(rest)
    match = _LIKE["task_number"].match(inside or rest)
    number = unicodedata.normalize("NFKC", match["number"]) if match else ""
    title = match["title"] if match else inside or rest
    bare = unstruck(title)
    draft = Draft(number, bare or title, line.number, "~" if inside or bare else mark_in(box), line.indent)
    draft.is_optional, draft.is_parallel = box["star"] is not None, parallel is not None
    return draft


def details_of(draft: Draft) -> tuple[str, ...]:
    """Each bullet below a task with the lines that it wraps over."""
    details: list[list[str]] = []
    for line in draft.lines:
        bullet = _LIKE["task_drafts_bullet"].match(line.text) if not line.is_code else None
        if bullet or not details:
            details.append([])
        details[-1].append(line.text[bullet.end() :] if bullet else line.text.strip())
    return tuple(text for words in details if (text := " ".join(words).strip()))


def wrapped(lines: Iterable[Line]) -> Iterator[str]:
    """The paragraphs and list items that go over several lines, each as one text."""
    words: list[str] = []
    for line in lines:
        is_text = not (line.is_blank or line.is_code or line.heading)
        if words and not (is_text and _LIKE["task_drafts_bullet"].match(line.text) is None):
            yield from [" ".join(words)] if len(words) > 1 else ()
            words = []
        words += [line.text.strip()] if is_text else []
    if len(words) > 1:
        yield " ".join(words)
