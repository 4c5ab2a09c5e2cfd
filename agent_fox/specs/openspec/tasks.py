"""tasks.md of a change as task groups, and what they name in their words: requirements of the change, other tasks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count, islice, pairwise

from agent_fox.core.spec import Group, Subtask, TaskState
from agent_fox.specs.collected import ReadTasks, Remarks
from agent_fox.specs.common import task_lists
from agent_fox.specs.common.id_ranges import index_of
from agent_fox.specs.common.task_lists import Draft, rolled_up, state_of
from agent_fox.specs.document import Markdown
from agent_fox.specs.lines import Line
from agent_fox.specs.openspec.capabilities import ReadCapabilities, half_written
from agent_fox.specs.openspec.deltas import ids_in, is_unfilled, same, unstruck
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_LONGEST, _LONGEST_TEXT = 400, 20_000
_FEWEST_LETTERS, _FEWEST_WORDS, _MOST_WORDS = 6, 3, 16
_NESTED = 2
_TICKS = ("✓", "✔", "✅")


class Names:
    """The parts that a capability's name, a requirement's title or id, or a scenario's title stands for."""

    def __init__(self, read: ReadCapabilities) -> None:
        self.index = index_of(read.requirements, "")
        self._headings = {**read.capabilities, **read.names}
        self._titles = {**read.scenarios, **read.names}
        self._capabilities = read.capabilities
        # titles of several words are found where they stand in a text without any marks around them; one of one or two
        # words may be an ordinary phrase, and of a long one its first words count
        self._phrases: dict[tuple[str, ...], list[str]] = {}
        self._lengths: dict[str, list[int]] = {}
        for title, parts in self._titles.items():
            words = tuple(_LIKE["word"].findall(title)[:_MOST_WORDS])
            is_phrase = " " in title or not title.isascii()
            if is_phrase and len(words) >= _FEWEST_WORDS and sum(map(len, words)) >= _FEWEST_LETTERS:
                self._phrases.setdefault(words, []).extend(parts)
        for words in sorted(self._phrases, key=len, reverse=True):
            lengths = self._lengths.setdefault(words[0], [])
            lengths += [len(words)] if len(words) not in lengths else []

    def headed(self, headings: Iterable[str]) -> Iterator[str]:
        """The parts that headings are about: those that are a capability's name or a requirement's title, no more."""
        for name in dict.fromkeys(map(same, headings)):
            yield from self._headings.get(name) or self._capabilities.get(name.replace(" ", "-")) or ()

    def parts_in(self, lines: Iterable[str], wrapped: Iterable[str] = ()) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The parts that lines name, in their order, and what a field names that is not there. In wrapped texts, fields
        are not looked for: where they end can't be told."""
        sequences: dict[int, Sequence[str]] = {}
        unknown: dict[str, None] = {}
        for text in (text[:_LONGEST_TEXT] for text in lines):
            sequences.update((id(parts), parts) for parts in self._mentioned(text))
            if field := _LIKE["field"].search(text):
                in_field, missing = self._in_field(field["named"])
                sequences.update((id(parts), parts) for parts in in_field)
                unknown.update(dict.fromkeys([missing] if missing and _LIKE["field_begins"].match(text) else []))
        for text in wrapped:
            sequences.update((id(parts), parts) for parts in self._mentioned(text[:_LONGEST_TEXT]))
        return tuple(dict.fromkeys(part for parts in sequences.values() for part in parts)), tuple(unknown)

    def _mentioned(self, text: str) -> Iterator[Sequence[str]]:
        """What a text names anywhere: in quotes, by an id, or by a title of several words."""
        yield from map(self._meant, _names(text))
        words = _LIKE["word"].findall(text.casefold()) if self._lengths else ()
        for place, word in enumerate(words):  # the longest title that begins at each
            titles = (tuple(words[place : place + length]) for length in self._lengths.get(word, ()))
            yield from islice((parts for title in titles if (parts := self._phrases.get(title))), 1)

    def _in_field(self, written: str) -> tuple[list[Sequence[str]], str]:
        """`Requirement: T`, or several with commas between; ids of the change count too."""
        whole = written.strip('_*`"()[] .')
        if parts := self._titled(whole):
            return [parts], ""
        items = [item.strip('_*`"()[] .') for item in re.split(r"[,;、，；]", whole)]
        meant = [parts for item in items if (parts := self._meant(item))]
        if meant or any(map(self._meant, _names(written))):
            return meant, ""
        expanded, missing = self.index.expand(whole)
        return [expanded], ", ".join(missing) if expanded else whole

    def _meant(self, name: str) -> Sequence[str]:
        """What a name stands for. That of a capability counts where it is marked as a name: in backticks or quotes."""
        capability = same(name.removeprefix("specs/").removesuffix("/spec.md"))
        return self._titled(name) or self._capabilities.get(capability, ())

    def _titled(self, title: str) -> Sequence[str]:
        if parts := self._titles.get(same(title)):
            return parts
        match = _LIKE["scenario_of"].match(title[:_LONGEST])
        return self._titles.get(same(match["title"]), ()) if match else ()


