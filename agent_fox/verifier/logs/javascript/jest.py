"""What jest prints."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.drafts import Excerpt, Findings
from agent_fox.verifier.logs.frames import at, first_line
from agent_fox.verifier.logs.javascript.stacks import LOADING, exception_of, thrown_at
from agent_fox.verifier.logs.line_formats import built_in

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_MARKS = (
    *("PASS", "FAIL", " PASS", " FAIL", "Test", "Sn", " › ", "Summ", "No tests"),
    *("● ", "Jest:", "Error: C", "Can't f"),
)
_FIRST, _SECOND = "PFTSNJ●EC", "PF›"  # letters of the marks: cheaper to look at than the marks
_SUITE = regex(r" ?(?P<outcome>PASS|FAIL) {1,2}(?P<file>\S.*)$")
_TIME = regex(r" \([\d.]+ m?s\)$")
_TITLE = regex(r"  ● (?P<title>\S.*)$")
_BROKEN_SUITE = "Test suite failed to run"
_NOT_A_TEST = regex(r"Console$|Cannot log after tests|process\.exit called")
_CONFIGURATION = regex(r"● (?P<message>(?:Validation Error|Multiple configurations).*)$")
_UNCONFIGURED = regex(r"(?:Error: )?(?P<message>(?:Could not|Can't) find (?:a )?(?:config|root).*)$")
_END = regex(r"Test Suites: |Snapshot Summary$| › \d+ snapshots? |Summary of all failing tests$")
_TESTS = regex(r"Tests: +(?P<counts>\d.*\d total)$")
_COUNT = regex(r"(\d+) (failed|skipped|todo|passed|total)")
_NOTHING = regex(r"(?P<message>No tests found), exiting with code")
_COVERAGE = regex(r"Jest: (?P<message>.*(?:coverage )?threshold for .*not met.*)$")


@dataclass(slots=True)
class _Block:
    title: str
    file: str
    shown: Excerpt = field(default_factory=Excerpt)

    @property
    def is_of_suite(self) -> bool:
        return self.title == _BROKEN_SUITE

    @property
    def message(self) -> str:
        """What was thrown. Where a suite did not load, jest explains itself before it says why."""
        lines = [line.strip() for line in self.shown if line.strip()]
        details = lines.index("Details:") + 1 if "Details:" in lines else 0
        reasons = (line for line in lines[details:] if "Error: " in line) if details else iter(lines)
        return next(reasons, first_line(self.shown.text)).removesuffix(":")

    def failures(self, workspace: Workspace) -> Iterator[Failure]:
        """One failure; as many as there are compiler errors where the suite is in TypeScript."""
        compiler = built_in("tsc").parse(map(str.strip, self.shown), workspace) if self.is_of_suite else Parsed()
        if compiler.failures:
            yield from compiler.failures
        else:
            yield self._failure(workspace)

    def _failure(self, workspace: Workspace) -> Failure:
        place = thrown_at(self.shown.text, workspace)
        is_loading = self.is_of_suite and bool(LOADING.search(self.shown.text))
        return Failure(
            FailureKind.COMPILE_ERROR if is_loading else FailureKind.TEST_FAILURE,
            self.message,
            **at(place, workspace.relative(self.file) or None),
            test_name=None if self.is_of_suite else self.title.replace(" › ", " > "),
            evidence=self.shown.text,
            exception=exception_of(self.message),
            is_error=self.is_of_suite,
        )


class JestReader:
    """Reads failed tests and suites that did not load, with the place in the project where each was thrown."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._findings = Findings()
        self._file = ""
        self._open: _Block | None = None
        self._is_repeating = False
        self._broken_suites = 0
        self._counts: dict[str, int] | None = None

    def take(self, line: str) -> None:
        if (line[:1] in _FIRST or line[1:2] in _SECOND) and line.startswith(_MARKS) and self._mark(line):
            return
        if self._file and line.startswith("  ● ") and (title := _TITLE.match(line)):
            self._close()
            if not _NOT_A_TEST.match(title["title"]):
                self._open = _Block(title["title"].strip(), self._file)
        elif self._open is not None:
            self._open.shown.add(line)

    def _mark(self, line: str) -> bool:
        """Whether the line, which begins like one of jest's own, is no test's."""
        if suite := _SUITE.match(line):
            self._close()
            self._file = _TIME.sub("", suite["file"]) if suite["outcome"] == "FAIL" else ""
        elif _END.match(line):
            self._close()
            self._is_repeating = self._is_repeating or line.startswith("Summary of all")
        elif self._open is None:
            self._outside(line)
        else:
            return False
        return True

    def _outside(self, line: str) -> None:
        if tests := _TESTS.match(line):
            self._counts = {word: int(number) for number, word in _COUNT.findall(tests["counts"])}
        elif failed := _UNCONFIGURED.match(line):
            failure = Failure(FailureKind.ENVIRONMENT_FAILURE, failed["message"].strip(), evidence=line)
            self._findings.fall_back(failure)
        elif failed := _NOTHING.match(line) or _CONFIGURATION.match(line) or _COVERAGE.match(line):
            self._findings.fall_back(Failure(FailureKind.UNKNOWN, failed["message"].strip(), evidence=line))
            self._counts = {} if failed.re == _NOTHING else self._counts

    def _close(self) -> None:
        """Where many suites ran, jest shows every failure again at the end."""
        if self._open is not None and not self._is_repeating:
            self._broken_suites += self._open.is_of_suite
            if not self._findings.gathering.is_full:
                self._keep(self._open)
        self._open = None

    def _keep(self, block: _Block) -> None:
        for failure in block.failures(self._workspace):
            self._findings.gathering.fail(failure)

    def parsed(self) -> Parsed:
        self._close()
        return self._findings.parsed(self._summary(), is_complete=self._counts is not None)

    def _summary(self) -> TestSummary | None:
        if self._counts is None:
            return None
        of = self._counts.get
        skipped = of("skipped", 0) + of("todo", 0)
        return TestSummary(of("total", 0), of("passed", 0), of("failed", 0), self._broken_suites, skipped)
