"""What task lists have in common, whatever the dialect: entries with the lines below them, what boxes say, numbers that
tell groups apart, and which only write tests. What begins an entry, and which entries are groups, a dialect tells."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, islice

from agent_fox.core.regex import regex
from agent_fox.core.spec import Group, Problem, Subtask, TaskState
from agent_fox.specs.document import Markdown
from agent_fox.specs.files import warning
from agent_fox.specs.lines import Chain, Line
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_LONGEST_TITLE = 200
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


@dataclass(slots=True)
class Draft:
    """A group or a task while it is read: a box, a numbered item or heading. `number` as it is written, `group` the one
    that a group is known by; `level` is a heading's rank, 0 for all others.

    `chain` are the headings that it stands under, with itself. `bullets` begin with its own line; `tasks` are those of
    a group. It `is_aside` where samples stand; `stories` are those that its labels name.
    """

    number: str
    title: str
    line: int
    box: str | None = None
    indent: int = 0
    level: int = 0
    is_optional: bool = False
    is_parallel: bool = False
    chain: Chain = ()
    lines: list[Line] = field(default_factory=list)
    bullets: list[Bullet] = field(default_factory=list)
    tasks: list[Draft] = field(default_factory=list)
    group: int = 0
    is_struck: bool = False
    is_aside: bool = False
    stories: tuple[str, ...] = ()
    details: tuple[str, ...] = ()

    @property
    def head(self) -> int:
        """The whole number that its own begins with; 0 where there is none."""
        digits = self.number.partition(".")[0]
        return int(digits) if digits.isdigit() else 0

    @property
    def wrapped(self) -> str:
        """The title with the lines that it wraps over. A heading wraps over none: what follows is text."""
        more = self.bullets[0].lines[1:] if not self.level else []
        return " ".join([self.title, *(line.text.strip() for line in more)])

    def state(self, says: Callable[[str], TaskState]) -> TaskState:
        """What its own box says; without one, it stands where the boxes of what stands below it do."""
        below = (bullet.box for entry in (self, *self.tasks) for bullet in entry.bullets)
        return says(self.box) if self.box is not None else rolled_up([says(box) for box in below if box is not None])


MOST_NAMED = 200_000


@dataclass(slots=True)
class Numbers:
    """The tasks of a file, with their places in it. A range names those that have the `rank` of the first; `spare`: how
    many more its ranges and lists may name."""

    places: Mapping[str, int]
    rank: Callable[[str], int]
    spare: int = MOST_NAMED

    def __contains__(self, name: str) -> bool:
        return name in self.places

    def has_room(self, many: int) -> bool:
        self.spare -= many
        return self.spare >= 0

    def between(self, first: str, last: str) -> list[str]:
        """The tasks of a range, as the file has them; its ends alone where one is not there, or too many are named."""
        if first == last:
            return [first]
        if first in self and last in self and self.has_room(self.places[last] - self.places[first]):
            within = islice(self.places, self.places[first], self.places[last] + 1)
            return [name for name in within if self.rank(name) == self.rank(first)]
        return [first, last]


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


def group_of(draft: Draft, own: Subtask, subtasks: tuple[Subtask, ...]) -> Group:
    """A group with its tasks; `own` is what its own line says, read as that of a task is."""
    return Group(
        number=draft.group,
        title=own.title,
        state=own.state,
        optional=own.optional,
        subtasks=subtasks,
        requirements=named_by(own.requirements, subtasks),
        text="\n".join(line.text for line in draft.lines).strip("\n"),
        parallel=own.parallel,
        is_checkpoint=CHECKPOINT.match(own.title) is not None,
    )


def named_by(own: Iterable[str], subtasks: Iterable[Subtask]) -> tuple[str, ...]:
    """What a group names itself and by its tasks, each once."""
    named = {id(names): names for names in (subtask.requirements for subtask in subtasks)}  # many tasks share one tuple
    return tuple(dict.fromkeys((*own, *(name for names in named.values() for name in names))))


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


def tell_apart(markdown: Markdown, groups: Sequence[Draft]) -> Iterator[Problem]:
    """Gives each group a number of its own to be known by, and says of which another one was written."""
    first = {group.head: group.line for group in reversed(groups)}
    for group, number in zip(groups, numbers_apart(group.head for group in groups), strict=True):
        group.group = number
        if number != group.head:
            yield warning(markdown.at(group.line), known_as(group.head, first[group.head], number))


def known_as(number: int, first: int | None, other: int) -> str:
    """The problem of a group whose number another one, in the line `first`, has already."""
    where = f" in line {first}" if first is not None else ""
    return f"group {number} stands twice, first{where}: this one is known as group {other} here. Renumber one"


def doubled_tasks(markdown: Markdown, tasks: Iterable[Draft]) -> Iterator[Problem]:
    """Subtasks that have one number: said, since evidence is kept by it."""
    first: dict[str, int] = {}
    for task in tasks:
        if task.number and first.setdefault(task.number, task.line) != task.line:
            what = f"task {task.number} stands twice: in lines {first[task.number]} and {task.line}. Renumber one"
            yield warning(markdown.at(task.line), what)


def places_of(markdown: Markdown, groups: Iterable[Draft]) -> dict[str, str]:
    """Where each group and task stands; of several that are called alike, the first."""
    places: dict[str, str] = {}
    for group in groups:
        for task in group.tasks:
            places.setdefault(f"task {task.number}", markdown.at(task.line))
        first = group.line or group.tasks[0].line  # what stands before all headings has no line of its own
        places.setdefault(f"group {group.group}", markdown.at(first))
    return places


def mark_test_writers(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """Mark the groups that write tests before there is anything to test: reviews depend on it.

    A title that says *failing tests* is one anywhere. Any other that writes tests is one only as long as no
    group before it implements something, and only if one after it does: later, writing tests is work like
    any other.
    """
    writers = [_says(_LIKE["tests"], group.title) for group in groups]
    is_work = (not says and not _LIKE["only_checks"].match(g.title) for g, says in zip(groups, writers, strict=True))
    last_work = max((place for place, is_one in enumerate(is_work) if is_one), default=-1)
    marked: list[Group] = []
    is_before_work = True
    for place, group in enumerate(groups):
        writes = (is_before_work and place < last_work and writers[place]) or _says(_LIKE["failing"], group.title)
        is_before_work = is_before_work and writes
        marked.append(replace(group, writes_tests_only=group.writes_tests_only or writes))
    return tuple(marked)


def _says(pattern: re.Pattern[str], title: str) -> bool:
    """Whether a title says so, and nothing of work beside it."""
    title = title[:_LONGEST_TITLE]
    return pattern.match(title) is not None and not _LIKE["does_more"].search(title)


def mark_first_tests(groups: tuple[Group, ...]) -> tuple[Group, ...]:
    """Mark the groups whose tasks are all tests: those that say that they come first, and those before all work."""
    only_tests = [bool(group.subtasks) and all(_is_test(task.title) for task in group.subtasks) for group in groups]
    last_work = max((place for place, is_only in enumerate(only_tests) if not is_only), default=-1)
    marked: list[Group] = []
    is_before_work = True
    for place, group in enumerate(groups):
        title = group.title[:_LONGEST_TITLE]
        may_be = is_before_work or _LIKE["says_first"].match(title) is not None
        writes = only_tests[place] and place < last_work and may_be
        is_before_work = is_before_work and (writes or _LIKE["prepares"].match(title) is not None)
        marked.append(replace(group, writes_tests_only=group.writes_tests_only or writes))
    return mark_test_writers(tuple(marked))


def _is_test(title: str) -> bool:
    title = title[:_LONGEST_TITLE]
    is_test = _LIKE["is_test"].match(title) is not None or _LIKE["in_tests"].search(title) is not None
    return is_test and not _LIKE["runs"].match(title)
