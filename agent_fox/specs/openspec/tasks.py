"""tasks.md of a change as task groups, with the requirements that they name. Requirements are not read here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.spec import Group, Problem, Subtask
from agent_fox.specs.collected import ReadTasks, Remarks
from agent_fox.specs.common.task_lists import CHECKPOINT, doubled_tasks, rolled_up, state_of
from agent_fox.specs.common.test_writers import mark_test_writers
from agent_fox.specs.files import warning
from agent_fox.specs.openspec.capabilities import half_written
from agent_fox.specs.openspec.task_drafts import NESTED, PARALLEL, TaskDraft, drafts_of, gathered, wrapped
from agent_fox.specs.openspec.task_references import Names, tasks_named
from agent_fox.specs.openspec.task_sections import (
    Box,
    Section,
    Unit,
    box_in,
    deep_number,
    has_tasks,
    item_in,
    numbered,
    sections_of,
    units_of,
)
from agent_fox.specs.openspec.words import is_unfilled

if TYPE_CHECKING:
    from agent_fox.specs.document import Markdown
    from agent_fox.specs.lines import Line

_WHOLE = regex(r"[*_]{0,3}(?P<number>\d{1,6})[.):\uff1a\u3001](?!\d)[*_]{0,3}\s*(?P<title>\S.*)$")
_OPTIONAL = regex(r"^[\[(]optional[\])]|[\[(]optional[\])]$|（可选）$|（任意）$", re.IGNORECASE)
_FIELD_AT_END = regex(r"\s_[^_\s:\uff1a][^_:\uff1a]{0,40}[:\uff1a][^_]{0,400}_\s*$")
_BOLD = regex(
    r"(?<![\w*`/.])\*\*(?=\S)(?P<stars>(?:`[^`]{0,200}`|[^*`]){1,300}?)\*\*(?!\*)"
    r"|(?<![\w`/.])__(?=\S)(?P<lines>(?:`[^`]{0,200}`|[^_`]){1,300})__(?![\w`/.])"
)
_EMPHASIS = regex(r"(?P<mark>[*_])(?P<text>[^*_]+)(?P=mark)")


def read_tasks(markdown: Markdown, names: Names, fallback_title: str) -> ReadTasks:
    """The groups of a tasks file, in the order of the file. They are counted where their headings are not numbered
    upwards from 1."""
    root = sections_of(markdown.lines)
    has_boxes = has_tasks(root)
    units = _units(root, has_boxes)
    reading = _Reading(markdown, names, has_boxes)
    groups = reading.groups(units, fallback_title)
    problems = (*_shape_problems(markdown, root, units, has_boxes), *reading.problems)
    return ReadTasks(mark_test_writers(groups), problems, reading.places)


def _units(root: Section, has_boxes: bool) -> list[Unit]:
    units = units_of(root, has_boxes)
    if len(units) == 1 and units[0].number is None:
        return _listed_units(units[0]) or (units if has_boxes or _has_items(units[0]) else [])
    return units


def _has_items(unit: Unit) -> bool:
    return any(item_in(line) for section in unit.sections for line in section.lines)


def _listed_units(unit: Unit) -> list[Unit]:
    """Groups that are boxes themselves: `- [ ] 1. T` with boxes below it, or with `1.1` beside it."""
    lines = [line for section in unit.sections for line in section.lines]
    tops = [(box, whole) for line in lines if (box := box_in(line)) and (whole := _whole(box))]
    if len(tops) < 1 or not _has_parts(lines, tops[0][0]):
        return []
    begins = {box.line.number: (box, whole) for box, whole in tops}
    listed: list[Unit] = []
    for line in lines:
        if line.number in begins:
            box, whole = begins[line.number]
            section = Section("", 0, line.number)
            listed.append(Unit(_plain(whole["title"]), int(whole["number"]), line.number, [section], box))
        elif listed:
            listed[-1].sections[0].lines.append(line)
    return listed


def _whole(box: Box) -> re.Match[str] | None:
    return _WHOLE.match(box.rest) if box.line.indent < NESTED else None


def _has_parts(lines: Iterable[Line], first: Box) -> bool:
    boxes = [box for line in lines if (box := box_in(line))]
    has_numbers = any(deep_number(box.rest) for box in boxes)
    return has_numbers or any(box.line.indent >= first.line.indent + NESTED for box in boxes)


class _Reading(Remarks):
    """Turns units into groups, and collects places and problems on the way."""

    def __init__(self, markdown: Markdown, names: Names, has_boxes: bool) -> None:
        super().__init__(markdown)
        self.names, self.has_boxes = names, has_boxes
        self.places: dict[str, str] = {}

    def groups(self, units: list[Unit], fallback_title: str) -> tuple[Group, ...]:
        numbers = _group_numbers(units)
        drafts = [list(self._drafts(unit)) for unit in units]
        named = (draft for of_group in drafts for draft in of_group if draft.number)
        self.problems += doubled_tasks(self.markdown, ((draft.number, draft.line) for draft in named))
        tasks = (draft.line for of_group in drafts for draft in of_group if is_unfilled(draft.title))
        titles = (unit.line for unit in units if unit.title and is_unfilled(_bare(unit.title)))
        self.problems += half_written(self.markdown, [*tasks, *titles])
        known = _count(drafts, numbers)
        groups = []
        for unit, number, of_group in zip(units, numbers, drafts, strict=True):
            self.places[f"group {number}"] = self.markdown.at(unit.line)
            groups.append(self._group(unit, number, of_group, known, fallback_title))
        if len(groups) == 1 and not groups[0].requirements:
            return (replace(groups[0], requirements=self.names.index.every),)
        return tuple(groups)

    def _drafts(self, unit: Unit) -> Iterator[TaskDraft]:
        for place, section in enumerate(gathered(unit.sections)):
            yield from drafts_of(section, is_first=place == 0, has_boxes=self.has_boxes)

    def _group(self, unit: Unit, number: int, drafts: list[TaskDraft], known: frozenset[str], fallback: str) -> Group:
        subtasks = tuple(self._subtask(draft, known) for draft in drafts)
        title = fallback if unit.is_document else _plain(PARALLEL.sub("", unit.title)) or fallback
        return Group(
            number=number,
            title=_OPTIONAL.sub("", title).strip(),
            state=state_of(unit.box.mark) if unit.box else rolled_up([draft.state for draft in drafts]),
            optional=_OPTIONAL.search(title) is not None or (unit.box is not None and unit.box.is_optional),
            subtasks=subtasks,
            requirements=self._owned(unit),
            text=_text(unit),
            parallel=PARALLEL.search(unit.title) is not None,
            is_checkpoint=CHECKPOINT.match(title) is not None,
        )

    def _subtask(self, draft: TaskDraft, known: frozenset[str]) -> Subtask:
        self.places.setdefault(f"task {draft.number}", self.markdown.at(draft.line))
        title = _plain(PARALLEL.sub("", draft.title))
        return Subtask(
            number=draft.number,
            title=_OPTIONAL.sub("", title).strip(),
            state=draft.state,
            optional=_OPTIONAL.search(title) is not None or (draft.box is not None and draft.box.is_optional),
            requirements=self.names.parts_in(draft.texts)[0],
            details=draft.details,
            parallel=PARALLEL.search(draft.title) is not None,
            after=tasks_named(draft.texts, known, draft.number),
        )

    def _owned(self, unit: Unit) -> tuple[str, ...]:
        """What a group's headings are about, and what its lines and paragraphs name: those of its tasks too."""
        titles = [unit.title, *(section.title for section in unit.sections[1:])]
        lines = [line for section in unit.sections for line in section.lines]
        texts = [line.text.strip() for line in lines if not (line.is_code or line.is_blank)]
        about = self.names.headed(_plain(_bare(title)) for title in titles)
        named, unknown = self.names.parts_in([*titles, *texts], wrapped(lines))
        if unknown and self.names.index.every:
            what = f"names {', '.join(unknown)}: no such requirement in this change. Correct the title"
            self.warn(unit.line, what)
        return tuple(dict.fromkeys([*about, *named]))


