"""tasks.md cut into entries, and these put together as groups: who belongs to whom, and which number each group has.

A box `1.` is a group; where no box is one, numbered headings are, else headings that hold boxes, else each box.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from agent_fox.core.spec import Problem
from agent_fox.specs.collected import Remarks
from agent_fox.specs.common.id_ranges import ascii_number
from agent_fox.specs.common.task_lists import Bullet, Draft, tell_apart
from agent_fox.specs.document import Markdown
from agent_fox.specs.files import warning
from agent_fox.specs.lines import MARK, MARKS, Chain, Heading, Line, aside_below, in_bold, is_rule
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_DONE_SIGNS = "✓✔✅☑xX"
_BOLD, _BOLD_LEVEL = ("**", "__"), 9
_BRACKETS = frozenset("([（")


class _Cut:
    """Goes through a tasks file, line by line. Knows only where it stands: under which headings, in which entry.

    Entries are boxes and numbered headings; where a file has no boxes at all, numbered items stand for them. What
    stands below headings such as *Notes* is aside. Where it `is_strict`, what stands deeper than the first subtask of a
    group is no entry, whatever its number.
    """

    def __init__(self, is_boxed: bool, is_strict: bool) -> None:
        self.is_boxed, self.is_strict = is_boxed, is_strict
        self.edge: int | None = None
        self.entries: list[Draft] = []
        self.chain: Chain = ()
        self.level_aside: int | None = None
        self.current: Draft | None = None
        self.wants_bullet = True

    def read(self, lines: Iterable[Line]) -> list[Draft]:
        for line in lines:
            if line.heading is not None:
                self._heading(line, line.heading)
            elif (self.is_boxed and "[" not in line.text) or (entry := self._entry(line)) is None:
                self._text(line)
            else:
                self._begin(entry, line)
        return self.entries

    def _entry(self, line: Line) -> Draft | None:
        is_below = self.is_strict and self.edge is not None and line.indent > self.edge
        if line.is_code or (is_below and self.current is not None):
            return None
        match = None if self.is_boxed else _LIKE["entry_listed"].match(line.text.strip())
        return _boxed(line) if self.is_boxed else _entry(match["number"], match["title"], line) if match else None

    def _heading(self, line: Line, heading: Heading) -> None:
        heading = heading._replace(title=heading.title.strip("*_ "))
        above = (step for step in self.chain if step[1].level < heading.level)
        self.chain, self.current = (*above, (line.number, heading)), None
        self.level_aside = aside_below(heading, self.level_aside, _LIKE["not_tasks"])
        if (entry := _headed(line, heading)) is not None:
            self._begin(entry, line)

    def _begin(self, entry: Draft, line: Line) -> None:
        """An entry's own line is its first bullet."""
        entry.chain, entry.is_aside = self.chain, self.level_aside is not None
        entry.lines.append(line)
        entry.bullets.append(Bullet([line], entry.box, "" if entry.level else entry.title))
        self.entries.append(entry)
        self.current, self.wants_bullet = entry, False
        if entry.number:
            self.edge = None if "." not in entry.number else self.edge if self.edge is not None else entry.indent + 1

    def _text(self, line: Line) -> None:
        """A line of the entry that was begun last: a bullet, or what one wraps over."""
        if self.current is None:
            return
        self.current.lines.append(line)
        text = line.text.strip()
        if not text or line.is_code or is_rule(text):
            self.wants_bullet = self.wants_bullet or not line.is_code
            return
        mark = MARK.match(text) if text[0] in MARKS else None
        if mark is None and not self.wants_bullet and not _LIKE["own_bullet"].match(text):
            self.current.bullets[-1].lines.append(line)
            return
        box = _LIKE["entry_box"].match(text) if "[" in text else None
        first = box["rest"].strip() if box else text[mark.end() :] if mark else text
        self.current.bullets.append(Bullet([line], _state(box["box"]) if box else None, first))
        self.wants_bullet = False


def _boxed(line: Line) -> Draft | None:
    """The entry that a box is; a word before its number is one such as *Task*: `Add 3 tests` has none."""
    text = line.text.strip()
    text = text.strip("*") if text.startswith("**-") else text  # an item that is bold as a whole, with its mark
    box = _LIKE["entry_box"].match(text) if "[" in text[:12] else None
    if box is None:
        return None
    rest = box["rest"].strip()
    word = _LIKE["task_word"].match(rest)
    is_numbered = word is not None and (word["word"] is None or _LIKE["task"].fullmatch(word["word"]) is not None)
    match = _LIKE["entry_numbered"].match(rest) if is_numbered else None
    entry = _entry(ascii_number(match["number"]) if match else "", match["title"] if match else rest, line)
    entry.box = _state(box["box"])
    entry.is_optional |= match is not None and any(match[name] for name in ("before", "after", "star"))
    return entry


def _headed(line: Line, heading: Heading) -> Draft | None:
    match = _LIKE["entry_heading"].match(heading.title.replace("**", ""))
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


