"""The tasks of a plain Markdown spec: numbers for those that have none, so that one reader reads them all."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from agent_fox.core.spec import Group, Subtask
from agent_fox.specs.agent_fox.tasks import read_tasks
from agent_fox.specs.document import Markdown
from agent_fox.specs.files import warning
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.specs.collected import ReadTasks
    from agent_fox.specs.common.id_ranges import PartIndex
    from agent_fox.specs.lines import Line

_LIKE = patterns_in(__file__)

_FLAGS = {"optional": "optional", "parallel": "parallel", "checkpoint": "is_checkpoint"}
_MOST_MARKS, _SHOWN = 8, 3
_T = TypeVar("_T", bound=Group | Subtask)


def read_plain_tasks(markdown: Markdown, lines: Sequence[Line], index: PartIndex) -> ReadTasks:
    """The groups in a section: every item at the left edge is one. Headings, which other dialects have as groups, are
    none by themselves."""
    headings = [line.heading for line in lines if line.heading]
    has_groups = any(_LIKE["group_heading"].match(heading.title) for heading in headings)
    read = read_tasks(Markdown(markdown.where, tuple(lines if has_groups else _numbered(lines))), index, "")
    problems = [*read.problems]
    if headings and not has_groups:
        titles = ", ".join(f'"{heading.title}"' for heading in headings[:_SHOWN])
        more = ", ..." if len(headings) > _SHOWN else ""
        what = (
            f"no groups by themselves: {titles}{more}; each item at the left edge is one. Write the headings as items"
        )
        problems.append(warning(markdown.at(next(line.number for line in lines if line.heading)), what))
    groups = (replace(_marked(group), subtasks=tuple(map(_marked, group.subtasks))) for group in read.groups)
    return replace(read, groups=tuple(groups), problems=tuple(problems))


def holds_tasks(lines: Iterable[Line]) -> bool:
    return any(_LIKE["boxed"].match(line.text) and not line.is_code for line in lines)


def _numbered(lines: Sequence[Line]) -> Iterator[Line]:
    """The lines with a box and a number in every item that begins a group or a subtask."""
    edge = min((line.indent for line in lines if _item(line)), default=0) + 1
    items = (_item(line) for line in lines if line.indent <= edge)
    named = (_LIKE["group"].match(item["rest"]) for item in items if item)
    counting = _Counting({int(match[1]) for match in named if match}, edge)
    return map(counting.line, lines)


def _item(line: Line) -> re.Match[str] | None:
    return None if line.is_code or line.heading else _LIKE["task_item"].match(line.text)


class _Counting:
    """Where the numbers stand: the group, its last subtask, and how deep its subtasks are. Groups are at the `edge`."""

    def __init__(self, taken: set[int], edge: int) -> None:
        self.taken, self.edge = taken, edge
        self.group, self.subtask, self.depth = 0, 0, 0

    def line(self, line: Line) -> Line:
        item = _item(line)
        if item is None:
            return line
        if line.indent <= self.edge:
            return self._group(line, item)
        is_deeper = self.depth != 0 and line.indent > self.depth + 1
        is_task = item["box"] is not None and not is_deeper and not _LIKE["field"].match(item["rest"])
        return self._subtask(line, item) if is_task else line

    def _group(self, line: Line, found: re.Match[str]) -> Line:
        self.subtask, self.depth = 0, 0
        box = (found["box"] or "[ ]").rstrip() + " "
        named = _LIKE["group"].match(found["rest"])
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
        named = _LIKE["subtask"].match(found["rest"])
        self.subtask = int(named[2]) if named else self.subtask + 1
        if named is not None:
            return line
        box = found["box"].rstrip() + " "
        return line._replace(text=f"{' ' * line.indent}- {box}{self.group}.{self.subtask} {found['rest']}")


def _marked(entry: _T) -> _T:
    """A group or a task with what the words in brackets at the end of its title say of it, and without these."""
    title, after = entry.title, [*entry.after] if isinstance(entry, Subtask) else []
    says: dict[str, Any] = {}
    for _ in range(_MOST_MARKS):
        match = _LIKE["mark"].search(title)
        if match is None:
            break
        title = title[: match.start()]
        after += re.split(r",\s?", match["after"]) if match["after"] else []
        says |= {} if match["after"] else {_FLAGS[match["word"].lower()]: True}
    says |= {"title": title, "after": tuple(after)}
    return replace(entry, **{name: value for name, value in says.items() if hasattr(entry, name)})
