"""tasks.md of spec-kit as task groups: phases numbered, tasks with their labels, and the requirements they name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from agent_fox.core.spec import Group, Subtask, TaskState
from agent_fox.specs.collected import ReadTasks, Remarks
from agent_fox.specs.common.task_lists import rolled_up, state_of, text_of
from agent_fox.specs.common.test_writers import mark_first_tests
from agent_fox.specs.lines import listed
from agent_fox.specs.spec_kit.identifiers import is_taken_back, stories_in_label, stories_in_title
from agent_fox.specs.spec_kit.order import MOST_NAMED, Numbers, blocked_by, phase_waits, stated_in, waited_for
from agent_fox.specs.spec_kit.parts import items_of
from agent_fox.specs.spec_kit.phases import Cut, PhaseDraft, TaskDraft, box_of, cut
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.specs.document import Markdown
    from agent_fox.specs.spec_kit.identifiers import References

_LIKE = patterns_in(__file__)
_MARKS = "*_ :：.-–—\t~"
_TICKS = "✓✔✅☑"
_ALL_BEFORE = "Tasks"
_LONGEST_HEADING = 300


def read_tasks(markdown: Markdown, references: References) -> ReadTasks:
    """The groups of a tasks file: its phases, in their order."""
    phased = cut(markdown)
    phases = list(_numbered(phased.phases))
    reading = _Reading(markdown, references, phases)
    reading.warn_of(phased, phases)
    groups = tuple(reading.group(number, draft) for number, draft in phases)
    reading.warn_of_too_many()
    return ReadTasks(mark_first_tests(groups), tuple(reading.problems), reading.places)


def _numbered(drafts: list[PhaseDraft]) -> Iterator[tuple[int, PhaseDraft]]:
    """Phases with their written numbers, where these go up; else counted."""
    written = [_written(draft.heading) for draft in drafts]
    numbers: list[int] = []
    for number in written:
        numbers.append((numbers[-1] if numbers else 0) + 1 if number is None else number)
    goes_up = all(before < after for before, after in pairwise([0, *numbers]))
    is_plain = any(number is not None for number in written)
    return zip(numbers if goes_up and is_plain else range(1, len(drafts) + 1), drafts, strict=True)


def _written(heading: str) -> int | None:
    """The number in a phase's name; a name such as `Phase 3.1` counts within something else: 0 fits nowhere."""
    match = _LIKE["phase"].match(heading)
    number = (match["number"] or match["asian"] or match["korean"] or "") if match else ""
    return 0 if "." in number else int(number) if number.isdecimal() else None


