"""Entries of tasks.md put together as groups and subtasks: who belongs to whom, and which number each group has.

A box `1.` is a group; where no box is one, numbered headings are, else headings that hold boxes, else each box.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.specs.common.task_lists import tell_apart
from agent_fox.specs.files import warning

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem
    from agent_fox.specs.common.task_lists import Bullet
    from agent_fox.specs.document import Markdown
    from agent_fox.specs.kiro.task_entries import Entry, Section
    from agent_fox.specs.lines import Line


@dataclass(slots=True)
class GroupDraft:
    """A group with its subtasks. `written` is its number as it stands; `number` the one that its node has."""

    written: str
    title: str
    line: int
    entry: Entry | None = None
    number: int = 0
    sections: tuple[Section, ...] = ()
    lines: list[Line] = field(default_factory=list)
    bullets: list[Bullet] = field(default_factory=list)
    subtasks: list[Entry] = field(default_factory=list)


class _Assembly:
    """Gives each entry its place. Knows the groups so far, and in which group and subtask it stands."""

    def __init__(self, markdown: Markdown, entries: Sequence[Entry]) -> None:
        self.markdown, self.entries = markdown, entries
        self.groups: list[GroupDraft] = []
        self.by_number: dict[str, GroupDraft] = {}
        self.parents: dict[str, Entry] = {}
        self.task: Entry | None = None
        self.problems: list[Problem] = []
        boxes = [entry for entry in entries if not entry.level]
        self.base = min((entry.indent for entry in boxes if entry.number), default=0)
        self.has_group_boxes = any(self._is_group(entry) for entry in boxes)
        self.leaves = _leaves(entries, has_boxes=bool(boxes))

    def read(self) -> list[GroupDraft]:
        for entry in self.entries:
            if entry.level:
                self._heading(entry)
            elif self._is_group(entry):
                self._begin(entry.number, entry.title, entry)
            elif entry.depth >= 2:
                self._dotted(entry)
            else:
                self._detail(entry)
        return self.groups

    def _is_group(self, entry: Entry) -> bool:
        return entry.depth == 1 and not entry.level and entry.indent <= self.base + 1

    def _heading(self, entry: Entry) -> None:
        if self.has_group_boxes:
            return
        if entry.depth >= 2:
            self._dotted(entry)
        elif entry.line in self.leaves:
            self._begin(entry.number, entry.title, entry)

    def _begin(self, written: str, title: str, entry: Entry, *, is_own: bool = True) -> GroupDraft:
        """A new group. It is not the entry's own where a subtask came without its group."""
        group = GroupDraft(written, title, entry.line, entry if is_own else None, sections=entry.sections)
        if is_own:
            group.lines += entry.lines
            group.bullets += entry.bullets
        self.groups.append(group)
        self.by_number[written] = group
        self.parents = {}
        self.task = None
        return group

    def _dotted(self, entry: Entry) -> None:
        group = self._group_for(entry)
        group.lines += entry.lines
        above = entry.number.rpartition(".")[0]
        parent = self.parents.get(above) if entry.depth > 2 else None
        if parent is not None:
            parent.bullets += entry.bullets
        else:
            self.task = self.parents[entry.number] = entry
            group.subtasks.append(self.task)

    def _group_for(self, entry: Entry) -> GroupDraft:
        """The group that a subtask stands in: by its indentation, else by its number, else a new one."""
        head = entry.number.partition(".")[0]
        current = self.groups[-1] if self.groups else None
        if current is not None and current.entry is not None and not current.entry.level:
            is_inside = entry.indent > current.entry.indent + 1 and entry.sections == current.sections
            if is_inside or current.written == head:
                return current
        if head in self.by_number:
            return self.by_number[head]
        above = [section for section in entry.sections if section.line != entry.line]
        title = above[-1].title if above else f"Task {head}"
        return self._begin(head, title, entry, is_own=False)

    def _detail(self, entry: Entry) -> None:
        """A box without a number of its own belongs to what it stands in."""
        group = self.groups[-1] if self.groups else None
        if group is None or not _stands_in(entry, group):
            what = f"the task {entry.title[:60]!r} belongs to no group: it is not planned. Give it a number"
            self.problems.append(warning(self.markdown.at(entry.line), what))
            return
        group.lines += entry.lines
        task = self.task if group.subtasks and group.subtasks[-1] is self.task else None
        is_of_task = task is not None and (entry.indent > task.indent or task.level > 0)
        (task.bullets if task is not None and is_of_task else group.bullets).extend(entry.bullets)
        is_at_rank = group.entry is not None and not group.entry.level and entry.indent <= group.entry.indent
        if is_at_rank:
            what = f"this task has no number: read as part of group {group.written}. Number it, or indent it"
            self.problems.append(warning(self.markdown.at(entry.line), what))


