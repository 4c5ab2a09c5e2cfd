"""Logs of Gradle: compiler errors, tests, dependencies, build scripts, and its last words, `* Where:` and `* What went
wrong:`.

Old versions print a task's name without a line end, so that the first error is glued to it. What tests print is
indented, or not shown: a line about a failed test begins at the margin.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from itertools import takewhile

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.frames import java_file, java_place
from agent_fox.verifier.logs.gathering import MOST_KEPT, Excerpt, Gathering, summed
from agent_fox.verifier.logs.jvm.surefire import java_thrown
from agent_fox.verifier.logs.kinds import kind_in, patterns_in
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.row_reader import RowReader, built_in

_LIKE = patterns_in(__file__)
_ASSERTS = ("AssertionError", "AssertionFailedError", "ComparisonFailure", "Failure")
LONGEST_PROBLEM = 60  # lines kept of one at the end


class GradleReader:
    """Reads what `gradle` prints, from the plain console or the rich one."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._findings = workspace, Gathering()
        self._compiler = RowReader(built_in("javac"), workspace, self._findings)
        self._checks = RowReader(built_in("java_checks"), workspace, self._findings)
        self._task, self._tests = "", list[_Test]()
        self._test: _Test | None = None
        self._summary: TestSummary | None = None
        self._sources: dict[str, str] = {}  # that the log names with their folders: a failure names them without
        self._heading = ""  # of its last words
        self._where: re.Match[str] | None = None
        self._problem: list[str] | None = None
        self._test_tasks: list[str] = []
        self._is_over = False

    def skip(self, block: str, at: int) -> int:
        is_in_problem = self._problem is not None or self._heading == "Where"
        if self._test is not None or self._compiler.is_open or is_in_problem:
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
            self._test.shown.add(_LIKE["module_loader"].sub("", line))
        elif line.endswith(" FAILED") and (match := _LIKE["failed"].match(line)):
            self._test = _Test(match["owner"], match["names"].split(" > ")[1:], self._task)
            if len(self._tests) < MOST_KEPT:
                self._tests.append(self._test)
        else:
            self._test = None
            self._other(line)

    def parsed(self) -> Parsed:
        self._compiler.finish()
        self._end_problem()
        for test in self._tests:
            test.task = test.task or (self._test_tasks[0] if len(self._test_tasks) == 1 else "")
            self._findings.fail(test.failure(self._sources))
        return self._findings.parsed(self._summary, is_complete=self._is_over)

    def _other(self, line: str) -> None:
        may_name = (line[:1] in "/N" or line[1:2] == ":") and "." in line and len(self._sources) < MOST_KEPT
        if may_name and (match := _LIKE["source"].match(line)):
            self._sources.setdefault(match["name"], self._workspace.relative(match["path"]))
        if line[:2] == "* " and (match := _LIKE["heading"].match(line)):
            if match["name"] == "What went wrong":
                self._problem = []
            else:
                self._end_problem()
            self._heading = match["name"]
        elif self._heading == "Where":
            self._where = self._where or _LIKE["where"].match(line)
        elif self._problem is not None and len(self._problem) < LONGEST_PROBLEM:
            self._problem.append(line)
            self._compiler.feed(line.removeprefix("  "))  # new versions print the compiler's errors here again
        elif " completed" in line and (match := _LIKE["completed"].match(line)):
            tests, failed, skipped = (int(match[each] or 0) for each in ("tests", "failed", "skipped"))
            self._summary = summed((self._summary, TestSummary(tests, tests - failed - skipped, failed, 0, skipped)))
        elif line.startswith(("BUILD SUCCESSFUL", "BUILD FAILED")):
            self._is_over = True
        elif not (("[ant:" in line or ":\t" in line) and self._checks.feed(line.removeprefix("[ant:checkstyle] "))):
            self._compiler.feed(line)

    def _end_problem(self) -> None:
        """A problem is a failure, unless the log named a better one before: each dependency that could not be had, and
        each file with a wrong format. The message is the first line, and the first reason below it."""
        lines, where = self._problem or [], self._where
        self._problem, self._where, self._heading = None, None, ""
        if not lines:
            return
        text = "\n".join(lines).strip()
        if (match := _LIKE["of_task"].search(text)) and _LIKE["tests"].search(text):
            self._test_tasks = [*self._test_tasks, match["task"]][:LONGEST_PROBLEM]
        parts = [line.strip().removeprefix("> ") for line in lines if line.strip()]
        failure = Failure(kind_in("gradle", text) or FailureKind.UNKNOWN, " ".join(parts[:2]), evidence=text)
        if where:
            failure = replace(failure, file=self._workspace.relative(where["file"]), line=int(where["line"]))
        if failure.kind is FailureKind.DEPENDENCY_RESOLUTION_FAILURE:
            unresolved = [match["message"] for line in lines if (match := _LIKE["unresolved"].match(line))]
            for message in unresolved or [failure.message]:
                self._findings.fail(replace(failure, message=message.rstrip(".")))
        elif failure.file and failure.kind is not FailureKind.FORMAT_FAILURE:
            self._findings.fail(failure)
        else:
            files = [match["file"] for line in lines if (match := _LIKE["file"].match(line))]
            for path in files if failure.kind is FailureKind.FORMAT_FAILURE else ():
                file = self._workspace.relative(path)
                self._findings.fail(replace(failure, message="would be reformatted", file=file, line=None))
            self._findings.fall_back(failure, on_kind=True)


@dataclass(slots=True)
class _Test:
    """The lines of one failed test. `owner` is its class, or what the test framework shows for it."""

    owner: str
    names: list[str]
    task: str
    shown: Excerpt = field(default_factory=Excerpt)

    def failure(self, sources: dict[str, str]) -> Failure:
        """What it came to. `sources` are paths that the log names elsewhere, by file name."""
        match, message = java_thrown([line.strip() for line in takewhile(str.strip, self.shown)], _LIKE["exception"])
        exception, text = match["type"] if match else None, self.shown.text.rstrip()
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
        kind = task if task.lower().endswith("test") else "test"
        return re.sub("src/(?:test|main)/", f"src/{kind}/", path, count=1), line
