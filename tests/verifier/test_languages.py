"""The tools on a small real project in each language: what passes, what fails and where; no product is source."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.verifier.ground.request import Request
from agent_fox.verifier.ground.results import FailureKind, Scope, Status, Tool, VerificationResult
from agent_fox.verifier.plans.toolbox import Verifier
from agent_fox.verifier.running.summing_up import NO_TEST_SEEN
from tests.verifier.language_projects import GRADLE, LANGUAGES, MAVEN, Language
from tests.verifier.made_projects import committed, verifier, write
from tests.verifier.profiles.projects import needs


def those(*languages: Language) -> pytest.MarkDecorator:
    slow = (MAVEN, GRADLE)
    marked = [pytest.param(one, id=one.name, marks=[pytest.mark.slow] if one in slow else []) for one in languages]
    return pytest.mark.parametrize("language", marked)


@pytest.fixture
def tools(language: Language, bare: Path) -> Verifier:
    needs(*language.programs)
    committed(bare, language.files)
    return verifier(bare, language.profile)


def ran(tools: Verifier, tool: Tool, selector: str | None = None) -> VerificationResult:
    """What one tool came to, on a machine that has what the project names."""
    result = tools.run(Request(tool, selector=selector))
    if FailureKind.DEPENDENCY_RESOLUTION_FAILURE in {failure.kind for failure in result.failures}:
        pytest.skip(f"the build tool lacks plugins or packages here: {result.summary}")
    assert result.changed_sources == ()
    return result


@those(*(one for one in LANGUAGES if one is not GRADLE))
def test_a_failing_test_is_told_by_its_name_and_place_beside_what_passed(language: Language, tools: Verifier) -> None:
    result = ran(tools, Tool.UNIT_TESTS)
    (failure,) = result.failures
    assert (result.status, failure.kind) == (Status.FAILED, FailureKind.TEST_FAILURE)
    assert (failure.file, failure.line, failure.test_name) == (
        language.failing.file,
        language.failing.line,
        language.failing.test,
    )
    assert result.repairable_by_agent
    if language.is_counted:
        assert result.test_summary is not None
        assert (result.test_summary.tests, result.test_summary.passed, result.scope) == (2, 1, Scope.FULL)


@those(*(one for one in LANGUAGES if one.one))
def test_one_test_alone_passes_though_its_neighbour_is_wrong(language: Language, tools: Verifier) -> None:
    result = ran(tools, Tool.SELECTED_TEST, language.one)
    assert (result.status, result.scope, result.failures) == (Status.PASSED, Scope.SELECTED, ())
    assert result.test_summary is not None
    assert result.test_summary.passed == 1


@those(*(one for one in LANGUAGES if one.repair))
def test_a_suite_whose_wrong_test_was_repaired_passes(language: Language, tools: Verifier) -> None:
    write(tools.context.root, language.repair)
    result = ran(tools, Tool.UNIT_TESTS)
    assert (result.status, result.failures) == (Status.PASSED, ())
    if language.is_counted:
        assert result.test_summary is not None
        assert (result.test_summary.tests, result.test_summary.passed) == (2, 2)


@those(*(one for one in LANGUAGES if one.clean))
def test_what_is_in_order_passes_every_tool_that_only_looks(language: Language, tools: Verifier) -> None:
    said = {tool: ran(tools, tool) for tool in language.clean}
    assert {tool: result.status for tool, result in said.items()} == dict.fromkeys(language.clean, Status.PASSED)


@those(*(one for one in LANGUAGES if one.broken))
def test_what_does_not_compile_is_told_with_its_place(language: Language, tools: Verifier) -> None:
    write(tools.context.root, language.broken)
    result = ran(tools, Tool.COMPILE)
    first = result.failures[0]
    assert (result.status, first.kind) == (Status.FAILED, FailureKind.COMPILE_ERROR)
    assert (first.file, first.line) == (language.uncompiled.file, language.uncompiled.line)
    assert result.repairable_by_agent


NO_TESTS = {
    "no recipe": "test:\n.PHONY: test\n",
    "a folder of that name": "test:\n\t./check\n",
}


@pytest.mark.parametrize("how", NO_TESTS)
def test_a_make_that_has_nothing_to_do_has_run_no_tests(how: str, bare: Path) -> None:
    needs("make", "gcc")
    committed(bare, {"Makefile": NO_TESTS[how], "test/data": "", "main.c": "int x;\n"})
    result = verifier(bare, "c-make").run(Request(Tool.UNIT_TESTS))
    assert (result.status, result.failures[0].message) == (Status.ERRORED, NO_TEST_SEEN)
