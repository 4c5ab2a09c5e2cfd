"""What stands in a spec's Markdown and in nothing that was read of it, whatever the dialect. Reading is not here.

It knows no dialect's forms, so that it sees what they do not know: sentences that oblige, boxes, and ids.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.specs.files import TextFile, error, read_text_file, warning
from agent_fox.specs.lines import Line, beside_box, scan

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem, Spec

_TASKS = "tasks.md"
_REQUIREMENTS = frozenset({"requirements.md", "spec.md", "bugfix.md"})
_OBLIGES = regex(r"(?<![\"'`“‘\w])(?:SHALL|MUST)\b(?=(?P<after>(?:[^\w\n|]+\w+){0,8}))")
"""`THE lock SHALL close`; not `"MUST" means`, which speaks of the word."""
_SPEAKS_OF_WORDS = regex(r"\b(?:EARS|RFC[ -]?2119|(?i:key ?words?))\b")
_WORD = regex(r"\w+")
_SHOWN_WORDS, _SHOWN_LINES = 8, 10
_BEGINS = regex(r"\s*(?:[-*+>|#]|\d{1,4}[.)]\s)")
_ID = regex(r"(?<![\w./-])(?P<head>(?:[A-Z0-9]{1,9}-){0,3}[A-Z]{1,9})-(?P<tail>\d{1,9}(?:\.E?\d{1,9})*[a-z]?)(?![\w-])")
_DECLARES = regex(r"[\s>|*_`~\[(+-]*(?:\d{1,4}[.)]\s+)?(?:\[[ xX]\]\s*)?[*_`~\[(]*$")
_IS_LAST = regex(r"[\]`*_).,;\s]*(?:$|\|)")
_NUMBERS = regex(r"\blines? (?P<numbers>\d+(?:(?:, | and | to |-|–)\d+)*)")
_SAMPLES = regex(
    r"(?:.*\b)?(?:legend|checkbox(?:es)?|stat(?:es?|us)|symbols?|notations?|conventions?|examples?|formats?)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class _Read:
    """What is known of a spec, as words: how its obligations go on and end, how its tasks begin, and its ids."""

    goes_on: frozenset[str]
    ends: frozenset[str]
    tasks: frozenset[str]
    ids: frozenset[str]
    heads: frozenset[str]


def unread(specs: Iterable[Spec], problems: Collection[Problem], root: Path) -> Iterator[Problem]:
    """Where the documents of specs oblige, have boxes or ids, and neither the spec nor a problem about it does; and
    boxes without any group, which are an error."""
    for spec in specs:
        if not spec.is_withdrawn and spec.documents:
            every = [*_without_groups(spec, root), *_unread(spec, problems, root)]
            yield from (replace(problem, spec=spec.name) for problem in every)


def _without_groups(spec: Spec, root: Path) -> Iterator[Problem]:
    """What is ticked in a spec without groups would never be built, and nobody would miss it."""
    if spec.groups or not spec.is_planned:
        return
    where = spec.documents.get(_TASKS, spec.path)
    read = read_text_file(root / where, root) if where.endswith(".md") else None
    taken = frozenset(spec.places.values())
    lines = [line for line in _lines(read) if beside_box(line.text) is not None] if isinstance(read, TextFile) else []
    boxes = [line.number for line in lines if f"{where}:{line.number}" not in taken]
    if boxes:
        count = "a box" if len(boxes) == 1 else f"{len(boxes)} boxes"
        what = f"{count}, and no task group among them: nothing of it would be built. Write `- [ ] 1. Title`"
        yield error(f"{where}:{boxes[0]}", what)


def _unread(spec: Spec, problems: Collection[Problem], root: Path) -> Iterator[Problem]:
    read: _Read | None = None
    for name, where in spec.documents.items():
        kind = PurePosixPath(name).name
        if kind not in _REQUIREMENTS and (kind != _TASKS or not spec.groups):
            continue
        file = read_text_file(root / where, root)
        if isinstance(file, TextFile):
            read = read or _read(spec)
            named = _named(spec, file, problems)
            yield from _boxes(file, read, named) if kind == _TASKS else _requirements(file, read, named)


def _requirements(file: TextFile, read: _Read, named: frozenset[int]) -> Iterator[Problem]:
    if all(_is_heard(match["after"], read) for match in _OBLIGES.finditer(file.text)) and not _ids(file.text, read):
        return
    lines = [line for line in _lines(file) if line.number not in named]
    silent = [line.number for line in lines if not _is_read(line.text, read)]
    if silent:
        what = f"SHALL or MUST outside of all that is to be proven: {_listed(silent)}. Not read"
        remedy = "make each an item below a requirement, or say it without these words"
        yield warning(f"{file.where}:{silent[0]}", f"{what}; {remedy}")
    ids = {identifier: line.number for line in reversed(lines) for identifier in _ids(line.text, read)}
    if ids:
        numbers = sorted(ids.values())
        some = sorted(ids, key=lambda one: ids[one])[:_SHOWN_LINES]
        what = f"ids that nothing is read under: {', '.join(some)} ({_listed(numbers)}). Not expected"
        yield warning(f"{file.where}:{numbers[0]}", f"{what}; begin an item with each, or correct it")


def _boxes(file: TextFile, read: _Read, named: frozenset[int]) -> Iterator[Problem]:
    lines = [*_lines(file)]
    silent = [line.number for line in lines if line.number not in named and _is_idle(line.text, read)]
    silent = [number for number in silent if number not in frozenset(_samples(lines))] if silent else []
    if silent:
        what = f"boxes that belong to no task group: {_listed(silent)}. Not read; move those that are tasks into one"
        yield warning(f"{file.where}:{silent[0]}", what)


def _is_idle(text: str, read: _Read) -> bool:
    rest = beside_box(text)
    return rest is not None and _first_words(rest) not in read.tasks


def _samples(lines: Iterable[Line]) -> Iterator[int]:
    """The lines under headings, such as a legend's, whose boxes show what boxes are."""
    level = 0
    for line in lines:
        if line.heading is not None and (not level or line.heading.level <= level):
            level = line.heading.level if _SAMPLES.match(line.heading.title) else 0
        if level:
            yield line.number


