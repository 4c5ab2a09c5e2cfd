from __future__ import annotations

from dataclasses import replace

import pytest

from agent_fox.verifier.ground.results import Status, Tool
from agent_fox.verifier.reporting.report import ReportStatus, Step, StepOutcome, VerificationReport, aggregate
from tests.verifier.made_results import compile_error, failing_test, outcome, result


def test_nothing_run_is_errored() -> None:
    assert aggregate([]) is ReportStatus.ERRORED


def test_only_skipped_steps_are_errored() -> None:
    assert aggregate([outcome(result(Tool.LINT, Status.SKIPPED), required=False)]) is ReportStatus.ERRORED


def test_a_required_step_that_was_skipped_is_errored() -> None:
    steps = [outcome(result(Tool.COMPILE)), outcome(result(Tool.UNIT_TESTS, Status.SKIPPED))]
    assert aggregate(steps) is ReportStatus.ERRORED


@pytest.mark.parametrize("status", [Status.ERRORED, Status.TIMED_OUT])
def test_what_could_not_be_told_counts_before_what_failed(status: Status) -> None:
    steps = [outcome(result(Tool.UNIT_TESTS, Status.FAILED, failing_test())), outcome(result(Tool.COMPILE, status))]
    assert aggregate(steps) is ReportStatus.ERRORED


def test_a_failed_required_step_fails_the_report() -> None:
    steps = [outcome(result(Tool.COMPILE)), outcome(result(Tool.UNIT_TESTS, Status.FAILED, failing_test()))]
    assert aggregate(steps) is ReportStatus.FAILED


@pytest.mark.parametrize("status", [Status.FAILED, Status.ERRORED, Status.TIMED_OUT, Status.SKIPPED])
def test_an_optional_step_never_decides_and_is_never_lost(status: Status) -> None:
    lint = outcome(result(Tool.LINT, status, compile_error()), required=False)
    report = VerificationReport("run-1", 1, "python", "ordinary", outcomes=(outcome(result()), lint))
    assert report.status is ReportStatus.PASSED
    assert report.warnings == (f"run_lint is optional and {status}: run_lint {status}",)
    assert report.blocking == ()


def test_a_warning_of_a_tool_that_passed_is_kept() -> None:
    made = replace(result(Tool.COMPILE), warnings=(compile_error("src/a.c", "unused variable", 4),))
    report = VerificationReport("run-1", 1, "c-make", "ordinary", outcomes=(outcome(made),))
    assert report.warnings == ("run_compile: src/a.c:4: unused variable",)


def test_a_read_only_tool_that_changed_source_fails_the_report() -> None:
    made = replace(result(Tool.COMPILE), changed_sources=("src/a.py",))
    assert aggregate([outcome(made)]) is ReportStatus.FAILED


def test_a_formatter_may_change_source() -> None:
    made = replace(result(Tool.FORMAT_APPLY), changed_sources=("src/a.py",))
    assert aggregate([outcome(made)]) is ReportStatus.PASSED


def test_blocking_failures_name_their_step_and_why_they_failed() -> None:
    step = Step(Tool.SELECTED_TEST, module="cart", selector="test_total")
    made = result(Tool.SELECTED_TEST, Status.FAILED, failing_test())
    report = VerificationReport("run-1", 1, "python", "ordinary", outcomes=(StepOutcome(step, made),))
    (blocking,) = report.blocking
    assert (blocking.step.title, blocking.failure, blocking.disposed) == (
        "run_selected_test(cart, test_total)",
        failing_test(),
        made.dispositions[0],
    )
    assert report.summary == "failed: 0 of 1 steps passed, 1 blocking failures"
