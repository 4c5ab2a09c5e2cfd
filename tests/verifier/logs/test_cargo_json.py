"""Cargo's messages are read between lines of other text; summaries are no failures."""

from __future__ import annotations

import json

from agent_fox.verifier.ground.results import FailureKind, TestSummary
from agent_fox.verifier.logs.cargo import CARGO_JSON
from tests.verifier.logs.at_hand import read_lines

PARSER = CARGO_JSON


def span(file: str, line: int, column: int = 5, *, primary: bool = True, expansion: object = None) -> dict[str, object]:
    return {
        "file_name": file,
        "line_start": line,
        "column_start": column,
        "is_primary": primary,
        "expansion": expansion,
    }


def message(level: str, said: str, spans: list[dict[str, object]], code: str | None = None) -> str:
    named = {"code": code, "explanation": None} if code else None
    inner = {"level": level, "message": said, "spans": spans, "rendered": f"{level}: {said}", "code": named}
    return json.dumps({"reason": "compiler-message", "message": inner}) + "\n"


def test_errors_fail_and_warnings_warn_once_for_every_target_that_is_built() -> None:
    error = message("error", "mismatched types", [span("src/a.rs", 6, primary=False), span("src/lib.rs", 7)], "E0308")
    warning = message("warning", "unused variable: `x`", [span("src/lib.rs", 2, 9)], "unused_variables")
    summary = message("error", "aborting due to 1 previous error; 1 warning emitted", [])
    note = message("failure-note", "For more information about this error, try `rustc --explain E0308`.", [])
    parsed = read_lines(
        PARSER, "   Compiling lw v0.1.0\n" + (error + warning) * 2 + summary + note + "error: could not\n"
    )
    assert [(f.file, f.line, f.column, f.code) for f in parsed.failures] == [("src/lib.rs", 7, 5, "E0308")]
    assert [(w.file, w.line, w.code) for w in parsed.warnings] == [("src/lib.rs", 2, "unused_variables")]
    assert (parsed.failures[0].kind, parsed.summary) == (FailureKind.COMPILE_ERROR, None)


def test_code_of_a_macro_is_placed_where_the_project_calls_it() -> None:
    outer = {"span": span("src/lib.rs", 4)}
    log = message("error", "no", [span("/rustc/abc/library/std/src/macros.rs", 99, expansion=outer)])
    assert [(f.file, f.line) for f in read_lines(PARSER, log).failures] == [("src/lib.rs", 4)]


def test_what_clippy_denies_is_a_lint_failure_and_the_linker_has_no_place() -> None:
    log = message("error", "needless return", [span("src/lib.rs", 3)], "clippy::needless_return")
    log += message("error", "linking with `cc` failed: exit status: 1", [])
    lint, linker = read_lines(PARSER, log).failures
    assert (lint.kind, linker.kind, linker.file) == (FailureKind.LINT_FAILURE, FailureKind.COMPILE_ERROR, None)


def test_rustc_itself_prints_the_inner_message() -> None:
    line = json.dumps({"$message_type": "diagnostic", "level": "error", "message": "m", "spans": [span("a.rs", 1)]})
    assert PARSER.recognises(line)
    assert [(f.file, f.line) for f in read_lines(PARSER, line).failures] == [("a.rs", 1)]


def test_events_of_tests_count() -> None:
    panic = "thread 'tests::b' panicked at src/lib.rs:9:5:\nassertion failed: x\n  left: 1\nnote: run with"
    log = "".join(
        json.dumps({"type": "test", "event": event, "name": name, "stdout": panic}) + "\n"
        for event, name in [("started", "a"), ("ok", "a"), ("failed", "tests::b"), ("ignored", "c")]
    )
    parsed = read_lines(PARSER, log)
    failure = parsed.failures[0]
    assert (failure.test_name, failure.file, failure.line) == ("tests::b", "src/lib.rs", 9)
    assert failure.message == "assertion failed: x\n  left: 1"
    assert parsed.summary == TestSummary(tests=3, passed=1, failures=1, skipped=1)


def test_what_a_test_prints_between_text_is_not_taken_for_messages() -> None:
    assert not PARSER.recognises('running 1 test\n{"reason":"compiler-message"}\n')
