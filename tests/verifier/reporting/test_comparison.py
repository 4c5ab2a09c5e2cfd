from __future__ import annotations

from agent_fox.verifier.ground.results import Scope, Status, TestSummary, Tool
from agent_fox.verifier.reporting.comparison import Worsened, compare
from tests.verifier.made_results import compile_error, counted, failing_test, result

FULL = TestSummary(tests=10, passed=9, failures=1)
OTHER = failing_test("tests/test_stock.py::test_left", "assert 0 == 1")


def test_a_failure_that_was_there_before_is_unchanged_even_where_its_line_moved() -> None:
    before = counted(result(Tool.UNIT_TESTS, Status.FAILED, failing_test(line=7)), FULL)
    after = counted(result(Tool.UNIT_TESTS, Status.FAILED, failing_test(line=9)), FULL)
    found = compare("abc", [before], [after])
    assert (found.new, found.resolved, len(found.unchanged)) == ((), (), 1)
    assert found.was_broken


def test_a_test_that_fails_otherwise_than_before_is_still_the_same_failing_test() -> None:
    before = counted(result(Tool.UNIT_TESTS, Status.FAILED, failing_test(message="assert 1 == 2")), FULL)
    after = counted(result(Tool.UNIT_TESTS, Status.FAILED, failing_test(message="KeyError: 'x'")), FULL)
    assert compare("abc", [before], [after]).new == ()


def test_new_and_resolved_failures_are_told_apart() -> None:
    before = counted(result(Tool.UNIT_TESTS, Status.FAILED, failing_test()), FULL)
    after = counted(result(Tool.UNIT_TESTS, Status.FAILED, OTHER), FULL)
    found = compare("abc", [before], [after])
    assert (found.new, found.resolved, found.unchanged) == ((OTHER,), (failing_test(),), ())


def test_a_failing_test_that_is_gone_is_not_resolved_where_fewer_tests_ran() -> None:
    before = counted(result(Tool.UNIT_TESTS, Status.FAILED, failing_test()), FULL)
    after = counted(result(Tool.UNIT_TESTS), TestSummary(tests=9, passed=9))
    found = compare("abc", [before], [after])
    assert found.resolved == ()
    assert found.worsened == (
        Worsened("run_unit_tests", "9 tests ran, 10 before"),
        Worsened(
            "run_unit_tests",
            "tests/test_cart.py::test_total failed on the base commit and was not seen to run now",
        ),
    )


def test_tests_that_a_compile_error_keeps_from_running_are_not_resolved() -> None:
    before = counted(result(Tool.UNIT_TESTS, Status.FAILED, failing_test()), FULL)
    after = result(Tool.UNIT_TESTS, Status.FAILED, compile_error())
    found = compare("abc", [before], [after])
    assert (found.new, found.resolved) == ((compile_error(),), ())


def test_counts_of_different_scopes_are_never_compared() -> None:
    before = counted(result(), TestSummary(tests=128, passed=128), Scope.FULL)
    after = counted(result(), TestSummary(tests=2, passed=2), Scope.SELECTED)
    assert compare("abc", [before], [after]).worsened == ()


def test_more_skipped_tests_are_worse() -> None:
    before = counted(result(), TestSummary(tests=10, passed=10))
    after = counted(result(), TestSummary(tests=10, passed=8, skipped=2))
    assert compare("abc", [before], [after]).worsened == (Worsened("run_unit_tests", "2 tests were skipped, 0 before"),)


def test_one_of_two_equal_failures_is_new() -> None:
    before = result(Tool.LINT, Status.FAILED, compile_error(line=3))
    after = result(Tool.LINT, Status.FAILED, compile_error(line=3), compile_error(line=40))
    found = compare("abc", [before], [after])
    assert (len(found.new), len(found.unchanged)) == (1, 1)


def test_a_step_that_could_not_run_on_the_base_is_incomparable() -> None:
    found = compare("abc", [result(Tool.COMPILE, Status.ERRORED)], [result(Tool.COMPILE), result(Tool.LINT)])
    assert found.incomparable == (
        "run_compile: on the base commit it was errored: run_compile errored",
        "run_lint: it did not run on the base commit",
    )
    assert (found.new, found.was_broken) == ((), False)


def test_a_step_that_began_to_hang_is_worse() -> None:
    found = compare("abc", [result()], [result(Tool.UNIT_TESTS, Status.TIMED_OUT)])
    assert found.worsened == (Worsened("run_unit_tests", "passed on the base commit, ran into its time limit now"),)
