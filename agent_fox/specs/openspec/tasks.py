"""tasks.md of a change as task groups, with the requirements that they name. Requirements are not read here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count, pairwise
from typing import TYPE_CHECKING

from agent_fox.core.spec import Group, Problem, Subtask
from agent_fox.specs.collected import ReadTasks, Remarks
from agent_fox.specs.common.task_lists import CHECKPOINT, Draft, doubled_tasks, rolled_up, state_of
from agent_fox.specs.common.test_writers import mark_test_writers
from agent_fox.specs.files import warning
from agent_fox.specs.openspec import task_drafts
from agent_fox.specs.openspec.capabilities import half_written
from agent_fox.specs.openspec.task_drafts import Section, Unit, deep_number, numbered
from agent_fox.specs.openspec.task_references import Names, tasks_named
from agent_fox.specs.openspec.words import is_unfilled
from agent_fox.specs.word_tables import patterns_in

if TYPE_CHECKING:
    from agent_fox.specs.document import Markdown

_LIKE = patterns_in(__file__)


def read_tasks(markdown: Markdown, names: Names, fallback_title: str) -> ReadTasks:
    """The groups of a tasks file, in its order; counted where their headings are not numbered upwards from 1."""
    root = task_drafts.sections_of(markdown.lines)
    has_boxes = root.has_tasks
    units = task_drafts.units_of(root, has_boxes)
    written = [unit.number or 0 for unit in units]
    grows = all(before < after for before, after in pairwise([0, *written]))  # group 0 is the reviewers'
    numbers = written if grows else list(range(1, len(units) + 1))
    drafts = [list(task_drafts.drafts_of(unit, has_boxes)) for unit in units]
    reading = _Reading(markdown, names, fallback_title)
    reading.problems += _shape_problems(markdown, units, numbers, has_boxes)
    reading.problems += _unread(markdown, root, units) if has_boxes else ()
    groups = reading.groups(units, numbers, drafts)
    return ReadTasks(mark_test_writers(groups), tuple(reading.problems), reading.places)


class _Reading(Remarks):
    """Turns units into groups, and collects places and problems on the way."""

    def __init__(self, markdown: Markdown, names: Names, fallback_title: str) -> None:
        super().__init__(markdown)
        self.names, self.fallback_title = names, fallback_title
        self.places: dict[str, str] = {}
        self.known: frozenset[str] = frozenset()

    def groups(self, units: list[Unit], numbers: list[int], drafts: list[list[Draft]]) -> tuple[Group, ...]:
        every = [draft for of_group in drafts for draft in of_group]
        self.problems += doubled_tasks(self.markdown, every)
        unfilled = [draft.line for draft in every if is_unfilled(draft.title)]
        unfilled += [unit.line for unit in units if unit.title and is_unfilled(_bare(unit.title))]
        self.problems += half_written(self.markdown, unfilled)
        self._count(drafts, numbers, {draft.number for draft in every})
        self.known = frozenset(draft.number for draft in every)
        groups = tuple(self._group(*row) for row in zip(units, numbers, drafts, strict=True))
        if len(groups) == 1 and not groups[0].requirements:
            return (replace(groups[0], requirements=self.names.index.every),)
        return groups

    def _count(self, drafts: list[list[Draft]], numbers: list[int], taken: set[str]) -> None:
        """Number the tasks that have no number by their places, past those that are written."""
        for number, of_group in zip(numbers, drafts, strict=True):
            places = count(1)
            for draft in of_group:
                name = f"{number}.{next(places)}"
                while not draft.number and name in taken:
                    name = f"{number}.{next(places)}"
                draft.number = draft.number or name

    def _group(self, unit: Unit, number: int, drafts: list[Draft]) -> Group:
        self.places[f"group {number}"] = self.markdown.at(unit.line)
        subtasks = tuple(map(self._subtask, drafts))
        is_title = unit.number is None and unit.box is None and unit.sections[0].level <= 1
        title = "" if is_title else _plain(_LIKE["parallel"].sub("", _plain(unit.title) if unit.box else unit.title))
        title = title or self.fallback_title
        return Group(
            number=number,
            title=_LIKE["optional"].sub("", title).strip(),
            state=state_of(unit.box.mark) if unit.box else rolled_up([subtask.state for subtask in subtasks]),
            optional=_LIKE["optional"].search(title) is not None or (unit.box is not None and unit.box.is_optional),
            subtasks=subtasks,
            requirements=self._owned(unit),
            text=_text(unit),
            parallel=_LIKE["parallel"].search(unit.title) is not None,
            is_checkpoint=CHECKPOINT.match(title) is not None,
        )

    def _subtask(self, draft: Draft) -> Subtask:
        self.places.setdefault(f"task {draft.number}", self.markdown.at(draft.line))
        title, details = _plain(_LIKE["parallel"].sub("", draft.title)), task_drafts.details_of(draft)
        return Subtask(
            number=draft.number,
            title=_LIKE["optional"].sub("", title).strip(),
            state=task_drafts.task_state(draft),
            optional=_LIKE["optional"].search(title) is not None or draft.is_optional,
            requirements=self.names.parts_in((draft.title, *details))[0],
            details=details,
            parallel=draft.is_parallel or _LIKE["parallel"].search(draft.title) is not None,
            after=tasks_named((draft.title, *details), self.known, draft.number),
        )

    def _owned(self, unit: Unit) -> tuple[str, ...]:
        """What a group's headings are about, and what its lines and paragraphs name: those of its tasks too."""
        title = _plain(unit.title) if unit.box else unit.title
        titles = [title, *(section.title for section in unit.sections[1:])]
        texts = [line.text.strip() for line in unit.lines if not (line.is_code or line.is_blank)]
        about = self.names.headed(_plain(_bare(title)) for title in titles)
        named, unknown = self.names.parts_in([*titles, *texts], task_drafts.wrapped(unit.lines))
        if unknown and self.names.index.every:
            what = f"names {', '.join(unknown)}: no such requirement in this change. Correct the title"
            self.warn(unit.line, what)
        return tuple(dict.fromkeys([*about, *named]))


