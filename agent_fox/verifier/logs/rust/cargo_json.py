"""Cargo's and rustc's messages as JSON, one a line, and libtest's (`--format json`), between lines of other text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.frames import at, rust_place
from agent_fox.verifier.logs.gathering import Counts, Gathering
from agent_fox.verifier.logs.line_log import LineStream
from agent_fox.verifier.logs.streams.records import Record, number, record, record_of, records, text

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_OURS = regex(r'^\{"(?:reason|\$message_type|type)": ?"', re.MULTILINE)
_TEXT_RUN = regex(r"^(?:running \d+ tests?$|error(?:\[E\d+\])?: )", re.MULTILINE)
_SUMMARY = regex(r"^(?:aborting due to|\d+ warnings? emitted|Some errors have detailed|For more information)")
_PANIC = regex(r"panicked at [^\n]+:\n([^\n]+)|panicked at '([^\n]*)', ")


class _Reader:
    """Reads compiler messages, and the events of tests."""

    def __init__(self, workspace: Workspace) -> None:
        self._found = Gathering()
        self._counts = Counts()
        self._has_tests = False
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
            self._test(message)

    def _diagnostic(self, message: Record) -> None:
        level, message_text = text(message.get("level")), text(message.get("message"))
        if _SUMMARY.match(message_text) or not (level.startswith("error") or level == "warning"):
            return
        finding = _finding(message, message_text, self._workspace)
        if level == "warning":
            self._found.warn(finding)
        else:
            self._found.fail(finding)

    def _test(self, event: Record) -> None:
        match event.get("event"):
            case "ok":
                self._counts.passed += 1
            case "ignored":
                self._counts.skipped += 1
            case "failed":
                self._counts.failures += 1
                self._found.fail(_failed_test(event, self._workspace))
            case _:
                return
        self._has_tests = True

    def parsed(self) -> Parsed:
        return self._found.parsed(self._counts.summary() if self._has_tests else None)


def _finding(message: Record, message_text: str, workspace: Workspace) -> Failure:
    code = text(record(message.get("code")).get("code")) or None
    span = _own_span(message, workspace)
    return Failure(
        kind=FailureKind.LINT_FAILURE if (code or "").startswith("clippy::") else FailureKind.COMPILE_ERROR,
        message=message_text,
        file=workspace.relative(text(span.get("file_name"))) or None,
        line=number(span.get("line_start")),
        column=number(span.get("column_start")),
        evidence=text(message.get("rendered")) or message_text,
        code=code,
    )


def _own_span(message: Record, workspace: Workspace) -> Record:
    """The primary span; of code that a macro wrote, where the workspace calls the macro."""
    spans = list(records(message.get("spans")))
    span = next((each for each in spans if each.get("is_primary") is True), spans[0] if spans else {})
    while not _is_own(span, workspace):
        outer = record(record(span.get("expansion")).get("span"))
        if not outer:
            break
        span = outer
    return span


def _is_own(span: Record, workspace: Workspace) -> bool:
    file = text(span.get("file_name"))
    return not file.startswith(("<", "/rustc/")) and workspace.holds(file)


def _failed_test(event: Record, workspace: Workspace) -> Failure:
    output = text(event.get("stdout")) or text(event.get("message"))
    place = rust_place(output, workspace)
    panic = _PANIC.search(output)
    return Failure(
        kind=FailureKind.TEST_FAILURE,
        message=(panic[1] or panic[2]) if panic else "the test failed",
        **at(place),
        test_name=text(event.get("name")) or None,
        evidence=output,
    )


def _recognises(head: str) -> bool:
    match = _OURS.search(head)
    return match is not None and not _TEXT_RUN.search(head, 0, match.start())


CARGO_JSON = LineStream(_Reader, _recognises, stands_alone=False)  # tests that `cargo test` ran print for people
