"""The lines of a normal form, cut into headings' sections, list items and fields. What they mean is not here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from agent_fox.specs.plain.escapes import text_of, words_of
from agent_fox.specs.plain.normal_form import FIELD

_BULLET = "- "
_DEEPER = "  "
_CONFLICT = ("<<<<<<< ", "=======", ">>>>>>> ")


class FormBroken(Exception):
    """A line that this form does not have: where it stands, and what is wrong with it."""

    def __init__(self, line: int, what: str) -> None:
        super().__init__(what)
        self.line, self.what = line, what


class Line(NamedTuple):
    number: int
    text: str


@dataclass(slots=True)
class Section:
    """A heading without its marks, and what stands below it up to the next one of its rank."""

    title: Line
    lines: list[Line] = field(default_factory=list)


@dataclass(slots=True)
class Item:
    """A list item: what stands behind its mark, and the lines below, moved to the left edge."""

    line: int
    head: str
    lines: list[Line] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The whole item as the text that it was printed from."""
        return text_of("\n".join([self.head, *(line.text for line in _trimmed(self.lines))]))

    @property
    def field(self) -> tuple[str, str] | None:
        """The name and the value of `_Name: value_`."""
        match = FIELD.fullmatch(self.head)
        return (match[1], match[2] or "") if match else None


def sections(lines: Iterable[Line], mark: str) -> list[Section]:
    """Cut at headings that begin with the mark; what stands before the first has an empty title in line 0."""
    sections_read = [Section(Line(0, ""))]
    for line in lines:
        if line.text.startswith(mark):
            sections_read.append(Section(Line(line.number, line.text[len(mark) :])))
        else:
            sections_read[-1].lines.append(line)
    return sections_read


def items(lines: Iterable[Line]) -> list[Item]:
    """List items at the left edge. Raises FormBroken at anything else."""
    items: list[Item] = []
    for line in lines:
        if line.text.startswith(_BULLET) or line.text == _BULLET.strip():
            items.append(Item(line.number, line.text[len(_BULLET) :]))
        elif items and (line.text.startswith(_DEEPER) or not line.text.strip()):
            items[-1].lines.append(Line(line.number, line.text[len(_DEEPER) :]))
        elif line.text.strip():
            raise unexpected(line)
    return items


def unexpected(line: Line) -> FormBroken:
    if line.text.startswith(_CONFLICT):
        return FormBroken(line.number, "a merge conflict was left here; resolve it")
    return FormBroken(line.number, "this line is not of the normal form; see docs/plain.md, or print the form anew")


def quote_of(lines: Sequence[Line]) -> tuple[str, list[Line]]:
    """The text of the quote that lines begin with, and the lines after it."""
    rest = list(_from_text(lines))
    quoted = 0
    while quoted < len(rest) and rest[quoted].text.startswith(">"):
        quoted += 1
    return text_of("\n".join(line.text[1:].removeprefix(" ") for line in rest[:quoted])), rest[quoted:]


def fenced(item: Item) -> str:
    """The text in the fence below an item."""
    lines = _trimmed(list(_from_text(item.lines)))
    if len(lines) < 2 or not all(line.text.startswith("```") for line in (lines[0], lines[-1])):
        raise FormBroken(item.line, "a text in a fence belongs below this line")
    return text_of("\n".join(line.text for line in lines[1:-1]))


def word_list(value: str, line: int) -> tuple[str, ...]:
    words = words_of(value)
    if words is None:
        raise FormBroken(line, f"{value!r} is no list of names; put commas between them, and odd ones into backticks")
    return words


def matched(pattern: re.Pattern[str], text: str, line: int, example: str) -> re.Match[str]:
    match = pattern.fullmatch(text)
    if match is None:
        raise FormBroken(line, f"expected a line such as `{example}`")
    return match


def _from_text(lines: Sequence[Line]) -> Iterator[Line]:
    start = next((n for n, line in enumerate(lines) if line.text.strip()), len(lines))
    return iter(lines[start:])


def _trimmed(lines: list[Line]) -> list[Line]:
    """Without the empty lines at the end: a text's own are escaped."""
    end = len(lines)
    while end and not lines[end - 1].text.strip():
        end -= 1
    return lines[:end]