def _names(text: str) -> list[str]:
    quoted = [next(filter(None, groups)) for groups in _LIKE["quoted"].findall(text)]
    return [*quoted, *ids_in(text), *_LIKE["kebab"].findall(text)]


@dataclass(slots=True)
class _Section:
    """A heading with its own lines, and the sections below it. The file itself is the section of rank 0; `heading` is
    the line that has it, for all others."""

    title: str = ""
    level: int = 0
    line: int = 1
    heading: list[Line] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    children: list[_Section] = field(default_factory=list)

    @property
    def boxes(self) -> list[re.Match[str]]:
        return [box for line in self.lines if (box := _box_in(line))]

    @property
    def is_no_tasks(self) -> bool:
        says_so = _LIKE["samples"].match(self.title) or _LIKE["not_tasks"].match(self.title)
        return says_so is not None and not numbered(self.title)[0]

    @property
    def has_tasks(self) -> bool:
        """Whether any box stands in it that is a task's."""
        return not self.is_no_tasks and (bool(self.boxes) or any(child.has_tasks for child in self.children))

    @property
    def has_numbers(self) -> bool:
        return any(numbered(part.title)[0] or _deep_number(part.title) for part in self.every())

    def every(self) -> Iterator[_Section]:
        """The section and all below it, in the order of the file."""
        yield self
        for child in self.children:
            yield from child.every()


def _box_in(line: Line, *, is_any_item: bool = False) -> re.Match[str] | None:
    """The box of a list item; of any item, as an open one, where no task has a box."""
    match = _LIKE["box"].match(line.text) if "[" in line.text and not line.is_code else None
    return match or (_LIKE["list"].match(line.text) if is_any_item and not line.is_code else None)


def _mark_in(box: re.Match[str]) -> str:
    return "x" if box["box"] in _TICKS else box["box"] or " "


def numbered(title: str) -> tuple[str, str]:
    """The number that a heading begins with, `3. T`, `Phase 3: T`, and its title without it."""
    match = _LIKE["task_drafts_numbered"].match(title[:200])
    if match is None:
        return "", title
    rest = title[match.start("title") :].strip("*_ ")
    return str(int(match["plain"] or match["ordinal"] or match["named"])), rest or title


def _deep_number(title: str) -> tuple[str, str] | None:
    """A number such as `1.2` before a title, and the title."""
    match = _LIKE["deep_number"].match(title)
    return (unicodedata.normalize("NFKC", match["number"]), match["title"].strip("*_ ")) if match else None


def _sections_of(lines: Iterable[Line]) -> _Section:
    """The file as a tree of its headings."""
    root = _Section()
    above = [root]
    for line in lines:
        if line.heading is None:
            above[-1].lines.append(line)
            continue
        while above[-1].level >= line.heading.level:
            above.pop()
        section = _Section(line.heading.title.strip(), line.heading.level, line.number, [line])
        above[-1].children.append(section)
        above.append(section)
    return root


