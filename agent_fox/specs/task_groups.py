"""tasks.md cut into groups and subtasks: boxes, titles, lines below them. Ids are not read here."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.spec import TaskState

if TYPE_CHECKING:
    from agent_fox.specs.lines import Heading, Line

_N = r"\d{1,6}"
_BOX = regex(r"[-*+] +\[(?P<box>[^\[\]]?)\](?P<star> ?\*(?!\*))? *(?P<rest>.*)$")
_RULE = regex(r"-{3,}$")
_BULLET = regex(r"(?:[-*+]|\d{1,3}[.)]) +")
_FIELD = regex(r"[_*]{1,3}(?:Requirements?|Traces to|Test Specs?)\s?:")
"""What begins a bullet of its own, though it has no mark of one."""
_GROUP = regex(rf"\*{{0,2}}(?:Task )?(?:Group )?(?P<number>{_N})[.):](?!\d) *\**\s*(?P<title>\S.*)$", re.IGNORECASE)
_SUBTASK = regex(rf"\*{{0,2}}(?P<number>{_N}\.(?:{_N}[a-z]?|V\d?))[.:)]?\*{{0,2}}(?:\s+(?P<title>\S.*))?$")
_GROUP_HEADING = regex(
    rf"(?:\[(?P<box>.)\]\s*)?(?:Task\s+)?Group\s+(?P<number>{_N})\s*[:.—–-]?\s*(?P<title>.*)$", re.IGNORECASE
)
_TASK_HEADING = regex(rf"(?:Task\s+)?(?P<number>{_N}\.(?:{_N}|V))\s*[:.—–-]?\s+(?P<title>\S.*)$", re.IGNORECASE)
_NOT_TASKS = regex(
    r"(?:overview|test(?:ing)? commands?|traceab|(?:implementation )?notes?\b|(?:.* )?(?:legend\b|checkbox)"
    r"|(?:task )?(?:states?|status)$|references?\b|dependenc|examples?\b)"
)


@dataclass(slots=True)
class Bullet:
    """A list item or paragraph with the lines it wraps over."""

    lines: list[Line]
    box: str | None = None
    text_of_first: str = ""

    @property
    def text(self) -> str:
        if len(self.lines) == 1:
            return self.text_of_first
        rest = (line.text.strip() for line in self.lines[1:])
        return " ".join(part for part in (self.text_of_first, *rest) if part)


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


def state_of(box: str, minus_is_skipped: bool = False) -> TaskState:
    """What a box says: `x` done, space open, `-` in progress (in some files skipped), `~` skipped."""
    if box == "-":
        return TaskState.SKIPPED if minus_is_skipped else TaskState.IN_PROGRESS
    states = {"x": TaskState.DONE, "~": TaskState.SKIPPED, "/": TaskState.IN_PROGRESS}
    return states.get(box.lower(), TaskState.OPEN)


def groups_of(lines: Iterable[Line]) -> list[GroupDraft]:
    """The groups of a tasks file: list items with boxes, or headings where no such item is there."""
    lines = tuple(lines)
    found = _Cut(_listed_group).read(lines)
    return found or _Cut(_headed_group).read(lines)


def _listed_group(line: Line, heading: Heading | None) -> GroupDraft | None:
    box = _BOX.match(line.text) if line.indent == 0 and not line.is_code else None
    found = _GROUP.match(box["rest"]) if box else None
    if box is None or found is None:
        return None
    title = found["title"].rstrip("* ")
    return GroupDraft(int(found["number"]), title, box["box"], box["star"] is not None, line.number)


def _headed_group(line: Line, heading: Heading | None) -> GroupDraft | None:
    found = _GROUP_HEADING.match(heading.title) if heading is not None else None
    if heading is None or found is None:
        return None
    title = found["title"].strip("*_ ") or f"Task group {found['number']}"
    return GroupDraft(int(found["number"]), title, found["box"], False, line.number, heading.level)


class _Cut:
    """Goes through a file, line by line. Knows only where it stands: in which group, subtask and bullet."""

    def __init__(self, group_at: Callable[[Line, Heading | None], GroupDraft | None]) -> None:
        self.group_at = group_at
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
        group = self.group_at(line, heading) if self.not_tasks is None or heading else None
        if group is not None:
            self.not_tasks, self.group = None, group
            self.groups.append(group)
            self._add(line, "" if heading else group.title, group.bullets)
        elif heading is not None and self._leaves(heading):
            self.group = None
            self.not_tasks = self._not_tasks(heading)
        elif self.group is not None:
            self._inside(self.group, line, heading)

    def _not_tasks(self, heading: Heading) -> int | None:
        """The rank of the heading, such as a legend's, under which boxes are samples."""
        if self.not_tasks is not None and heading.level > self.not_tasks:
            return self.not_tasks
        return heading.level if _NOT_TASKS.match(heading.title.lower()) else None

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
        if line.is_code or line.is_blank or _RULE.match(line.text):
            self.wants_bullet = self.wants_bullet or not line.is_code
            return
        text = line.text.strip()
        bullet = _BULLET.match(text)
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
    found = _SUBTASK.match(box["rest"]) if box else None
    if box is None or found is None or (group.subtasks and line.indent > group.subtasks[0].indent + 1):
        return None
    if line.indent == 0 and not found["number"].startswith(f"{group.number}."):
        return None
    return TaskDraft(found["number"], (found["title"] or "").strip(), box["box"], box["star"] is not None, line.indent)


def _headed_task(heading: Heading, line: Line) -> TaskDraft | None:
    found = _TASK_HEADING.match(heading.title)
    return TaskDraft(found["number"], found["title"], None, False, line.indent) if found else None
