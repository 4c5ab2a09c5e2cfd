"""tasks.md of spec-kit as task groups: phases numbered, tasks with their labels, and the requirements they name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.spec import Group, Subtask, TaskState
from agent_fox.specs.collected import ReadTasks, Remarks
from agent_fox.specs.common.task_lists import rolled_up, state_of, text_of
from agent_fox.specs.common.test_writers import mark_first_tests
from agent_fox.specs.lines import listed
from agent_fox.specs.spec_kit.identifiers import is_taken_back, stories_in_label, stories_in_title
from agent_fox.specs.spec_kit.order import MOST_NAMED, Numbers, blocked_by, phase_waits, stated_in, waited_for
from agent_fox.specs.spec_kit.parts import items_of
from agent_fox.specs.spec_kit.phases import Cut, PhaseDraft, TaskDraft, box_of, cut
from agent_fox.specs.spec_kit.words import PHASE

if TYPE_CHECKING:
    from agent_fox.specs.document import Markdown
    from agent_fox.specs.spec_kit.identifiers import References

_LABEL = regex(r"[\s*_`]{0,6}[\[(（【](?P<label>[^\[\]()（）【】]{1,60})[\])）】][*_`]{0,4}(?!\()")
_PARALLEL = regex(r"P\??|parallel|🔵 ?parallel", re.IGNORECASE)
_OPTIONAL = regex(r"optional\b|可选|任意|선택|opcional|optionnel", re.IGNORECASE)
_OPTIONAL_HEADING = regex(r"[(（\[]\s?(?:optional|可选|任意|선택|opcional|optionnel)", re.IGNORECASE)
_FIELD_AT_END = regex(r"\s_[^_\s:：][^_:：]{0,40}[:：][^_]{0,400}_\s*$")
_PARALLEL_ANYWHERE = regex(r"(?<!`)\[P\](?!`)")
_STORY_ANYWHERE = regex(r"[\[(（](?P<label>US[ -]?\d[^\[\]()（）]{0,40})[\])）]")
_MARKS = "*_ :：.-–—\t~"
_TICKS = "✓✔✅☑"
_ALL_BEFORE = "Tasks"
_LONGEST_HEADING = 300


def read_tasks(markdown: Markdown, references: References) -> ReadTasks:
    """The groups of a tasks file: its phases, in their order."""
    phases = cut(markdown.lines)
    reading = _Reading(markdown, references, phases)
    groups = tuple(reading.group(number, draft) for number, draft in _numbered(phases.phases))
    reading.warn_of_too_many()
    return ReadTasks(mark_first_tests(groups), tuple(reading.problems), reading.places)


def _numbered(phases: Iterable[PhaseDraft]) -> Iterator[tuple[int, PhaseDraft]]:
    """Phases with their written numbers, where these go up; else counted."""
    drafts = list(phases)
    numbers: list[int] = []
    for draft in drafts:
        written = _written(draft.heading)
        numbers.append((numbers[-1] if numbers else 0) + 1 if written is None else written)
    goes_up = all(before < after for before, after in pairwise([0, *numbers]))
    is_plain = any(_written(draft.heading) is not None for draft in drafts)
    return zip(numbers if goes_up and is_plain else range(1, len(drafts) + 1), drafts, strict=True)


def _written(heading: str) -> int | None:
    """The number in a phase's name; a name such as `Phase 3.1` counts within something else: 0 fits nowhere."""
    match = PHASE.match(heading)
    number = (match["number"] or match["asian"] or match["korean"] or "") if match else ""
    if "." in number:
        return 0
    return int(number) if number.isdecimal() else None


