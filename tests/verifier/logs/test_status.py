"""Exit code and structured reports decide the status; what a test printed decides nothing."""

from __future__ import annotations

import pytest

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, Status, TestSummary
from agent_fox.verifier.logs.status import Ending, Outcome, Readings, outcome_of

NOTHING = Parsed()
TEST = Parsed((Failure(FailureKind.TEST_FAILURE, "no", "a.py", 1),), (), TestSummary(tests=1, failures=1))
COMPILE = Parsed((Failure(FailureKind.COMPILE_ERROR, "bad", "a.c", 1),))
MISSING = Parsed((Failure(FailureKind.ENVIRONMENT_FAILURE, "no gcc"),))
VAGUE = Parsed((Failure(FailureKind.UNKNOWN, "no tests ran"),), (), TestSummary())


def outcome(
    code: int | None,
    structured: Parsed = NOTHING,
    text: Parsed = NOTHING,
    *,
    tool: str = "make",
    tail: tuple[str, ...] = ("the end",),
    has_timed_out: bool = False,
) -> Outcome:
    return outcome_of(Ending(tool, code, has_timed_out), Readings(structured, text, tail))


def summed(found: Outcome) -> tuple[Status, list[FailureKind]]:
    return found.status, [failure.kind for failure in found.parsed.failures]


@pytest.mark.parametrize(
    ("code", "structured", "text", "status"),
    [
        (0, NOTHING, NOTHING, Status.PASSED),
        (0, NOTHING, TEST, Status.PASSED),
        (0, TEST, NOTHING, Status.FAILED),
        (1, NOTHING, TEST, Status.FAILED),
        (1, TEST, NOTHING, Status.FAILED),
        (1, NOTHING, COMPILE, Status.FAILED),
        (1, NOTHING, MISSING, Status.ERRORED),
        (1, NOTHING, VAGUE, Status.ERRORED),
        (None, NOTHING, TEST, Status.FAILED),
    ],
)
def test_the_status_of_what_was_read(code: int | None, structured: Parsed, text: Parsed, status: Status) -> None:
    found = outcome(code, structured, text)
    assert found.status is status
    expected = structured.failures if code == 0 else structured.failures or text.failures
    assert found.parsed.failures == expected


def test_a_passed_run_keeps_its_warnings_and_counts_but_no_failure_that_the_log_only_prints() -> None:
    text = Parsed(TEST.failures, COMPILE.failures, TestSummary(tests=1, passed=1))
    assert outcome(0, text=text).parsed == Parsed((), COMPILE.failures, TestSummary(tests=1, passed=1))


@pytest.mark.parametrize(
    ("tool", "code", "tail", "status", "message"),
    [
        ("make", 2, ("the end",), Status.FAILED, "it failed with exit code 2"),
        ("make", 139, ("the end",), Status.FAILED, "it was ended by signal 11"),
        ("make", -11, ("the end",), Status.FAILED, "it was ended by signal 11"),
        ("make", None, ("the end",), Status.ERRORED, "how it ended is not known"),
        ("pytest", 5, (), Status.ERRORED, "no tests ran"),
        ("unittest", 5, ("NO TESTS RAN",), Status.ERRORED, "no tests ran"),
        ("vitest", 1, ("No test files found, exiting with code 1",), Status.ERRORED, "no tests ran"),
        ("ctest", 8, ("No tests were found!!!",), Status.ERRORED, "no tests ran"),
        ("pytest", 4, ("ERROR: usage",), Status.ERRORED, "it failed with exit code 4"),
        ("eslint", 2, ("Oops!",), Status.ERRORED, "it failed with exit code 2"),
    ],
)
def test_a_failed_run_that_nothing_explains_is_one_vague_failure_with_the_end_of_the_log(
    tool: str, code: int | None, tail: tuple[str, ...], status: Status, message: str
) -> None:
    found = outcome(code, tool=tool, tail=tail)
    only = Failure(FailureKind.UNKNOWN, message, evidence="\n".join(tail))
    assert (found.status, found.parsed.failures) == (status, (only,))


@pytest.mark.parametrize(
    ("code", "tail", "message"),
    [
        (127, ("sh: 1: jest: not found", "npm ERR!"), "sh: 1: jest: not found"),
        (126, (), "the command cannot be executed (exit code 126)"),
        (137, ("x: not found",), "the command was killed (exit code 137), perhaps for want of memory"),
        (-9, (), "the command was killed (exit code 137), perhaps for want of memory"),
    ],
)
def test_a_command_that_could_not_run_is_the_environments_failure(
    code: int, tail: tuple[str, ...], message: str
) -> None:
    found = outcome(code, tail=tail)
    assert summed(found) == (Status.ERRORED, [FailureKind.ENVIRONMENT_FAILURE])
    assert found.parsed.failures[0].message == message


def test_a_run_that_was_stopped_keeps_what_had_failed_before() -> None:
    assert summed(outcome(None, has_timed_out=True)) == (Status.TIMED_OUT, [FailureKind.TIMEOUT])
    found = outcome(0, text=TEST, has_timed_out=True)
    assert summed(found) == (Status.TIMED_OUT, [FailureKind.TEST_FAILURE, FailureKind.TIMEOUT])
    hung = Parsed((Failure(FailureKind.TIMEOUT, "TestHang", "a_test.go", 3),))
    assert outcome(1, hung, has_timed_out=True).parsed.failures == hung.failures
    assert summed(outcome(1, text=VAGUE, has_timed_out=True)) == (Status.TIMED_OUT, [FailureKind.TIMEOUT])
