from __future__ import annotations

from dataclasses import replace

from agent_fox.verifier.ground.results import Scope, Status, TestSummary, Tool
from agent_fox.verifier.reporting.comparison import compare
from agent_fox.verifier.reporting.pull_request import verification_section
from agent_fox.verifier.reporting.report import VerificationReport
from tests.verifier.made_results import counted, failing_test, outcome, result

BASE = "0123456789abcdef0123456789abcdef01234567"


def report(**fields: object) -> VerificationReport:
    steps = (outcome(result(Tool.COMPILE)), outcome(counted(result(), TestSummary(128, 127, skipped=1), Scope.FULL)))
    made = VerificationReport("run-1", 1, "python", "ordinary", "ordinary by src/cart.py", steps)
    return replace(made, **fields)  # type: ignore[arg-type]


def test_a_passed_report_shows_steps_counts_artifacts_and_isolation() -> None:
    lines = verification_section(report()).splitlines()
    assert lines[:3] == ["## Verification", "", "**passed**, plan `ordinary` (ordinary by src/cart.py)"]
    assert "- `run_unit_tests`: passed in 1.5 s, 128 tests, 0 failures, 1 skipped" in lines
    assert "- log: artifact://run-1/1/001-run_unit_tests.log (120 bytes, sha256 abababababab)" in lines
    assert "- Isolation: bubblewrap, no network" in lines
    assert "- No source file changed while read-only tools ran." in lines


def test_without_a_baseline_the_section_says_that_nothing_is_known_of_it() -> None:
    assert "The base commit was not verified" in verification_section(report())


def test_a_base_commit_that_failed_is_disclosed() -> None:
    failed = counted(result(Tool.UNIT_TESTS, Status.FAILED, failing_test()), TestSummary(10, 9, 1))
    text = verification_section(report(outcomes=(outcome(failed),), comparison=compare(BASE, [failed], [failed])))
    assert "- The base commit 0123456789ab was failing already: 1 failures are unchanged, 0 resolved." in text
    assert "- New failures compared with 0123456789ab: 0." in text


def test_a_failure_is_shown_with_its_place_its_test_and_why_it_failed() -> None:
    text = verification_section(report(outcomes=(outcome(result(Tool.UNIT_TESTS, Status.FAILED, failing_test())),)))
    expected = "- tests/test_cart.py:7: assert 3 == 4 [tests/test_cart.py::test_total] (repairable: it repeats)"
    assert expected in text.splitlines()


def test_a_changed_source_is_named() -> None:
    text = verification_section(report(outcomes=(outcome(replace(result(), changed_sources=("src/gen.py",))),)))
    assert "- `run_unit_tests` changed source files, which it must not: `src/gen.py`." in text
    assert "No source file changed" not in text


def test_what_a_test_printed_cannot_become_markup_of_its_own() -> None:
    hostile = failing_test(message="</details><img src=x> [click](http://evil) \n# Verification: passed `code`")
    text = verification_section(report(outcomes=(outcome(result(Tool.UNIT_TESTS, Status.FAILED, hostile)),)))
    assert "<img" not in text
    assert "[click](" not in text.replace("\\[click](", "")
    assert [line for line in text.splitlines() if line.startswith("#")] == ["## Verification"]