def _groups_of(root: _Section, has_boxes: bool) -> list[tuple[Draft, _Section]]:
    """The groups of a file, each with its sections: or where these are one without a number, the boxes in it that are
    groups themselves: `- [ ] 1. T` with boxes below it, or with `1.1` beside it."""
    groups = _groups_in(root, has_boxes)
    if len(groups) != 1 or groups[0][0].number:
        return groups
    lines = [line for line in groups[0][0].lines if line.heading is None]
    boxes = {line.number: (line, box) for line in lines if (box := _box_in(line))}
    outermost = ((number, box) for number, (line, box) in boxes.items() if line.indent < _NESTED)
    wholes = {number: whole for number, box in outermost if (whole := _LIKE["whole"].match(box["rest"]))}
    nested = next((line.indent + _NESTED for number, (line, _) in boxes.items() if number in wholes), 0)
    if not wholes or not any(_deep_number(b["rest"]) or line.indent >= nested for line, b in boxes.values()):
        return groups if has_boxes or any(_box_in(line, is_any_item=True) for line in lines) else []
    groups = []
    for line in lines:
        if whole := wholes.get(line.number):
            box = boxes[line.number][1]
            group = Draft(str(int(whole["number"])), whole["title"], line.number, _mark_in(box), lines=[line])
            group.is_optional = box["star"] is not None
            groups.append((group, _Section()))
        elif groups:
            groups[-1][0].lines.append(line)
            groups[-1][1].lines.append(line)
    return groups


def _groups_in(section: _Section, has_boxes: bool, *, is_title: bool = True) -> list[tuple[Draft, _Section]]:
    """The groups in a section: the outermost numbered headings, or those that hold the boxes where none is numbered.

    A heading above all tasks is only a title.
    """
    kids = [kid for kid in section.children if (kid.has_tasks if has_boxes else kid.has_numbers)]
    number, title = numbered(section.title)
    is_whole = number or not kids or not (is_title or any(numbered(kid.title)[0] for kid in kids))
    own = replace(section, children=[kid for kid in section.children if is_whole and not kid.is_no_tasks])
    below = (line for kid in own.children for part in kid.every() for line in (*part.heading, *part.lines))
    groups = [(Draft(number, title, section.line, level=section.level, lines=[*own.lines, *below]), own)]
    if is_whole:
        return groups
    groups = groups if section.boxes else []
    is_only = len(kids) == 1 and not groups
    return groups + [each for kid in kids for each in _groups_in(kid, has_boxes, is_title=is_title and is_only)]


def _tasks_in(section: _Section, has_boxes: bool, *, is_group: bool = False) -> Iterator[Draft]:
    """The tasks of a section: boxes, or a heading with a number; any items, where no task has a box. A heading that is
    a task takes in those below it that hold no numbered tasks."""
    number, title = _deep_number(section.title) or numbered(section.title)
    parts = [*section.every()]
    is_deep = not is_group and _deep_number(section.title) is not None
    takes_all = is_deep and not any(_LIKE["task_number"].match(box["rest"]) for part in parts for box in part.boxes)
    lines = [line for part in parts for line in part.lines] if takes_all else section.lines
    boxes = [box for line in lines if (box := _box_in(line, is_any_item=not has_boxes))]
    is_headed = not is_group and number and (bool(boxes) or not has_boxes)
    if is_headed and not any(_LIKE["task_number"].match(box["rest"]) for box in boxes):
        yield Draft(number, title, section.line, indent=-1, lines=[line for line in lines if not line.is_blank])
    else:
        yield from _listed(lines, is_any_item=not has_boxes)
    for child in section.children if not takes_all else ():
        yield from _tasks_in(child, has_boxes)


def _listed(lines: list[Line], is_any_item: bool) -> list[Draft]:
    """Boxes of the outermost rank are tasks; what is indented below one, or wraps its title, belongs to it."""
    boxes = {line.number: (line, box) for line in lines if (box := _box_in(line, is_any_item=is_any_item))}
    margin = min((line.indent for line, _ in boxes.values()), default=0)
    drafts: list[Draft] = []
    is_open = False
    for line in lines:
        if line.number in boxes and line.indent < margin + _NESTED:
            drafts.append(_boxed(line, boxes[line.number][1]))
            is_open = True
        elif drafts and not line.is_blank and (line.indent > drafts[-1].indent or is_open):
            wraps = not line.is_code and _LIKE["task_drafts_bullet"].match(line.text) is None
            if is_open and not drafts[-1].lines and wraps:
                drafts[-1].title += f" {line.text.strip()}"
            else:
                drafts[-1].lines.append(line)
        is_open = is_open and not line.is_blank
    return drafts


