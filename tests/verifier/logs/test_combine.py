"""Several readings of one run: counts of modules add up, and what two readings both know counts once."""

from __future__ import annotations

from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.gathering import completed, merged

TEST, COMPILE, UNKNOWN = FailureKind.TEST_FAILURE, FailureKind.COMPILE_ERROR, FailureKind.UNKNOWN


def failed(name: str, file: str | None = None, line: int | None = None, message: str = "no") -> Failure:
    return Failure(TEST, message, file, line, test_name=name)


def test_reports_of_modules_add_up() -> None:
    one = Parsed((failed("a", "a.py", 1),), (), TestSummary(tests=2, passed=1, failures=1))
    other = Parsed((failed("a", "a.py", 1), failed("b")), (), TestSummary(tests=1, failures=1), is_complete=False)
    parsed = merged([one, Parsed(), other])
    assert parsed.failures == (failed("a", "a.py", 1), failed("b"))
    assert (parsed.summary, parsed.is_complete) == (TestSummary(tests=3, passed=1, failures=2), False)
    assert merged([]) == Parsed()


def test_a_report_with_failures_knows_all_failed_tests() -> None:
    report = Parsed((failed("pkg.T.a", "a.py", 1),), (), TestSummary(tests=5, failures=1))
    log = Parsed((failed("imitated", "x.py", 9), Failure(COMPILE, "bad", "b.c", 2)), (), TestSummary(tests=99))
    both = completed(report, log)
    assert both.failures == (failed("pkg.T.a", "a.py", 1), Failure(COMPILE, "bad", "b.c", 2))
    assert both.summary == TestSummary(tests=5, failures=1)


def test_a_report_that_breaks_off_is_completed_from_the_log() -> None:
    report = Parsed((failed("T.a", "a.py", 1),), (), TestSummary(tests=1, failures=1), is_complete=False)
    log = Parsed((failed("a", "a.py", 1), failed("b", "a.py", 2)), (), TestSummary(tests=2, failures=2))
    both = completed(report, log)
    assert [failure.line for failure in both.failures] == [1, 2]
    assert both.summary == TestSummary(tests=2, failures=2)


def test_a_report_without_failures_leaves_the_log_to_explain() -> None:
    log = Parsed((failed("b"),), (), None)
    assert completed(Parsed((), (), TestSummary(tests=1, passed=1)), log).failures == (failed("b"),)


def test_a_failure_without_a_line_gets_the_one_that_the_log_names_for_the_same_test() -> None:
    report = Parsed((failed("com.acme.T.a"), failed("com.acme.T.b")), (), TestSummary(tests=2, failures=2))
    log = Parsed((failed("T > a()", "T.java", 5), failed("T > b", "T.java", 6), failed("U > b", "U.java", 7)), (), None)
    assert [(f.file, f.line) for f in completed(report, log).failures] == [("T.java", 5), (None, None)]


def test_a_vague_failure_adds_nothing_to_a_named_one() -> None:
    named = Parsed((Failure(COMPILE, "bad", "b.c", 2),))
    assert completed(named, Parsed((Failure(UNKNOWN, "BUILD FAILED"),))).failures == named.failures
    assert completed(Parsed(), named) == named


def test_warnings_at_one_place_count_once() -> None:
    warning = Failure(COMPILE, "unused", "b.c", 2, 5)
    log = Parsed((), (Failure(COMPILE, "unused variable", "b.c", 2), Failure(COMPILE, "old", "b.c", 3)))
    both = completed(Parsed((), (warning,)), log)
    assert [one.line for one in both.warnings] == [2, 3]