class _Reading(Remarks):
    """Turns drafts into values, and collects the problems and places on the way."""

    def __init__(self, markdown: Markdown, references: References, found: Cut) -> None:
        super().__init__(markdown)
        self.references = references
        self.places: dict[str, str] = {}
        self.shared: dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[str, ...]] = {}
        self.tasks = tuple(self._labelled(found.phases))
        self.numbers = Numbers({task.number: place for place, task in enumerate(self.tasks)})
        self.traced = self._traced()
        self.stated = self._stated(found.phases)
        self._warn_of_doubled(found.phases)
        self._warn_of_lost(found.lost)
        self._warn_of_unread(found.unread)
        for line, title in found.empty:
            self.warn(line, f"{title!r} has no tasks: not planned. Write tasks with boxes (`- [ ] T001 ...`)")

    def _warn_of_doubled(self, phases: Iterable[PhaseDraft]) -> None:
        """Phases that have one number are counted, as all of them are then."""
        seen: dict[int, int] = {}
        for number, phase in _numbered(phases):
            written = _written(phase.heading)
            if written and written in seen:
                what = f"phase {written} stands twice, first in line {seen[written]}: phases are counted, "
                self.warn(phase.line, f"{what}this one is known as group {number} here. Renumber one")
            elif written:
                seen[written] = phase.line

    def _warn_of_lost(self, lost: Iterable[TaskDraft]) -> None:
        for task in lost:
            if task.number:
                what = f"{task.number} stands in no phase: not planned. Move it below the phase it belongs to"
                self.warn(task.line, what)
        boxes = [task.line for task in lost if not task.number]
        if boxes:
            what = f"boxes without a number, in no phase: {listed(boxes)}. Not planned; number those that are tasks"
            self.warn(boxes[0], what)

    def _warn_of_unread(self, unread: tuple[tuple[int, str], ...]) -> None:
        if unread:
            lines = listed(line for line, _ in unread)
            what = f"{unread[0][1]} and such are written in another way than other tasks here: {lines}. Not planned"
            self.warn(unread[0][0], f"{what}; write tasks with boxes (`- [ ] T001 ...`), one a line")

    def _labelled(self, phases: Iterable[PhaseDraft]) -> Iterator[TaskDraft]:
        seen: dict[str, list[int]] = {}
        for number, phase in _numbered(phases):
            for place, task in enumerate(phase.tasks, 1):
                task.number = self._own_number(task.number or f"{number}.{place}", task.line, seen)
                _take_labels(task)
                yield task

    def _own_number(self, number: str, line: int, seen: dict[str, list[int]]) -> str:
        """The number as written; the second task that has it is known by another, which nobody writes."""
        lines = seen.setdefault(number, [])
        lines.append(line)
        if len(lines) == 1:
            return number
        other = f"{number} ({len(lines)})"
        what = f"{number} stands in line {lines[0]} too: this one is known as {other!r} here. Renumber one"
        self.warn(line, what)
        return other

    def group(self, number: int, draft: PhaseDraft) -> Group:
        self.places[f"group {number}"] = self.markdown.at(draft.line or draft.tasks[0].line)
        stories = tuple(stories_in_title(draft.heading))
        subtasks = tuple(self._subtask(task, stories) for task in draft.tasks)
        of_tasks = {id(subtask.requirements): subtask.requirements for subtask in subtasks}
        named = dict.fromkeys([*self.references.of_stories(stories), *self._in_intro(draft)])
        named.update(dict.fromkeys(part for parts in of_tasks.values() for part in parts))
        lines = draft.lines or [line for task in draft.tasks for line in task.lines]
        return Group(
            number=number,
            title=_phase_title(draft.heading, number),
            state=rolled_up([subtask.state for subtask in subtasks]),
            optional=_OPTIONAL_HEADING.search(draft.heading) is not None,
            subtasks=subtasks,
            requirements=tuple(named),
            text=text_of(lines),
            parallel=_PARALLEL_ANYWHERE.search(draft.heading) is not None,
            is_checkpoint=draft.heading.lower().lstrip(_MARKS).startswith("checkpoint"),
        )

    def _in_intro(self, draft: PhaseDraft) -> list[str]:
        return list(self.references.named("\n".join(line.text for line in draft.intro))[0])

    def _subtask(self, task: TaskDraft, of_phase: tuple[str, ...]) -> Subtask:
        self.places.setdefault(f"task {task.number}", self.markdown.at(task.line))
        known, unknown = self.references.named(task.text)
        stories = task.stories or _of_headings(task, of_phase)
        missing = [story for story in task.stories if not self.references.has_story(story)]
        if (unknown or missing) and not self.references.is_empty:
            what = f"{task.number} names {', '.join([*missing, *unknown])}: no such requirement in this spec"
            self.warn(task.line, f"{what}. Correct the id, or declare it")
        return Subtask(
            number=task.number,
            title=task.title,
            state=_state(task),
            optional=task.is_optional,
            requirements=self._requirements(stories, (*known, *self.traced.get(task.number, ()))),
            details=task.details,
            parallel=task.is_parallel,
            after=self._after(task),
        )

    def _requirements(self, stories: tuple[str, ...], named: tuple[str, ...]) -> tuple[str, ...]:
        """The parts of stories, and others that are named. Tasks that name the same share one tuple."""
        if (stories, named) not in self.shared:
            self.shared[stories, named] = tuple(dict.fromkeys([*self.references.of_stories(stories), *named]))
        return self.shared[stories, named]

    def _after(self, task: TaskDraft) -> tuple[str, ...]:
        """The tasks that a task, or a heading above it, says it waits for."""
        headings = [heading.title[:_LONGEST_HEADING] for _, heading in task.chain if heading.level > 1]
        waits, unknown = waited_for("\n".join([task.text, *headings]), self.numbers)
        self._warn_of_unknown(task.line, f"{task.number} waits for", unknown)
        return tuple(
            number for number in dict.fromkeys((*waits, *self.stated.get(task.number, ()))) if number != task.number
        )

    def _of_phase(self, phase: PhaseDraft) -> Iterator[tuple[str, list[str]]]:
        """Each task of a phase with those that the words before its first task say it depends on."""
        own = [task.number for task in phase.tasks]
        head = [line.text for line in phase.intro if line.number < phase.tasks[0].line]
        named = (name for text in head for name in phase_waits(text, self.numbers))
        before = [name for name in dict.fromkeys(named) if name not in own]
        if before and self.numbers.has_room(len(own) * len(before)):
            yield from ((number, before) for number in own)

    def _stated(self, phases: Iterable[PhaseDraft]) -> dict[str, list[str]]:
        """What each task comes after, as others say it: tasks that block it, prose about their order, tables."""
        waits: dict[str, list[str]] = {}
        for task in self.tasks:
            blocked, unknown = blocked_by(task.text, self.numbers)
            self._warn_of_unknown(task.line, f"{task.number} blocks", unknown)
            for later in blocked:
                waits.setdefault(later, []).append(task.number)
        for phase in phases:
            for later, first in self._of_phase(phase):
                waits.setdefault(later, []).extend(first)
        for statement in stated_in(self.markdown, self.numbers):
            self._warn_of_unknown(statement.line, "the order of tasks names", statement.unknown)
            for later in statement.later:
                waits.setdefault(later, []).extend(statement.earlier)
        return waits

    def warn_of_too_many(self) -> None:
        """Ranges and lists without end are no plan; what is left out of them is reported."""
        if self.numbers.is_spent:
            what = f"words about the order of tasks name more than {MOST_NAMED} of them: not all are kept. Name fewer"
            self.warn(1, what)
        if self.references.is_spent:
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
    while (match := _LABEL.match(rest, end)) is not None and _takes(task, match["label"].strip(), kept, match[0]):
        end = match.end()
    rest = rest[end:]
    if _PARALLEL_ANYWHERE.search(rest):
        task.is_parallel, rest = True, _PARALLEL_ANYWHERE.sub("", rest)
    if not task.stories:
        anywhere = (story for match in _STORY_ANYWHERE.finditer(rest) for story in stories_in_label(match["label"]))
        task.stories = tuple(dict.fromkeys(anywhere))
    if (of_title := _FIELD_AT_END.search(rest)) is not None:
        task.details, rest = (of_title[0].strip(" _"), *task.details), rest[: of_title.start()]
    task.is_struck = task.is_struck or is_taken_back(rest)
    task.title = " ".join([*kept, *_unmarked(rest, task.is_struck).split()])
    task.is_optional |= any(_OPTIONAL_HEADING.search(heading.title) for _, heading in task.chain[-1:])


