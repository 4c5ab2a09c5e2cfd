"""Logs of Gradle: compiler errors, tests, dependencies, build scripts, and its last words, `* Where:` and `* What went
wrong:`.

Old versions print a task's name without a line end, so that the first error is glued to it. What tests print is
indented, or not shown: a line about a failed test begins at the margin.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.frames import java_file, java_place
from agent_fox.verifier.logs.gathering import MOST_KEPT, Gathering, summed
from agent_fox.verifier.logs.kinds import kind_in, patterns_in
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.row_reader import RowReader, built_in

_LIKE = patterns_in(__file__)
_ASSERTS = ("AssertionError", "AssertionFailedError", "ComparisonFailure", "Failure")
MOST_LINES = 200  # kept of one failure


class GradleReader:
    """Reads what `gradle` prints, from the plain console or the rich one."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._findings = Gathering()
        self._compiler = RowReader(built_in("javac"), workspace, self._findings)
        self._checks = RowReader(built_in("java_checks"), workspace, self._findings)
        self._problems = _Problems(self._findings, workspace)
        self._task = ""
        self._test: _Test | None = None
        self._tests: list[_Test] = []
        self._summary: TestSummary | None = None
        self._sources: dict[str, str] = {}  # that the log names with their folders: a failure names them without
        self._is_over = False

    def skip(self, block: str, at: int) -> int:
        if self._test is not None or self._compiler.is_open or self._problems.is_open:
            return at
        dull = _LIKE["dull_lines"].match(block, at)
        return dull.end() if dull else at

    def take(self, line: str) -> None:
        if line[:1] in ":>" and (match := _LIKE["task"].match(line)):
            self._compiler.finish()
            self._test, self._task, glued = None, match["task"], match["glued"] or ""
            if glued and not glued.startswith(" "):
                self._other(glued)
        elif self._test is not None and (line.startswith("    ") or not line.strip()):
            self._test.add(line)
        elif line.endswith(" FAILED") and (match := _LIKE["failed"].match(line)):
            self._test = _Test(match["owner"], match["names"].split(" > ")[1:], self._task)
            if len(self._tests) < MOST_KEPT:
                self._tests.append(self._test)
        else:
            self._test = None
            self._other(line)

    def parsed(self) -> Parsed:
        self._compiler.finish()
        self._problems.finish()
        tasks = self._problems.test_tasks
        for test in self._tests:
            test.task = test.task or (tasks[0] if len(tasks) == 1 else "")
            self._findings.fail(test.failure(self._sources))
        return self._findings.parsed(self._summary, is_complete=self._is_over)

    def _other(self, line: str) -> None:
        may_name = (line[:1] in "/N" or line[1:2] == ":") and "." in line and len(self._sources) < MOST_KEPT
        if may_name and (match := _LIKE["source"].match(line)):
            self._sources.setdefault(match["name"], self._workspace.relative(match["path"]))
        if self._problems.feed(line):
            self._compiler.feed(line.removeprefix("  "))  # new versions print the compiler's errors here again
        elif " completed" in line and (match := _LIKE["completed"].match(line)):
            tests, failed, skipped = (int(match[each] or 0) for each in ("tests", "failed", "skipped"))
            self._summary = summed((self._summary, TestSummary(tests, tests - failed - skipped, failed, 0, skipped)))
        elif line.startswith(("BUILD SUCCESSFUL", "BUILD FAILED")):
            self._is_over = True
        elif not (("[ant:" in line or ":\t" in line) and self._checks.feed(line.removeprefix("[ant:checkstyle] "))):
            self._compiler.feed(line)


