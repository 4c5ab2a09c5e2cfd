"""One Markdown document: its lines, its tables, and what is wrong with its form. What it says is not here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from agent_fox.specs.files import MERGE_MARKS, TextFile, left_by_a_merge, merge_left, warning
from agent_fox.specs.lines import Line, Scan, scan
from agent_fox.specs.tables import Table, tables_of

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem


@dataclass(frozen=True)
class Markdown:
    """A Markdown file, read into lines. `problems` are about its form alone."""

    where: str
    lines: tuple[Line, ...]
    problems: tuple[Problem, ...] = ()

    @cached_property
    def tables(self) -> tuple[Table, ...]:
        return tuple(tables_of(self.lines))

    def at(self, line: int) -> str:
        return f"{self.where}:{line}"


def read_markdown(file: TextFile) -> Markdown:
    """Scan a text, and report what merges and forgotten marks left in it."""
    scanned = scan(file.text)
    conflicts = _conflicts(file.where, scanned.lines) if left_by_a_merge(file) is not None else ()
    return Markdown(file.where, scanned.lines, (*_left_open(file.where, scanned), *conflicts))


def read_head(file: TextFile, lines: int = 60) -> Markdown:
    """The first lines alone: enough for a banner and a title."""
    return read_markdown(TextFile(file.where, "\n".join(file.text.split("\n", lines)[:lines])))


def conflict_in(file: TextFile) -> Problem | None:
    """What a merge left in a Markdown file that is not read further; marks in code are samples."""
    conflicts = _conflicts(file.where, scan(file.text).lines) if left_by_a_merge(file) is not None else []
    return conflicts[0] if conflicts else None


def _left_open(where: str, found: Scan) -> Iterator[Problem]:
    for number in found.open_fences:
        yield warning(f"{where}:{number}", "this code fence is never closed; close it")
    if found.open_comment is not None:
        yield warning(f"{where}:{found.open_comment}", "this comment is never closed; close it")


def _conflicts(where: str, lines: tuple[Line, ...]) -> list[Problem]:
    marked = [line.number for line in lines if line.text.startswith(MERGE_MARKS) and not line.is_code]
    return [merge_left(where, number) for number in marked[:1]]