def _group_numbers(units: list[Unit]) -> list[int]:
    """As written where they grow; counted where they do not. Group 0 is the reviewers'."""
    written = [unit.number or 0 for unit in units]
    grows = all(before < after for before, after in pairwise([0, *written]))
    return written if grows else list(range(1, len(units) + 1))


def _count(drafts: list[list[TaskDraft]], numbers: list[int]) -> frozenset[str]:
    """Number the tasks that have no number by their places, past those that are written. All numbers are returned."""
    taken = {draft.number for of_group in drafts for draft in of_group if draft.number}
    for number, of_group in zip(numbers, drafts, strict=True):
        place = 0
        for draft in of_group:
            place += 1
            while not draft.number and f"{number}.{place}" in taken:
                place += 1
            draft.number = draft.number or f"{number}.{place}"
    return frozenset(draft.number for of_group in drafts for draft in of_group)


def _shape_problems(markdown: Markdown, root: Section, units: list[Unit], has_boxes: bool) -> Iterator[Problem]:
    numbers = _group_numbers(units)
    odd = [unit for unit, number in zip(units, numbers, strict=True) if unit.number not in (None, number)]
    if odd:
        written = ", ".join("-" if unit.number is None else str(unit.number) for unit in units)
        what = f"the groups are numbered {written}: counted as {', '.join(map(str, numbers))}. Number them upwards"
        yield warning(markdown.at(odd[0].line), what)
    if units and not has_boxes:
        yield warning(markdown.at(units[0].line), "no task has a box: read from headings and list items. Write `- [ ]`")
    read = {id(section.lines) for unit in units for section in unit.sections}
    for section in root.every():
        if has_boxes and id(section.lines) not in read:
            yield from _unread(markdown, section, units)


def _unread(markdown: Markdown, section: Section, units: list[Unit]) -> Iterator[Problem]:
    is_listed = any(unit.box is not None for unit in units)
    if section.has_own and not section.holds_samples and not is_listed:
        what = f'the boxes under "{section.title}" are no tasks: not read. Move those that are'
        yield warning(markdown.at(section.line), what)
    elif section.number is not None and not has_tasks(section) and not is_listed:
        what = f'"{section.title}" has no tasks with boxes: no group. Write them as `- [ ] {section.number}.1 T`'
        yield warning(markdown.at(section.line), what)


def _text(unit: Unit) -> str:
    """All that stands below the group's own heading."""
    lines = [unit.box.line.text] if unit.box else []
    for section in unit.sections:
        lines += [section.heading] if section is not unit.sections[0] else []
        lines += [line.text for line in section.lines]
    return "\n".join(lines).strip("\n")


def _bare(title: str) -> str:
    """A heading without its number."""
    number = deep_number(title)
    return number[1] if number else numbered(title)[1]


def _plain(title: str) -> str:
    """A title without marks for bold type, and without a field that ends its line: `_Requirements: 1.2_`."""
    text = _BOLD.sub(lambda found: found["stars"] or found["lines"], _FIELD_AT_END.sub("", title)).strip()
    whole = _EMPHASIS.fullmatch(text)
    text = whole["text"] if whole else text
    return text.removesuffix("**").removeprefix("**").strip() if text.count("**") % 2 else text
