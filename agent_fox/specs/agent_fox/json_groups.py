"""The strings of a JSON document with their lines; the groups of a tasks.json, their places and problems."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import TYPE_CHECKING

from agent_fox.core.spec import Group, Problem, Subtask, TaskState
from agent_fox.core.values import dataclass
from agent_fox.specs.common.task_lists import known_as, named_by, numbers_apart, rolled_up
from agent_fox.specs.common.test_writers import mark_test_writers
from agent_fox.specs.files import warning

if TYPE_CHECKING:
    from agent_fox.specs.agent_fox.json_models import JsonGroup
    from agent_fox.specs.common.id_ranges import PartIndex
    from agent_fox.specs.files import TextFile


@dataclass(frozen=True, slots=True)
class Strings:
    """The whole strings of a document, as they are written, each with all lines it stands in."""

    where: str
    lines: dict[str, list[int]]

    def place(self, text: str) -> str:
        """`path:line` of the first one; the path alone where it is not found, such as where it has escapes."""
        return f"{self.where}:{self.lines[text][0]}" if text in self.lines else self.where

    def places(self, texts: Iterable[str]) -> dict[str, str]:
        """Those that are found, each with its place."""
        return {text: self.place(text) for text in texts if text in self.lines}


def strings_of(file: TextFile) -> Strings:
    """One look at the document, however many strings are asked for then."""
    lines: dict[str, list[int]] = {}
    for number, line in enumerate(file.text.split("\n"), 1):
        bare = line.replace("\\\\", "").replace('\\"', "") if "\\" in line else line
        for text in bare.split('"')[1::2]:
            lines.setdefault(text, []).append(number)
    return Strings(file.where, lines)


def unescaped(written: str) -> str:
    """A string as it is meant; as it is written where it is cut from one with escapes of its own."""
    try:
        return str(json.loads(f'"{written}"'))
    except ValueError:
        return written


_STATES = {
    "done": TaskState.DONE,
    "completed": TaskState.DONE,
    "in_progress": TaskState.IN_PROGRESS,
    "dropped": TaskState.SKIPPED,
    "skipped": TaskState.SKIPPED,
}


def groups_of(read: list[JsonGroup], index: PartIndex) -> tuple[Group, ...]:
    """In the order of the file, each with its number. One that waits, but not for the one before, stands beside it."""
    beside = {
        group.id
        for before, group in pairwise(read)
        if group.depends_on is not None and str(before.id) not in group.depends_on
    }
    numbers = numbers_apart(group.id for group in read)
    return mark_test_writers(
        tuple(_group(group, n, index, group.id in beside) for group, n in zip(read, numbers, strict=True))
    )


def troubles_of(read: list[JsonGroup], index: PartIndex, strings: Strings) -> Iterator[Problem]:
    """References to what is not there, numbers that stand twice, and what is waited for in vain."""
    for group in read:
        subtasks = ((f"subtask {s.id}", s.requirement_refs) for s in group.subtasks)
        for who, references in ((f"group {group.id}", group.requirement_refs), *subtasks):
            if unknown := unknown_in(references, index):
                what = f"{who} names {', '.join(unknown)}: this spec has no such requirement"
                yield warning(strings.place(unknown[0]), what)
    for group, number in zip(read, numbers_apart(group.id for group in read), strict=True):
        if number != group.id:
            yield warning(strings.place(group.title), known_as(group.id, None, number))
    before: set[str] = set()
    for group in read:
        if late := [number for number in group.depends_on or () if number not in before]:
            what = f"group {group.id} waits for {', '.join(late)}, which does not stand before it"
            remedy = "groups run in the order of the file. Move it, or correct the number"
            yield warning(strings.place(group.title), f"{what}: {remedy}")
        before.add(str(group.id))


def ids_in(references: Iterable[str], index: PartIndex) -> Iterable[str]:
    return (identifier for reference in references for identifier in index.expand(reference)[0])


def unknown_in(references: Iterable[str], index: PartIndex) -> list[str]:
    """What is named and not there; nothing where the spec has no requirements at all."""
    return [name for reference in references for name in index.expand(reference)[1]] if index.every else []


def places_of(groups: list[JsonGroup], strings: Strings) -> dict[str, str]:
    """A group's own line can't be told from a number: it stands where its first subtask or its title does."""
    places: dict[str, str] = {}
    for group in groups:
        own = strings.places(subtask.id for subtask in group.subtasks)
        places |= {f"task {number}": place for number, place in own.items()}
        if own or group.title in strings.lines:
            places[f"group {group.id}"] = next(iter(own.values()), strings.place(group.title))
    return places


def _group(read: JsonGroup, number: int, index: PartIndex, is_parallel: bool) -> Group:
    subtasks: tuple[Subtask, ...] = ()
    for each in read.subtasks:
        ids = tuple(dict.fromkeys(ids_in(each.requirement_refs, index)))
        subtasks += (Subtask(each.id, each.title, _state(each.state), each.optional, ids, tuple(each.details)),)
    state = _state(read.state) if read.state else rolled_up([subtask.state for subtask in subtasks])
    if read.verification.id:
        subtasks += (Subtask(read.verification.id, "Verify", state, details=tuple(read.verification.checks)),)
    return Group(
        number=number,
        title=read.title,
        state=state,
        optional=read.optional,
        writes_tests_only=read.kind.lower() == "tests",
        archetype=read.archetype.lower() or None,
        subtasks=subtasks,
        requirements=named_by(ids_in(read.requirement_refs, index), subtasks),
        text=_group_text(read),
        parallel=is_parallel,
        is_checkpoint=read.kind.lower() == "checkpoint",
    )


def _state(word: str) -> TaskState:
    return _STATES.get(word.lower(), TaskState.OPEN)


def _group_text(read: JsonGroup) -> str:
    """The group as a person would write it in Markdown, for the coder's brief."""
    lines = [f"- [ ] {read.id}. {read.title}"]
    for subtask in read.subtasks:
        lines += [f"  - [ ] {subtask.id} {subtask.title}", *(f"    - {detail}" for detail in subtask.details)]
        if subtask.requirement_refs:
            lines.append(f"    - _Requirements: {', '.join(subtask.requirement_refs)}_")
    lines += [f"  - {step}" for step in read.steps]
    fields = {"Tests": read.tests, "Touches": read.touches, "Done when": read.done_when, "Waits for": read.depends_on}
    lines += [f"  - {name}: {'; '.join(text)}" for name, text in fields.items() if text]
    if read.requirement_refs:
        lines.append(f"  - _Requirements: {', '.join(read.requirement_refs)}_")
    if read.verification.checks:
        lines += [f"  - [ ] {read.verification.id or f'{read.id}.V'} Verify"]
        lines += [f"    - [ ] {check}" for check in read.verification.checks]
    return "\n".join(lines)