def assemble(markdown: Markdown, entries: Sequence[Entry]) -> tuple[list[GroupDraft], list[Problem]]:
    """The groups of a tasks file, numbered, and what had to be guessed."""
    boxes = [entry for entry in entries if not entry.level]
    if any(entry.number for entry in entries):
        assembly = _Assembly(markdown, entries)
        groups, problems = assembly.read(), assembly.problems
    else:
        groups, problems = _unnumbered(markdown, boxes)
    return _numbered(markdown, groups, problems), problems


def _stands_in(entry: Entry, group: GroupDraft) -> bool:
    """Whether no heading stands between a group and an entry, unless the group is that heading itself."""
    lines = {section.line for section in entry.sections}
    return (
        {section.line for section in group.sections} <= lines if _is_headed(group) else entry.sections == group.sections
    )


def _is_headed(group: GroupDraft) -> bool:
    return group.entry is None or group.entry.level > 0


def _leaves(entries: Sequence[Entry], *, has_boxes: bool) -> frozenset[int]:
    """Lines of the headings that are groups: those right above boxes, not the parts that they are sorted in."""
    tops = [entry for entry in entries if entry.level and entry.depth == 1]
    parts = {section.line for entry in tops for section in entry.sections if section.line != entry.line}
    holding = {section.line for entry in entries for section in entry.sections if section.line != entry.line}
    return frozenset(h.line for h in tops if h.line not in parts and (h.line in holding or not has_boxes))


def _unnumbered(markdown: Markdown, boxes: Sequence[Entry]) -> tuple[list[GroupDraft], list[Problem]]:
    """No number anywhere: headings that hold boxes are the groups if there are several, else each box is one."""
    if not boxes:
        return [], []
    titles = {box.sections[-1].line: box.sections[-1].title for box in boxes if box.sections}
    base = min(box.indent for box in boxes)
    by_heading = len(titles) > 1
    groups: list[GroupDraft] = []
    line = -1
    for box in boxes:
        section = box.sections[-1].line if box.sections else 0
        if section != line if by_heading else (box.indent <= base + 1 or not groups):
            title = titles.get(section, box.title) if by_heading else box.title
            groups.append(GroupDraft("", title, section if by_heading and section else box.line, sections=box.sections))
            groups[-1].entry = None if by_heading else box
        line = section
        groups[-1].lines += box.lines
        groups[-1].bullets += box.bullets
    what = "each heading with boxes" if by_heading else "each box"
    text = f"no task has a number: {what} is read as a group, counted from 1. Write `- [ ] 1. Title`"
    return groups, [warning(markdown.at(boxes[0].line), text)]


def _numbered(markdown: Markdown, groups: list[GroupDraft], problems: list[Problem]) -> list[GroupDraft]:
    """Numbers as written where they tell the groups apart, those of one list without doubles; else counted."""
    written = [int(group.written) if group.written.isascii() and group.written.isdigit() else 0 for group in groups]
    lists = {
        (number, () if _is_headed(group) else group.sections) for number, group in zip(written, groups, strict=True)
    }
    if all(written) and len(set(written)) == len(lists):
        lines = (group.line for group in groups)
        numbers, twice = tell_apart(markdown, zip(written, lines, strict=True))
        problems += twice
        for group, number in zip(groups, numbers, strict=True):
            group.number = number
        return groups
    changed: list[str] = []
    for place, group in enumerate(groups, 1):
        group.number = place
        if group.written and group.written != str(place):
            changed.append(f"{group.written} in line {group.line} is group {place}")
    if changed:
        shown = "; ".join(changed[:5]) + ("; ..." if len(changed) > 5 else "")
        what = f"the groups' numbers don't tell them apart, they are counted: {shown}. Number them from 1 on"
        problems.append(warning(markdown.at(groups[0].line), what))
    return groups