def _unmarked(text: str, is_struck: bool) -> str:
    """A title without marks; the strikes that are left in one that is not taken back part the old from the new."""
    plain = text.replace("**", "")
    return plain.replace("~~", "").strip(_MARKS) if is_struck else plain.strip(_MARKS.replace("~", ""))


def _of_headings(draft: TaskDraft, of_phase: tuple[str, ...]) -> tuple[str, ...]:
    """The stories of a phase, or those of them that the nearest heading below it is about."""
    named = (tuple(stories_in_title(heading.title[:_LONGEST_HEADING])) for _, heading in reversed(draft.chain))
    return next((stories for stories in named if stories and of_phase and set(stories) <= set(of_phase)), of_phase)


def _takes(task: TaskDraft, label: str, kept: list[str], written: str) -> bool:
    """Whether what stands in brackets is a label. Other brackets are kept; words in parentheses end the labels."""
    stories = tuple(stories_in_label(label))
    if _PARALLEL.fullmatch(label):
        task.is_parallel = True
    elif _OPTIONAL.match(label):
        task.is_optional = True
    elif stories:
        task.stories = tuple(dict.fromkeys((*task.stories, *stories)))
    elif "[" in written:
        kept.append(written.strip(" *"))
    else:
        return False
    return True


def _phase_title(heading: str, number: int) -> str:
    """A phase's name without a number that the group has anyway."""
    if not heading:
        return _ALL_BEFORE
    match = PHASE.match(heading)
    rest = match["rest"].strip(_MARKS) if match and _written(heading) == number else ""
    return rest or heading.strip("* ")


def _state(task: TaskDraft) -> TaskState:
    """What its box says; a heading without a tick stands where the boxes below it stand."""
    if task.is_struck:
        return TaskState.SKIPPED
    if task.is_heading and not task.box:
        return rolled_up([_ticked(box) for line in task.lines if (box := box_of(line)) is not None])
    return _ticked(task.box)


def _ticked(box: str) -> TaskState:
    return TaskState.DONE if box and box in _TICKS else state_of(box)
