"""pytest and unittest: how they are asked for a report, and for some of their tests alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_fox.verifier.ground.cases import Case
    from agent_fox.verifier.suites.calls import Call

_RECORDING_UNITTEST = Path(__file__).resolve().parents[1] / "reporters" / "unittest_junit.py"


def pytest_report(call: Call, report: Path) -> Call:
    """Nothing is kept between runs, one bad file doesn't hide the others, and no failure hides the next."""
    added = (f"--junitxml={report}", "-o", "junit_family=xunit1", "-p", "no:cacheprovider")
    return call.with_more(*added, "--continue-on-collection-errors", "--maxfail=0")


def pytest_tests(call: Call, tests: Sequence[Case]) -> Call:
    return replace(call, argv=(*call.argv[: call.at + 1], *(test.id for test in tests)))


def unittest_report(call: Call, report: Path) -> Call:
    """unittest writes no report: a program that runs it and writes one takes its place."""
    before = call.argv[: call.at - 1]
    return replace(call, argv=(*before, str(_RECORDING_UNITTEST), str(report), *call.argv[call.at + 1 :]))


def unittest_tests(call: Call, tests: Sequence[Case]) -> Call:
    patterns = (f"*{'.'.join((*test.classes, test.name))}" for test in tests)
    return call.with_more(*(word for pattern in patterns for word in ("-k", pattern)))
