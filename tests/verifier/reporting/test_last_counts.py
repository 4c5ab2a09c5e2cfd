from __future__ import annotations

from pathlib import Path

from agent_fox.verifier.ground.results import Scope, TestSummary
from agent_fox.verifier.reporting.last_counts import noted
from tests.verifier.made_results import counted, outcome, result


def told(file: Path, tests: int, scope: Scope = Scope.FULL, skipped: int = 0) -> tuple[str, ...]:
    """The notes about a run with so many tests."""
    counts = TestSummary(tests=tests, passed=tests - skipped, skipped=skipped)
    (noticed,) = noted(file, [outcome(counted(result(), counts, scope))])
    return noticed.result.notes


def test_tests_that_vanish_between_two_runs_are_noted_once(tmp_path: Path) -> None:
    file = tmp_path / "counts.json"
    assert told(file, 128) == ()
    assert told(file, 12) == ("fewer than in the last run of the same scope: 12 tests ran, 128 before",)
    assert told(file, 12) == ()


def test_a_selected_run_is_not_compared_with_a_full_one(tmp_path: Path) -> None:
    file = tmp_path / "counts.json"
    told(file, 128)
    assert told(file, 2, Scope.SELECTED) == ()
    assert told(file, 127) != ()


def test_more_skipped_tests_are_noted(tmp_path: Path) -> None:
    file = tmp_path / "counts.json"
    told(file, 10)
    assert told(file, 10, skipped=3) == (
        "fewer than in the last run of the same scope: 3 tests were skipped, 0 before",
    )


def test_a_damaged_file_is_begun_anew(tmp_path: Path) -> None:
    file = tmp_path / "counts.json"
    file.write_text("{")
    assert told(file, 10) == ()
    assert told(file, 9) != ()


def test_a_run_that_counted_nothing_leaves_the_last_count(tmp_path: Path) -> None:
    file = tmp_path / "counts.json"
    told(file, 10)
    assert noted(file, [outcome(result())])[0].result.notes == ()
    assert told(file, 9) != ()