def _shape_problems(markdown: Markdown, units: list[Unit], numbers: list[int], has_boxes: bool) -> Iterator[Problem]:
    odd = [unit for unit, number in zip(units, numbers, strict=True) if unit.number not in (None, number)]
    if odd:
        written = ", ".join("-" if unit.number is None else str(unit.number) for unit in units)
        what = f"the groups are numbered {written}: counted as {', '.join(map(str, numbers))}. Number them upwards"
        yield warning(markdown.at(odd[0].line), what)
    if units and not has_boxes:
        yield warning(markdown.at(units[0].line), "no task has a box: read from headings and list items. Write `- [ ]`")


def _unread(markdown: Markdown, root: Section, units: list[Unit]) -> Iterator[Problem]:
    """The sections that belong to no group, and look as if they should."""
    read = {id(section.lines) for unit in units for section in unit.sections}
    is_listed = any(unit.box is not None for unit in units)
    for section in root.every() if not is_listed else ():
        what = ""
        if section.boxes and not section.holds_samples:
            what = f'the boxes under "{section.title}" are no tasks: not read. Move those that are'
        elif section.number is not None and not section.has_tasks:
            what = f'"{section.title}" has no tasks with boxes: no group. Write them as `- [ ] {section.number}.1 T`'
        if what and id(section.lines) not in read:
            yield warning(markdown.at(section.line), what)


def _text(unit: Unit) -> str:
    """All that stands below the group's own heading."""
    lines = [unit.box.line.text] if unit.box else []
    for section in unit.sections:
        lines += [f"{'#' * section.level} {section.title}"] if section is not unit.sections[0] else []
        lines += [line.text for line in section.lines]
    return "\n".join(lines).strip("\n")


def _bare(title: str) -> str:
    """A heading without its number."""
    number = deep_number(title)
    return number[1] if number else numbered(title)[1]


def _plain(title: str) -> str:
    """A title without marks for bold type, and without a field that ends its line: `_Requirements: 1.2_`."""
    title = _LIKE["field_at_end"].sub("", title)
    text = _LIKE["bold"].sub(lambda found: found["stars"] or found["lines"], title).strip()
    whole = _LIKE["emphasis"].fullmatch(text)
    text = whole["text"] if whole else text
    return text.removesuffix("**").removeprefix("**").strip() if text.count("**") % 2 else text
