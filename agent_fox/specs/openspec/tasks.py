"""tasks.md of a change as task groups, and what they name in their words: requirements of the change, other tasks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, islice, pairwise

from agent_fox.core.spec import Group, Subtask
from agent_fox.specs.collected import ReadTasks, Remarks
from agent_fox.specs.common.id_ranges import PartIndex
from agent_fox.specs.common.task_lists import CHECKPOINT, Draft, doubled_tasks, places_of, rolled_up, state_of, text_of
from agent_fox.specs.common.test_writers import mark_test_writers
from agent_fox.specs.document import Markdown
from agent_fox.specs.openspec import task_drafts
from agent_fox.specs.openspec.capabilities import half_written
from agent_fox.specs.openspec.deltas import ids_in, is_unfilled, same
from agent_fox.specs.openspec.task_drafts import Section, deep_number, numbered
from agent_fox.specs.word_tables import patterns_in

_LIKE = patterns_in(__file__)
_LONGEST, _LONGEST_TEXT = 400, 20_000
_FEWEST_LETTERS, _FEWEST_WORDS, _MOST_WORDS = 6, 3, 16


class Names:
    """The parts that a capability's name, a requirement's title or id, or a scenario's title stands for."""

    def __init__(
        self,
        titles: Mapping[str, Sequence[str]],
        scenarios: Mapping[str, Sequence[str]],
        capabilities: Mapping[str, Sequence[str]],
        index: PartIndex,
    ) -> None:
        self.index = index
        self._headings = {**capabilities, **titles}
        self._titles = {**scenarios, **titles}
        self._capabilities = capabilities
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
            yield from self._headings.get(name) or self._capabilities.get(name.replace(" ", "-"), ())

    def parts_in(self, lines: Iterable[str], wrapped: Iterable[str] = ()) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The parts that lines name, in their order, and what a field names that is not there. In wrapped texts, fields
        are not looked for: where they end can't be told."""
        sequences: dict[int, Sequence[str]] = {}
        unknown: dict[str, None] = {}
        for text in (text[:_LONGEST_TEXT] for text in lines):
            sequences.update((id(parts), parts) for parts in self._mentioned(text))
            field = _LIKE["field"].search(text)
            if field is not None:
                in_field, missing = self._in_field(field["named"])
                sequences.update((id(parts), parts) for parts in in_field)
                unknown.update(dict.fromkeys([missing] if missing and _LIKE["field_begins"].match(text) else []))
        for text in wrapped:
            sequences.update((id(parts), parts) for parts in self._mentioned(text[:_LONGEST_TEXT]))
        return tuple(dict.fromkeys(part for parts in sequences.values() for part in parts)), tuple(unknown)

    def _mentioned(self, text: str) -> Iterator[Sequence[str]]:
        """What a text names anywhere: in quotes, by an id, or by a title of several words."""
        yield from (self._meant(name) for name in _names(text))
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
        if meant or any(self._meant(name) for name in _names(written)):
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


def read_tasks(markdown: Markdown, names: Names, fallback_title: str) -> ReadTasks:
    """The groups of a tasks file, in its order; counted where their headings are not numbered upwards from 1."""
    root = task_drafts.sections_of(markdown.lines)
    has_boxes = root.has_tasks
    drafts = task_drafts.groups_of(root, has_boxes)
    grows = all(before < after for before, after in pairwise([0, *(draft.head for draft in drafts)]))
    for place, draft in enumerate(drafts, 1):
        draft.group = draft.head if grows else place  # group 0 is the reviewers'
        draft.tasks = task_drafts.tasks_of(draft, has_boxes)
    reading = _Reading(markdown, names, fallback_title)
    reading.warn_of(root, drafts, has_boxes)
    groups = reading.groups(drafts)
    return ReadTasks(mark_test_writers(groups), tuple(reading.problems), places_of(markdown, drafts))


