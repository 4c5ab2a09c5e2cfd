"""What jest's `--json` and vitest's JSON reporter write, and Jasmine-like results of others: files with their tests."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.decode import pieces, without_colours
from agent_fox.verifier.logs.frames import first_line
from agent_fox.verifier.logs.gathering import Counts, Gathering
from agent_fox.verifier.logs.javascript import LOADING, exception_of, thrown_at
from agent_fox.verifier.logs.json_stream import EACH, JsonCut, parts, start_of
from agent_fox.verifier.logs.opening import stands_first
from agent_fox.verifier.logs.records import Record, number, record, records, text, texts

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_FILES = ("testResults", EACH)
_BEGINS = regex(r'\{\s*"(?:num(?:Total|Failed|Passed)Test|testResults|success"\s*:\s*\w+,\s*"num)')
_TITLE = regex(r"^\s*● .*$", re.MULTILINE)
_SKIPPED = ("pending", "skipped", "todo", "disabled")


class JestJson:
    """Reads the files, their tests, and why a file could not be run."""

    tools = ("jest", "vitest")

    def recognises(self, head: str) -> bool:
        at = start_of(head)
        return at is not None and bool(_BEGINS.match(head, at)) and stands_first(head, at)

    def parse_document(self, file: BinaryIO, workspace: Workspace) -> Parsed:
        reader = _Reader(workspace)
        is_complete = True
        try:
            for _, value in parts(pieces(file), (_FILES,)):
                reader.take(record(value))
        except JsonCut:
            is_complete = False
        summary = reader.counts.summary() if is_complete or reader.has_read else None
        return reader.found.parsed(summary, is_complete=is_complete)


class _Reader:
    def __init__(self, workspace: Workspace) -> None:
        self.found = Gathering()
        self.counts = Counts()
        self.has_read = False
        self._workspace = workspace

    def take(self, file: Record) -> None:
        self.has_read = True
        path = self._workspace.relative(text(file.get("name")) or text(file.get("testFilePath")))
        tests = list(records(file.get("assertionResults") or file.get("testResults")))
        for test in tests:
            self._test(test, path)
        has_failed = any(test.get("status") == "failed" for test in tests)
        if file.get("status") == "failed" and not has_failed:
            self._broken(file, path)

    def _test(self, test: Record, path: str) -> None:
        status = text(test.get("status"))
        self.counts.passed += status == "passed"
        self.counts.skipped += status in _SKIPPED
        self.counts.failures += status == "failed"
        if status == "failed" and not self.found.is_full:
            name = " > ".join(filter(None, [*texts(test.get("ancestorTitles")), text(test.get("title"))]))
            for each in texts(test.get("failureMessages")) or ["the test failed"]:
                self.found.fail(self._failure(test, name, without_colours(each), path))

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
        self.counts.errors += 1
        self.counts.uncounted += 1
        message_text = _TITLE.sub("", without_colours(text(file.get("message")) or text(file.get("failureMessage"))))
        place = thrown_at(message_text, self._workspace)
        self.found.fail(
            Failure(
                FailureKind.COMPILE_ERROR if LOADING.search(message_text) else FailureKind.TEST_FAILURE,
                first_line(message_text) or "the file could not be run",
                file=place.file if place else path or None,
                line=place.line if place else None,
                column=place.column if place else None,
                evidence=message_text,
                exception=exception_of(first_line(message_text)),
                is_error=True,
            )
        )
