"""tasks.md as values: states, optional and parallel tasks, the requirements that each names, what it waits for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from agent_fox.core.spec import Group, Subtask, TaskState
from agent_fox.specs.collected import ReadTasks, Remarks
from agent_fox.specs.common import task_lists
from agent_fox.specs.common.test_writers import mark_test_writers
from agent_fox.specs.kiro.checks import check_waves
from agent_fox.specs.kiro.fields import (
    Field,
    Sort,
    TaskOrder,
    fields_of,
    is_field,
    properties_of,
    without_fields,
)
from agent_fox.specs.kiro.task_entries import read_groups
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.specs.common.task_lists import Bullet, Draft
    from agent_fox.specs.document import Markdown
    from agent_fox.specs.kiro.references import References

_LIKE = patterns_in(__file__)


def read_tasks(markdown: Markdown, references: References) -> ReadTasks:
    """The groups of a tasks file, in the order of the file."""
    drafts, problems = read_groups(markdown)
    reading = _Reading(markdown, references, drafts)
    groups = mark_test_writers(tuple(reading.group(draft) for draft in drafts))
    problems += task_lists.doubled_tasks(markdown, (task for draft in drafts for task in draft.tasks))
    problems += [*reading.problems, *check_waves(markdown, reading.groups)]
    properties = {number: tuple(dict.fromkeys(tasks)) for number, tasks in reading.properties.items()}
    return ReadTasks(groups, tuple(problems), task_lists.places_of(markdown, drafts), properties=properties)


class _Reading(Remarks):
    """Turns drafts into values, and collects the problems and properties on the way."""

    def __init__(self, markdown: Markdown, references: References, drafts: list[Draft]) -> None:
        super().__init__(markdown)
        self.references = references
        self.tilde_is_skipped = any(
            _LIKE["tilde_is_skipped"].search(line.text) for line in markdown.lines if "[~]" in line.text
        )
        self.properties: dict[str, list[str]] = {}
        numbers = [(entry.number, draft.group) for draft in drafts for entry in (draft, *draft.tasks)]
        self.known = TaskOrder([number for number, _ in numbers])
        self.groups = dict(numbers)
        self.order = {draft.group: place for place, draft in enumerate(drafts)}

    def group(self, draft: Draft) -> Group:
        fields = self._fields(draft.bullets, draft.number or str(draft.group))
        subtasks = tuple(self._subtask(task, draft.group) for task in draft.tasks)
        named = task_lists.named_by(self._requirements(fields), subtasks)
        self._waits(fields, draft.group)
        written = _wrapped(draft)
        title = without_fields(written) or written
        return Group(
            number=draft.group,
            title=title,
            state=draft.state(self._box),
            optional=draft.is_optional,
            subtasks=subtasks,
            requirements=named,
            text=task_lists.text_of(draft.lines),
            parallel=draft.is_parallel,
            is_checkpoint=_LIKE["checkpoint"].match(title) is not None and not subtasks and not named,
        )

    def _subtask(self, entry: Draft, group: int) -> Subtask:
        fields = self._fields(entry.bullets, entry.number)
        below = [bullet for bullet in entry.bullets[1:] if not is_field(bullet, fields)]
        return Subtask(
            number=entry.number,
            title=without_fields(_wrapped(entry)),
            state=entry.state(self._box),
            optional=entry.is_optional,
            requirements=tuple(dict.fromkeys(self._requirements(fields))),
            details=tuple(bullet.text for bullet in below),
            parallel=entry.is_parallel,
            after=self._waits(fields, group),
        )

    def _box(self, box: str) -> TaskState:
        """What a box says. Kiro writes `~` for a task that is queued, so it is open, unless a legend says skipped."""
        return TaskState.OPEN if box == "~" and not self.tilde_is_skipped else task_lists.state_of(box)

    def _fields(self, bullets: Iterable[Bullet], name: str) -> list[Field]:
        kept = list(bullets)
        for number in properties_of(kept):
            self.properties.setdefault(number, []).append(name)
        return [field for bullet in kept for field in fields_of(bullet, self.references)]

    def _requirements(self, fields: Iterable[Field]) -> Iterator[str]:
        for read in fields:
            if read.sort is not Sort.REQUIREMENTS or not self.references.index.every:
                continue
            named = self.references.read(read.value)
            if named.unknown:
                what = f"names {', '.join(named.unknown)}: no such requirement in this spec. Correct the number"
                self.warn(read.line, what)
            if named.is_vague:
                written = f"{read.key}: {read.value}"[:80]
                self.warn(read.line, f"{written!r} names no requirement by its number. Write the numbers")
            yield from named.ids

    def _waits(self, fields: Iterable[Field], group: int) -> tuple[str, ...]:
        """The tasks that a task waits for; one that does not exist is reported, and so is one of a later group."""
        after: dict[str, None] = {}
        for read in fields:
            if read.sort is not Sort.WAITS:
                continue
            numbers, own = self.known.named_in(read.value), self.order[group]
            after |= {number: None for number in numbers if number in self.known.places}
            if missing := [number for number in numbers if number not in self.known.places]:
                self.warn(read.line, f"waits for {', '.join(missing)}: no such task in this file. Correct the number")
            if late := [number for number in numbers if self.order.get(self.groups.get(number, 0), own) > own]:
                what = f"waits for {', '.join(late)}, which is built later: groups are built in the order of the file"
                self.warn(read.line, f"{what}. Move one of the two")
        return tuple(after)


def _wrapped(entry: Draft) -> str:
    """The title of an entry with the lines that it wraps over. A heading wraps over none: what follows is text."""
    more = [line.text.strip() for line in entry.bullets[0].lines[1:]] if not entry.level else []
    return " ".join([entry.title, *more])
