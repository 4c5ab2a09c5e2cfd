"""What each test tool is asked beside what the command line says: a report to judge by, and some tests alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.verifier.suites import call_compiled as compiled
from agent_fox.verifier.suites import call_javascript as javascript

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


_REPORTS: dict[str, Callable[[Call, Path], Call]] = {
    "pytest": pytest_report,
    "unittest": unittest_report,
    "node-test": javascript.node_report,
    "jest": javascript.jest_report,
    "vitest": javascript.vitest_report,
    "mocha": javascript.mocha_report,
    "go": compiled.go_report,
    "cargo": compiled.cargo_report,
    "ctest": compiled.ctest_report,
}
_TESTS: dict[str, Callable[[Call, Sequence[Case]], Call | None]] = {
    "pytest": pytest_tests,
    "unittest": unittest_tests,
    "node-test": javascript.node_tests,
    "jest": javascript.titled_tests,
    "vitest": javascript.titled_tests,
    "mocha": javascript.mocha_tests,
    "go": compiled.go_tests,
    "cargo": compiled.cargo_tests,
    "maven": compiled.maven_tests,
    "gradle": compiled.gradle_tests,
    "ctest": compiled.ctest_tests,
}


def with_report(call: Call, report: Path) -> Call:
    """The call, with what makes the tool write a report to `report`; as it is for a tool that has no such option."""
    asked = _REPORTS.get(call.tool)
    return asked(call, report) if asked else call


def with_tests(call: Call, tests: Sequence[Case]) -> Call | None:
    """The call that runs `tests` alone; None for a tool that cannot select tests."""
    selected = _TESTS.get(call.tool)
    return selected(call, tests) if selected and tests else None
