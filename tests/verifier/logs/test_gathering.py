"""A parser keeps each failure once, up to a limit, and counts without end."""

from __future__ import annotations

from agent_fox.verifier.ground.results import Failure, FailureKind, TestSummary
from agent_fox.verifier.logs.gathering import LONGEST_EVIDENCE, LONGEST_MESSAGE, MOST_KEPT, Counts, Gathering

LINT = FailureKind.LINT_FAILURE


def test_the_same_failure_counts_once_and_another_column_is_another_failure() -> None:
    found = Gathering()
    for column in (1, 1, 2):
        found.fail(Failure(LINT, "no", "a.py", 1, column))
    assert [failure.column for failure in found.parsed().failures] == [1, 2]


def test_no_more_is_kept_than_the_limit() -> None:
    found = Gathering()
    for line in range(MOST_KEPT + 5):
        found.fail(Failure(LINT, "no", "a.py", line))
        found.warn(Failure(LINT, "no", "a.py", line))
    parsed = found.parsed()
    assert found.is_full
    assert (len(parsed.failures), len(parsed.warnings), parsed.is_complete) == (MOST_KEPT, MOST_KEPT, True)


def test_long_texts_are_cut() -> None:
    found = Gathering()
    found.fail(Failure(LINT, " " + "m" * 9_999, evidence="\n" + "e" * 9_999))
    kept = found.parsed().failures[0]
    assert (len(kept.message), len(kept.evidence)) == (LONGEST_MESSAGE, LONGEST_EVIDENCE)


def test_counts_add_up() -> None:
    counts = Counts(passed=1, failures=2, errors=3, skipped=4, xfailed=5, uncounted=1)
    assert counts.summary() == TestSummary(14, 1, 2, 3, 4, 5)
