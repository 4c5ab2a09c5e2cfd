"""Node's test runner, Jest, Vitest and Mocha: how they are asked for a report, and for some of their tests alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex

if TYPE_CHECKING:
    from agent_fox.verifier.ground.cases import Case
    from agent_fox.verifier.suites.calls import Call

_NODE_REPORTER = Path(__file__).resolve().parents[1] / "reporters" / "node_junit.mjs"
_VITEST_PLACES = ("--outputFile", "--outputFile.junit")
_VITEST_JUNIT = (("--reporter", "junit"),)
_MOCHA_REPORTERS = ("--reporter", "-R", "--reporter-option", "--reporter-options", "-O")
_SPECIAL = regex(r"[.*+?^${}()|\[\]\\/-]")


def node_report(call: Call, report: Path) -> Call:
    """A reporter of ours before those of the command: Node pairs reporters and destinations in the order they come.

    In a script of npm it comes by the environment, which Node reads first.
    """
    own = (f"--test-reporter={_NODE_REPORTER.as_uri()}", f"--test-reporter-destination={report}")
    if any(word.startswith("--test-reporter") for word in (*call.argv, *call.script.split())):
        options = (*own, *_destination(call))
    else:
        options = (*own, "--test-reporter=spec", "--test-reporter-destination=stdout")
    if not call.script:
        return call.with_options(*options)
    return replace(call, variables={**call.variables, "NODE_OPTIONS": " ".join(options)})


def _destination(call: Call) -> tuple[str, ...]:
    has_one = any(word.startswith("--test-reporter-destination") for word in (*call.argv, *call.script.split()))
    return () if has_one else ("--test-reporter-destination=stdout",)


def node_tests(call: Call, tests: Sequence[Case]) -> Call | None:
    """Only where Node is called itself: arguments of a script come too late for it."""
    if call.script:
        return None
    return call.with_options(*(f"--test-name-pattern={_escaped(test.name)}$" for test in tests))


def jest_report(call: Call, report: Path) -> Call:
    """Jest writes one report: one that the command asks for gives way to ours."""
    return call.without("--json", valued=("--outputFile",)).with_more("--json", f"--outputFile={report}")


def vitest_report(call: Call, report: Path) -> Call:
    """Vitest takes any number of reporters, but one of each kind, and one place for each."""
    call = call.without(valued=_VITEST_PLACES, words=_VITEST_JUNIT)
    has_reporter = any(word.startswith("--reporter") for word in (*call.argv, *call.script.split()))
    shown = () if has_reporter else ("--reporter=default",)
    return call.with_more(*shown, "--reporter=junit", f"--outputFile.junit={report}")


def mocha_report(call: Call, report: Path) -> Call:
    """Mocha has one reporter at a time: what people read is left out."""
    call = call.without(valued=_MOCHA_REPORTERS)
    return call.with_more("--reporter", "xunit", "--reporter-options", f"output={report}")


def titled_tests(call: Call, tests: Sequence[Case]) -> Call:
    """By the titles around a test and its own: Jest's and Vitest's `-t`."""
    return call.with_more("-t", _titles(tests))


def mocha_tests(call: Call, tests: Sequence[Case]) -> Call:
    return call.with_more("--grep", _titles(tests))


def _titles(tests: Sequence[Case]) -> str:
    names = (_escaped(" ".join((*test.classes, test.name))) for test in tests)
    return f"^({'|'.join(names)})$"


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)
