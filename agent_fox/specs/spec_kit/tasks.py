"""tasks.md of spec-kit as task groups: phases numbered, tasks with their labels, and the requirements they name."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from agent_fox.core.spec import Group, Subtask, TaskState
from agent_fox.specs.collected import ReadTasks
from agent_fox.specs.common import task_lists
from agent_fox.specs.common.task_lists import MOST_NAMED, Draft, Numbers, rolled_up, state_of
from agent_fox.specs.document import Markdown
from agent_fox.specs.lines import Line
from agent_fox.specs.spec_kit.identifiers import References, is_taken_back, stories_in_label, stories_in_title
from agent_fox.specs.spec_kit.order import parted, phase_waits, rank, stated_in, tasks_named
from agent_fox.specs.spec_kit.parts import items_of
from agent_fox.specs.spec_kit.phases import Phases, box_of
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_MARKS = "*_ :：.-–—\t~"
_TICKS = "✓✔✅☑"
_ALL_BEFORE = "Tasks"
_LONGEST_HEADING = 300


def read_tasks(markdown: Markdown, references: References) -> ReadTasks:
    """The groups of a tasks file: its phases, in their order."""
    reading = _Reading(markdown, references)
    groups = tuple(map(reading.group, reading.drafts))
    if reading.numbers.spare < 0:  # ranges and lists without end are no plan
        what = f"words about the order of tasks name more than {MOST_NAMED} of them: not all are kept. Name fewer"
        reading.warn(1, what)
    if references.spare < 0:
        reading.warn(1, "ranges name very many requirements: of some the first alone is kept. Name fewer")
    places = task_lists.places_of(markdown, reading.drafts)
    return ReadTasks(task_lists.mark_first_tests(groups), tuple(reading.problems), places)


def _written(heading: str) -> int | None:
    """The number in a phase's name; a name such as `Phase 3.1` counts within something else: 0 fits nowhere."""
    match = _LIKE["phase"].match(heading)
    number = (match["number"] or match["asian"] or match["korean"] or "") if match else ""
    return 0 if "." in number else int(number) if number.isdecimal() else None


