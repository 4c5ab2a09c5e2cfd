"""tasks.md cut into entries, and these put together as groups: who belongs to whom, and which number each group has.

A box `1.` is a group; where no box is one, numbered headings are, else headings that hold boxes, else each box.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from agent_fox.core.regex import regex
from agent_fox.core.spec import Problem
from agent_fox.specs.collected import Remarks
from agent_fox.specs.common.task_lists import Cut, Draft, entries_of, left_out, tell_apart
from agent_fox.specs.document import Markdown
from agent_fox.specs.files import warning
from agent_fox.specs.kiro.blocks import heading_of
from agent_fox.specs.kiro.ids import ascii_number
from agent_fox.specs.lines import Heading, Line
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_DONE_SIGNS = "✓✔✅☑xX"


class _Boxed(Cut):
    """Entries are boxes and numbered headings; a word before a number is one such as *Task*: `Add 3 tests` has none."""

    not_tasks, box, own_bullet = _LIKE["not_tasks"], _LIKE["box"], regex(r"_|\*\*")

    def item(self, line: Line) -> Draft | None:
        text = line.text.strip()
        box = _LIKE["box"].match(text) if "[" in text[:12] else None
        if box is None:
            return None
        rest = box["rest"].strip()
        word = _LIKE["task_word"].match(rest)
        is_numbered = word is not None and (word["word"] is None or _LIKE["task"].fullmatch(word["word"]) is not None)
        match = _LIKE["numbered"].match(rest) if is_numbered else None
        entry = _entry(ascii_number(match["number"]) if match else "", match["title"] if match else rest, line)
        entry.box = _state(box["box"])
        entry.is_optional |= match is not None and any(match[name] for name in ("before", "after", "star"))
        return entry

    def headed(self, line: Line, heading: Heading) -> Draft | None:
        match = _LIKE["heading"].match(heading.title.replace("**", ""))
        if match is None or (match["word"] and not _LIKE["task"].search(match["word"])):
            return None
        is_bare = not match["word"] and not match["end"].strip() and "." not in match["number"]
        if is_bare or _LIKE["not_tasks"].match(match["title"].lower()):
            return None
        number = ascii_number(match["number"])
        title = match["title"].strip("*_ ") or " ".join(filter(None, (match["word"], number)))
        entry = _entry(number, title, line)
        entry.level, entry.box = heading.level, _state(match["box"]) if match["box"] is not None else None
        return entry


class _Listed(_Boxed):
    """Where a file has no boxes at all, numbered items stand for them."""

    def item(self, line: Line) -> Draft | None:
        match = _LIKE["listed"].match(line.text.strip())
        return _entry(match["number"], match["title"], line) if match else None


def _entry(number: str, title: str, line: Line) -> Draft:
    """An entry without the marks for optional and parallel tasks in its title."""
    without, stars = _LIKE["star_around"].subn("", title) if "*" in title else (title, 0)
    clean, words = _LIKE["optional"].subn(" ", without)
    clean, parallel = _LIKE["parallel"].subn(" ", clean)
    title = " ".join(clean.split())
    return Draft(
        number, title, line.number, None, line.indent, is_optional=bool(stars or words), is_parallel=bool(parallel)
    )


def _state(box: str) -> str:
    """A box's mark as one character."""
    mark = box.strip()[:1]
    return "x" if mark in _DONE_SIGNS and mark else mark or " "


def read_groups(markdown: Markdown) -> tuple[list[Draft], list[Problem]]:
    """The groups of a tasks file, numbered, and what had to be guessed."""
    is_boxed = any("[" in line.text and _LIKE["box"].match(line.text.strip()) for line in markdown.words)
    lines = []
    for line in markdown.lines:  # a bold line `**Phase 2: T**` is a heading below all others
        heading = heading_of(line) if line.heading is None and "**" in line.text else None
        match = _LIKE["heading"].match(heading.title) if heading else None
        is_one = match is not None and _LIKE["task"].match(match["word"] or "") is not None
        lines.append(line._replace(heading=heading) if is_one else line)
    entries, aside = entries_of(lines, _Boxed if is_boxed else _Listed)
    _give_to_wholes(entries)
    if any(entry.number for entry in entries):
        assembly = _Assembly(markdown, entries)
        groups, problems = assembly.groups, assembly.problems
    else:
        groups, problems = _unnumbered(markdown, [entry for entry in entries if not entry.level])
    problems += [*_numbered(markdown, groups), *left_out(markdown, aside)]
    return groups, problems


def _give_to_wholes(entries: Iterable[Draft]) -> None:
    """What stands after the last subtask, at its indentation, is the whole's: `- _Requirements: 1.2_` for the group.

    Where such lines stand after other subtasks too, the file is just indented so, and each keeps its own.
    """
    parts: dict[int, tuple[Draft, list[Draft]]] = {}
    above: list[Draft] = []
    for entry in entries:
        while above and (entry.level or above[-1].indent >= entry.indent or above[-1].chain != entry.chain):
            above.pop()
        if above:
            parts.setdefault(above[-1].line, (above[-1], []))[1].append(entry)
        if not entry.level:
            above.append(entry)
    for whole, inside in parts.values():
        # the first bullet of each that stands no deeper than it, but deeper than the whole
        loose = [
            (entry, place)
            for entry in inside
            for place, bullet in enumerate(entry.bullets)
            if place and whole.indent < bullet.lines[0].indent <= entry.indent
        ]
        if loose and loose[0][0] is inside[-1]:
            entry, place = loose[0]
            first = entry.bullets[place].lines[0].number
            whole.bullets += entry.bullets[place:]
            whole.lines += [line for line in entry.lines if line.number >= first]
            entry.lines = [line for line in entry.lines if line.number < first]
            del entry.bullets[place:]


