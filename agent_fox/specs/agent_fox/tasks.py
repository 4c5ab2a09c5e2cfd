"""tasks.md as task groups: states, subtasks, and the requirements that each names, expanded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.spec import Group, Problem, Subtask
from agent_fox.specs.agent_fox.task_groups import GroupDraft, TaskDraft, groups_of
from agent_fox.specs.collected import ReadTasks, Remarks
from agent_fox.specs.common.task_lists import (
    CHECKPOINT,
    Bullet,
    left_out,
    named_by,
    state_among,
    state_of,
    tell_apart,
    text_of,
)
from agent_fox.specs.common.test_writers import mark_test_writers
from agent_fox.specs.files import warning
from agent_fox.specs.lines import beside_box

if TYPE_CHECKING:
    from agent_fox.specs.common.id_ranges import PartIndex
    from agent_fox.specs.document import Markdown

_ARCHETYPE = regex(r"\[archetype:\s*([\w-]+)\s*\]", re.IGNORECASE)
_FIELD_BEGINS = regex(r" _{1,2}[A-Z]| \*\*[A-Z][\w ]{1,30}:")
_REQUIREMENTS = regex(
    r"(?:^|(?<=[\s(]))[_*]{1,3}(?:Requirements?|Traces to)\s?:[_*]{0,3}\s*(?P<marked>[^_]*)"
    r"|^(?:Requirements?|Traces to):(?P<plain>.*)$"
)
_IS_FIELD = regex(r"[_*]{0,3}(?:Requirements?|Traces to|Test Specs?)\s?:")
_MINUS_IS_SKIPPED = regex(r"\[-\]`?\s{0,20}[|=:–—-]{0,3}\s{0,20}skip", re.IGNORECASE)


def read_tasks(markdown: Markdown, index: PartIndex, raw: str = "") -> ReadTasks:
    """The groups of a tasks file, in the order of the file.

    Ids that the spec does not have are warnings; where the spec has none at all, that is said elsewhere,
    once. `raw` is the whole file: its legend may stand in a comment.
    """
    drafts, aside = groups_of(markdown.lines)
    numbers, twice = tell_apart(markdown, ((draft.number, draft.line) for draft in drafts))
    for draft, number in zip(drafts, numbers, strict=True):
        draft.number = number
    reading = _Reading(markdown, index, _MINUS_IS_SKIPPED.search(raw) is not None)
    return ReadTasks(
        mark_test_writers(tuple(reading.group(draft) for draft in drafts)),
        (
            *twice,
            *left_out(markdown, ((draft.line, str(draft.number)) for draft in aside)),
            *_without_number(markdown, drafts),
            *reading.problems,
        ),
        {name: markdown.at(line) for name, line in reversed([*_lines(drafts)])},
    )


def _without_number(markdown: Markdown, drafts: Iterable[GroupDraft]) -> Iterator[Problem]:
    """Boxes beside those of groups, which is where groups stand, that begin none."""
    for draft in drafts:
        begun = {draft.line, *(task.bullets[0].lines[0].number for task in draft.subtasks)}
        for line in draft.lines if draft.level == 0 else ():
            if not (line.indent or line.is_code or line.number in begun) and beside_box(line.text) is not None:
                what = f"this task has no number: read as part of group {draft.number}. Number it, or indent it"
                yield warning(markdown.at(line.number), what)


def _lines(drafts: Iterable[GroupDraft]) -> Iterator[tuple[str, int]]:
    for draft in drafts:
        yield f"group {draft.number}", draft.line
        for task in draft.subtasks:
            yield f"task {task.number}", task.bullets[0].lines[0].number


class _Reading(Remarks):
    """Turns drafts into values, and collects the problems on the way."""

    def __init__(self, markdown: Markdown, index: PartIndex, minus_is_skipped: bool) -> None:
        super().__init__(markdown)
        self.index = index
        self.says = partial(state_of, minus_is_skipped=minus_is_skipped)

    def group(self, draft: GroupDraft) -> Group:
        subtasks = tuple(self._subtask(task) for task in draft.subtasks)
        title = _title(draft.title, draft.bullets[:1])
        archetype = _ARCHETYPE.search(title)
        below = draft.bullets + [bullet for task in draft.subtasks for bullet in task.bullets]
        return Group(
            number=draft.number,
            title=" ".join(_ARCHETYPE.sub("", title).split()),
            state=state_among(draft.box, below, self.says),
            optional=draft.optional,
            archetype=archetype[1].lower() if archetype else None,
            subtasks=subtasks,
            requirements=named_by(self._requirements(draft.bullets), subtasks),
            text=text_of(draft.lines),
            is_checkpoint=CHECKPOINT.match(title) is not None,
        )

    def _subtask(self, draft: TaskDraft) -> Subtask:
        return Subtask(
            number=draft.number,
            title=_title(draft.title, draft.bullets[:1]),
            state=state_among(draft.box, draft.bullets[1:], self.says),
            optional=draft.optional,
            requirements=tuple(dict.fromkeys(self._requirements(draft.bullets))),
            details=tuple(text for text in (bullet.text for bullet in draft.bullets[1:]) if not _IS_FIELD.match(text)),
        )

    def _requirements(self, bullets: Iterable[Bullet]) -> list[str]:
        named: list[str] = []
        for bullet in bullets:
            text = bullet.text
            if "equirement" not in text and "Traces to" not in text:
                continue
            for match in _REQUIREMENTS.finditer(text):
                named += self._expanded(match["marked"] or match["plain"] or "", bullet)
        return named

    def _expanded(self, written: str, bullet: Bullet) -> tuple[str, ...]:
        ids, unknown = self.index.expand(written)
        if unknown and self.index.every:
            what = f"names {', '.join(unknown)}: no such requirement in this spec. Correct the id, or declare it"
            self.warn(_line_of_field(bullet), what)
        return ids


def _title(title: str, first: list[Bullet]) -> str:
    """The title with the lines it wraps over, without the fields that follow it on the same line."""
    words = title.split() + [word for bullet in first for line in bullet.lines[1:] for word in line.text.split()]
    return _FIELD_BEGINS.split(" ".join(words), maxsplit=1)[0].rstrip("* ")


def _line_of_field(bullet: Bullet) -> int:
    lines = [line.number for line in bullet.lines if "equirement" in line.text or "Traces to" in line.text]
    return lines[0] if lines else bullet.lines[0].number
