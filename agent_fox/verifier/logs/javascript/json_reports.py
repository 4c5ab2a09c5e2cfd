"""What jest's `--json` and vitest's JSON reporter write (files with their tests), and mocha's (counts and failures)."""

from __future__ import annotations

from dataclasses import replace
from typing import BinaryIO

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.decode import pieces, without_colours
from agent_fox.verifier.logs.frames import first_line
from agent_fox.verifier.logs.gathering import Counts, Gathering
from agent_fox.verifier.logs.javascript.stacks import exception_of, kind_of_broken, thrown_at
from agent_fox.verifier.logs.kinds import patterns_in
from agent_fox.verifier.logs.parsers import Document
from agent_fox.verifier.logs.protocol import Workspace, at
from agent_fox.verifier.logs.streams.json_stream import EACH, parts
from agent_fox.verifier.logs.streams.records import Record, found, number, record, records, text, texts

_LIKE = patterns_in(__file__)
_FILES = ("testResults", EACH)
_SKIPPED = ("pending", "skipped", "todo", "disabled")


class _JestReader:
    """Reads the files, their tests, and why a file could not be run: what could not be loaded, or its hooks threw."""

    def __init__(self, workspace: Workspace) -> None:
        self._found, self._counts = Gathering(), Counts()
        self._has_read = False
        self._workspace = workspace

    def read(self, file: BinaryIO) -> None:
        for _, value in parts(pieces(file), (_FILES,)):
            self._take(record(value))

    def parsed(self, *, is_complete: bool) -> Parsed:
        summary = self._counts.summary() if is_complete or self._has_read else None
        return self._found.parsed(summary, is_complete=is_complete)

    def _take(self, file: Record) -> None:
        self._has_read = True
        path = self._workspace.relative(text(found(file, "name|testFilePath"))) or None
        tests = list(records(file.get("assertionResults") or file.get("testResults")))
        for test in tests:
            self._test(test, path)
        if file.get("status") == "failed" and not any(test.get("status") == "failed" for test in tests):
            self._counts.errors += 1
            self._counts.uncounted += 1
            thrown = _LIKE["title"].sub("", without_colours(text(found(file, "message|failureMessage"))))
            failure = _failure(thrown, path, self._workspace, "the file could not be run")
            self._found.fail(replace(failure, kind=kind_of_broken(thrown), is_error=True))

    def _test(self, test: Record, path: str | None) -> None:
        status, declared = text(test.get("status")), record(test.get("location"))
        self._counts.passed += status == "passed"
        self._counts.skipped += status in _SKIPPED
        self._counts.failures += status == "failed"
        if status != "failed" or self._found.is_full:
            return
        name = " > ".join(filter(None, [*texts(test.get("ancestorTitles")), text(test.get("title"))])) or None
        for thrown in map(without_colours, texts(test.get("failureMessages")) or ["the test failed"]):
            failure = _failure(thrown, path, self._workspace)
            if failure.line is None:
                line, column = number(declared.get("line")), number(declared.get("column"))
                failure = replace(failure, line=line, column=column)
            self._found.fail(replace(failure, message=failure.message.removeprefix("Error: "), test_name=name))


_STATS, _FAILURES = ("stats",), ("failures", EACH)


class _MochaReader:
    """Reads the counts, in which a hook that failed is a failure beside the tests, and what was thrown."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._found = Gathering()
        self._summary: TestSummary | None = None

    def read(self, file: BinaryIO) -> None:
        for path, value in parts(pieces(file), (_STATS, _FAILURES)):
            if path == _STATS:
                of = [number(record(value).get(word)) or 0 for word in ("passes", "failures", "pending")]
                self._summary = Counts(of[0], of[1], skipped=of[2]).summary()
            else:
                self._fail(record(value))

    def parsed(self, *, is_complete: bool) -> Parsed:
        return self._found.parsed(self._summary, is_complete=is_complete)

    def _fail(self, test: Record) -> None:
        """A test that failed. mocha joins the titles of groups by spaces: only the last one can be recognised."""
        title, thrown = text(test.get("title")), text(found(test, "err.stack|err.message"))
        name = " > ".join(filter(None, (text(test.get("fullTitle")).removesuffix(title).strip(), title))) or None
        failure = _failure(thrown, self._workspace.relative(text(test.get("file"))) or None, self._workspace)
        exception = failure.exception or text(found(test, "err.name")) or None
        self._found.fail(replace(failure, test_name=name, exception=exception))


def _failure(thrown: str, file: str | None, workspace: Workspace, message: str = "the test failed") -> Failure:
    """What was thrown, and where; else the file, and the message."""
    message = first_line(thrown) or message
    known = {**at(thrown_at(thrown, workspace), file), "evidence": thrown, "exception": exception_of(message)}
    return Failure(FailureKind.TEST_FAILURE, message, **known)


JEST = Document(_LIKE["begins"], _JestReader)
MOCHA = Document(_LIKE["mocha"], _MochaReader)
