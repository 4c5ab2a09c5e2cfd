"""A verification report as SARIF: failures at their places, and nothing unclear that looks like success."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agent_fox.verifier.ground.results import Failure, FailureKind, Status, Tool
from agent_fox.verifier.reporting.report import StepOutcome, VerificationReport
from agent_fox.verifier.reporting.sarif import sarif_document
from tests.sarif_schema import problems
from tests.verifier.made_results import outcome, result

BROKEN = Failure(FailureKind.TEST_FAILURE, "assert 1 == 2", "tests/test_a.py", 7, 3, test_name="test_sum")


def run_of(*outcomes: StepOutcome) -> dict[str, Any]:
    log = sarif_document(VerificationReport("r", 1, "python", "auto", outcomes=outcomes), "1.2.3")
    assert problems(log) == []
    runs: Any = log["runs"]
    assert isinstance(runs[0], dict)
    return runs[0]


def test_a_failure_stands_at_its_file_and_line() -> None:
    [shown] = run_of(outcome(result(Tool.UNIT_TESTS, Status.FAILED, BROKEN)))["results"]
    assert (shown["ruleId"], shown["level"]) == ("test_failure", "error")
    assert shown["message"]["text"] == "run_unit_tests: assert 1 == 2 [test_sum] (repairable: it repeats)"
    place = shown["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"] == "tests/test_a.py"
    assert place["region"] == {"startLine": 7, "startColumn": 3}


def test_what_is_optional_is_a_warning_and_warnings_are_kept() -> None:
    made = replace(result(Tool.LINT, Status.FAILED, BROKEN), warnings=(replace(BROKEN, message="unused"),))
    shown = run_of(outcome(made, required=False))["results"]
    assert [(one["level"], one["message"]["text"]) for one in shown] == [
        ("warning", "run_lint: assert 1 == 2 [test_sum] (repairable: it repeats)"),
        ("warning", "run_lint: unused [test_sum]"),
    ]


def test_a_step_that_failed_without_a_word_is_a_result_nevertheless() -> None:
    [shown] = run_of(outcome(result(Tool.UNIT_TESTS, Status.FAILED)))["results"]
    assert (shown["ruleId"], "locations" in shown) == ("unknown", False)


@pytest.mark.parametrize("status", [Status.ERRORED, Status.TIMED_OUT, Status.SKIPPED])
def test_a_required_step_that_could_not_run_makes_the_run_unsuccessful(status: Status) -> None:
    invocation = run_of(outcome(result(Tool.UNIT_TESTS, status)))["invocations"][0]
    assert invocation["executionSuccessful"] is False
    assert status.value in invocation["toolExecutionNotifications"][0]["message"]["text"]


def test_nothing_run_is_no_success_and_a_pass_is_one() -> None:
    assert run_of()["invocations"][0]["executionSuccessful"] is False
    passed = run_of(outcome(result(Tool.UNIT_TESTS, Status.PASSED)))
    assert (passed["invocations"][0]["executionSuccessful"], passed["results"]) == (True, [])


def test_a_fingerprint_does_not_hang_on_the_line() -> None:
    moved = replace(BROKEN, line=99)
    prints = [
        run_of(outcome(result(Tool.UNIT_TESTS, Status.FAILED, failure)))["results"][0]["partialFingerprints"]
        for failure in (BROKEN, moved, replace(BROKEN, message="assert 1 == 3"))
    ]
    assert prints[0] == prints[1] != prints[2]
