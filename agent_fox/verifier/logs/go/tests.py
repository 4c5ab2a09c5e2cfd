"""What go test prints about tests: results of tests and sub-tests, their logs, panics, and the end of each package."""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.verifier.ground.results import FailureKind, TestSummary
from agent_fox.verifier.logs.drafts import Draft
from agent_fox.verifier.logs.frames import in_folder
from agent_fox.verifier.logs.gathering import MOST_KEPT
from agent_fox.verifier.logs.go.places import Panic, logged_failure

if TYPE_CHECKING:
    from agent_fox.verifier.logs.go.places import Packages
    from agent_fox.verifier.logs.protocol import Workspace

_RESULT = regex(r"(?P<indent> *)--- (?P<how>FAIL|PASS|SKIP|BENCH): (?P<name>\S+) \([\d.]+s\)$")
_GLUED = regex(r"(?<=\S)--- (?P<how>FAIL|PASS|SKIP): (?P<name>[^\s/]+) \([\d.]+s\)$")
_RUNS = "=== RUN   "
_NOW = regex(r"\x16?=== (?P<what>RUN|CONT|NAME|PAUSE) +(?P<name>\S+)$")
_LOGGED = regex(r"(?P<indent> {4,})[\w.+-]+\.go:\d+: ?")
_MORE = regex(r" {8,}|\t")
_EXITED = regex(r"(?:exit status \d+|signal: .+)$")
_PASSED = regex(  # a test without sub-tests, and what it logged
    r"""===[ ]RUN[ ]{3}([^\s/]++)\n
        ((?>(?:[ ]{4}[^\n-]*+(?>(?:-(?!--[ ])[^\n-]*+)*)\n)*))
        ---[ ]PASS:[ ]\1[ ]\([\d.]++s\)\n(?![ \t])""",
    re.VERBOSE,
)
MOST_TESTS = 100 * MOST_KEPT  # remembered of one package
MOST_LINES = 60  # kept of what one test logged


@dataclass(slots=True)
class _Test:
    """A test, its outcome once it is known, and what it logged. Results of sub-tests are indented by their depth."""

    name: str
    outcome: str = ""
    package: str = ""
    depth: int = 0
    lines: list[str] = field(default_factory=list)
    panic: Panic | None = None
    has_failed: bool = False  # when it ran before

    def add(self, line: str) -> None:
        if len(self.lines) < MOST_LINES:
            self.lines.append(line)

    def run(self) -> None:
        """It begins, perhaps again: it failed if it failed once."""
        self.has_failed = self.has_failed or self.outcome == "FAIL"
        self.outcome = ""
        if not self.has_failed:
            self.lines.clear()

    def end(self, outcome: str) -> None:
        self.outcome = "FAIL" if self.has_failed else outcome


@dataclass(slots=True)
class _Passed:
    """Tests that only passed: each name counts once, as long as there are not too many to remember."""

    names: set[str] = field(default_factory=set)
    unnamed: int = 0

    def add(self, name: str) -> None:
        if len(self.names) < MOST_TESTS:
            self.names.add(name)
        else:
            self.unnamed += 1

    def __len__(self) -> int:
        return len(self.names) + self.unnamed


@dataclass(frozen=True, slots=True)
class _Package:
    """What was known before a package ended."""

    tests: dict[str, _Test]
    passed: _Passed
    is_streamed: bool
    ended: int
    counts: dict[str, int]
    unfinished: frozenset[str] = frozenset()


