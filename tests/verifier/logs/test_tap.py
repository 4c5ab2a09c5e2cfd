"""TAP of every producer: leaves count, parents do not, and places are where it was thrown."""

from __future__ import annotations

import pytest

from agent_fox.verifier.ground.results import FailureKind, TestSummary
from agent_fox.verifier.logs.javascript.tap import TAP
from tests.verifier.logs.at_hand import kept, places, read_lines, told

PARSER = TAP


@pytest.mark.parametrize("log", ["node20.tap", "node24.tap"])
def test_nodes_parents_are_no_failures_and_its_tests_are_named_by_their_groups(log: str) -> None:
    parsed = read_lines(PARSER, kept(log), "/workspace/node/demo")
    assert [told(failure) for failure in parsed.failures[:4]] == [
        ("adds", "test/a.test.mjs", 6, "Expected values to be strictly equal:"),
        ("outer > inner suite > fails deep", "src/load.mjs", 5, "bad text"),
        ("rejects # with hash", "test/a.test.mjs", 21, "multi"),
        ("times out", "test/a.test.mjs", 25, "test timed out after 50ms"),
    ]
    assert parsed.summary == TestSummary(tests=12, passed=3, failures=6, skipped=3)
    assert parsed.is_complete


@pytest.mark.parametrize("log", ["node20.tap", "node24.tap"])
def test_a_file_that_node_cannot_load_is_explained_by_what_node_printed_before(log: str) -> None:
    *_, syntax, missing = read_lines(PARSER, kept(log), "/workspace/node/demo").failures
    assert (syntax.kind, syntax.file, syntax.line) == (FailureKind.COMPILE_ERROR, "test/broken.test.mjs", 3)
    assert syntax.message == "SyntaxError: Unexpected token '='"
    assert (missing.kind, missing.file) == (FailureKind.COMPILE_ERROR, "test/missing.test.mjs")
    assert missing.message.startswith("Error [ERR_MODULE_NOT_FOUND]: Cannot find module")


def test_vitest_writes_parents_before_their_tests() -> None:
    parsed = read_lines(PARSER, kept("vitest.tap"), "/workspace/tap/demo")
    tests = [failure for failure in parsed.failures if failure.kind is FailureKind.TEST_FAILURE]
    assert [told(failure)[:3] for failure in tests[-2:]] == [
        ("group > adds", "test/vit.test.mjs", 4),
        ("group > nested > boom", "test/vit.test.mjs", 6),
    ]
    assert parsed.summary == TestSummary(tests=8, passed=1, failures=6, skipped=1)


def test_mocha_writes_the_trace_below_the_test() -> None:
    parsed = read_lines(PARSER, kept("mocha.tap"), "/workspace/tap/demo")
    assert [told(failure) for failure in parsed.failures] == [
        ("group adds", "test/mocha.spec.js", 4, "Expected values to be strictly equal:"),
        ("group nested boom", "test/mocha.spec.js", 6, "nested boom"),
    ]


def test_tape_dies_of_an_error_that_no_test_line_tells() -> None:
    parsed = read_lines(PARSER, kept("tape.tap"), "/workspace/tap/demo")
    assert [told(failure) for failure in parsed.failures] == [
        ("sum", "test/tape.js", 2, "sum"),
        (None, "test/tape.js", 4, "TypeError: boom in tape"),
    ]
    assert not parsed.is_complete


def test_perl_writes_places_as_comments() -> None:
    parsed = read_lines(PARSER, kept("perl.tap"), "/workspace/tap/demo")
    assert [told(failure) for failure in parsed.failures] == [
        ("adds", "test/t.pl", 2, "Failed test 'adds'"),
        ("sub > inner", "test/t.pl", 3, "Failed test 'inner'"),
    ]
    assert parsed.summary == TestSummary(tests=6, passed=2, failures=2, skipped=2)


BATS = """1..2
not ok 1 addition in 5ms
# (in test file test/add.bats, line 5)
#   `[ "$result" -eq 5 ]' failed
ok 2 fine # skip not here
"""


def test_bats_names_file_and_line() -> None:
    parsed = read_lines(PARSER, BATS)
    assert places(parsed) == [("test/add.bats", 5)]
    assert parsed.summary == TestSummary(tests=2, failures=1, skipped=1)


def test_a_position_may_be_a_flow_mapping_or_nested() -> None:
    flow = 'not ok 1 - a\n  ---\n  at: {line: 5, column: 3, file: "a b.js"}\n  ...\n1..1\n'
    nested = "not ok 1 - a\n  ---\n  at:\n    fileName: x.ts\n    lineNumber: 7\n    columnNumber: 1\n  ...\n1..1\n"
    assert places(read_lines(PARSER, flow)) == [("a b.js", 5)]
    assert places(read_lines(PARSER, nested)) == [("x.ts", 7)]


@pytest.mark.parametrize(
    ("text", "failures", "is_complete"),
    [
        ("1..3\nok 1\nok 2\n", 0, False),
        ("1..0 # SKIP nothing to do\n", 0, True),
        ("ok 1\nBail out! no database\n", 1, False),
        ("1..1\nnot ok 1 - a\n  ---\n  error: 'cut", 1, True),
        ("1..1\nnot ok 1 - a # TODO later\n", 0, True),
        ("TAP version 14\n1..1\r\nnot ok 1 - a\r\n", 1, True),
        ("", 0, False),
    ],
)
def test_plans_bail_outs_and_cuts(text: str, failures: int, is_complete: bool) -> None:
    parsed = read_lines(PARSER, text)
    assert (len(parsed.failures), parsed.is_complete) == (failures, is_complete)


def test_text_for_people_is_not_taken_for_tap() -> None:
    assert PARSER.recognises("> test\n\nTAP version 13\n# Subtest: a\n")
    assert not PARSER.recognises("✔ adds (1.2ms)\nnot ok 1 - printed by a test\n")


def test_a_suite_that_only_says_that_it_failed_lies_in_the_file_around_it() -> None:
    log = "TAP version 13\n1..1\nnot ok 1 - test/hooks.test.ts # time=5ms {\n    1..1\n"
    log += "    not ok 1 - hooks # time=4ms {\n        1..1\n        ok 1 - never runs # SKIP\n    }\n}\n"
    (failure,) = read_lines(TAP, log).failures
    assert told(failure)[:3] == ("hooks", "test/hooks.test.ts", None)


def test_a_line_of_tap_that_a_test_printed_before_another_format_makes_no_tap() -> None:
    assert not TAP.recognises("not ok 1 - fake\n✖ adds (5.0ms)\n  AssertionError: no\n")
    assert TAP.recognises("not ok 1 - fake\n1..1\n")
