"""What is said of lines that stand in nothing that was read: each with its line, and a remedy. Counting is elsewhere.

Comments and closed code fences are samples, and so are boxes below a heading such as a legend's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.spec import Severity
from agent_fox.specs.accounts.account import BOX, DocumentAccount, Entry, Fate, beside, lines_at, lines_named
from agent_fox.specs.files import error, warning
from agent_fox.specs.lines import listed
from agent_fox.specs.outline import Kind
from agent_fox.specs.unread import TASKS, Known, counted, obliges
from agent_fox.specs.word_tables import words_in

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem, Spec
    from agent_fox.specs.document import Markdown

_SHOWN = 10
_SPEAKS_OF_WORDS = regex(r"\b(?:EARS|RFC[ -]?2119|(?i:key ?words?))\b")
_WORDS = words_in(__file__)


def with_leftovers(
    specs: Sequence[Spec], problems: Sequence[Problem], root: Path
) -> tuple[tuple[Problem, ...], tuple[Problem, ...]]:
    """The problems about some specs, and those about what their documents have beside all that was read of them and is
    reported already. A warning of a line is an error where the line is a grave leftover of a spec without errors."""
    more = [problem for spec in specs if not spec.is_withdrawn for problem in _leftovers(spec, problems, root)]
    broken = {problem.spec for problem in problems if problem.severity is Severity.ERROR}
    warned = {problem.spec for problem in problems if problem.severity is Severity.WARNING and ":" in problem.where}
    doubtful = [spec for spec in specs if spec.name in warned - broken and not spec.is_withdrawn]
    grave = {entry.where for spec in doubtful for entry in _grave(spec, root, (*problems, *more))}
    raised = (
        tuple(replace(each, severity=Severity.ERROR) if each.where in grave else each for each in some)
        for some in (problems, more)
    )
    return next(raised), next(raised)


def _grave(spec: Spec, root: Path, problems: Collection[Problem]) -> Iterator[Entry]:
    known, named = Known(spec), lines_named(spec, problems)
    for document in counted(spec, root):
        yield from (entry for entry in DocumentAccount(known, document, named).doubtful if entry.is_grave)


def _leftovers(spec: Spec, problems: Sequence[Problem], root: Path) -> Iterator[Problem]:
    known = Known(spec)
    for document in counted(spec, root):
        if spec.groups or PurePosixPath(document.where).name != TASKS:
            yield from _Document(document, known, problems).problems()
    for where, entries in beside(known, root):
        left = sorted({entry.line for entry in entries if entry.fate is Fate.LEFTOVER and entry.name == ""})
        if left:
            what = "demanded here, and part of nothing that is to be proven or done"
            remedy = "Not read; write it as a requirement or a task, or below a heading such as Notes"
            yield warning(f"{where}:{left[0]}", f"{what}: {listed(left, _SHOWN)}. {remedy}", spec=spec.name)


class _Document:
    """The leftovers of one document."""

    def __init__(self, document: Markdown, known: Known, problems: Collection[Problem]) -> None:
        self.document, self.known = document, known
        self.named = _with_sections(document, known.spec, problems)
        self.entries = [*DocumentAccount(known, document).doubtful]
        self.left = [entry for entry in self.entries if entry.fate is Fate.LEFTOVER]

    def problems(self) -> Iterator[Problem]:
        """The leftovers as problems of the spec."""
        each = self._boxes_left() if PurePosixPath(self.document.where).name == TASKS else self._unasked()
        yield from (replace(problem, spec=self.known.spec.name) for problem in each)

    def _unasked(self) -> Iterator[Problem]:
        unheard = [entry for entry in self.entries if entry.is_unheard and obliges(entry.text)]
        silent = [entry.line for entry in unheard if not _SPEAKS_OF_WORDS.search(entry.text)]
        what = "SHALL or MUST outside of all that is to be proven: {lines}. Not read; make each an item below a"
        yield from self._report(silent, f"{what} requirement, or say it without these words")
        ids = self.known.unknown_ids(self.document.words)
        what = "ids that nothing is read under: {names} ({lines}). Not expected; begin an item with each, or correct it"
        yield from self._report(ids.values(), what, ids)
        boxes = [entry.line for entry in self.left if entry.kind == BOX]
        yield from self._boxes(boxes)
        yield from self._others({*silent, *ids.values(), *boxes}, "part of nothing that is to be proven", "requirement")

    def _boxes_left(self) -> Iterator[Problem]:
        """Those below a heading such as a legend's show what boxes are."""
        silent = {entry.line for entry in self.entries if entry.is_unheard and entry.kind == BOX}
        for block, _ in self.document.blocks.walk() if silent else ():
            if block.kind is Kind.HEADING and _WORDS["samples"].match(block.text):
                silent -= {*range(block.line, block.end + 1)}
        yield from self._boxes(silent)
        yield from self._others(silent, "part of no task group", "task")

    def _boxes(self, numbers: Iterable[int]) -> Iterator[Problem]:
        what = "boxes that belong to no task group: {lines}. Not read; move those that are tasks into one"
        yield from self._report(numbers, what)

    def _report(self, numbers: Iterable[int], what: str, ids: Mapping[str, int] | None = None) -> Iterator[Problem]:
        """An error about the lines in sections about what is to be proven or done, a warning about the others."""
        of_subject = {entry.line for entry in self.left if entry.is_subject}
        every = sorted(set(numbers) - self.named)
        for make, is_grave in ((error, True), (warning, False)):
            some = [number for number in every if (number in of_subject) == is_grave]
            lines = frozenset(some)
            names = [name for name, number in (ids or {}).items() if number in lines]
            shown = ", ".join(sorted(names, key=lambda name: (ids or {})[name])[:_SHOWN])
            if some:
                yield make(f"{self.document.where}:{some[0]}", what.format(lines=listed(some, _SHOWN), names=shown))

    def _others(self, reported: Collection[int], what: str, below: str) -> Iterator[Problem]:
        rest = sorted({entry.line for entry in self.left} - self.named - {*reported})
        if rest:
            remedy = f"put each below a {below}, or below a heading such as Notes"
            yield warning(f"{self.document.where}:{rest[0]}", f"{what}: {listed(rest, _SHOWN)}. Not read; {remedy}")


def _with_sections(document: Markdown, spec: Spec, problems: Collection[Problem]) -> frozenset[int]:
    """The lines that a problem names or a withdrawn id begins, each with what goes on from it: a heading's section, an
    item's wrapped lines."""
    places = {*lines_named(spec, problems), *(spec.places.get(name, "") for name in spec.withdrawn)}
    lines = {*lines_at(document.where, places)}
    named = frozenset(lines)
    for block, _ in document.blocks.walk() if named else ():
        own = range(block.line, block.line + len(block.texts))
        for first in [line for line in own if line in named][:1]:
            lines.update(range(first, block.end + 1 if block.kind is Kind.HEADING else own.stop))
    return frozenset(lines)
