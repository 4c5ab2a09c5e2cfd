"""tasks.md cut into entries: boxes and headings with what stands below each. Groups are not made here."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.specs.common.task_lists import Bullet, going_on, without_title
from agent_fox.specs.kiro.blocks import heading_of
from agent_fox.specs.kiro.ids import ascii_number
from agent_fox.specs.kiro.words import NOT_TASKS, OPTIONAL, PARALLEL, TASK
from agent_fox.specs.lines import is_rule

if TYPE_CHECKING:
    from agent_fox.specs.lines import Line

_BOX = regex(r"(?:[-*+]|\d{1,4}[.)])\s+(?:\*\*)?\[(?P<box>(?:[xXoO]|[^\w\[\]().`\"']){0,3})\](?P<rest>.*)$")
_NUMBER = r"\d{1,6}[A-Za-z]?(?:[.．]\d{1,6}[A-Za-z]?){0,4}"
_STARS = r"(?:\\?\*(?!\*))"
_SIGN = r"(?:[\u2300-\u23ff\u2460-\u27bf\u2b00-\u2bff\U0001f000-\U0001faff\ufe0f]{1,4}\s{0,2})?"
_NUMBERED = regex(
    rf"(?P<before>{_STARS})?\s{{0,4}}{_SIGN}\*{{0,2}}(?:[^\W\d_]{{2,12}}\s{{0,2}})?(?P<number>{_NUMBER})(?P<after>{_STARS})?"
    rf"(?:[.)．、:：]+(?!\d)(?:\*\*)?(?P<star>{_STARS})?|(?=[\s*（(【]|$))\s*(?:[–—-]\s+)?(?P<title>.*)$"
)
_STAR_AROUND = regex(rf"^{_STARS}\s*(?=\S)(?!.*[^\s*]\*\s*$)|(?<=\s){_STARS}$")
_TASK_WORD = regex(rf"\s{{0,4}}(?:\\?\*\s?)?{_SIGN}" r"\*{0,2}(?:(?P<word>[^\W\d_]{2,12})\s{0,2})?\d")
_HEADING = regex(
    rf"(?:\[(?P<box>[^\[\]]{{0,3}})\]\s*)?\W{{0,6}}(?P<word>[^\W\d_][^\d:：.]{{0,30}}?)??\s{{0,3}}#?(?P<number>{_NUMBER})"
    r"(?![\w%])(?P<end>[*_)）]{0,3}\s{0,3}[:：.．、)）|—–-]{0,2})\s*(?P<title>.*)$"
)
_LISTED = regex(rf"(?P<number>{_NUMBER})[.)]\s+(?P<title>\S.*)$")
_BULLET = regex(r"(?:[-*+]|\d{1,3}[.)])\s+")
_DONE_SIGNS = "✓✔✅☑xX"


@dataclass(slots=True)
class Entry:
    """A box, a numbered heading, or a numbered item: `number` as written, `level` 0 where it is no heading.

    `bullets` begin with its own line.
    """

    number: str
    title: str
    line: int
    indent: int = 0
    level: int = 0
    box: str | None = None
    optional: bool = False
    parallel: bool = False
    sections: tuple[Section, ...] = ()
    lines: list[Line] = field(default_factory=list)
    bullets: list[Bullet] = field(default_factory=list)

    @property
    def depth(self) -> int:
        """1 for a group's number, 2 for `1.2`, 0 for none."""
        return self.number.count(".") + 1 if self.number else 0


@dataclass(frozen=True, slots=True)
class Section:
    """A heading that an entry stands under."""

    level: int
    title: str
    line: int
    number: str = ""