@dataclass(slots=True)
class _Test:
    """The lines of one failed test. `owner` is its class, or what the test framework shows for it."""

    owner: str
    names: list[str]
    task: str
    lines: list[str] = field(default_factory=list)

    def add(self, line: str) -> None:
        if len(self.lines) < MOST_LINES:
            self.lines.append(_LIKE["module_loader"].sub("", line))

    def failure(self, sources: dict[str, str]) -> Failure:
        """What it came to. `sources` are paths that the log names elsewhere, by file name."""
        text = "\n".join(self.lines).rstrip()
        first = text.partition("\n")[0]
        message, match = first.strip(), _LIKE["exception"].match(first)
        exception = match["type"] if match else None
        if match:
            ends = next((n for n, line in enumerate(self.lines[1:], 1) if _LIKE["frame"].match(line)), None)
            message = "\n".join([match["message"] or "", *map(str.strip, self.lines[1:ends])]).strip()
        file, line = self._place(match, text, sources)
        return Failure(
            FailureKind.TEST_FAILURE,
            message or exception or "the test failed",
            file or None,
            line,
            test_name=".".join((self.owner, *self.names)),
            exception=exception,
            is_error=bool(exception) and not str(exception).endswith(_ASSERTS),
            evidence=text,
        )

    def _place(self, exception: re.Match[str] | None, text: str, sources: dict[str, str]) -> tuple[str, int | None]:
        """What stands behind the exception's name, or the frame in the test's class: `:api:integrationTest` runs the
        tests of `api/src/integrationTest`."""
        *projects, task = self.task.strip(":").split(":")
        folder, owner = "/".join(projects), self.owner
        line: int | None = None
        if exception and (named := exception["file"]):
            path = sources.get(named) or (java_file(owner, named, folder) if "." in owner else named)
            line = int(exception["line"])
        else:
            pattern = rf"^\s+at (?P<name>[\w.]+\.{re.escape(owner)})(?:\$[\w$]+)?\."  # with its package
            full = re.search(pattern, text, re.MULTILINE) if "." not in owner else None
            place = java_place(text, full["name"] if full else owner, folder)
            path = java_file(owner, module=folder) if "." in owner else ""
            path, line = (place.file, place.line) if place else (path, None)
        if task.lower().endswith("test") and task != "test":
            return path.replace("src/test/", f"src/{task}/", 1).replace("src/main/", f"src/{task}/", 1), line
        return path.replace("src/main/", "src/test/", 1), line


_LONGEST = 60  # lines of one problem


class _Problems:
    """Collects the blocks at the end of a log; each becomes a failure, unless the log named a better one before."""

    def __init__(self, findings: Gathering, workspace: Workspace) -> None:
        self._findings, self._workspace = findings, workspace
        self._where: re.Match[str] | None = None
        self._lines: list[str] | None = None
        self._heading = ""
        self.test_tasks: list[str] = []

    @property
    def is_open(self) -> bool:
        """Whether the next line may belong to a block."""
        return self._lines is not None or self._heading == "Where"

    def feed(self, line: str) -> bool:
        """Whether the line belongs to Gradle's last words."""
        if line[:2] == "* " and (match := _LIKE["heading"].match(line)):
            if match["name"] == "What went wrong":
                self._lines = []
            else:
                self.finish()
            self._heading = match["name"]
        elif self._heading == "Where":
            self._where = self._where or _LIKE["where"].match(line)
        elif self._lines is not None and len(self._lines) < _LONGEST:
            self._lines.append(line)
        else:
            return False
        return True

    def finish(self) -> None:
        if self._lines:
            self._tell(self._lines)
        self._lines, self._where, self._heading = None, None, ""

    def _tell(self, lines: list[str]) -> None:
        """Of dependencies that could not be had and of files with a wrong format, each is a failure. The message is the
        first line, and the first reason below it."""
        text = "\n".join(lines).strip()
        if (match := _LIKE["of_task"].search(text)) and _LIKE["tests"].search(text) and len(self.test_tasks) < _LONGEST:
            self.test_tasks.append(match["task"])
        parts = [line.strip().removeprefix("> ") for line in lines if line.strip()]
        failure = Failure(kind_in("gradle", text) or FailureKind.UNKNOWN, " ".join(parts[:2]), evidence=text)
        if self._where:
            file = self._workspace.relative(self._where["file"])
            failure = replace(failure, file=file, line=int(self._where["line"]))
        files = [match["file"] for line in lines if (match := _LIKE["file"].match(line))]
        if failure.kind is FailureKind.DEPENDENCY_RESOLUTION_FAILURE:
            unresolved = (_LIKE["unresolved"].match(line) for line in lines if line.startswith("> "))
            for message in [match["message"] for match in unresolved if match] or [failure.message]:
                self._findings.fail(replace(failure, message=message.rstrip(".")))
        elif failure.kind is FailureKind.FORMAT_FAILURE:
            for path in files:
                reformatted = replace(failure, message="would be reformatted", file=self._workspace.relative(path))
                self._findings.fail(replace(reformatted, line=None))
            self._findings.fall_back(failure, on_kind=True)
        elif failure.file:
            self._findings.fail(failure)
        else:
            self._findings.fall_back(failure, on_kind=True)
