"""tasks.md as task groups: boxes or headings, their states and subtasks, and the requirements that each names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import partial

from agent_fox.core.spec import Group, Subtask
from agent_fox.specs.collected import ReadTasks, Remarks
from agent_fox.specs.common import task_lists
from agent_fox.specs.common.id_ranges import PartIndex
from agent_fox.specs.common.task_lists import CHECKPOINT, Bullet, Cut, Draft
from agent_fox.specs.common.test_writers import mark_test_writers
from agent_fox.specs.document import Markdown
from agent_fox.specs.files import warning
from agent_fox.specs.lines import Heading, Line, beside_box
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)


class _Listed(Cut):
    """A box `3.` is a group; one such as `3.1` below it, no deeper than the first such, a subtask."""

    not_tasks = _LIKE["not_tasks"]
    own_bullet, box = _LIKE["field"], _LIKE["box"]
    has_boxes = True
    group: Draft

    def item(self, line: Line) -> Draft | None:
        box = _LIKE["box"].match(line.text.lstrip()) if "[" in line.text else None
        if box is None:
            return None
        is_optional, is_outer = box["star"] is not None, line.indent == 0
        group = _LIKE["group"].match(box["rest"]) if is_outer and self.has_boxes else None
        if group is not None:
            number, title = str(int(group["number"])), group["title"].rstrip("* ")
            return Draft(number, title, line.number, box["box"], is_optional=is_optional)
        task = _LIKE["subtask"].match(box["rest"]) if self.current is not None else None
        if task is None or (self.group.tasks and line.indent > self.group.tasks[0].indent + 1):
            return None
        if is_outer and not task["number"].startswith(f"{self.group.number}."):
            return None
        title = (task["title"] or "").strip()
        return Draft(task["number"], title, line.number, box["box"], line.indent, is_optional=is_optional)

    def begin(self, entry: Draft, line: Line) -> None:
        super().begin(entry, line)
        if "." in entry.number:
            self.group.tasks.append(entry)
        else:
            self.group = entry


class _Headed(_Listed):
    """A heading `Task Group 3: T` is a group, where no box is one, with all that stands under deeper headings."""

    has_boxes = False

    def heading(self, line: Line, heading: Heading) -> None:
        group, task = _LIKE["group_heading"].match(heading.title), _LIKE["task_heading"].match(heading.title)
        if group is not None:
            number = int(group["number"])
            title = group["title"].strip("*_ ") or f"Task group {group['number']}"
            self.begin(Draft(str(number), title, line.number, group["box"], level=heading.level), line)
        elif self.current is None or heading.level <= self.group.level:
            self.current = None
        elif task is not None:
            self.begin(Draft(task["number"], task["title"], line.number, indent=line.indent), line)
        else:
            self.text(line)


def read_tasks(markdown: Markdown, index: PartIndex, raw: str = "") -> ReadTasks:
    """The groups of a tasks file, in the order of the file.

    Ids that the spec does not have are warnings; where the spec has none at all, that is said elsewhere,
    once. `raw` is the whole file: its legend may stand in a comment.
    """
    entries, aside = task_lists.entries_of(markdown.lines, _Listed, _Headed)
    drafts = [entry for entry in entries if "." not in entry.number]
    problems = [*task_lists.tell_apart(markdown, drafts), *task_lists.left_out(markdown, aside)]
    for draft in (draft for draft in drafts if not draft.level):  # boxes where groups stand, that begin none
        begun = {draft.line, *(task.line for task in draft.tasks)}
        for line in draft.every_line:
            if not (line.indent or line.is_code or line.number in begun) and beside_box(line.text) is not None:
                what = f"this task has no number: read as part of group {draft.group}. Number it, or indent it"
                problems.append(warning(markdown.at(line.number), what))
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
        subtasks = tuple(self._subtask(task) for task in draft.tasks)
        title = _title(draft)
        archetype = _LIKE["archetype"].search(title)
        return Group(
            number=draft.group,
            title=" ".join(_LIKE["archetype"].sub("", title).split()),
            state=draft.state(self.says),
            optional=draft.is_optional,
            archetype=archetype[1].lower() if archetype else None,
            subtasks=subtasks,
            requirements=task_lists.named_by(self._requirements(draft.bullets), subtasks),
            text=task_lists.text_of(draft.every_line),
            is_checkpoint=CHECKPOINT.match(title) is not None,
        )

    def _subtask(self, draft: Draft) -> Subtask:
        named = tuple(dict.fromkeys(self._requirements(draft.bullets)))
        texts = (bullet.text for bullet in draft.bullets[1:])
        details = tuple(text for text in texts if not _LIKE["is_field"].match(text))
        return Subtask(draft.number, _title(draft), draft.state(self.says), draft.is_optional, named, details)

    def _requirements(self, bullets: Iterable[Bullet]) -> Iterator[str]:
        for bullet in bullets:
            text = bullet.text
            for match in _LIKE["requirements"].finditer(text) if "equirement" in text or "Traces to" in text else ():
                ids, unknown = self.index.expand(match["marked"] or match["plain"] or "")
                if unknown and self.index.every:
                    texts = ((line.number, line.text) for line in bullet.lines)
                    says = (number for number, text in texts if "equirement" in text or "Traces to" in text)
                    what = f"names {', '.join(unknown)}: no such requirement in this spec"
                    self.warn(next(says, bullet.lines[0].number), f"{what}. Correct the id, or declare it")
                yield from ids


def _title(draft: Draft) -> str:
    """The title without the fields that follow it on its line."""
    return _LIKE["field_begins"].split(" ".join(draft.wrapped.split()), maxsplit=1)[0].rstrip("* ")
