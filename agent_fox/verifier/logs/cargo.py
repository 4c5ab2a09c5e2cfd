"""Logs of cargo and rustc: what the compiler says, and the tests of every target or those of cargo-nextest, as text and
as JSON between lines of other text (libtest's `--format json` too); panics, with their places by the version of Rust,
and documentation tests."""

from __future__ import annotations

import re
import textwrap
from dataclasses import replace

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.frames import first_line
from agent_fox.verifier.logs.gathering import Counts, Gathering, summed
from agent_fox.verifier.logs.kinds import patterns_in
from agent_fox.verifier.logs.parsers import LineLog, LineReader, is_stream
from agent_fox.verifier.logs.protocol import Place, Workspace, at, place_of
from agent_fox.verifier.logs.row_reader import RowReader, built_in
from agent_fox.verifier.logs.streams.records import Record, found, number, record, record_of, records, text

_LIKE = patterns_in(__file__)


class CargoReader:
    """Reads what cargo and rustc print for people."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace, self._findings = workspace, Gathering()
        self._compiler = RowReader(built_in("rustc"), workspace, self._findings)
        self._tests: RowReader | None = None  # those of a target, or of the whole run
        self._is_nextest = False
        self._summary: TestSummary | None = None

    def skip(self, block: str, at: int) -> int:
        """Passes over what tests say that pass."""
        return self._tests.skip(block, at) if self._tests else at

    def take(self, line: str) -> None:
        if self._tests is not None:
            self._tests.feed(line)
            if self._tests.tests.counts is not None and not self._is_nextest:
                self._end_tests(self._tests)
        elif line.startswith("running ") and _LIKE["running"].match(line):
            self._compiler.finish()
            self._tests = RowReader(built_in("rust_harness"), self._workspace)
        elif line[:1] == " " and _LIKE["nextest"].match(line):
            self._tests, self._is_nextest = RowReader(built_in("nextest"), self._workspace), True
        else:
            self._compiler.feed(line)

    def parsed(self) -> Parsed:
        self._compiler.finish()
        is_complete = self._tests is None or (self._is_nextest and self._tests.tests.counts is not None)
        if self._tests is not None:
            self._end_tests(self._tests)
        return self._findings.parsed(self._summary, is_complete=is_complete)

    def _end_tests(self, tests: RowReader) -> None:
        parsed, self._tests = tests.parsed(), None
        self._findings.fail(*parsed.failures)
        self._summary = summed((self._summary, parsed.summary))


class _JsonReader(LineReader):
    """Reads compiler messages, and the events of tests."""

    def __init__(self, workspace: Workspace) -> None:
        self._found, self._counts = Gathering(), Counts()
        self._workspace = workspace

    def take(self, line: str) -> None:
        message = record_of(line) if line.startswith("{") else None
        if message is None:
            return
        if message.get("reason") == "compiler-message":
            self._diagnostic(record(message.get("message")))
        elif "spans" in message and "level" in message:
            self._diagnostic(message)
        elif message.get("type") == "test":
            how, name = text(message.get("event")), text(message.get("name"))
            if outcome := {"ok": "passed", "ignored": "skipped", "failed": "failures"}.get(how):
                self._counts.add(outcome)
            if how == "failed":
                output = text(message.get("stdout")) or text(message.get("message"))
                self._found.fail(replace(panicked(output, self._workspace, "", name), test_name=name or None))

    def _diagnostic(self, message: Record) -> None:
        level, reason = text(message.get("level")), text(message.get("message"))
        if _LIKE["summary"].match(reason) or not (level.startswith("error") or level == "warning"):
            return
        code, spans = text(found(message, "code.code")), list(records(message.get("spans")))
        span = next((each for each in spans if each.get("is_primary") is True), spans[0] if spans else {})
        while (file := text(span.get("file_name"))).startswith(("<", "/rustc/")) or not self._workspace.holds(file):
            if not (outer := record(found(span, "expansion.span"))):
                break
            span = outer  # of code that a macro wrote, where the workspace calls the macro
        (self._found.warn if level == "warning" else self._found.fail)(
            Failure(
                FailureKind.LINT_FAILURE if code.startswith("clippy::") else FailureKind.COMPILE_ERROR,
                reason,
                file=self._workspace.relative(file) or None,
                line=number(span.get("line_start")),
                column=number(span.get("column_start")),
                evidence=text(message.get("rendered")) or reason,
                code=code or None,
            )
        )

    def parsed(self) -> Parsed:
        summary = self._counts.summary()
        return self._found.parsed(summary if summary.tests else None)


def panicked(text: str, workspace: Workspace, file: str, name: str) -> Failure:
    """The panic of the test's own thread, else the last of any; one within the standard library is placed where the
    project called it, if there is a backtrace. A documentation test may not have compiled, or should not have."""
    text = textwrap.dedent(text)
    panics = sorted((*_LIKE["new_panic"].finditer(text), *_LIKE["old_panic"].finditer(text)), key=re.Match.start)
    own = (panic for panic in panics if panic["thread"] in (name, name.rpartition("::")[2]))
    panic = next(own, panics[-1] if panics else None)
    message, place = panic["message"] if panic else "", _place(panic, workspace)
    if place and (not workspace.holds(place.file) or place.file.startswith("library/")):
        frames = (frame for frame in _LIKE["backtrace"].finditer(text) if workspace.holds(frame["file"]))
        place = _place(next(frames, None), workspace) or place
    if missing := _LIKE["no_panic"].search(text):
        message, place = missing[0], _place(missing, workspace) or place
    if doc := _LIKE["doc"].match(name):
        if (arrow := _LIKE["arrow"].search(text)) and (compiler := _LIKE["compiler"].search(text)):
            message, place = compiler["message"], _place(arrow, workspace)
        begins = place_of(doc, workspace)
        place = place if place and place.file == begins.file and place.line >= begins.line else begins
    message = message.strip() or first_line(text) or f"{name} failed"
    return Failure(FailureKind.TEST_FAILURE, message, **at(place), evidence=text.strip())


def _place(match: re.Match[str] | None, workspace: Workspace) -> Place | None:
    return place_of(match, workspace) if match and match["file"] else None


CARGO_JSON = LineLog(_JsonReader, recognises=is_stream(_LIKE["ours"], _LIKE["text_run"]), stands_alone=False)