def _entry(number: str, title: str, line: Line) -> Draft:
    """An entry without the marks for optional and parallel tasks in its title."""
    without, stars = _LIKE["star_around"].subn("", title) if "*" in title else (title, 0)
    clean, words, parallel = without, 0, 0
    if not _BRACKETS.isdisjoint(without):
        clean, words = _LIKE["optional"].subn(" ", without)
        clean, parallel = _LIKE["parallel"].subn(" ", clean)
    title = " ".join(clean.split())
    is_optional, is_parallel = bool(stars or words), bool(parallel)
    return Draft(number, title, line.number, None, line.indent, is_optional=is_optional, is_parallel=is_parallel)


def _state(box: str) -> str:
    """A box's mark as one character."""
    mark = box.strip()[:1]
    return "x" if mark in _DONE_SIGNS and mark else mark or " "


def read_groups(markdown: Markdown, *, is_strict: bool = False) -> tuple[list[Draft], list[Problem]]:
    """The groups of a tasks file, numbered, and what had to be guessed. `is_strict`: what has no number is no group,
    and no subtask stands below another."""
    entries, aside = _entries_of(markdown, is_strict)
    _give_to_wholes(entries)
    if any(entry.number for entry in entries):
        assembly = _Assembly(markdown, entries)
        groups, problems = assembly.groups, assembly.problems
    elif is_strict:
        groups, problems = [], []
    else:
        groups, problems = _unnumbered(markdown, [entry for entry in entries if not entry.level])
    problems += _numbered(markdown, groups)
    for entry in aside:  # boxes under headings such as *Notes*
        what = f"task {entry.number} stands below a heading that holds no tasks: not planned. Move it, if it is one"
        problems.append(warning(markdown.at(entry.line), what))
    return groups, problems


def _entries_of(markdown: Markdown, is_strict: bool) -> tuple[list[Draft], list[Draft]]:
    """The entries of a file; and those left out, under a number that no other has, since they stand under a heading
    such as *Notes*.

    A heading below which the numbers go on is about tasks, whatever it is called.
    """
    lines = [_with_heading(line) if line.text[:2] in _BOLD else line for line in markdown.lines]
    headings = [(line.heading.level, line.number) for line in lines if line.heading is not None]
    tops = [number for level, number in headings if level == 1]
    if len(tops) == 1 and headings[0][1] == tops[0]:  # the file's title, which hides no task whatever it says
        lines = [line for line in lines if line.number != tops[0]]
    is_boxed = any("[" in line.text and _LIKE["entry_box"].match(line.text.strip()) for line in markdown.words)
    entries = _Cut(is_boxed, is_strict).read(lines)
    planned = [entry for entry in entries if entry.number and not entry.is_aside]
    taken = {entry.head for entry in planned}
    starts = [(entry.line, entry.head) for entry in [each for each in planned if not each.level] or planned]
    holding: set[int] = set()
    aside = groupby((entry for entry in entries if entry.is_aside), lambda entry: entry.chain)
    for chain, below in ((chain, [*group]) for chain, group in aside):
        (heading, (_, title)), first = chain[-1], next((entry.head for entry in below if entry.number), 0)
        before = max((number for line, number in starts if line < heading), default=0)
        goes_on = first == before + 1 and first not in {*taken, *(number for _, number in starts)}
        goes_on = goes_on and not _LIKE["not_tasks"].fullmatch(title.lower())  # *Notes* alone holds no tasks
        if goes_on or any(line in holding for line, _ in chain):
            holding.add(heading)
            starts += [(entry.line, entry.head) for entry in below if entry.number]
            for entry in below:
                entry.is_aside = False
    known = {entry.number for entry in entries if not entry.is_aside}
    out = [entry for entry in entries if entry.is_aside and not entry.level and entry.number not in {"", *known}]
    wholes = {entry.number for entry in out}
    left = [entry for entry in out if entry.number.isdecimal() or str(entry.head) not in wholes]
    return [entry for entry in entries if not entry.is_aside], left


def _with_heading(line: Line) -> Line:
    """A bold line `**Phase 2: T**` is a heading below all others."""
    title = in_bold(line)
    match = _LIKE["entry_heading"].match(title) if title else None
    is_one = match is not None and _LIKE["task"].match(match["word"] or "") is not None
    return line._replace(heading=Heading(_BOLD_LEVEL, title)) if is_one else line


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
            kinds = ([(entry.line, line) for entry in kind for line, _ in entry.chain] for kind in (tops, entries))
            parts, holding = ({line for own, line in kind if line != own} for kind in kinds)
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
    if changed := [group for group in groups if group.number not in ("", str(group.group))]:
        shown = "; ".join(f"{each.number} in line {each.line} is group {each.group}" for each in changed[:5])
        shown += "; ..." if len(changed) > 5 else ""
        what = f"the groups' numbers don't tell them apart, they are counted: {shown}. Number them from 1 on"
        yield warning(markdown.at(groups[0].line), what)
