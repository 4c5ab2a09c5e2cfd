"""What gotestsum prints at its end: the tests that failed, with their packages, and the counts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.drafts import Findings
from agent_fox.verifier.logs.gathering import MOST_KEPT
from agent_fox.verifier.logs.go.places import in_folder, logged_failure

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

MOST_LINES = 60
_FAILED = regex(r"=== FAIL: (?P<package>\S+)(?: (?P<name>\S.*?))? \([\d.]+s\)$")
_DONE = regex(r"DONE (?:\d+ runs?, )?(?P<tests>\d+) tests?(?P<counts>(?:, \d+ \w+)*) in [\d.]+m?s$")
_COUNT = regex(r"(\d+) (skipped|failures?|errors?)")


@dataclass(slots=True)
class _Test:
    package: str
    name: str
    lines: list[str] = field(default_factory=list)

    def failure(self, workspace: Workspace) -> Failure:
        """A package is named from the module's own folder, which a dot stands for."""
        text = "\n".join(self.lines).strip("\n")
        place, message = logged_failure(self.lines, workspace) or (None, text.strip().partition("\n")[0])
        folder = "" if self.package == "." else self.package
        return Failure(
            FailureKind.TEST_FAILURE,
            message or "it failed without a word",
            file=in_folder(place.file, folder) if place else None,
            line=place.line if place else None,
            test_name=self.name or None,
            evidence=text,
        )


class GotestsumReader:
    """Reads the lists at the end. The compiler's output is read as go's."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._tests: list[_Test] = []
        self._open: _Test | None = None
        self._summary: TestSummary | None = None

    def take(self, line: str) -> None:
        if line.startswith("=== "):
            match = _FAILED.match(line)
            self._open = _Test(match["package"], match["name"] or "") if match else None
            if self._open is not None and len(self._tests) < MOST_KEPT:
                self._tests.append(self._open)
        elif line.startswith("DONE ") and (done := _DONE.match(line)):
            self._open, self._summary = None, _summary(done)
        elif self._open is not None and len(self._open.lines) < MOST_LINES:
            self._open.lines.append(line)

    def parsed(self) -> Parsed:
        findings = Findings()
        inner = {(test.package, test.name.rpartition("/")[0]) for test in self._tests if "/" in test.name}
        for test in self._tests:
            if (test.package, test.name) not in inner:
                findings.gathering.fail(test.failure(self._workspace))
        return findings.parsed(self._summary, is_complete=self._summary is not None)


def _summary(done: re.Match[str]) -> TestSummary:
    counts = {word.rstrip("s"): int(number) for number, word in _COUNT.findall(done["counts"])}
    tests, skipped, failed = int(done["tests"]), counts.get("skipped", 0), counts.get("failure", 0)
    return TestSummary(tests, max(0, tests - skipped - failed), failed, 0, skipped)
