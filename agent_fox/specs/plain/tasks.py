"""The tasks of a plain Markdown spec: numbers for those that have none, so that one reader reads them all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.specs.agent_fox.tasks import read_tasks
from agent_fox.specs.document import Markdown
from agent_fox.specs.files import warning

if TYPE_CHECKING:
    from agent_fox.core.spec import Group, Problem, Subtask
    from agent_fox.specs.collected import ReadTasks
    from agent_fox.specs.common.id_ranges import PartIndex
    from agent_fox.specs.lines import Line

_BOXED = regex(r" *[-*+] +\[[^\[\]]?\]")
_ITEM = regex(r"(?P<mark> *(?:[-*+] +|(?P<count>\d{1,4})[.)] +))(?P<box>\[[^\[\]]?\] ?\*?(?!\*) *)?(?P<rest>\S.*)$")
_GROUP = regex(r"\*{0,2}(?:Task )?(?:Group )?(\d{1,6})[.):](?!\d) *\S", re.IGNORECASE)
_SUBTASK = regex(r"\*{0,2}(\d{1,6})\.(\d{1,6})[.:)]?\*{0,2} +\S")
_GROUP_HEADING = regex(r"(?:Task\s+)?Group\s+\d", re.IGNORECASE)
_FIELD = regex(r"[_*]{1,3}(?:Requirements?|Traces to)\s?:|(?:Requirements?|Traces to):", re.IGNORECASE)
_MARK = regex(
    r" ?\((?P<word>optional|parallel|checkpoint|after (?P<after>[\w.]+(?:, ?[\w.]+){0,50}))\)$", re.IGNORECASE
)
_MOST_MARKS, _SHOWN = 8, 3


def read_plain_tasks(markdown: Markdown, lines: Sequence[Line], index: PartIndex) -> ReadTasks:
    """The groups in a section: every item at the left edge is one."""
    numbered = _numbered(lines)
    read = read_tasks(Markdown(markdown.where, tuple(numbered)), index, "")
    groups = tuple(_with_marks(group) for group in read.groups)
    return replace(read, groups=groups, problems=(*read.problems, *_headings(markdown, lines)))


def holds_tasks(lines: Iterable[Line]) -> bool:
    return any(_BOXED.match(line.text) and not line.is_code for line in lines)


def _headings(markdown: Markdown, lines: Sequence[Line]) -> Iterator[Problem]:
    """Headings among the tasks, which other dialects have as groups."""
    headings = [line for line in lines if line.heading]
    if headings and not _has_group_headings(lines):
        titles = ", ".join(f'"{line.heading.title}"' for line in headings[:_SHOWN] if line.heading)
        more = ", ..." if len(headings) > _SHOWN else ""
        what = (
            f"no groups by themselves: {titles}{more}; each item at the left edge is one. Write the headings as items"
        )
        yield warning(markdown.at(headings[0].number), what)


def _has_group_headings(lines: Iterable[Line]) -> bool:
    return any(line.heading and _GROUP_HEADING.match(line.heading.title) for line in lines)


def _numbered(lines: Sequence[Line]) -> list[Line]:
    """The lines with a box and a number in every item that begins a group or a subtask."""
    if _has_group_headings(lines):
        return list(lines)
    edge = min((line.indent for line in lines if _item(line)), default=0)
    counting = _Counting({number for line in lines for number in _written(line, edge)})
    return [counting.line(line, edge) for line in lines]


def _item(line: Line) -> re.Match[str] | None:
    return None if line.is_code or line.heading else _ITEM.match(line.text)


def _written(line: Line, edge: int) -> Iterator[int]:
    item = _item(line) if line.indent <= edge + 1 else None
    named = _GROUP.match(item["rest"]) if item else None
    if named:
        yield int(named[1])


class _Counting:
    """Where the numbers stand: the group, its last subtask, and how deep its subtasks are."""

    def __init__(self, taken: set[int]) -> None:
        self.taken = taken
        self.group, self.subtask, self.depth = 0, 0, 0

    def line(self, line: Line, edge: int) -> Line:
        item = _item(line)
        if item is None:
            return line
        if line.indent <= edge + 1:
            return self._group(line, item)
        if item["box"] is None or _FIELD.match(item["rest"]) or (self.depth and line.indent > self.depth + 1):
            return line
        return self._subtask(line, item)

    def _group(self, line: Line, found: re.Match[str]) -> Line:
        self.subtask, self.depth = 0, 0
        box = (found["box"] or "[ ]").rstrip() + " "
        named = _GROUP.match(found["rest"])
        if named is not None:
            self.group = int(named[1])
            return line._replace(text=f"- {box}{found['rest']}", indent=0)
        self.group += 1
        while self.group in self.taken:
            self.group += 1
        self.taken.add(self.group)
        return line._replace(text=f"- {box}{self.group}. {found['rest']}", indent=0)

    def _subtask(self, line: Line, found: re.Match[str]) -> Line:
        self.depth = self.depth or line.indent
        named = _SUBTASK.match(found["rest"])
        self.subtask = int(named[2]) if named else self.subtask + 1
        if named is not None:
            return line
        box = found["box"].rstrip() + " "
        return line._replace(text=f"{' ' * line.indent}- {box}{self.group}.{self.subtask} {found['rest']}")


def _with_marks(group: Group) -> Group:
    """The group, and its subtasks, with what words in brackets at the ends of their titles say of them."""
    title, marks, _ = _marks(group.title)
    return replace(
        group,
        title=title,
        optional=group.optional or "optional" in marks,
        parallel=group.parallel or "parallel" in marks,
        is_checkpoint=group.is_checkpoint or "checkpoint" in marks,
        subtasks=tuple(_subtask_with_marks(subtask) for subtask in group.subtasks),
    )


def _subtask_with_marks(subtask: Subtask) -> Subtask:
    title, marks, after = _marks(subtask.title)
    is_optional, is_parallel = subtask.optional or "optional" in marks, subtask.parallel or "parallel" in marks
    return replace(subtask, title=title, optional=is_optional, parallel=is_parallel, after=(*subtask.after, *after))


def _marks(title: str) -> tuple[str, list[str], list[str]]:
    """The title without the words in brackets at its end that mark it, those, and the tasks that it waits for."""
    marks: list[str] = []
    after: list[str] = []
    for _ in range(_MOST_MARKS):
        match = _MARK.search(title)
        if match is None:
            break
        marks.append(match["word"].lower())
        after += re.split(r",\s?", match["after"]) if match["after"] else []
        title = title[: match.start()]
    return title, marks, after