class _Assembly(Remarks):
    """Gives each entry its place. Knows the groups so far, and in which group and subtask it stands.

    Groups are boxes with a whole number, the outermost; else headings with one that stand right above boxes, not the
    parts that those are sorted in. A group that has no entry of its own counts as headed.
    """

    def __init__(self, markdown: Markdown, entries: Sequence[Draft]) -> None:
        super().__init__(markdown)
        self.groups: list[Draft] = []
        self.by_number: dict[str, Draft] = {}
        self.parents: dict[str, Draft] = {}
        self.task: Draft | None = None
        boxes = [entry for entry in entries if not entry.level]
        edge = min((entry.indent for entry in boxes if entry.number), default=0) + 1
        begins = {box.line for box in boxes if box.number and "." not in box.number and box.indent <= edge}
        has_group_boxes = bool(begins)
        if not begins:
            tops = [entry for entry in entries if entry.level and "." not in entry.number]
            parts, holding = (
                {line for entry in kind for line, _ in entry.chain if line != entry.line} for kind in (tops, entries)
            )
            begins = {top.line for top in tops if top.line not in parts and (top.line in holding or not boxes)}
        for entry in entries:
            if entry.line in begins:
                self._begin(entry)
            elif "." in entry.number and not (entry.level and has_group_boxes):
                self._dotted(entry)
            elif not entry.level:
                self._detail(entry)

    def _begin(self, group: Draft) -> Draft:
        self.groups.append(group)
        self.by_number[group.number] = group
        self.parents, self.task = {}, None
        return group

    def _dotted(self, entry: Draft) -> None:
        """A subtask, in the group that it stands in: by its indentation, else by its number, else a new one."""
        head = entry.number.partition(".")[0]
        current = self.groups[-1] if self.groups and not self.groups[-1].level else None
        is_inside = current and entry.indent > current.indent + 1 and entry.chain == current.chain
        group = current if current and (is_inside or current.number == head) else self.by_number.get(head)
        if group is None:
            above = [heading.title for line, heading in entry.chain if line != entry.line]
            title = above[-1] if above else f"Task {head}"
            group = self._begin(Draft(head, title, entry.line, level=1, chain=entry.chain))
        group.lines += entry.lines
        parent = self.parents.get(entry.number.rpartition(".")[0]) if entry.number.count(".") > 1 else None
        if parent is not None:
            parent.bullets += entry.bullets
        else:
            self.task = self.parents[entry.number] = entry
            group.tasks.append(entry)

    def _detail(self, entry: Draft) -> None:
        """A box without a number of its own belongs to what it stands in, with no heading between."""
        group = self.groups[-1] if self.groups else None
        is_headed = group is not None and set(group.chain) <= set(entry.chain) if group and group.level else False
        if group is None or not (is_headed or group.chain == entry.chain):
            what = f"the task {entry.title[:60]!r} belongs to no group: it is not planned. Give it a number"
            self.warn(entry.line, what)
            return
        group.lines += entry.lines
        task = self.task if group.tasks and group.tasks[-1] is self.task else None
        is_of_task = task is not None and (entry.indent > task.indent or task.level > 0)
        (task.bullets if task is not None and is_of_task else group.bullets).extend(entry.bullets)
        if not group.level and entry.indent <= group.indent:
            what = f"this task has no number: read as part of group {group.number}. Number it, or indent it"
            self.warn(entry.line, what)


def _unnumbered(markdown: Markdown, boxes: Sequence[Draft]) -> tuple[list[Draft], list[Problem]]:
    """No number anywhere: headings that hold boxes are the groups if there are several, else each box is one."""
    if not boxes:
        return [], []
    titles = {box.chain[-1][0]: box.chain[-1][1].title for box in boxes if box.chain}
    base = min(box.indent for box in boxes)
    by_heading = len(titles) > 1
    groups: list[Draft] = []
    section_before = -1
    for box in boxes:
        section = box.chain[-1][0] if box.chain else 0
        if by_heading and section != section_before:
            groups.append(Draft("", titles.get(section, box.title), section or box.line, level=1, chain=box.chain))
        if not by_heading and (box.indent <= base + 1 or not groups):
            groups.append(box)
        else:
            groups[-1].lines += box.lines
            groups[-1].bullets += box.bullets
        section_before = section
    what = "each heading with boxes" if by_heading else "each box"
    text = f"no task has a number: {what} is read as a group, counted from 1. Write `- [ ] 1. Title`"
    return groups, [warning(markdown.at(boxes[0].line), text)]


def _numbered(markdown: Markdown, groups: Sequence[Draft]) -> Iterator[Problem]:
    """Numbers as written where they tell the groups apart, those of one list without doubles; else counted."""
    lists = {(group.head, () if group.level else group.chain) for group in groups}
    if all(group.head for group in groups) and len({group.head for group in groups}) == len(lists):
        yield from tell_apart(markdown, groups)
        return
    for place, group in enumerate(groups, 1):
        group.group = place
    changed = [
        f"{group.number} in line {group.line} is group {group.group}"
        for group in groups
        if group.number not in ("", str(group.group))
    ]
    if changed:
        shown = "; ".join(changed[:5]) + ("; ..." if len(changed) > 5 else "")
        what = f"the groups' numbers don't tell them apart, they are counted: {shown}. Number them from 1 on"
        yield warning(markdown.at(groups[0].line), what)
