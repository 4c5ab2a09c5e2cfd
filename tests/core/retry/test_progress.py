"""Convergence on the requirement vector."""

from __future__ import annotations

import pytest

from agent_fox.core.retry.progress import Failure, Progress, Round, compare, failure_of
from agent_fox.core.verdicts.verdict import Signal, Verdict, Word


def round_(*failures: str | tuple[str, str] | tuple[str, str, int], blamed: str = "c1") -> Round:
    found = [Failure(f, "") if isinstance(f, str) else Failure(*f) for f in failures]
    return Round(frozenset(found), frozenset(blamed.split()))


def test_the_first_round_has_nothing_to_compare_with() -> None:
    assert compare(round_("a"), []) is Progress.FIRST


def test_fewer_failing_requirements_are_progress() -> None:
    assert compare(round_("a"), [round_("a", "b")]) is Progress.PROGRESS


def test_the_same_failures_with_the_same_coders_are_a_repeat() -> None:
    assert compare(round_("a", "b"), [round_("b", "a")]) is Progress.REPEAT


def test_another_owners_turn_is_a_new_try() -> None:
    assert compare(round_("a", blamed="c2"), [round_("a", blamed="c1")]) is Progress.CHANGED


def test_fewer_failing_tests_for_the_same_requirement_are_progress() -> None:
    assert compare(round_(("a", "x", 2)), [round_(("a", "x", 5))]) is Progress.PROGRESS
    assert compare(round_(("a", "x", 5)), [round_(("a", "x", 2))]) is Progress.CHANGED


def test_one_count_down_and_the_others_as_before_is_progress() -> None:
    now, before = round_(("a", "x", 1), ("b", "x", 2)), round_(("a", "x", 2), ("b", "x", 2))
    assert compare(now, [before]) is Progress.PROGRESS


def test_evidence_is_a_cause_line_by_line_on_one_line() -> None:
    verdict = Verdict("a", Word.FAIL, evidence="3 tests failed\n\n  boom at 12:00:01\n")
    assert failure_of(verdict) == Failure("a", "# tests failed boom at <time>")


def test_one_count_down_and_another_up_is_no_progress() -> None:
    now, before = round_(("a", "x", 1), ("b", "x", 3)), round_(("a", "x", 2), ("b", "x", 2))
    assert compare(now, [before]) is Progress.CHANGED


def test_counts_that_are_missing_on_one_side_say_nothing() -> None:
    assert compare(round_(("a", "x", 1)), [round_(("a", "x"))]) is Progress.CHANGED


def test_another_cause_for_the_same_requirement_is_a_change() -> None:
    assert compare(round_(("a", "y")), [round_(("a", "x"))]) is Progress.CHANGED


def test_a_newly_failing_requirement_is_a_regression() -> None:
    assert compare(round_("b"), [round_("a")]) is Progress.REGRESSION


def test_a_b_a_b_is_an_oscillation() -> None:
    a, b = round_("a"), round_("b")
    assert compare(b, [a, b, a]) is Progress.OSCILLATION
    assert compare(b, [a, a]) is Progress.REGRESSION
    assert compare(b, [b, a]) is Progress.REGRESSION
    assert compare(b, [round_("c"), b, a]) is Progress.REGRESSION


def test_an_oscillation_is_seen_at_the_end_of_a_longer_history() -> None:
    a, b = round_("a"), round_("b")
    assert compare(b, [round_("c"), round_("d"), a, b, a]) is Progress.OSCILLATION


@pytest.mark.parametrize("progress", list(Progress))
def test_only_a_repeat_and_an_oscillation_do_not_converge(progress: Progress) -> None:
    assert progress.is_converging == (progress not in {Progress.REPEAT, Progress.OSCILLATION})


def test_numbers_and_times_in_prose_are_noise_and_counts_are_kept() -> None:
    one = Verdict("a", Word.FAIL, evidence="3 of 7 rows at 10:22:01\nwrong at attempt 1", failing_tests=3)
    two = Verdict("a", Word.FAIL, evidence="4 of 9 rows at 11:00:00\n\nwrong at attempt 2", failing_tests=3)
    assert failure_of(one) == failure_of(two)
    assert failure_of(one).failing_tests == 3
    assert failure_of(one) != failure_of(Verdict("a", Word.FAIL, evidence="no such column", failing_tests=3))


def test_a_signal_is_the_cause_whatever_the_prose_says() -> None:
    signal = Signal("pytest", "E assert #")
    one = Verdict("a", Word.FAIL, evidence="first words", signal=signal)
    assert failure_of(one) == failure_of(Verdict("a", Word.FAIL, evidence="other words", signal=signal))
    assert failure_of(one).cause == "pytest\nE assert #"