class _Cut:
    """Goes through a file, line by line. Knows only where it stands: under which headings, in which entry.

    Lines in `tasks` are headings that are tasks', whatever they are called. `left_out` are numbered boxes under those
    that begin as if they were not, such as *Reference data*, by the line of the heading; `aside` those under headings
    that say nothing else, such as *Notes*.
    """

    def __init__(self, tasks: frozenset[int]) -> None:
        self.tasks = tasks
        self.entries: list[Entry] = []
        self.left_out: dict[int, list[Entry]] = {}
        self.aside: dict[int, list[Entry]] = {}
        self.sections: list[Section] = []
        self.current: Entry | None = None
        self.not_tasks: int | None = None
        self.wants_bullet = True

    def read(self, lines: Iterable[Line], *, is_boxed: bool) -> list[Entry]:
        for line in lines:
            self._line(line, is_boxed)
        return self.entries

    def _line(self, line: Line, is_boxed: bool) -> None:
        heading = line.heading
        if heading is not None:
            self._heading(line, heading.level, heading.title)
            return
        if self.not_tasks is not None:
            self._leave_out(line, self.sections[-1])
            return
        entry = (_box(line) if is_boxed else _listed(line)) if not line.is_code else None
        if entry is not None:
            self._begin(entry, line, entry.title)
        elif self.current is not None:
            self._text(self.current, line)

    def _heading(self, line: Line, level: int, title: str) -> None:
        self.sections = [section for section in self.sections if section.level < level]
        if self.not_tasks is None or level <= self.not_tasks:
            match = _HEADING.match(title.replace("**", ""))
            is_aside = line.number not in self.tasks and NOT_TASKS.match(title.strip("*_ ").lower()) is not None
            self.not_tasks = level if is_aside else None
            self.current = None
            entry = None if is_aside else _headed(match, line, level)
            self.sections.append(Section(level, title.strip("*_ "), line.number, entry.number if entry else ""))
            if entry is not None:
                self._begin(entry, line, "")

    def _leave_out(self, line: Line, heading: Section) -> None:
        entry = _box(line) if not line.is_code else None
        if entry is not None and entry.number:
            is_sure = NOT_TASKS.fullmatch(heading.title.lower()) is not None
            (self.aside if is_sure else self.left_out).setdefault(heading.line, []).append(entry)

    def _begin(self, entry: Entry, line: Line, text: str) -> None:
        entry.sections = tuple(self.sections)
        entry.lines.append(line)
        entry.bullets.append(Bullet([line], entry.box, text))
        self.entries.append(entry)
        self.current, self.wants_bullet = entry, False

    def _text(self, entry: Entry, line: Line) -> None:
        entry.lines.append(line)
        text = line.text.strip()
        if line.is_code or line.is_blank or is_rule(text):
            self.wants_bullet = self.wants_bullet or not line.is_code
            return
        bullet = _BULLET.match(text)
        if bullet is None and not self.wants_bullet and not text.startswith(("_", "**")):
            entry.bullets[-1].lines.append(line)
            return
        entry.bullets.append(Bullet([line], None, text[bullet.end() :] if bullet else text))
        self.wants_bullet = False


def entries_of(lines: Iterable[Line]) -> tuple[list[Entry], list[Entry]]:
    """The entries of a file, and those left out whose numbers nothing else has, since they stand under a heading such
    as *Notes*. Where the file has no boxes at all, numbered items stand for them."""
    kept = tuple(lines)
    is_boxed = any(not line.is_code and "[" in line.text and _BOX.match(line.text.strip()) for line in kept)
    lines = tuple(_with_bold_headings(tuple(without_title(kept))))
    cut = _Cut(frozenset())
    entries = cut.read(lines, is_boxed=is_boxed)
    starts = [(entry.line, _head(entry)) for entry in entries if not entry.level and entry.number]
    tasks = going_on(starts, {line: [(box.line, _head(box)) for box in out] for line, out in cut.left_out.items()})
    if tasks:
        cut = _Cut(tasks)
        entries = cut.read(lines, is_boxed=is_boxed)
    _give_to_wholes(entries)
    known = {entry.number for entry in entries}
    aside = [entry for under in (*cut.left_out.values(), *cut.aside.values()) for entry in under]
    return entries, [entry for entry in aside if entry.number not in known]


def _head(entry: Entry) -> int:
    digits = entry.number.partition(".")[0]
    return int(digits) if digits.isdigit() else 0


