"""Logs of Gradle: compiler errors, tests, dependencies, build scripts.

Old versions print a task's name without a line end, so that the first error is glued to it. What tests print is
indented, or not shown: a line about a failed test begins at the margin.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.drafts import Draft, Findings
from agent_fox.verifier.logs.frames import java_file, java_place
from agent_fox.verifier.logs.gathering import MOST_KEPT
from agent_fox.verifier.logs.jvm.gradle_problems import Problems
from agent_fox.verifier.logs.line_formats import built_in
from agent_fox.verifier.logs.row_reader import RowReader

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_TASK = regex(
    r"(?:> Task )?(?P<task>(?::[\w.-]+)+?)(?P<glued>(?:[A-Za-z]:[\\/]|/|error: |warning: |[ew]: |Note: "
    r"|WARNING: ).*| (?:FAILED|UP-TO-DATE|NO-SOURCE|SKIPPED|FROM-CACHE))?$"
)
_FAILED = regex(r"(?P<owner>\S[^>\n]*?)(?P<names>(?: > [^>\n]+)+) FAILED$")
_COMPLETED = regex(r"(?P<tests>\d+) tests? completed(?:, (?P<failed>\d+) failed)?(?:, (?P<skipped>\d+) skipped)?$")
_SOURCE = regex(r"(?:Note: )?(?P<path>(?:[A-Za-z]:)?[/\\][^:\n]*?/(?P<name>[\w$]+\.(?:java|kt|groovy|scala)))\b")
_DULL_LINES = regex(  # blank, what a test printed (but no place in a source), a test that did not fail
    r"""(?>(?:\n
       |[ ]{4}[^\n.]*+(?>(?:\.(?!a?j)[^\n.]*+)*)\n
       |[\w.$]++[ ]>[ ][^\n:]*[ ](?:PASSED|SKIPPED|STARTED|STANDARD_OUT|STANDARD_ERROR)\n)*)""",
    re.VERBOSE,
)


class GradleReader:
    """Reads what `gradle` prints, from the plain console or the rich one."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._findings = Findings()
        self._compiler = RowReader(built_in("javac"), self._findings, workspace)
        self._checks = RowReader(built_in("java_checks"), self._findings, workspace)
        self._problems = Problems(self._findings, workspace)
        self._task = ""
        self._test: TestDraft | None = None
        self._tests: list[TestDraft] = []
        self._counts: list[tuple[int, int, int]] = []
        self._sources: dict[str, str] = {}
        self._is_over = False

    def skip(self, block: str, at: int) -> int:
        if self._test is not None or self._compiler.is_open or self._problems.is_open:
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
        elif not (("[ant:" in line or ":\t" in line) and self._checks.feed(line.removeprefix("[ant:checkstyle] "))):
            self._compiler.feed(line)

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


MOST_LINES = 200  # kept of one failure
_EXCEPTION = regex(r"    (?P<type>[\w.$]+)(?: at (?P<file>[\w$-]+\.\w+):(?P<line>\d+)|: ?(?P<message>.*))?$")
_FRAME = regex(r"\s+(?:at [\w.$/@<>-]+\(|Caused by:|Suppressed:|\.\.\. \d+ more)")
_MODULE_LOADER = regex(r"(?<=at )(?:app//|[\w.-]+@[\w.-]*/)")
_TESTS = ("test", "")


@dataclass(slots=True)
class TestDraft:
    """The lines of one failed test. `owner` is its class, or what the test framework shows for it."""

    __test__ = False  # not a test class, whatever its name begins with

    owner: str
    names: tuple[str, ...]
    task: str
    lines: list[str] = field(default_factory=list)

    def takes(self, line: str) -> bool:
        """Whether the line belongs to this test: it is indented, or blank between indented ones."""
        if line.strip() and not line.startswith("    "):
            return False
        if len(self.lines) < MOST_LINES:
            self.lines.append(_MODULE_LOADER.sub("", line))
        return True


def test_draft(test: TestDraft, task: str, sources: dict[str, str]) -> Draft:
    """What a failed test of `task` came to. `sources` are paths that the log names elsewhere, by file name."""
    first = _EXCEPTION.match(test.lines[0]) if test.lines else None
    file, line = _place(test, task, first, sources)
    exception = first["type"] if first else None
    return Draft(
        kind=FailureKind.TEST_FAILURE,
        message=_message(test, first) or exception or "the test failed",
        file=file,
        line=line,
        test_name=".".join((test.owner, *test.names)),
        exception=exception,
        is_error=bool(exception)
        and not str(exception).endswith(("AssertionError", "AssertionFailedError", "ComparisonFailure", "Failure")),
        evidence=["\n".join(test.lines).rstrip()],
    )


def _place(
    test: TestDraft, task: str, first: re.Match[str] | None, sources: dict[str, str]
) -> tuple[str | None, int | None]:
    """The frame in the test's class, or what stands behind the exception's name."""
    folder, name = _folder_and_set(task)
    simple = test.owner.rpartition(".")[2]
    if first and first["file"]:
        known = sources.get(first["file"]) or (
            java_file(test.owner, first["file"], folder) if "." in test.owner else first["file"]
        )
        return _in_set(known, name), int(first["line"])
    text = "\n".join(test.lines)
    place = java_place(text, _full_name(text, test.owner), folder)
    if place:
        return _in_set(place.file, name), place.line
    return (
        _in_set(java_file(test.owner, f"{simple.split('$')[0]}.java", folder), name) if "." in test.owner else None
    ), None


def _full_name(text: str, owner: str) -> str:
    """The class with its package, where the name at the margin is without one."""
    if "." in owner:
        return owner
    match = re.search(rf"^\s+at (?P<name>[\w.]+\.{re.escape(owner)})(?:\$[\w$]+)?\.", text, re.MULTILINE)
    return match["name"] if match else owner


def _folder_and_set(task: str) -> tuple[str, str]:
    """`:api:integrationTest` runs the tests of `api/src/integrationTest`."""
    *projects, name = task.strip(":").split(":")
    return "/".join(projects), name


def _in_set(path: str, name: str) -> str:
    """Tests of another set than `test` lie in the folder that their task is named by."""
    is_other = name not in _TESTS and name.lower().endswith("test")
    return (
        path.replace("src/test/", f"src/{name}/", 1).replace("src/main/", f"src/{name}/", 1)
        if is_other
        else path.replace("src/main/", "src/test/", 1)
    )


def _message(test: TestDraft, first: re.Match[str] | None) -> str:
    if first is None:
        return test.lines[0].strip() if test.lines else ""
    message = [first["message"] or ""]
    for line in test.lines[1:]:
        if _FRAME.match(line) or not line.strip():
            break
        message.append(line.strip())
    return "\n".join(message).strip()