class _Reading(Remarks):
    """Turns drafts into values, and collects the problems and places on the way."""

    def __init__(self, markdown: Markdown, references: References, phases: list[tuple[int, PhaseDraft]]) -> None:
        super().__init__(markdown)
        self.references = references
        self.places: dict[str, str] = {}
        self.shared: dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[str, ...]] = {}
        self.tasks = tuple(self._labelled(phases))
        self.numbers = Numbers({task.number: place for place, task in enumerate(self.tasks)})
        self.traced = self._traced()
        self.stated = self._stated(phases)

    def warn_of(self, found: Cut, phases: list[tuple[int, PhaseDraft]]) -> None:
        """What is not planned as it is written: phases that have one number, for all are counted then; tasks and boxes
        in no phase, tasks that are written in another way than the others, phases without tasks."""
        seen: dict[int, int] = {}
        for number, phase in phases:
            written = _written(phase.heading)
            if written and seen.setdefault(written, phase.line) != phase.line:
                what = f"phase {written} stands twice, first in line {seen[written]}: phases are counted, "
                self.warn(phase.line, f"{what}this one is known as group {number} here. Renumber one")
        for task in (task for task in found.lost if task.number):
            what = f"{task.number} stands in no phase: not planned. Move it below the phase it belongs to"
            self.warn(task.line, what)
        if boxes := [task.line for task in found.lost if not task.number]:
            what = f"boxes without a number, in no phase: {listed(boxes)}. Not planned; number those that are tasks"
            self.warn(boxes[0], what)
        if found.unread:
            lines = listed(line for line, _ in found.unread)
            what = f"{found.unread[0][1]} and such are written in another way than other tasks here: {lines}"
            self.warn(found.unread[0][0], f"{what}. Not planned; write tasks with boxes (`- [ ] T001 ...`), one a line")
        for line, title in found.empty:
            self.warn(line, f"{title!r} has no tasks: not planned. Write tasks with boxes (`- [ ] T001 ...`)")

    def _labelled(self, phases: list[tuple[int, PhaseDraft]]) -> Iterator[TaskDraft]:
        """Every task with its number; the second that has one is known by another, which nobody writes."""
        seen: dict[str, list[int]] = {}
        for group, phase in phases:
            for place, task in enumerate(phase.tasks, 1):
                number = task.number or f"{group}.{place}"
                lines = seen.setdefault(number, [])
                lines.append(task.line)
                task.number = number if len(lines) == 1 else f"{number} ({len(lines)})"
                if len(lines) > 1:
                    what = f"{number} stands in line {lines[0]} too: this one is known as {task.number!r} here"
                    self.warn(task.line, f"{what}. Renumber one")
                _take_labels(task)
                yield task

    def group(self, number: int, draft: PhaseDraft) -> Group:
        self.places[f"group {number}"] = self.markdown.at(draft.line or draft.tasks[0].line)
        stories = tuple(stories_in_title(draft.heading))
        subtasks = tuple(self._subtask(task, stories) for task in draft.tasks)
        of_tasks = {id(subtask.requirements): subtask.requirements for subtask in subtasks}
        in_intro, _ = self.references.named("\n".join(line.text for line in draft.intro))
        named = dict.fromkeys([*self.references.of_stories(stories), *in_intro])
        named.update(dict.fromkeys(part for parts in of_tasks.values() for part in parts))
        lines = draft.lines or [line for task in draft.tasks for line in task.lines]
        return Group(
            number=number,
            title=_phase_title(draft.heading, number),
            state=rolled_up([subtask.state for subtask in subtasks]),
            optional=_LIKE["optional_heading"].search(draft.heading) is not None,
            subtasks=subtasks,
            requirements=tuple(named),
            text=text_of(lines),
            parallel=_LIKE["parallel_anywhere"].search(draft.heading) is not None,
            is_checkpoint=draft.heading.lower().lstrip(_MARKS).startswith("checkpoint"),
        )

    def _subtask(self, task: TaskDraft, of_phase: tuple[str, ...]) -> Subtask:
        self.places.setdefault(f"task {task.number}", self.markdown.at(task.line))
        known, unknown = self.references.named(task.text)
        stories = task.stories or _of_headings(task, of_phase)
        missing = [story for story in task.stories if story not in self.references.stories]
        if (unknown or missing) and self.references.rows:
            what = f"{task.number} names {', '.join([*missing, *unknown])}: no such requirement in this spec"
            self.warn(task.line, f"{what}. Correct the id, or declare it")
        named = (*known, *self.traced.get(task.number, ()))
        if (stories, named) not in self.shared:  # tasks that name the same share one tuple
            self.shared[stories, named] = tuple(dict.fromkeys([*self.references.of_stories(stories), *named]))
        return Subtask(
            number=task.number,
            title=task.title,
            state=_state(task),
            optional=task.is_optional,
            requirements=self.shared[stories, named],
            details=task.details,
            parallel=task.is_parallel,
            after=self._after(task),
        )

    def _after(self, task: TaskDraft) -> tuple[str, ...]:
        """The tasks that a task, or a heading above it, says it waits for."""
        headings = [heading.title[:_LONGEST_HEADING] for _, heading in task.chain if heading.level > 1]
        waits, unknown = waited_for("\n".join([task.text, *headings]), self.numbers)
        self._warn_of_unknown(task.line, f"{task.number} waits for", unknown)
        numbers = dict.fromkeys((*waits, *self.stated.get(task.number, ())))
        return tuple(number for number in numbers if number != task.number)

    def _stated(self, phases: list[tuple[int, PhaseDraft]]) -> dict[str, list[str]]:
        """What each task comes after, as other tasks, words before a phase's first task, prose and tables say it."""
        waits: dict[str, list[str]] = {}
        for task in self.tasks:
            blocked, unknown = blocked_by(task.text, self.numbers)
            self._warn_of_unknown(task.line, f"{task.number} blocks", unknown)
            for later in blocked:
                waits.setdefault(later, []).append(task.number)
        for _, phase in phases:
            own = [task.number for task in phase.tasks]
            head = (line.text for line in phase.intro if line.number < phase.tasks[0].line)
            named = dict.fromkeys(name for text in head for name in phase_waits(text, self.numbers))
            before = [name for name in named if name not in own]
            for later in own if before and self.numbers.has_room(len(own) * len(before)) else ():
                waits.setdefault(later, []).extend(before)
        for statement in stated_in(self.markdown, self.numbers):
            self._warn_of_unknown(statement.line, "the order of tasks names", statement.unknown)
            for later in statement.later:
                waits.setdefault(later, []).extend(statement.earlier)
        return waits

    def warn_of_too_many(self) -> None:
        """Ranges and lists without end are no plan; what is left out of them is reported."""
        if self.numbers.spare < 0:
            what = f"words about the order of tasks name more than {MOST_NAMED} of them: not all are kept. Name fewer"
            self.warn(1, what)
        if self.references.spare < 0:
            self.warn(1, "ranges name very many requirements: of some the first alone is kept. Name fewer")

    def _warn_of_unknown(self, line: int, who: str, unknown: tuple[str, ...]) -> None:
        if unknown:
            self.warn(line, f"{who} {', '.join(unknown)}: no such task here. Correct the number")

    def _traced(self) -> dict[str, list[str]]:
        """What tables say: the ids in a row's first cell are the work of the tasks that the row names."""
        parts: dict[str, list[str]] = {}
        for table in self.markdown.tables:
            column = table.column_with("task", "任务", "タスク", "작업", "tarea", "tarefa", "tâche")
            for row in table.rows if column else ():
                ids, _ = self.references.named(row.cell(0))
                tasks, _ = waited_for(f"after {row.cell(column)}", self.numbers) if ids else ((), ())
                for task in tasks:
                    parts.setdefault(task, []).extend(ids)
        return parts