class _Reading(Remarks):
    """Turns drafts into groups, and collects problems on the way."""

    def __init__(self, markdown: Markdown, names: Names, fallback_title: str) -> None:
        super().__init__(markdown)
        self.names, self.fallback_title = names, fallback_title
        self.known: frozenset[str] = frozenset()

    def warn_of(self, root: Section, drafts: list[Draft], has_boxes: bool) -> None:
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
            what = ""
            if section.boxes and not _LIKE["samples"].match(section.title):
                what = f'the boxes under "{section.title}" are no tasks: not read. Move those that are'
            elif section.number and not section.has_tasks:
                write = f"Write them as `- [ ] {section.number}.1 T`"
                what = f'"{section.title}" has no tasks with boxes: no group. {write}'
            if what and section.line not in read:
                self.warn(section.line, what)

    def groups(self, drafts: list[Draft]) -> tuple[Group, ...]:
        every = [task for draft in drafts for task in draft.tasks]
        self.problems += doubled_tasks(self.markdown, every)
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
        return Group(
            number=draft.group,
            title=_LIKE["optional"].sub("", title).strip(),
            state=state_of(draft.box) if draft.box else rolled_up([subtask.state for subtask in subtasks]),
            optional=_LIKE["optional"].search(title) is not None or draft.is_optional,
            subtasks=subtasks,
            requirements=self._owned(draft),
            text=text_of(draft.lines),
            parallel=_LIKE["parallel"].search(draft.title) is not None,
            is_checkpoint=CHECKPOINT.match(title) is not None,
        )

    def _subtask(self, task: Draft) -> Subtask:
        title, details = _plain(_LIKE["parallel"].sub("", task.title)), task_drafts.details_of(task)
        texts = (task.title, *details)
        boxes = (box for line in task.lines if (box := task_drafts.box_in(line)))
        below = [state_of(task_drafts.mark_in(box)) for box in boxes]
        return Subtask(
            number=task.number,
            title=_LIKE["optional"].sub("", title).strip(),
            state=state_of(task.box) if task.box is not None else rolled_up(below),
            optional=_LIKE["optional"].search(title) is not None or task.is_optional,
            requirements=self.names.parts_in(texts)[0],
            details=details,
            parallel=task.is_parallel or _LIKE["parallel"].search(task.title) is not None,
            after=tasks_named(texts, self.known, task.number),
        )

    def _owned(self, draft: Draft) -> tuple[str, ...]:
        """What a group's headings are about, and what its lines and paragraphs name: those of its tasks too."""
        is_box = draft.box is not None
        lines = draft.lines[is_box:]
        titles = [_plain(draft.title) if is_box else draft.title]
        titles += [line.heading.title.strip() for line in lines if line.heading]
        texts = [line.text.strip() for line in lines if not (line.is_code or line.is_blank or line.heading)]
        about = self.names.headed(_plain(_bare(title)) for title in titles)
        named, unknown = self.names.parts_in([*titles, *texts], task_drafts.wrapped(lines))
        if unknown and self.names.index.every:
            what = f"names {', '.join(unknown)}: no such requirement in this change. Correct the title"
            self.warn(draft.line, what)
        return tuple(dict.fromkeys([*about, *named]))


def _bare(title: str) -> str:
    """A heading without its number."""
    number = deep_number(title)
    return number[1] if number else numbered(title)[1]


def _plain(title: str) -> str:
    """A title without marks for bold type, and without a field that ends its line: `_Requirements: 1.2_`."""
    title = _LIKE["field_at_end"].sub("", title)
    text = _LIKE["bold"].sub(lambda found: found["stars"] or found["lines"], title).strip()
    whole = _LIKE["emphasis"].fullmatch(text)
    text = whole["text"] if whole else text
    return text.removesuffix("**").removeprefix("**").strip() if text.count("**") % 2 else text


def _names(text: str) -> list[str]:
    quoted = [next(group for group in groups if group) for groups in _LIKE["quoted"].findall(text)]
    return [*quoted, *ids_in(text), *_LIKE["kebab"].findall(text)]


def tasks_named(texts: Iterable[str], known: frozenset[str], own: str) -> tuple[str, ...]:
    """The numbers of other tasks that texts say must be done before."""
    numbers: dict[str, None] = {}
    for text in texts:
        for waits in _LIKE["after"].finditer(text[:_LONGEST_TEXT]):
            if not _LIKE["no_task"].search(waits["named"][:40]):
                numbers |= dict.fromkeys(_LIKE["task"].findall(waits["named"]))
    return tuple(number for number in numbers if number in known and number != own)