def _lines(file: TextFile) -> Iterator[Line]:
    return (line for line in scan(file.text).lines if not line.is_code)


def _read(spec: Spec) -> _Read:
    texts = [*_texts(spec)]
    after = [(match["after"], match.end("after") == len(text)) for text in texts for match in _OBLIGES.finditer(text)]
    words = [(_WORD.findall(marker), is_end) for marker, is_end in after]
    ends = frozenset(" ".join(marker) for marker, _ in words if len(marker) < _SHOWN_WORDS)
    goes_on = frozenset(" ".join(marker[:n]) for marker, _ in words for n in range(_SHOWN_WORDS + 1))
    ids = frozenset(_plain_id(identifier) for identifier in (*spec.places, *spec.withdrawn, *spec.expected))
    prefixes = frozenset(name.rpartition("-")[0] for name in ids if _ID.fullmatch(name))
    return _Read(goes_on, ends, frozenset(_tasks(spec)), ids, prefixes)


def _texts(spec: Spec) -> Iterator[str]:
    for requirement in spec.requirements:
        yield from (requirement.title, requirement.text, *(part.text for part in requirement.parts))


def _tasks(spec: Spec) -> Iterator[str]:
    for group in spec.groups:
        for text in (group.title, *group.text.split("\n")):
            yield _first_words(beside_box(text) or text)
        for task in group.subtasks:
            yield from map(_first_words, (task.title, f"{task.number} {task.title}", *task.details))


def _first_words(text: str) -> str:
    return " ".join(_WORD.findall(text)[:_SHOWN_WORDS])


def _is_read(text: str, read: _Read) -> bool:
    return _SPEAKS_OF_WORDS.search(text) is not None or all(
        _is_heard(match["after"], read) for match in _OBLIGES.finditer(text)
    )


def _is_heard(after: str, read: _Read) -> bool:
    """Whether something that was read goes on so after SHALL or MUST, or ends before an id that is taken out does."""
    words = _WORD.findall(after)
    return " ".join(words) in read.goes_on or any(" ".join(words[:n]) in read.ends for n in range(1, len(words)))


def _ids(text: str, read: _Read) -> list[str]:
    """Ids of the spec's own kinds that begin or end a line or a cell, and that nothing was read under."""
    matches = (
        match for match in _ID.finditer(text) if read.heads and _plain_id(match[0]).rpartition("-")[0] in read.heads
    )
    return [match[0] for match in matches if _plain_id(match[0]) not in read.ids and _stands_alone(text, match)]


def _stands_alone(text: str, found: re.Match[str]) -> bool:
    line_begins, line_ends = text.rfind("\n", 0, found.start()) + 1, text.find("\n", found.end())
    before = text[line_begins : found.start()].rpartition("|")[2]
    after = text[found.end() : line_ends if line_ends >= 0 else len(text)]
    return _DECLARES.match(before) is not None or _IS_LAST.match(after) is not None


def _plain_id(identifier: str) -> str:
    """The same id without zeros in front of its numbers, in capital letters."""
    head, _, tail = identifier.rpartition("-")
    parts = [part.lstrip("0") or "0" for part in tail.split(".")]
    return f"{head.lstrip('0')}-{'.'.join(parts)}".upper()


def _named(spec: Spec, file: TextFile, problems: Iterable[Problem]) -> frozenset[int]:
    """The lines that a problem names or a withdrawn id begins, each with what goes on from it: a heading's section, an
    item's wrapped lines."""
    lines: set[int] = set()
    for problem in problems:
        if problem.spec == spec.name and problem.where.rpartition(":")[0] == file.where:
            lines.add(int(problem.where.rpartition(":")[2]))
            lines.update(
                int(n) for match in _NUMBERS.finditer(problem.what) for n in re.findall(r"\d+", match["numbers"])
            )
    places = (spec.places.get(name, "") for name in spec.withdrawn)
    lines |= {int(place.rpartition(":")[2]) for place in places if place.startswith(f"{file.where}:")}
    return frozenset(_with_what_follows(lines, file)) if lines else frozenset()


def _with_what_follows(lines: set[int], file: TextFile) -> Iterator[int]:
    level, is_open = 0, False
    for line in scan(file.text).lines:
        if line.heading is not None and line.heading.level <= (level or line.heading.level):
            level = line.heading.level if line.number in lines else 0
        is_open = line.number in lines or (is_open and not line.is_blank and not _BEGINS.match(line.text))
        if level or is_open:
            yield line.number


def _listed(numbers: list[int]) -> str:
    """`line 4`, `lines 4, 5 and 9`; only the first of very many, and how many more."""
    lines = [str(number) for number in dict.fromkeys(numbers)]
    if len(lines) == 1:
        return f"line {lines[0]}"
    more = len(lines) - _SHOWN_LINES
    last = f"{more} more" if more > 0 else lines[-1]
    return f"lines {', '.join(lines[:_SHOWN_LINES] if more > 0 else lines[:-1])} and {last}"
