"""What task lists have in common, whatever the dialect: items with the lines that they wrap over, what boxes say,
numbers that tell groups apart. Where groups and tasks begin is not here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.spec import Problem, Subtask, TaskState
from agent_fox.specs.files import warning

if TYPE_CHECKING:
    from agent_fox.specs.document import Markdown
    from agent_fox.specs.lines import Line

CHECKPOINT = regex(r"[\W_]{0,8}(?:final\s+)?checkpoint\b", re.IGNORECASE)
"""How the title of a group begins that only checks what stands before it."""


@dataclass(slots=True)
class Bullet:
    """A list item or paragraph with the lines it wraps over."""

    lines: list[Line]
    box: str | None = None
    text_of_first: str = ""

    @property
    def text(self) -> str:
        if len(self.lines) == 1:
            return self.text_of_first
        rest = (line.text.strip() for line in self.lines[1:])
        return " ".join(part for part in (self.text_of_first, *rest) if part)


def state_of(box: str, minus_is_skipped: bool = False) -> TaskState:
    """What a box says: `x` done, space open, `-` in progress (in some files skipped), `~` skipped."""
    if box == "-":
        return TaskState.SKIPPED if minus_is_skipped else TaskState.IN_PROGRESS
    states = {"x": TaskState.DONE, "~": TaskState.SKIPPED, "/": TaskState.IN_PROGRESS}
    return states.get(box.lower(), TaskState.OPEN)


def rolled_up(states: list[TaskState]) -> TaskState:
    """The state of a whole whose parts stand so: all done is done, some is in progress, none is open."""
    if states and all(state is TaskState.SKIPPED for state in states):
        return TaskState.SKIPPED
    if states and all(state in (TaskState.DONE, TaskState.SKIPPED) for state in states):
        return TaskState.DONE
    begun = (TaskState.DONE, TaskState.IN_PROGRESS)
    return TaskState.IN_PROGRESS if any(state in begun for state in states) else TaskState.OPEN


def state_among(box: str | None, bullets: Iterable[Bullet], says: Callable[[str], TaskState] = state_of) -> TaskState:
    """What its own box says; without one, it stands where the boxes of what stands below it do."""
    return says(box) if box is not None else rolled_up([says(each.box) for each in bullets if each.box is not None])


def named_by(own: Iterable[str], subtasks: Iterable[Subtask]) -> tuple[str, ...]:
    """What a group names itself and by its tasks, each once."""
    return tuple(dict.fromkeys((*own, *(name for subtask in subtasks for name in subtask.requirements))))


def text_of(lines: Iterable[Line]) -> str:
    """The text of a group's lines, for its coder."""
    return "\n".join(line.text for line in lines).strip("\n")


def without_title(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines without the file's title, which hides no task whatever it says."""
    kept = tuple(lines)
    headings = [line for line in kept if line.heading is not None]
    tops = [line.number for line in headings if line.heading is not None and line.heading.level == 1]
    title = tops[0] if len(tops) == 1 and headings[0].number == tops[0] else 0
    return (line for line in kept if line.number != title)


def going_on(starts: list[tuple[int, int]], aside: Mapping[int, Sequence[tuple[int, int]]]) -> frozenset[int]:
    """Headings below which the numbers of the groups go on: they are about tasks, whatever they are called.

    `starts` are the lines and numbers of the groups, `aside` those below each heading that seems to hold none.
    """
    headings: list[int] = []
    for heading, below in aside.items():
        before = max((number for line, number in starts if line < heading), default=0)
        first = below[0][1]
        if first == before + 1 and first not in {number for _, number in starts}:
            starts += below
            headings.append(heading)
    return frozenset(headings)


def numbers_apart(numbers: Iterable[int]) -> list[int]:
    """The same numbers; one that stands twice has the next free number in its later places."""
    written = list(numbers)
    free = count(max(written, default=0) + 1)
    seen: set[int] = set()
    kept: list[int] = []
    for number in written:
        kept.append(next(free) if number in seen else number)
        seen.add(number)
    return kept


def tell_apart(markdown: Markdown, groups: Iterable[tuple[int, int]]) -> tuple[list[int], list[Problem]]:
    """A number of its own for each group, given by number and line; and of which another one was written."""
    written = tuple(groups)
    first = dict(reversed(written))
    apart = numbers_apart(number for number, _ in written)
    changed = ((*group, other) for group, other in zip(written, apart, strict=True) if group[0] != other)
    return apart, [
        warning(markdown.at(line), known_as(number, first[number], other)) for number, line, other in changed
    ]


def doubled_tasks(markdown: Markdown, tasks: Iterable[tuple[str, int]]) -> Iterator[Problem]:
    """Subtasks that have one number, each given by number and line: said, since evidence is kept by it."""
    first: dict[str, int] = {}
    for number, line in tasks:
        if first.setdefault(number, line) != line:
            what = f"task {number} stands twice: in lines {first[number]} and {line}. Renumber one"
            yield warning(markdown.at(line), what)


def known_as(number: int, first: int | None, other: int) -> str:
    """The problem of a group whose number another one, in the line `first`, has already."""
    where = f" in line {first}" if first is not None else ""
    return f"group {number} stands twice, first{where}: this one is known as group {other} here. Renumber one"


def left_out(markdown: Markdown, aside: Iterable[tuple[int, str]]) -> Iterator[Problem]:
    """The problem of boxes, by line and number, under headings such as *Notes*."""
    for line, number in aside:
        what = f"task {number} stands below a heading that holds no tasks: not planned. Move it, if it is one"
        yield warning(markdown.at(line), what)
