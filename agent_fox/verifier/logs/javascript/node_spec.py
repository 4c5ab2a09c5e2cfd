"""What `node --test` prints for people: the tree of tests (reporter `spec`), then each failure once more."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.frames import Place, at, first_line, javascript_place
from agent_fox.verifier.logs.gathering import MOST_KEPT, Counts, Gathering
from agent_fox.verifier.logs.javascript.stacks import broken_file, is_file, test_path

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

MOST_LINES = 120  # of what is said about one test
_LINE = regex(r"^( *)([✖✔▶﹣⚠]) (.*?)(?: \((\d[\d.]*)ms\)(?: # (.*))?)?$")
_TOTAL = regex(r"^ℹ (tests|suites|pass|fail|cancelled|skipped|todo) (\d+)$")
_AGAIN = regex(r"^✖ failing tests:$")
_AT = regex(r"^test at (.+):(\d+):(\d+)$")
_OF_INNER = regex(r"'?\d+ subtests? failed'?$")
_NAMED = regex(r"^\[?([A-Za-z_$][\w$.]*)(?: \[\w+\])?: (.*)$")


@dataclass(slots=True)
class _Broken:
    """A test that failed: its place in the tree, and the text about it."""

    path: tuple[str, ...]
    depth: int
    before: list[str]
    said: list[str] = field(default_factory=list)
    at: Place | None = None
    is_excused: bool = False

    @property
    def is_parent(self) -> bool:
        """Whether only tests inside of it failed."""
        return bool(_OF_INNER.match(first_line("\n".join(self.said))))

    @property
    def name(self) -> str:
        return self.path[-1]


class NodeSpecReader:
    """Reads the tree for names and counts, and the list at the end for what went wrong."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._counts = Counts()
        self._groups: list[str] = []
        self._broken: list[_Broken] = []
        self._again: list[_Broken] = []
        self._open: _Broken | None = None
        self._between: deque[str] = deque(maxlen=MOST_LINES)
        self._at: Place | None = None
        self._is_again = False
        self._has_totals = False

    def take(self, line: str) -> None:
        if _AGAIN.match(line):
            self._is_again, self._open = True, None
        elif match := _AT.match(line) if self._is_again else None:
            self._at, self._open = Place(match[1], int(match[2]), int(match[3])), None
        elif (match := _LINE.match(line)) and (match[4] or match[2] == "▶"):
            self._take_test(len(match[1]) // 2, match[2], match[3], match[4] is not None, match[5])
        elif _TOTAL.match(line):
            self._has_totals, self._open = True, None
        else:
            self._take_other(line)

    def _take_test(self, depth: int, mark: str, name: str, has_time: bool, excuse: str | None) -> None:
        self._open = None
        before = list(self._between)
        self._between.clear()
        if self._is_again:
            self._take_again(mark, name, before)
        elif mark == "▶" and not has_time:
            self._groups = [*self._groups[:depth], name]
        elif len(self._groups) > depth and self._groups[depth] == name:
            del self._groups[depth:]
        else:
            path = (*self._groups[:depth], name)
            self._count(mark, excuse)
            if mark == "✖" and excuse is None and len(self._broken) < MOST_KEPT:
                self._open = _Broken(path, depth, before)
                self._broken.append(self._open)

    def _take_again(self, mark: str, name: str, before: list[str]) -> None:
        if len(self._again) < MOST_KEPT:
            self._open = _Broken((name,), 0, before, at=self._at, is_excused=mark == "⚠")
            self._again.append(self._open)
        self._at = None

    def _count(self, mark: str, excuse: str | None) -> None:
        is_excused = excuse is not None or mark in "﹣⚠"  # skipped, or still to do
        self._counts.skipped += is_excused
        self._counts.passed += mark == "✔" and not is_excused
        self._counts.failures += mark == "✖" and not is_excused

    def _take_other(self, line: str) -> None:
        is_inside = self._open is not None and (not line.strip() or line.startswith("  " * (self._open.depth + 1)))
        if not is_inside:
            self._open = None
            self._between.append(line)
        elif self._open and len(self._open.said) < MOST_LINES:
            self._open.said.append(line)

    def parsed(self) -> Parsed:
        gathering = Gathering()
        for again in self._again:
            self._complete(again)
        if not self._has_totals:
            self._broken = [broken for broken in self._broken if not broken.is_parent]
            self._counts.failures = len(self._broken)
        for broken in self._broken:
            gathering.fail(_failure(broken, self._workspace))
        has_read = any((self._counts.passed, self._counts.failures, self._counts.skipped, self._has_totals))
        return gathering.parsed(self._counts.summary() if has_read else None, is_complete=self._has_totals)

    def _complete(self, again: _Broken) -> None:
        """Give what the list at the end says to the test of that name in the tree."""
        same = (b for b in self._broken if b.name == again.name and b.at is None)
        if broken := next(same, None):
            broken.at, broken.said = again.at, again.said or broken.said


def _failure(broken: _Broken, workspace: Workspace) -> Failure:
    """What is known of a failed test: where it threw, else where it is declared."""
    declared = Place(workspace.relative(broken.at.file), broken.at.line, broken.at.column) if broken.at else None
    if is_file(broken.name):
        return broken_file(broken.name, broken.before, "\n".join(broken.said), declared, workspace)
    text = "\n".join(broken.said)
    place = javascript_place(text, workspace) or declared
    named = _NAMED.match(first_line(text))
    return Failure(
        kind=FailureKind.TEST_FAILURE,
        message=(named[2] if named else first_line(text).strip("'")) or broken.name,
        **at(place),
        test_name=test_path(broken.path),
        evidence=text,
        exception=named[1] if named else None,
    )
