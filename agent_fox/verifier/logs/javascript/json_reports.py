"""What jest's `--json` and vitest's JSON reporter write (files with their tests), and mocha's (counts and failures)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.decode import pieces, without_colours
from agent_fox.verifier.logs.documents import Document
from agent_fox.verifier.logs.frames import at, first_line
from agent_fox.verifier.logs.gathering import Counts, Gathering
from agent_fox.verifier.logs.javascript.stacks import exception_of, kind_of_broken_file, thrown_at
from agent_fox.verifier.logs.streams.json_stream import EACH, parts
from agent_fox.verifier.logs.streams.records import Record, number, record, records, text, texts

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_FILES = ("testResults", EACH)
_BEGINS = regex(r'\{\s*"(?:num(?:Total|Failed|Passed)Test|testResults|success"\s*:\s*\w+,\s*"num)')
_TITLE = regex(r"^\s*● .*$", re.MULTILINE)
_SKIPPED = ("pending", "skipped", "todo", "disabled")


class _JestReader:
    """Reads the files, their tests, and why a file could not be run."""

    def __init__(self, workspace: Workspace) -> None:
        self._found = Gathering()
        self._counts = Counts()
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
        path = self._workspace.relative(text(file.get("name")) or text(file.get("testFilePath")))
        tests = list(records(file.get("assertionResults") or file.get("testResults")))
        for test in tests:
            self._test(test, path)
        has_failed = any(test.get("status") == "failed" for test in tests)
        if file.get("status") == "failed" and not has_failed:
            self._broken(file, path)

    def _test(self, test: Record, path: str) -> None:
        status = text(test.get("status"))
        self._counts.passed += status == "passed"
        self._counts.skipped += status in _SKIPPED
        self._counts.failures += status == "failed"
        if status == "failed" and not self._found.is_full:
            name = " > ".join(filter(None, [*texts(test.get("ancestorTitles")), text(test.get("title"))]))
            for each in texts(test.get("failureMessages")) or ["the test failed"]:
                self._found.fail(self._failure(test, name, without_colours(each), path))

    def _failure(self, test: Record, name: str, text: str, path: str) -> Failure:
        place, declared = thrown_at(text, self._workspace), record(test.get("location"))
        return Failure(
            FailureKind.TEST_FAILURE,
            first_line(text).removeprefix("Error: "),
            file=place.file if place else path or None,
            line=place.line if place else number(declared.get("line")),
            column=place.column if place else number(declared.get("column")),
            test_name=name or None,
            evidence=text,
            exception=exception_of(first_line(text)),
        )

    def _broken(self, file: Record, path: str) -> None:
        """A file that could not be loaded, or whose hooks threw."""
        self._counts.errors += 1
        self._counts.uncounted += 1
        message_text = _TITLE.sub("", without_colours(text(file.get("message")) or text(file.get("failureMessage"))))
        place = thrown_at(message_text, self._workspace)
        self._found.fail(
            Failure(
                kind_of_broken_file(message_text),
                first_line(message_text) or "the file could not be run",
                **at(place, path or None),
                evidence=message_text,
                exception=exception_of(first_line(message_text)),
                is_error=True,
            )
        )


_STATS, _FAILURES = ("stats",), ("failures", EACH)
_MOCHA = regex(r'\{\s*"stats"\s*:\s*\{\s*"suites"')


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
                self._found.fail(_mocha_failure(record(value), self._workspace))

    def parsed(self, *, is_complete: bool) -> Parsed:
        return self._found.parsed(self._summary, is_complete=is_complete)


def _mocha_failure(test: Record, workspace: Workspace) -> Failure:
    thrown = record(test.get("err"))
    thrown_text = text(thrown.get("stack")) or text(thrown.get("message"))
    place, message = thrown_at(thrown_text, workspace), first_line(thrown_text) or "the test failed"
    return Failure(
        FailureKind.TEST_FAILURE,
        message,
        **at(place, workspace.relative(text(test.get("file"))) or None),
        test_name=_name(text(test.get("fullTitle")), text(test.get("title"))),
        evidence=thrown_text,
        exception=exception_of(message) or text(thrown.get("name")) or None,
    )


def _name(full: str, title: str) -> str | None:
    """mocha joins the titles of groups by spaces: only the last one can be recognised."""
    groups = full.removesuffix(title).strip()
    return " > ".join(part for part in (groups, title) if part) or None


JEST = Document(_BEGINS, _JestReader)
MOCHA = Document(_MOCHA, _MochaReader)
