"""The subtasks of one section of tasks.md, as they are written. What they name is not read here."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.specs.common.task_lists import rolled_up, state_of
from agent_fox.specs.openspec.task_sections import Box, Section, box_in, deep_number, item_in, numbered
from agent_fox.specs.openspec.words import unstruck

if TYPE_CHECKING:
    from agent_fox.core.spec import TaskState
    from agent_fox.specs.lines import Line

_NUMBER = regex(
    r"[*_`~\[]{0,3}(?:(?:task|任务|タスク)\s?)?(?P<number>\d{1,6}(?:[.\uff0e]\d{1,6}){1,5}[a-z]?|T-?\d{1,5}(?:\.\d{1,5})?"
    r"|\d{1,6}(?=[.):\uff1a\u3001]))[\].):\uff1a\u3001]?[*_`]{0,3}[.:\uff1a]?(?:\s{1,9}|(?=[^\x00-\x7f]))(?P<title>\S.*)$",
    re.IGNORECASE,
)
PARALLEL = regex(r"\s?(?:\[(?:P|parallel)\]|\((?:P|parallel)\))", re.IGNORECASE)
_BULLET = regex(r"\s*(?:[-*+]|\d{1,3}[.)])\s+(?:\[.?\]\s*)?")
_STRUCK = "~"
NESTED = 2


@dataclass(slots=True)
class TaskDraft:
    """A subtask while it is read: its box or heading, and the lines below it. `words` are lines of its title."""

    number: str
    words: list[str]
    line: int
    box: Box | None
    indent: int
    lines: list[Line] = field(default_factory=list)

    @property
    def title(self) -> str:
        return " ".join(self.words)

    @property
    def details(self) -> tuple[str, ...]:
        """Each bullet below it with the lines that it wraps over."""
        details: list[list[str]] = []
        for line in self.lines:
            bullet = _BULLET.match(line.text) if not line.is_code else None
            if bullet or not details:
                details.append([])
            details[-1].append(line.text[bullet.end() :] if bullet else line.text.strip())
        return tuple(text for words in details if (text := " ".join(words).strip()))

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.title, *self.details)

    @property
    def state(self) -> TaskState:
        if self.box is not None:
            return state_of(self.box.mark)
        below = [box for line in self.lines if (box := box_in(line))]
        return rolled_up([state_of(box.mark) for box in below])


def gathered(sections: list[Section]) -> list[Section]:
    """The sections of a group, where a heading that is a task takes in those below it that hold no numbered tasks."""
    kept: list[Section] = []
    above: Section | None = None
    for place, section in enumerate(sections):
        if above is not None and section.level > above.level:
            above.lines += section.lines
            continue
        above = None
        if place and deep_number(section.title) and not _has_numbers(_with_below(sections, place)):
            above = section = Section(section.title, section.level, section.line, list(section.lines))
        kept.append(section)
    return kept


def wrapped(lines: Iterable[Line]) -> Iterator[str]:
    """The paragraphs and list items that go over several lines, each as one text."""
    words: list[str] = []
    for line in lines:
        is_text = not (line.is_blank or line.is_code)
        if words and not (is_text and _BULLET.match(line.text) is None):
            yield from [" ".join(words)] if len(words) > 1 else ()
            words = []
        words += [line.text.strip()] if is_text else []
    if len(words) > 1:
        yield " ".join(words)


def _with_below(sections: list[Section], place: int) -> Iterator[Section]:
    yield sections[place]
    yield from takewhile(lambda one: one.level > sections[place].level, islice(sections, place + 1, None))


def _has_numbers(sections: Iterable[Section]) -> bool:
    boxes = (box_in(line) for section in sections for line in section.lines)
    return any(box is not None and _NUMBER.match(box.rest) for box in boxes)


def drafts_of(section: Section, *, is_first: bool, has_boxes: bool) -> Iterator[TaskDraft]:
    """The tasks of one section: its boxes, or its own heading where that has the number. Where no task has a box, list
    items are tasks."""
    entries = [(line, box_in(line) or (None if has_boxes else item_in(line))) for line in section.lines]
    boxes = [box for _, box in entries if box]
    headed = None if is_first else _headed(section)
    if headed and not any(_NUMBER.match(box.rest) for box in boxes) and (boxes or not has_boxes):
        lines = [line for line in section.lines if not line.is_blank]
        yield TaskDraft(headed[0], [headed[1]], section.line, None, -1, lines)
    else:
        yield from _listed_tasks(section.lines, boxes)


def _headed(section: Section) -> tuple[str, str] | None:
    """The number and title of a heading that is a task: `1.1 T`, or `Task 3: T` below a numbered heading."""
    if deep := deep_number(section.title):
        return deep
    number, title = numbered(section.title)
    return (str(number), title) if number is not None else None


def _listed_tasks(lines: Iterable[Line], boxes: list[Box]) -> Iterator[TaskDraft]:
    """Boxes of the outermost rank are tasks; what is indented below one, or wraps, belongs to it."""
    at = {box.line.number: box for box in boxes}
    margin = min((box.line.indent for box in boxes), default=0)
    draft: TaskDraft | None = None
    is_open = False
    for line in lines:
        box = at.get(line.number)
        if box is not None and box.line.indent < margin + NESTED:
            if draft is not None:
                yield draft
            draft, is_open = _task(box), True
        elif draft is not None and (line.indent > draft.indent or (is_open and not line.is_blank)):
            _add(draft, line, is_open)
        is_open = is_open and not line.is_blank
    if draft is not None:
        yield draft


def _add(draft: TaskDraft, line: Line, is_open: bool) -> None:
    """A line that wraps the title goes there; all others are details."""
    is_title = is_open and not draft.lines and not line.is_code and _BULLET.match(line.text) is None
    if is_title and not line.is_blank:
        draft.words.append(line.text.strip())
    elif not line.is_blank:
        draft.lines.append(line)


def _task(box: Box) -> TaskDraft:
    parallel = PARALLEL.match(box.rest)
    rest = box.rest[parallel.end() :].strip() if parallel else box.rest
    inside = unstruck(rest)
    match = _NUMBER.match(inside or rest)
    number = unicodedata.normalize("NFKC", match["number"]) if match else ""
    title = match["title"] if match else inside or rest
    bare = unstruck(title)
    title = (bare or title) + (" [P]" if parallel else "")
    return TaskDraft(
        number, [title], box.line.number, replace(box, mark=_STRUCK) if inside or bare else box, box.line.indent
    )
