"""Logs of Gradle: compiler errors, tests, dependencies, build scripts.

Old versions print a task's name without a line end, so that the first error is glued to it. What tests print is
indented, or not shown: a line about a failed test begins at the margin.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.drafts import Draft, Findings
from agent_fox.verifier.logs.gathering import MOST_KEPT
from agent_fox.verifier.logs.gradle_problems import Problems
from agent_fox.verifier.logs.gradle_tests import TestDraft, test_draft
from agent_fox.verifier.logs.javac import JavacReader
from agent_fox.verifier.logs.line_log import SkippingLog, SkippingReader
from agent_fox.verifier.logs.maven_checks import check_draft

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_TASK = regex(
    r"(?:> Task )?(?P<task>(?::[\w.-]+)+?)(?P<glued>(?:[A-Za-z]:[\\/]|/|error: |warning: |[ew]: |Note: "
    r"|WARNING: ).*| (?:FAILED|UP-TO-DATE|NO-SOURCE|SKIPPED|FROM-CACHE))?$"
)
_FAILED = regex(r"(?P<owner>\S[^>\n]*?)(?P<names>(?: > [^>\n]+)+) FAILED$")
_COMPLETED = regex(r"(?P<tests>\d+) tests? completed(?:, (?P<failed>\d+) failed)?(?:, (?P<skipped>\d+) skipped)?$")
_CHECK = regex(r"\[ant:checkstyle\] \[(?P<level>ERROR|WARN|WARNING|INFO)\] (?P<rest>.*)")
_PMD = regex(r"(?P<file>(?:[A-Za-z]:)?[^:\n]+\.java):(?P<line>\d+):\t(?P<rule>\w+):\t(?P<message>.*)")
_SOURCE = regex(r"(?:Note: )?(?P<path>(?:[A-Za-z]:)?[/\\][^:\n]*?/(?P<name>[\w$]+\.(?:java|kt|groovy|scala)))\b")
_DULL_LINES = regex(  # blank, what a test printed (but no place in a source), a test that did not fail
    r"""(?>(?:\n
       |[ ]{4}[^\n.]*+(?>(?:\.(?!a?j)[^\n.]*+)*)\n
       |[\w.$]++[ ]>[ ][^\n:]*[ ](?:PASSED|SKIPPED|STARTED|STANDARD_OUT|STANDARD_ERROR)\n)*)""",
    re.VERBOSE,
)


class GradleLog(SkippingLog):
    """Reads what `gradle` prints, from the plain console or the rich one."""

    tools = ("gradle", "gradlew")

    def reader(self, workspace: Workspace) -> SkippingReader:
        return _Reader(workspace)


class _Reader:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._findings = Findings()
        self._compiler = JavacReader(self._findings, workspace)
        self._problems = Problems(self._findings, workspace)
        self._task = ""
        self._test: TestDraft | None = None
        self._tests: list[TestDraft] = []
        self._counts: list[tuple[int, int, int]] = []
        self._sources: dict[str, str] = {}
        self._is_over = False

    def skip(self, block: str, at: int) -> int:
        if self._test is not None or self._compiler.is_open or self._problems.is_told:
            return at
        dull = _DULL_LINES.match(block, at)
        return dull.end() if dull else at

    def take(self, line: str) -> None:
        if line[:1] in ":>" and (match := _TASK.match(line)):
            self._enter(match)
        elif self._test is not None and self._test.takes(line):
            return
        elif line.endswith(" FAILED") and (test := self._failed(line)):
            self._test = test
        else:
            self._test = None
            self._other(line)

    def parsed(self) -> Parsed:
        self._compiler.finish()
        self._problems.finish()
        tasks = self._problems.test_tasks
        for test in self._tests:
            task = test.task or (tasks[0] if len(tasks) == 1 else "")
            self._findings.keep(test_draft(test, task, self._sources))
        return self._findings.parsed(self._summary(), is_complete=self._is_over)

    def _enter(self, found: re.Match[str]) -> None:
        self._compiler.finish()
        self._test = None
        self._task = found["task"]
        glued = found["glued"] or ""
        if glued and not glued.startswith(" "):
            self._other(glued)

    def _failed(self, line: str) -> TestDraft | None:
        match = _FAILED.match(line)
        if not match:
            return None
        names = tuple(match["names"].split(" > ")[1:])
        test = TestDraft(match["owner"], names, self._task)
        if len(self._tests) < MOST_KEPT:
            self._tests.append(test)
        return test

    def _other(self, line: str) -> None:
        if (line[:1] in "/N" or line[1:2] == ":") and "." in line:
            self._remember(line)
        if self._problems.feed(line):
            self._compiler.feed(line.removeprefix("  "))  # new versions print the compiler's errors here again
        elif " completed" in line and (match := _COMPLETED.match(line)):
            self._counts.append((int(match["tests"]), int(match["failed"] or 0), int(match["skipped"] or 0)))
        elif line.startswith(("BUILD SUCCESSFUL", "BUILD FAILED")):
            self._is_over = True
        elif not (("[ant:" in line or ":\t" in line) and self._violation(line)):
            self._compiler.feed(line)

    def _violation(self, line: str) -> bool:
        """Whether the line is a style checker's."""
        draft = None
        if match := _CHECK.match(line):
            level = "WARNING" if match["level"].startswith("WARN") else "ERROR"
            draft = check_draft(level, match["rest"], self._workspace)
        elif match := _PMD.match(line):
            file = self._workspace.relative(match["file"])
            draft = Draft(FailureKind.LINT_FAILURE, match["message"], file, int(match["line"]), code=match["rule"])
        if draft:
            self._findings.keep(draft)
        return draft is not None

    def _remember(self, line: str) -> None:
        """Sources that the log names with their folders: a test's failure names them without."""
        match = _SOURCE.match(line)
        if match and len(self._sources) < MOST_KEPT:
            self._sources.setdefault(match["name"], self._workspace.relative(match["path"]))

    def _summary(self) -> TestSummary | None:
        if not self._counts:
            return None
        tests, failed, skipped = (sum(column) for column in zip(*self._counts, strict=True))
        return TestSummary(tests, tests - failed - skipped, failed, 0, skipped)