class _Reading(Phases):
    """Turns drafts into values, and collects the problems and places on the way."""

    def __init__(self, markdown: Markdown, references: References) -> None:
        super().__init__(markdown)
        self.references = references
        self.shared: dict[tuple[tuple[str, ...], tuple[str, ...]], tuple[str, ...]] = {}
        self.tasks = tuple(task for phase in self.drafts for task in phase.tasks)
        self._count()
        self._tell_apart()
        for task in self.tasks:
            _take_labels(task)
        self.numbers = Numbers({task.number: place for place, task in enumerate(self.tasks)}, rank)
        self.traced = self._traced()
        self.stated = self._stated()

    def _count(self) -> None:
        """Phases have their written numbers, where these go up; else they are counted, and some have one number."""
        numbers: list[int] = []
        written = [_written(phase.title) for phase in self.drafts]
        for number in written:
            numbers.append((numbers[-1] if numbers else 0) + 1 if number is None else number)
        goes_up = all(before < after for before, after in pairwise([0, *numbers]))
        is_plain = any(number is not None for number in written)
        first: dict[int, int] = {}
        for place, (phase, number, own) in enumerate(zip(self.drafts, numbers, written, strict=True), 1):
            phase.group = number if goes_up and is_plain else place
            if own and first.setdefault(own, phase.line) != phase.line:
                what = f"phase {own} stands twice, first in line {first[own]}: phases are counted, this one is known as"
                self.warn(phase.line, f"{what} group {phase.group} here. Renumber one")

    def _tell_apart(self) -> None:
        """Every task has a number; the second that has one is known by another, which nobody writes."""
        seen: dict[str, list[int]] = {}
        for phase in self.drafts:
            for place, task in enumerate(phase.tasks, 1):
                number = task.number or f"{phase.group}.{place}"
                lines = seen.setdefault(number, [])
                lines.append(task.line)
                task.number = number if len(lines) == 1 else f"{number} ({len(lines)})"
                if len(lines) > 1:
                    what = f"{number} stands in line {lines[0]} too: this one is known as {task.number!r} here"
                    self.warn(task.line, f"{what}. Renumber one")

    def group(self, draft: Draft) -> Group:
        stories = tuple(stories_in_title(draft.title))
        subtasks = tuple(self._subtask(task, stories) for task in draft.tasks)
        in_intro, _ = self.references.named("\n".join(line.text for line in _intro(draft)))
        named = dict.fromkeys([*self.references.of_stories(stories), *in_intro])
        # a phase's name without a number that the group has anyway
        match = _LIKE["phase"].match(draft.title)
        rest = match["rest"].strip(_MARKS) if match and _written(draft.title) == draft.group else ""
        title = rest or draft.title.strip("* ") if draft.title else _ALL_BEFORE
        is_optional = _LIKE["optional_heading"].search(draft.title) is not None
        is_parallel = _LIKE["parallel_anywhere"].search(draft.title) is not None
        state = rolled_up([subtask.state for subtask in subtasks])
        own = Subtask("", title, state, is_optional, tuple(named), parallel=is_parallel)
        draft.lines = draft.lines or [line for task in draft.tasks for line in task.lines]
        is_checkpoint = draft.title.lower().lstrip(_MARKS).startswith("checkpoint")
        return replace(task_lists.group_of(draft, own, subtasks), is_checkpoint=is_checkpoint)

    def _subtask(self, task: Draft, of_phase: tuple[str, ...]) -> Subtask:
        known, unknown = self.references.named(_text(task))
        # the stories of its phase, or those of them that the nearest heading below it is about
        in_headings = (tuple(stories_in_title(heading.title[:_LONGEST_HEADING])) for _, heading in reversed(task.chain))
        narrower = (named for named in in_headings if named and of_phase and set(named) <= set(of_phase))
        stories = task.stories or next(narrower, of_phase)
        missing = [story for story in task.stories if story not in self.references.stories]
        if (unknown or missing) and self.references.rows:
            what = f"{task.number} names {', '.join([*missing, *unknown])}: no such requirement in this spec"
            self.warn(task.line, f"{what}. Correct the id, or declare it")
        named = (*known, *self.traced.get(task.number, ()))
        if (stories, named) not in self.shared:  # tasks that name the same share one tuple
            self.shared[stories, named] = tuple(dict.fromkeys([*self.references.of_stories(stories), *named]))
        # the tasks that it, or a heading above it, says it waits for
        headings = [heading.title[:_LONGEST_HEADING] for _, heading in task.chain if heading.level > 1]
        waits, unknown = tasks_named("\n".join([_text(task), *headings]), "waits", self.numbers)
        self._warn_of_unknown(task.line, f"{task.number} waits for", unknown)
        numbers = dict.fromkeys((*waits, *self.stated.get(task.number, ())))
        after = tuple(number for number in numbers if number != task.number)
        state, parts = self._state(task), self.shared[stories, named]
        return Subtask(task.number, task.title, state, task.is_optional, parts, task.details, task.is_parallel, after)

    def _state(self, task: Draft) -> TaskState:
        """What its box says; a heading without a tick stands where the boxes below it stand."""
        if task.is_struck:
            return TaskState.SKIPPED
        is_headed = (task.indent < 0) and not task.box
        boxes = [box for line in task.lines if (box := box_of(line)) is not None] if is_headed else [task.box or ""]
        states = [TaskState.DONE if box and box in _TICKS else state_of(box) for box in boxes]
        return rolled_up(states) if is_headed else states[0]

    def _stated(self) -> dict[str, list[str]]:
        """What each task comes after, as other tasks, words before a phase's first task, prose and tables say it."""
        waits: dict[str, list[str]] = {}
        for task in self.tasks:
            blocked, unknown = tasks_named(_text(task), "blocks", self.numbers)
            self._warn_of_unknown(task.line, f"{task.number} blocks", unknown)
            for later in blocked:
                waits.setdefault(later, []).append(task.number)
        for phase in self.drafts:
            own = [task.number for task in phase.tasks]
            head = (line.text for line in _intro(phase) if line.number < phase.tasks[0].line)
            named = dict.fromkeys(name for text in head for name in phase_waits(text, self.numbers))
            before = [name for name in named if name not in own]
            for later in own if before and self.numbers.has_room(len(own) * len(before)) else ():
                waits.setdefault(later, []).extend(before)
        for line, first, last in stated_in(self.markdown, self.numbers):
            (awaited, strange), (after, stranger) = parted(first, self.numbers), parted(last, self.numbers)
            self._warn_of_unknown(line, "the order of tasks names", tuple(dict.fromkeys((*strange, *stranger))))
            for later in after if self.numbers.has_room(len(awaited) * len(after)) else ():
                waits.setdefault(later, []).extend(awaited)
        return waits

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
                tasks, _ = tasks_named(f"after {row.cell(column)}", "waits", self.numbers) if ids else ((), ())
                for task in tasks:
                    parts.setdefault(task, []).extend(ids)
        return parts


def _take_labels(task: Draft) -> None:
    """Labels such as `[P]` and `[US1]` are taken from the title; any other stays in it."""
    items = items_of(task.lines)
    wraps = bool(items) and not ((task.indent < 0) or items[0].mark) and items[0].line == task.line + 1
    wrapped = items.pop(0).text if wraps else ""
    rest = f"{task.title} {wrapped}".strip()
    task.details = tuple(item.text for item in items)
    kept: list[str] = []
    while (match := _LIKE["tasks_label"].match(rest)) is not None:
        label, written = match["label"].strip(), match[0]
        stories = tuple(stories_in_label(label))
        if _LIKE["parallel"].fullmatch(label):
            task.is_parallel = True
        elif _LIKE["optional"].match(label):
            task.is_optional = True
        elif stories:
            task.stories = tuple(dict.fromkeys((*task.stories, *stories)))
        elif "[" in written:
            kept.append(written.strip(" *"))
        else:  # words in parentheses end the labels
            break
        rest = rest[match.end() :]
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


def _intro(phase: Draft) -> Iterator[Line]:
    """The lines of a phase that are no task's."""
    own = {task.line for task in phase.tasks} | {line.number for task in phase.tasks for line in task.lines}
    return (line for line in phase.lines if line.number not in own and not line.is_code)


def _text(task: Draft) -> str:
    return "\n".join((task.title, *task.details))