def _boxed(line: Line, box: re.Match[str]) -> Draft:
    parallel = _LIKE["parallel"].match(box["rest"])
    rest = box["rest"][parallel.end() :].strip() if parallel else box["rest"]
    inside = unstruck(rest)
    match = _LIKE["task_number"].match(inside or rest)
    number = unicodedata.normalize("NFKC", match["number"]) if match else ""
    title = match["title"] if match else inside or rest
    bare = unstruck(title)
    draft = Draft(number, bare or title, line.number, "~" if inside or bare else _mark_in(box), line.indent)
    draft.is_optional, draft.is_parallel = box["star"] is not None, parallel is not None
    return draft


def paragraphs(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """Paragraphs and list items, each with the lines that it wraps over, and headings."""
    text: list[Line] = []
    for line in lines:
        is_text = not (line.is_blank or line.is_code or line.heading)
        if text and not (is_text and _LIKE["task_drafts_bullet"].match(line.text) is None):
            yield text
            text = []
        if line.heading is not None:
            yield [line]
        text += [line] if is_text else []
    if text:
        yield text


def read_tasks(markdown: Markdown, names: Names, fallback_title: str) -> ReadTasks:
    """The groups of a tasks file, in its order; counted where their headings are not numbered upwards from 1."""
    root = _sections_of(markdown.lines)
    has_boxes = root.has_tasks
    sectioned = _groups_of(root, has_boxes)
    drafts = [draft for draft, _ in sectioned]
    grows = all(before < after for before, after in pairwise([0, *(draft.head for draft in drafts)]))
    for place, (draft, section) in enumerate(sectioned, 1):
        draft.group = draft.head if grows else place  # group 0 is the reviewers'
        draft.tasks = [*_tasks_in(section, has_boxes, is_group=True)]
    reading = _Reading(markdown, names, fallback_title)
    reading.warn_of(root, drafts, has_boxes)
    groups = reading.groups(drafts)
    places = task_lists.places_of(markdown, drafts)
    return ReadTasks(task_lists.mark_test_writers(groups), tuple(reading.problems), places)


class _Reading(Remarks):
    """Turns drafts into groups, and collects problems on the way."""

    def __init__(self, markdown: Markdown, names: Names, fallback_title: str) -> None:
        super().__init__(markdown)
        self.names, self.fallback_title = names, fallback_title
        self.known: frozenset[str] = frozenset()

    def warn_of(self, root: _Section, drafts: list[Draft], has_boxes: bool) -> None:
        """What is read otherwise than it is written, and sections of no group that look as if they should be one."""
        if odd := [draft for draft in drafts if draft.number and draft.head != draft.group]:
            written = ", ".join(draft.number or "-" for draft in drafts)
            counted = ", ".join(str(draft.group) for draft in drafts)
            self.warn(odd[0].line, f"the groups are numbered {written}: counted as {counted}. Number them upwards")
        if drafts and not has_boxes:
            self.warn(drafts[0].line, "no task has a box: read from headings and list items. Write `- [ ]`")
        read = {draft.line for draft in drafts} | {line.number for draft in drafts for line in draft.lines}
        is_listed = any(draft.box is not None for draft in drafts)
        for section in root.every() if has_boxes and not is_listed else ():
            number = numbered(section.title)[0]
            if section.line in read:
                continue
            if section.boxes and not _LIKE["samples"].match(section.title):
                what = f'the boxes under "{section.title}" are no tasks: not read. Move those that are'
                self.warn(section.line, what)
            elif number and not section.has_tasks:
                what = f'"{section.title}" has no tasks with boxes: no group. Write them as `- [ ] {number}.1 T`'
                self.warn(section.line, what)

    def groups(self, drafts: list[Draft]) -> tuple[Group, ...]:
        every = [task for draft in drafts for task in draft.tasks]
        self.problems += task_lists.doubled_tasks(self.markdown, every)
        unfilled = [task.line for task in every if is_unfilled(task.title)]
        unfilled += [draft.line for draft in drafts if draft.title and is_unfilled(_bare(draft.title))]
        self.problems += half_written(self.markdown, unfilled)
        taken = {task.number for task in every}
        for draft in drafts:  # tasks that have no number are numbered by their places, past those that are written
            places = count(1)
            for task in draft.tasks:
                name = f"{draft.group}.{next(places)}"
                while not task.number and name in taken:
                    name = f"{draft.group}.{next(places)}"
                task.number = task.number or name
        self.known = frozenset(task.number for task in every)
        groups = tuple(map(self._group, drafts))
        if len(groups) == 1 and not groups[0].requirements:
            return (replace(groups[0], requirements=self.names.index.every),)
        return groups

    def _group(self, draft: Draft) -> Group:
        subtasks = tuple(map(self._subtask, draft.tasks))
        is_box = draft.box is not None
        is_title = not (draft.number or is_box or draft.level > 1)
        title = "" if is_title else _plain(_LIKE["parallel"].sub("", _plain(draft.title) if is_box else draft.title))
        title = title or self.fallback_title
        state = state_of(draft.box) if draft.box else rolled_up([subtask.state for subtask in subtasks])
        return task_lists.group_of(draft, _task(draft, title, state, self._owned(draft)), subtasks)

    def _subtask(self, task: Draft) -> Subtask:
        title = _plain(_LIKE["parallel"].sub("", task.title))
        details: list[list[str]] = []  # each bullet below a task with the lines that it wraps over
        for line in task.lines:
            bullet = _LIKE["task_drafts_bullet"].match(line.text) if not line.is_code else None
            details += [[]] if bullet or not details else []
            details[-1].append(line.text[bullet.end() :] if bullet else line.text.strip())
        details_kept = tuple(text for words in details if (text := " ".join(words).strip()))
        texts = (task.title, *details_kept)
        below = [state_of(_mark_in(box)) for line in task.lines if (box := _box_in(line))]
        numbers: dict[str, None] = {}  # of the tasks that it says must be done before
        for waits in (waits for text in texts for waits in _LIKE["after"].finditer(text[:_LONGEST_TEXT])):
            if not _LIKE["no_task"].search(waits["named"][:40]):
                numbers |= dict.fromkeys(_LIKE["task"].findall(waits["named"]))
        after = tuple(number for number in numbers if number in self.known and number != task.number)
        state = state_of(task.box) if task.box is not None else rolled_up(below)
        return _task(task, title, state, self.names.parts_in(texts)[0], details_kept, after)

    def _owned(self, draft: Draft) -> tuple[str, ...]:
        """What a group's headings are about, and what its lines and paragraphs name: those of its tasks too."""
        is_box = draft.box is not None
        lines = draft.lines[is_box:]
        titles = [_plain(draft.title) if is_box else draft.title]
        titles += [line.heading.title.strip() for line in lines if line.heading]
        texts = [line.text.strip() for line in lines if not (line.is_code or line.is_blank or line.heading)]
        about = self.names.headed(_plain(_bare(title)) for title in titles)
        wrapped = (" ".join(line.text.strip() for line in each) for each in paragraphs(lines) if len(each) > 1)
        named, unknown = self.names.parts_in([*titles, *texts], wrapped)
        if unknown and self.names.index.every:
            what = f"names {', '.join(unknown)}: no such requirement in this change. Correct the title"
            self.warn(draft.line, what)
        return tuple(dict.fromkeys([*about, *named]))


def _task(
    draft: Draft,
    title: str,
    state: TaskState,
    named: tuple[str, ...],
    details: tuple[str, ...] = (),
    after: tuple[str, ...] = (),
) -> Subtask:
    """A task, or a group as one, without the words in its title that say that it is optional."""
    is_optional = _LIKE["optional"].search(title) is not None or draft.is_optional
    is_parallel = draft.is_parallel or _LIKE["parallel"].search(draft.title) is not None
    bare = _LIKE["optional"].sub("", title).strip()
    return Subtask(draft.number, bare, state, is_optional, named, details, is_parallel, after)


def _bare(title: str) -> str:
    """A heading without its number."""
    number = _deep_number(title)
    return number[1] if number else numbered(title)[1]


def _plain(title: str) -> str:
    """A title without marks for bold type, and without a field that ends its line: `_Requirements: 1.2_`."""
    title = _LIKE["field_at_end"].sub("", title)
    text = _LIKE["bold"].sub(lambda found: found["stars"] or found["lines"], title).strip()
    whole = _LIKE["emphasis"].fullmatch(text)
    text = whole["text"] if whole else text
    return text.removesuffix("**").removeprefix("**").strip() if text.count("**") % 2 else text