class GoTestReader:
    """Takes the tests out of a log; a package's name comes after its tests."""

    def __init__(self, packages: Packages, workspace: Workspace) -> None:
        self._packages = packages
        self._workspace = workspace
        self._tests: dict[str, _Test] = {}
        self._passed = _Passed()
        self._ended: list[_Test] = []
        self._counts = {"PASS": 0, "FAIL": 0, "SKIP": 0}
        self._current: _Test | None = None
        self._is_streamed = False  # `-v`: logs come before results
        self._panic: Panic | None = None
        self._exit = ""
        self._before = _Package({}, _Passed(), False, 0, {})
        self.has_verbose = False

    @property
    def is_running(self) -> bool:
        return any(not test.outcome for test in self._tests.values())

    def skip(self, block: str, at: int) -> int:
        """Passes over tests that passed and have no sub-tests."""
        if self._panic is not None:
            return at
        last = None
        while (match := _PASSED.match(block, at)) and not self._is_known(match[1]):
            self._passed.add(match[1])
            last, at = match, match.end()
        if last is not None:
            self.has_verbose = self._is_streamed = True
            self._current = _Test(last[1], "PASS", lines=last[2].splitlines()[:1])
        return at

    def _is_known(self, name: str) -> bool:
        """Whether a later line may be about an earlier test of this name."""
        return name in self._tests or name in self._before.unfinished

    def feed(self, line: str) -> bool:
        """Whether the line was about a test."""
        if self._panic is not None and self._panic.takes(line):
            return True
        if line.startswith(_RUNS):
            self._now("RUN", line[len(_RUNS) :])
        elif "=== " in line[:5] and (match := _NOW.match(line)):
            self._now(*match.groups())
        elif "--- " in line and (match := _RESULT.match(line) or _GLUED.search(line)):
            return self._result(match)
        elif line[:4] == "    " and ".go:" in line and (match := _LOGGED.match(line)):
            self._log(len(match["indent"]) - 4, line)
        elif self._current is not None and self._current.lines and _MORE.match(line):
            self._current.add(line)
        elif Panic.begins(line):
            self._panic = Panic(line)
        elif line[:1] in "es" and _EXITED.match(line):
            self._exit = line
        elif self._current is not None and self._current.outcome == "FAIL" and line not in ("FAIL", "PASS"):
            self._current.add(line)
            return False
        else:
            return False
        return True

    def end_package(self, package: str, line: str) -> None:
        """Everything since the last package was this one's."""
        has_failed = line.startswith("FAIL")
        unfinished = frozenset(test.name for test in self._tests.values() if not test.outcome)
        counts = dict(self._counts)
        self._before = _Package(self._tests, self._passed, self._is_streamed, len(self._ended), counts, unfinished)
        self._counts["PASS"] += len(self._passed)
        for test in self._leaves():
            self._count(test, package, has_failed)
        if has_failed and not any(test.outcome == "FAIL" for test in self._tests.values()):
            self._broken(package, line)
        self._tests, self._passed = {}, _Passed()
        self._current, self._panic, self._exit, self._is_streamed = None, None, "", False

    def failures(self) -> list[Draft]:
        cut = [test for test in self._leaves() if test.outcome == "FAIL" or self._is_panicking(test)]
        for test in cut:  # the log was cut before the package's end
            self._end(test, "")
        if self._panic is not None and not cut:
            self._broken("", "")
        return [self._draft(test) for test in self._ended]

    def _is_panicking(self, test: _Test) -> bool:
        return test is self._current and not test.outcome and self._panic is not None

    def summary(self) -> TestSummary | None:
        """Only `-v` names the tests that passed."""
        if not self.has_verbose:
            return None
        passed, failed, skipped = self._counts["PASS"], self._counts["FAIL"], self._counts["SKIP"]
        return TestSummary(passed + failed + skipped, passed, failed, 0, skipped)

    def _now(self, what: str, name: str) -> None:
        self.has_verbose = self._is_streamed = True
        self._current = self._named(name) if what != "PAUSE" else None
        if self._current is not None and what == "RUN":
            self._run(self._current)

    def _run(self, test: _Test) -> None:
        """It comes after all that ran before it, itself among them."""
        self._passed.names.discard(test.name)
        if self._tests.pop(test.name, None) is test:
            self._tests[test.name] = test
        test.run()

    def _result(self, found: re.Match[str]) -> bool:
        name, outcome = found["name"], found["how"]
        if name not in self._tests and name in self._before.unfinished:
            self._return(self._before)
        known = self._tests.get(name)
        if self._is_streamed and (known is None or known.outcome):
            return False  # a test printed it: Go says first that it runs one
        test = known or self._named(name)
        test.end(outcome)
        test.depth = found.start("how") - len("--- ") if found.re == _RESULT else 0
        if not test.lines or not self._is_streamed:
            self._current = test
        return True

    def _return(self, before: _Package) -> None:
        """The package had not ended: one of its tests printed that."""
        self._tests, self._passed, self._is_streamed = before.tests, before.passed, before.is_streamed
        self._counts = before.counts
        del self._ended[before.ended :]
        for name in before.unfinished:
            self._tests[name].outcome = ""

    def _named(self, name: str) -> _Test:
        test = self._tests.get(name)
        if test is None:
            test = _Test(name)
            if len(self._tests) < MOST_TESTS:
                self._tests[name] = test
        return test

    def _log(self, depth: int, line: str) -> None:
        """Without `-v`, a log is indented below its test's result."""
        if not self._is_streamed:
            owners = (test for test in reversed(self._tests.values()) if test.depth == depth)
            self._current = next(owners, self._current)
        if self._current is not None:
            self._current.add(line)

    def _leaves(self) -> list[_Test]:
        """Tests without sub-tests, and failed tests without a failed sub-test."""
        parents = {parent for name in self._tests for parent in _parents(name)}
        guilty = {parent for test in self._tests.values() if test.outcome == "FAIL" for parent in _parents(test.name)}
        return [
            test
            for test in self._tests.values()
            if test.name not in parents or (test.outcome == "FAIL" and test.name not in guilty)
        ]

    def _count(self, test: _Test, package: str, has_failed: bool) -> None:
        if not test.outcome and has_failed:
            test.outcome = "FAIL"  # it ran when the process ended
        if test.outcome in self._counts:
            self._counts[test.outcome] += 1
        if test.outcome == "FAIL":
            self._end(test, package)

    def _end(self, test: _Test, package: str) -> None:
        test.package = package
        guilty = self._panic.test if self._panic is not None else ""
        if guilty == test.name.partition("/")[0] or (guilty is None and not test.lines):
            test.panic, self._panic = self._panic, None
        if len(self._ended) < MOST_KEPT:
            self._ended.append(test)

    def _broken(self, package: str, line: str) -> None:
        """The package failed without a failed test: the process ended on its own."""
        name = (self._panic.test if self._panic else None) or ""
        message = self._exit or line.replace("\t", " ").strip()
        self._ended.append(_Test(name, "FAIL", package, panic=self._panic or Panic(message)))

    def _draft(self, test: _Test) -> Draft:
        if test.panic is not None:
            draft = test.panic.draft(self._workspace, self._packages)
            draft.test_name = test.name or test.panic.test
            return draft
        draft = Draft(FailureKind.TEST_FAILURE, "", test_name=test.name, evidence=["\n".join(test.lines)])
        logged = logged_failure(test.lines, self._workspace)
        if logged:
            place, draft.message = logged
            folder = self._packages.folder(test.package) if test.package else ""
            draft.file, draft.line = in_folder(place.file, folder), place.line
        draft.message = draft.message or " ".join(line.strip() for line in test.lines[:4]) or f"{test.name} failed"
        return draft


def _parents(name: str) -> list[str]:
    return [name[:at] for at, letter in enumerate(name) if letter == "/"] if "/" in name else []
