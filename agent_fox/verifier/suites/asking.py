"""What each test tool is asked beside what the command line says: a report to judge by, and some tests alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.verifier.suites import call_compiled as compiled
from agent_fox.verifier.suites import call_javascript as javascript
from agent_fox.verifier.suites import call_python as python

if TYPE_CHECKING:
    from agent_fox.verifier.ground.cases import Case
    from agent_fox.verifier.suites.calls import Call

_REPORTS: dict[str, Callable[[Call, Path], Call]] = {
    "pytest": python.pytest_report,
    "unittest": python.unittest_report,
    "node-test": javascript.node_report,
    "jest": javascript.jest_report,
    "vitest": javascript.vitest_report,
    "mocha": javascript.mocha_report,
    "go": compiled.go_report,
    "cargo": compiled.cargo_report,
    "ctest": compiled.ctest_report,
}
_TESTS: dict[str, Callable[[Call, Sequence[Case]], Call | None]] = {
    "pytest": python.pytest_tests,
    "unittest": python.unittest_tests,
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
    """The call that runs `tests` alone; None for a tool whose tests can't be named."""
    selected = _TESTS.get(call.tool)
    return selected(call, tests) if selected and tests else None