def _take_labels(task: TaskDraft) -> None:
    """Labels such as `[P]` and `[US1]` are taken from the title; any other stays in it."""
    items = items_of(task.lines)
    wraps = bool(items) and not (task.is_heading or items[0].is_listed) and items[0].line == task.line + 1
    wrapped = items.pop(0).text if wraps else ""
    rest = f"{task.title} {wrapped}".strip()
    task.details = tuple(item.text for item in items)
    kept: list[str] = []
    end = 0
    while (match := _LIKE["tasks_label"].match(rest, end)) is not None and _takes(
        task, match["label"].strip(), kept, match[0]
    ):
        end = match.end()
    rest = rest[end:]
    if _LIKE["parallel_anywhere"].search(rest):
        task.is_parallel, rest = True, _LIKE["parallel_anywhere"].sub("", rest)
    if not task.stories:
        labels = (match["label"] for match in _LIKE["story_anywhere"].finditer(rest))
        task.stories = tuple(dict.fromkeys(story for label in labels for story in stories_in_label(label)))
    if (of_title := _LIKE["field_at_end"].search(rest)) is not None:
        task.details, rest = (of_title[0].strip(" _"), *task.details), rest[: of_title.start()]
    task.is_struck = task.is_struck or is_taken_back(rest)
    bare = rest.replace("**", "")  # the strikes that are left in one that is not taken back part the old from the new
    bare = bare.replace("~~", "").strip(_MARKS) if task.is_struck else bare.strip(_MARKS.replace("~", ""))
    task.title = " ".join([*kept, *bare.split()])
    task.is_optional |= any(_LIKE["optional_heading"].search(heading.title) for _, heading in task.chain[-1:])


def _takes(task: TaskDraft, label: str, kept: list[str], written: str) -> bool:
    """Whether what stands in brackets is a label. Other brackets are kept; words in parentheses end the labels."""
    stories = tuple(stories_in_label(label))
    if _LIKE["parallel"].fullmatch(label):
        task.is_parallel = True
    elif _LIKE["optional"].match(label):
        task.is_optional = True
    elif stories:
        task.stories = tuple(dict.fromkeys((*task.stories, *stories)))
    elif "[" in written:
        kept.append(written.strip(" *"))
    else:
        return False
    return True


def _of_headings(draft: TaskDraft, of_phase: tuple[str, ...]) -> tuple[str, ...]:
    """The stories of a phase, or those of them that the nearest heading below it is about."""
    named = (tuple(stories_in_title(heading.title[:_LONGEST_HEADING])) for _, heading in reversed(draft.chain))
    return next((stories for stories in named if stories and of_phase and set(stories) <= set(of_phase)), of_phase)


def _phase_title(heading: str, number: int) -> str:
    """A phase's name without a number that the group has anyway."""
    match = _LIKE["phase"].match(heading)
    rest = match["rest"].strip(_MARKS) if match and _written(heading) == number else ""
    return rest or heading.strip("* ") if heading else _ALL_BEFORE


def _state(task: TaskDraft) -> TaskState:
    """What its box says; a heading without a tick stands where the boxes below it stand."""
    if task.is_struck:
        return TaskState.SKIPPED
    boxes = [task.box or ""]
    if task.is_heading and not task.box:
        boxes = [box for line in task.lines if (box := box_of(line)) is not None]
    states = [TaskState.DONE if box and box in _TICKS else state_of(box) for box in boxes]
    return rolled_up(states) if task.is_heading and not task.box else states[0]
