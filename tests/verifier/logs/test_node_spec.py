"""Node's output for people: every failure once, with the place that the list at its end names."""

from __future__ import annotations

import pytest

from agent_fox.verifier.ground.results import FailureKind, TestSummary
from tests.verifier.logs.at_hand import kept, read_lines, told
from tests.verifier.logs.samples import parser_of

PARSER = parser_of("node-test")


@pytest.mark.parametrize("log", ["node20.spec", "node24.spec"])
def test_each_failure_comes_once_with_its_groups_and_its_place(log: str) -> None:
    parsed = read_lines(PARSER, kept(log), "/workspace/node/demo")
    assert [told(failure) for failure in parsed.failures[:4]] == [
        ("adds", "test/a.test.mjs", 6, "Expected values to be strictly equal:"),
        ("outer > inner suite > fails deep", "src/load.mjs", 5, "bad text"),
        ("rejects # with hash", "test/a.test.mjs", 21, "multi"),
        ("times out", "test/a.test.mjs", 25, "test timed out after 50ms"),
    ]
    broken = [(f.kind, f.file, f.line) for f in parsed.failures[4:]]
    assert broken[0] == (FailureKind.COMPILE_ERROR, "test/broken.test.mjs", 3)
    assert broken[1][:2] == (FailureKind.COMPILE_ERROR, "test/missing.test.mjs")
    assert parsed.summary == TestSummary(tests=12, passed=3, failures=6, skipped=3)


def test_a_log_that_breaks_off_gives_what_the_tree_told() -> None:
    whole = kept("node20.spec").decode()
    parsed = read_lines(PARSER, whole[: whole.index("ℹ tests")], "/workspace/node/demo")
    assert [failure.test_name for failure in parsed.failures][:3] == [
        "adds",
        "outer > inner suite > fails deep",
        "rejects # with hash",
    ]
    assert parsed.failures[0].line == 6
    assert not parsed.is_complete


def test_a_log_of_something_else_counts_no_tests() -> None:
    assert read_lines(PARSER, "hello\n").summary is None
