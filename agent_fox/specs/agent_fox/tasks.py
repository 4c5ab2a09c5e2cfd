"""tasks.md as task groups: boxes or headings, their states and subtasks, and the requirements that each names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial

from agent_fox.core.spec import Group, Subtask
from agent_fox.specs.collected import ReadTasks, Remarks
from agent_fox.specs.common import task_lists
from agent_fox.specs.common.id_ranges import PartIndex
from agent_fox.specs.common.task_entries import read_groups
from agent_fox.specs.common.task_lists import Bullet, Draft, mark_test_writers
from agent_fox.specs.document import Markdown
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)


def read_tasks(markdown: Markdown, index: PartIndex, raw: str = "") -> ReadTasks:
    """The groups of a tasks file, in the order of the file.

    Ids that the spec does not have are warnings; where the spec has none at all, that is said elsewhere,
    once. `raw` is the whole file: its legend may stand in a comment.
    """
    drafts, problems = read_groups(markdown, is_strict=True)
    reading = _Reading(markdown, index, _LIKE["minus_is_skipped"].search(raw) is not None)
    groups = mark_test_writers(tuple(reading.group(draft) for draft in drafts))
    return ReadTasks(groups, (*problems, *reading.problems), task_lists.places_of(markdown, drafts))


class _Reading(Remarks):
    """Turns drafts into values, and collects the problems on the way."""

    def __init__(self, markdown: Markdown, index: PartIndex, minus_is_skipped: bool) -> None:
        super().__init__(markdown)
        self.index = index
        self.says = partial(task_lists.state_of, minus_is_skipped=minus_is_skipped)

    def group(self, draft: Draft) -> Group:
        subtasks = tuple(map(self._task, draft.tasks))
        group = task_lists.group_of(draft, self._task(draft), subtasks)
        archetype = _LIKE["archetype"].search(group.title)
        title = " ".join(_LIKE["archetype"].sub("", group.title).split())
        return replace(group, title=title, archetype=archetype[1].lower() if archetype else None)

    def _task(self, draft: Draft) -> Subtask:
        # without the fields that follow the title on its line
        title = _LIKE["field_begins"].split(" ".join(draft.wrapped.split()), maxsplit=1)[0].strip("* ")
        named = tuple(dict.fromkeys(self._requirements(draft.bullets)))
        texts = (bullet.text for bullet in draft.bullets[1:])
        details = tuple(text for text in texts if not _LIKE["is_field"].match(text))
        state = draft.state(self.says)
        return Subtask(draft.number, title, state, draft.is_optional, named, details, draft.is_parallel)

    def _requirements(self, bullets: Iterable[Bullet]) -> Iterator[str]:
        for bullet in bullets:
            text = bullet.text
            if "equirement" not in text and "Traces to" not in text:  # most
                continue
            for match in _LIKE["requirements"].finditer(text):
                ids, unknown = self.index.expand(match["marked"] or match["plain"] or "")
                if unknown and self.index.every:
                    texts = ((line.number, line.text) for line in bullet.lines)
                    says = (number for number, text in texts if "equirement" in text or "Traces to" in text)
                    what = f"names {', '.join(unknown)}: no such requirement in this spec"
                    self.warn(next(says, bullet.lines[0].number), f"{what}. Correct the id, or declare it")
                yield from ids
