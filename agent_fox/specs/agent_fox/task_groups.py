"""tasks.md cut into groups and subtasks: boxes, titles, lines below them. Ids are not read here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.specs.common.task_lists import Bullet, going_on, without_title
from agent_fox.specs.lines import MARK, aside_below, is_rule
from agent_fox.specs.word_tables import words_in

if TYPE_CHECKING:
    from agent_fox.specs.lines import Heading, Line

_N = r"\d{1,6}"
_BOX = regex(r"[-*+] +\[(?P<box>[^\[\]]?)\](?P<star> ?\*(?!\*))? *(?P<rest>.*)$")
_FIELD = regex(r"[_*]{1,3}(?:Requirements?|Traces to|Test Specs?)\s?:")
"""What begins a bullet of its own, though it has no mark of one."""
_GROUP = regex(rf"\*{{0,2}}(?:Task )?(?:Group )?(?P<number>{_N})[.):](?!\d) *\**\s*(?P<title>\S.*)$", re.IGNORECASE)
_SUBTASK = regex(rf"\*{{0,2}}(?P<number>{_N}\.(?:{_N}[a-z]?|V\d?))[.:)]?\*{{0,2}}(?:\s+(?P<title>\S.*))?$")
_GROUP_HEADING = regex(
    rf"(?:\[(?P<box>.)\]\s*)?(?:Task\s+)?Group\s+(?P<number>{_N})\s*[:.—–-]?\s*(?P<title>.*)$", re.IGNORECASE
)
_TASK_HEADING = regex(rf"(?:Task\s+)?(?P<number>{_N}\.(?:{_N}|V))\s*[:.—–-]?\s+(?P<title>\S.*)$", re.IGNORECASE)
_WORDS = words_in(__file__)
_NOT_TASKS = _WORDS["not_tasks"]


@dataclass(slots=True)
class TaskDraft:
    """A subtask while it is read: its own bullet first, then those below it."""

    number: str
    title: str
    box: str | None
    optional: bool
    indent: int
    bullets: list[Bullet] = field(default_factory=list)


@dataclass(slots=True)
class GroupDraft:
    """A group while it is read. `bullets` are those that stand before its first subtask."""

    number: int
    title: str
    box: str | None
    optional: bool
    line: int
    level: int = 0
    lines: list[Line] = field(default_factory=list)
    bullets: list[Bullet] = field(default_factory=list)
    subtasks: list[TaskDraft] = field(default_factory=list)


def groups_of(lines: Iterable[Line]) -> tuple[list[GroupDraft], list[GroupDraft]]:
    """The groups of a tasks file: list items with boxes, or headings where no such item is there. And those that are
    left out, since they stand under a heading such as *Notes*, under a number that no group has.
    """
    lines = tuple(without_title(lines))
    cut = _Cut(_listed_group)
    drafts = cut.read(lines) or _Cut(_headed_group).read(lines)
    starts = [(group.line, group.number) for group in drafts]
    unsure = {line: groups for line, groups in cut.aside.items() if line not in cut.surely_not}
    tasks = going_on(starts, {line: [(draft.line, draft.number) for draft in aside] for line, aside in unsure.items()})
    if tasks:
        cut = _Cut(_listed_group, tasks)
        drafts = cut.read(lines)
    known = {group.number for group in drafts}
    return drafts, [group for groups in cut.aside.values() for group in groups if group.number not in known]


def _listed_group(line: Line, heading: Heading | None) -> GroupDraft | None:
    box = _BOX.match(line.text) if line.indent == 0 and not line.is_code else None
    match = _GROUP.match(box["rest"]) if box else None
    if box is None or match is None:
        return None
    title = match["title"].rstrip("* ")
    return GroupDraft(int(match["number"]), title, box["box"], box["star"] is not None, line.number)


def _headed_group(line: Line, heading: Heading | None) -> GroupDraft | None:
    match = _GROUP_HEADING.match(heading.title) if heading is not None else None
    if heading is None or match is None:
        return None
    title = match["title"].strip("*_ ") or f"Task group {match['number']}"
    return GroupDraft(int(match["number"]), title, match["box"], False, line.number, heading.level)


class _Cut:
    """Goes through a file, line by line. Knows only where it stands: in which group, subtask and bullet.

    Lines in `tasks` are headings that are tasks', whatever they are called. `aside` are the groups under others that
    are not, by the line of the heading; `surely_not` those headings that say nothing else, such as *Notes*.
    """

    def __init__(
        self, group_at: Callable[[Line, Heading | None], GroupDraft | None], tasks: frozenset[int] = frozenset()
    ) -> None:
        self.group_at, self.tasks = group_at, tasks
        self.aside: dict[int, list[GroupDraft]] = {}
        self.surely_not: set[int] = set()
        self.heading = 0
        self.groups: list[GroupDraft] = []
        self.group: GroupDraft | None = None
        self.not_tasks: int | None = None
        self.wants_bullet = True

    def read(self, lines: Iterable[Line]) -> list[GroupDraft]:
        for line in lines:
            self._line(line)
        return self.groups

    def _line(self, line: Line) -> None:
        heading = line.heading
        group = self.group_at(line, heading)
        if heading is not None:
            self.heading = line.number
            self.surely_not |= {line.number} if _NOT_TASKS.fullmatch(heading.title.lower()) else set()
        if group is not None and self.not_tasks is not None and not heading:
            self.aside.setdefault(self.heading, []).append(group)
        elif group is not None:
            self.not_tasks, self.group = None, group
            self.groups.append(group)
            self._add(line, "" if heading else group.title, group.bullets)
        elif heading is not None and self._leaves(heading):
            self.group = None
            is_aside = line.number not in self.tasks
            self.not_tasks = aside_below(heading, self.not_tasks, _NOT_TASKS) if is_aside else None
        elif self.group is not None:
            self._inside(self.group, line, heading)

    def _leaves(self, heading: Heading) -> bool:
        return self.group is None or self.group.level == 0 or heading.level <= self.group.level

    def _inside(self, group: GroupDraft, line: Line, heading: Heading | None) -> None:
        subtask = _headed_task(heading, line) if heading else _listed_task(line, group)
        if subtask is not None:
            group.subtasks.append(subtask)
            self._add(line, subtask.title, subtask.bullets, subtask.box)
            return
        here = group.subtasks[-1].bullets if group.subtasks else group.bullets
        self._text(group, line, here)

    def _text(self, group: GroupDraft, line: Line, here: list[Bullet]) -> None:
        group.lines.append(line)
        if line.is_code or line.is_blank or is_rule(line.text, "-"):
            self.wants_bullet = self.wants_bullet or not line.is_code
            return
        text = line.text.strip()
        bullet = MARK.match(text)
        if bullet is None and not self.wants_bullet and not _FIELD.match(text):
            here[-1].lines.append(line)
            return
        box = _BOX.match(text)
        first = box["rest"] if box else text[bullet.end() :] if bullet else text
        here.append(Bullet([line], box["box"] if box else None, first))
        self.wants_bullet = False

    def _add(self, line: Line, text: str, bullets: list[Bullet], box: str | None = None) -> None:
        """A title's own line is the first bullet of what it begins."""
        assert self.group is not None
        self.group.lines.append(line)
        bullets.append(Bullet([line], box, text))
        self.wants_bullet = False


def _listed_task(line: Line, group: GroupDraft) -> TaskDraft | None:
    """A box with a number such as `3.1`, no deeper than the first subtask: deeper boxes are details."""
    box = _BOX.match(line.text.lstrip()) if not line.is_code and "[" in line.text else None
    match = _SUBTASK.match(box["rest"]) if box else None
    if box is None or match is None or (group.subtasks and line.indent > group.subtasks[0].indent + 1):
        return None
    if line.indent == 0 and not match["number"].startswith(f"{group.number}."):
        return None
    return TaskDraft(match["number"], (match["title"] or "").strip(), box["box"], box["star"] is not None, line.indent)


def _headed_task(heading: Heading, line: Line) -> TaskDraft | None:
    match = _TASK_HEADING.match(heading.title)
    return TaskDraft(match["number"], match["title"], None, False, line.indent) if match else None
