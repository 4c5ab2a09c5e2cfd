"""cargo-nextest: the summary counts, and each failed test has the place of its panic."""

from __future__ import annotations

from agent_fox.verifier.ground.results import FailureKind, TestSummary
from tests.verifier.logs.samples import messages, parser_of, places, read, read_text

STARTED = "    Starting 2 tests across 1 binary"


def test_failed_tests_have_the_place_of_their_panic_whichever_way_their_output_is_shown() -> None:
    found = read(parser_of("cargo"), "nextest/both", "/workspace")
    assert [failure.test_name for failure in found.failures] == ["tests::adds", "integ"]
    assert places(found) == ["src/lib.rs:10:25", "tests/it.rs:1:22"]
    assert found.summary == TestSummary(tests=4, passed=1, failures=2, skipped=1)


def test_a_test_that_passes_when_tried_again_has_not_failed() -> None:
    lines = [
        STARTED,
        "  TRY 1 FAIL [   0.003s] lw tests::shaky",
        "  TRY 2 PASS [   0.003s] lw tests::shaky",
        "     Summary [   0.006s] 1 test run: 1 passed (1 flaky), 0 skipped",
    ]
    found = read_text(parser_of("cargo"), "\n".join(lines))
    assert (found.failures, found.summary) == ((), TestSummary(tests=1, passed=1))


def test_a_test_that_ran_too_long_is_a_timeout_and_one_that_a_signal_ended_says_so() -> None:
    lines = [
        STARTED,
        "     TIMEOUT [  60.003s] lw tests::slow",
        "     SIGSEGV [   0.003s] lw tests::wild",
        "     Summary [  60.006s] 2 tests run: 0 passed, 1 failed, 1 timed out, 0 skipped",
    ]
    found = read_text(parser_of("cargo"), "\n".join(lines))
    assert [failure.kind for failure in found.failures] == [FailureKind.TIMEOUT, FailureKind.TEST_FAILURE]
    assert messages(found) == ["TIMEOUT: tests::slow failed", "SIGSEGV: tests::wild failed"]


def test_a_log_that_ends_before_the_summary_is_not_complete() -> None:
    found = read_text(parser_of("cargo"), f"{STARTED}\n        FAIL [   0.003s] lw tests::adds")
    assert (found.is_complete, len(found.failures)) == (False, 1)