def _give_to_wholes(entries: Iterable[Entry]) -> None:
    """What stands after the last subtask, at its indentation, is the whole's: `- _Requirements: 1.2_` for the group.

    Where such lines stand after other subtasks too, the file is just indented so, and each keeps its own.
    """
    parts: dict[int, tuple[Entry, list[Entry]]] = {}
    above: list[Entry] = []
    for entry in entries:
        while above and (entry.level or above[-1].indent >= entry.indent or above[-1].sections != entry.sections):
            above.pop()
        if above:
            parts.setdefault(above[-1].line, (above[-1], []))[1].append(entry)
        if not entry.level:
            above.append(entry)
    for whole, inside in parts.values():
        loose = [entry for entry in inside if _loose_from(entry, whole)]
        if loose == inside[-1:]:
            _move(inside[-1], whole)


def _loose_from(entry: Entry, whole: Entry) -> int:
    """The place of the first bullet of an entry that stands no deeper than it, but deeper than the whole; else 0."""
    starts = (bullet.lines[0].indent for bullet in entry.bullets)
    return next((place for place, indent in enumerate(starts) if place and whole.indent < indent <= entry.indent), 0)


def _move(entry: Entry, whole: Entry) -> None:
    place = _loose_from(entry, whole)
    moved = entry.bullets[place:]
    first = moved[0].lines[0].number
    whole.bullets += moved
    whole.lines += [line for line in entry.lines if line.number >= first]
    entry.lines = [line for line in entry.lines if line.number < first]
    del entry.bullets[place:]


def state_box(box: str) -> str:
    """A box's mark as one character."""
    mark = box.strip()[:1]
    return "x" if mark in _DONE_SIGNS and mark else mark or " "


def _with_bold_headings(lines: tuple[Line, ...]) -> Iterator[Line]:
    """A bold line `**Phase 2: T**` is a heading below all others."""
    for line in lines:
        heading = heading_of(line) if line.heading is None and "**" in line.text else None
        match = _HEADING.match(heading.title) if heading else None
        if heading is not None and match is not None and TASK.match(match["word"] or ""):
            yield line._replace(heading=heading)
        else:
            yield line


def _box(line: Line) -> Entry | None:
    text = line.text.strip()
    box = _BOX.match(text) if "[" in text[:12] else None
    if box is None:
        return None
    rest = box["rest"].strip()
    match = _NUMBERED.match(rest) if _may_be_numbered(rest) else None
    title, optional, parallel = _marks(match["title"] if match else rest)
    starred = match is not None and any(match[name] for name in ("before", "after", "star"))
    return Entry(
        number=ascii_number(match["number"]) if match else "",
        title=title,
        line=line.number,
        indent=line.indent,
        box=state_box(box["box"]),
        optional=optional or starred,
        parallel=parallel,
    )


def _marks(title: str) -> tuple[str, bool, bool]:
    """A title without the marks for optional and parallel tasks, and whether it has them."""
    without, stars = _STAR_AROUND.subn("", title) if "*" in title else (title, 0)
    clean, words = OPTIONAL.subn(" ", without)
    clean, parallel = PARALLEL.subn(" ", clean)
    return " ".join(clean.split()), bool(stars or words), bool(parallel)


def _may_be_numbered(rest: str) -> bool:
    """A word before the number is one such as *Task*: `Add 3 tests` has no number."""
    match = _TASK_WORD.match(rest)
    return match is not None and (match["word"] is None or TASK.fullmatch(match["word"]) is not None)


def _listed(line: Line) -> Entry | None:
    match = _LISTED.match(line.text.strip())
    if match is None:
        return None
    title, optional, parallel = _marks(match["title"])
    return Entry(match["number"], title, line.number, line.indent, optional=optional, parallel=parallel)


def _headed(found: re.Match[str] | None, line: Line, level: int) -> Entry | None:
    """A numbered heading. A word before the number is one such as *Phase*, or there is none."""
    if found is None or (found["word"] and not TASK.search(found["word"])):
        return None
    if not found["word"] and not found["end"].strip() and "." not in found["number"]:
        return None
    if NOT_TASKS.match(found["title"].lower()):
        return None
    number = ascii_number(found["number"])
    title = found["title"].strip("*_ ") or " ".join(filter(None, (found["word"], number)))
    clean, optional, parallel = _marks(title)
    box = state_box(found["box"]) if found["box"] is not None else None
    return Entry(number, clean, line.number, line.indent, level, box, optional, parallel)
