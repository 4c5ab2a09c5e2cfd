"""What `node --test` prints for people: the tree of tests (reporter `spec`), then each failure once more."""

from __future__ import annotations

import re
from collections import deque
from dataclasses import dataclass, field

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.frames import first_line, is_file, place_in
from agent_fox.verifier.logs.gathering import MOST_KEPT, Counts, Gathering
from agent_fox.verifier.logs.javascript.stacks import broken_file, test_path
from agent_fox.verifier.logs.kinds import patterns_in
from agent_fox.verifier.logs.parsers import LineReader
from agent_fox.verifier.logs.protocol import Place, Workspace, at, place_of

_LIKE = patterns_in(__file__)
MOST_LINES = 120  # of what is said about one test


@dataclass(slots=True)
class _Broken:
    """A test that failed: its place in the tree, and the text about it."""

    path: tuple[str, ...]
    depth: int
    before: list[str]
    said: list[str] = field(default_factory=list)
    at: Place | None = None


class NodeSpecReader(LineReader):
    """Reads the tree for names and counts, and the list at the end for what went wrong: in the first test of a name."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._counts = Counts()
        self._groups: list[str] = []
        self._broken: list[_Broken] = []
        self._open: _Broken | None = None
        self._between: deque[str] = deque(maxlen=MOST_LINES)
        self._at: Place | None = None
        self._is_again = self._has_totals = False

    def take(self, line: str) -> None:
        if line == "✖ failing tests:":
            self._is_again, self._open = True, None
        elif match := _LIKE["at"].match(line) if self._is_again else None:
            self._at, self._open = place_of(match, self._workspace), None
        elif (match := _LIKE["line"].match(line)) and (match[4] or match[2] == "▶"):
            self._take_test(match)
        elif _LIKE["total"].match(line):
            self._has_totals, self._open = True, None
        elif self._open and (not line.strip() or line.startswith("  " * (self._open.depth + 1))):
            self._open.said += [line] if len(self._open.said) < MOST_LINES else []
        else:
            self._open = None
            self._between.append(line)

    def _take_test(self, found: re.Match[str]) -> None:
        indent, mark, name, time, excuse = found.groups()
        depth, before, self._open = len(indent) // 2, list(self._between), None
        self._between.clear()
        if self._is_again:
            same = (each for each in self._broken if each.path[-1] == name and each.at is None)
            if (again := next(same, None)) is not None:
                again.at, again.depth, again.said, self._open = self._at, 0, [], again
            self._at = None
        elif mark == "▶" and time is None:
            self._groups = [*self._groups[:depth], name]
        elif self._groups[depth : depth + 1] == [name]:
            del self._groups[depth:]
        else:
            outcome = {"✔": "passed", "✖": "failures"}.get(mark, "skipped")  # or still to do
            self._counts.add("skipped" if excuse is not None else outcome)
            if mark == "✖" and excuse is None and len(self._broken) < MOST_KEPT:
                self._open = _Broken((*self._groups[:depth], name), depth, before)
                self._broken.append(self._open)

    def parsed(self) -> Parsed:
        """Where there are no counts, a test is left out of which only tests inside failed."""
        gathering = Gathering()
        if not self._has_totals:
            of_inner = _LIKE["of_inner"].match
            self._broken = [each for each in self._broken if not of_inner(first_line("\n".join(each.said)))]
            self._counts.failures = len(self._broken)
        gathering.fail(*(_failure(broken, self._workspace) for broken in self._broken))
        has_read = any((self._counts.passed, self._counts.failures, self._counts.skipped, self._has_totals))
        return gathering.parsed(self._counts.summary() if has_read else None, is_complete=self._has_totals)


def _failure(broken: _Broken, workspace: Workspace) -> Failure:
    """What is known of a failed test: where it threw, else where it is declared."""
    name, text = broken.path[-1], "\n".join(broken.said)
    if is_file(name):
        return broken_file(name, broken.before, text, broken.at, workspace)
    named = _LIKE["named"].match(first_line(text))
    return Failure(
        FailureKind.TEST_FAILURE,
        (named[2] if named else first_line(text).strip("'")) or name,
        **at(place_in(text, workspace, "javascript") or broken.at),
        test_name=test_path(broken.path),
        evidence=text,
        exception=named[1] if named else None,
    )
