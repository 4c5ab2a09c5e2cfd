"""tasks.md cut into the sections that are task groups. Subtasks, and what they name, are not read here."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.specs.word_tables import words_in

if TYPE_CHECKING:
    from agent_fox.specs.lines import Line

_N = r"\d{1,6}"
_BOX = regex(
    r"\s*(?:[-*+]|\d{1,9}[.)])\s{1,9}\[\s?(?P<box>[^\[\]\s]?)\s?\](?![(\[:])(?P<star>\s?\*(?!\*))?\s*(?P<rest>.*)$"
)
_LIST = regex(r"\s*(?:[-*+]|\d{1,9}[.)])\s{1,9}(?P<rest>\S.*)$")
_NUMBERED = regex(
    rf"""[*_]{{0,3}}(?:\[.?\]\s)?
    (?:(?P<plain>{_N})(?:\s*[.):\uff1a\u3001\uff0e]|\s(?=\D)|$)
    |第\s?(?P<ordinal>{_N})\s?\w{{1,4}}
    |[^\W\d]{{2,20}}(?:\s[^\W\d]{{2,20}})?\s?\#?(?P<named>{_N})(?:\s*[.):\uff1a\u3001\uff0e]|\s*[–—-]\s|\s*(?=[(（])|\s*$)
    )(?![\d.]*\d)[*_]{{0,3}}\s*[:\uff1a–—-]?[*_\s]{{0,4}}(?P<title>.*)$""",
    re.VERBOSE,
)
_DEEP_NUMBER = regex(
    rf"[*_]{{0,3}}(?:[^\W\d]{{2,20}}\s)?(?P<number>{_N}(?:[.\uff0e]{_N}){{1,5}}[a-z]?)[.):\uff1a]?[*_]{{0,3}}\s*"
    r"[–—-]?\s*(?P<title>\S.*)$"
)
_SAMPLES = regex(r"(?:legend|examples?|(?:task )?(?:states?|status)$|图例|凡例)", re.IGNORECASE)
_WORDS = words_in(__file__)


@dataclass(slots=True)
class Section:
    """A heading with its own lines, and the sections below it. The file itself is the section of rank 0."""

    title: str = ""
    level: int = 0
    line: int = 1
    lines: list[Line] = field(default_factory=list)
    children: list[Section] = field(default_factory=list)

    @property
    def number(self) -> int | None:
        """The whole number that the heading begins with: `3. T`, `Phase 3: T`."""
        return numbered(self.title)[0]

    @property
    def heading(self) -> str:
        """Its heading as a line."""
        return f"{'#' * self.level} {self.title}"

    @property
    def has_own(self) -> bool:
        return any(box_in(line) for line in self.lines)

    @property
    def is_no_tasks(self) -> bool:
        return self.number is None and bool(_SAMPLES.match(self.title) or _WORDS["not_tasks"].match(self.title))

    @property
    def holds_samples(self) -> bool:
        return _SAMPLES.match(self.title) is not None

    def every(self) -> Iterator[Section]:
        """The section and all below it, in the order of the file."""
        yield self
        for child in self.children:
            yield from child.every()


@dataclass(frozen=True, slots=True)
class Box:
    """A list item with a box: what the box holds, and the text after it."""

    mark: str
    rest: str
    is_optional: bool
    line: Line


@dataclass(slots=True)
class Unit:
    """What one group is made of. `own` narrows it to lines of its first section: a box with those below it."""

    title: str
    number: int | None
    line: int
    sections: list[Section] = field(default_factory=list)
    box: Box | None = None

    @property
    def is_document(self) -> bool:
        """Whether its heading is the title of the file."""
        return self.number is None and self.box is None and self.sections[0].level <= 1


def box_in(line: Line) -> Box | None:
    match = _BOX.match(line.text) if not line.is_code and "[" in line.text else None
    if match is None:
        return None
    mark = {"✓": "x", "✔": "x", "✅": "x"}.get(match["box"], match["box"])
    return Box(mark or " ", match["rest"], match["star"] is not None, line)


def item_in(line: Line) -> Box | None:
    """A list item without a box, as an open one."""
    match = _LIST.match(line.text) if not line.is_code else None
    return Box(" ", match["rest"], False, line) if match else None


def numbered(title: str) -> tuple[int | None, str]:
    """The number that a heading begins with, and its title without it."""
    match = _NUMBERED.match(title[:200])
    if match is None:
        return None, title
    rest = title[match.start("title") :].strip("*_ ")
    return int(match["plain"] or match["ordinal"] or match["named"]), rest or title


def deep_number(title: str) -> tuple[str, str] | None:
    """A number such as `1.2` before a title, and the title."""
    match = _DEEP_NUMBER.match(title)
    return (unicodedata.normalize("NFKC", match["number"]), match["title"].strip("*_ ")) if match else None


def sections_of(lines: Iterable[Line]) -> Section:
    """The file as a tree of its headings."""
    root = Section()
    above = [root]
    for line in lines:
        if line.heading is None:
            above[-1].lines.append(line)
            continue
        while above[-1].level >= line.heading.level:
            above.pop()
        section = Section(line.heading.title.strip(), line.heading.level, line.number)
        above[-1].children.append(section)
        above.append(section)
    return root


def has_tasks(section: Section) -> bool:
    """Whether any box stands in it that is a task's."""
    if section.is_no_tasks:
        return False
    return section.has_own or any(has_tasks(child) for child in section.children)


def units_of(section: Section, has_boxes: bool = True, *, is_title: bool = True) -> list[Unit]:
    """The groups in a section: the outermost numbered headings, or those that hold the boxes where none is numbered.

    A heading above all tasks is only a title.
    """
    holds = has_tasks if has_boxes else _has_numbered
    kids = [child for child in section.children if holds(child)]
    if section.number is not None or not kids:
        return [_unit(section, section.children)]
    any_numbered = any(child.number is not None for child in kids)
    if not is_title and not any_numbered:
        return [_unit(section, section.children)]
    own = [_unit(section, [])] if section.has_own else []
    is_only = len(kids) == 1 and not own
    return own + [unit for kid in kids for unit in units_of(kid, has_boxes, is_title=is_title and is_only)]


def _has_numbered(section: Section) -> bool:
    return any(part.number is not None or deep_number(part.title) is not None for part in section.every())


def _unit(section: Section, children: Iterable[Section]) -> Unit:
    number, title = numbered(section.title)
    below = [part for child in children if not child.is_no_tasks for part in child.every()]
    return Unit(
        title, number, section.line, [Section(section.title, section.level, section.line, section.lines), *below]
    )
