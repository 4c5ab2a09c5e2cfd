"""Whose a failure is: one claim for each rule, and what holds for whatever facts there are."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.verdicts.judgement import NOT_THE_CODERS_FAULT, PASSES_WHEN_PROVEN
from agent_fox.core.verdicts.verdict import Disposition
from agent_fox.verifier.dispositions.reruns import RerunKind, RerunWanted, is_pure_format, reruns_wanted
from agent_fox.verifier.dispositions.rules import dispose
from agent_fox.verifier.ground.disposition_facts import (
    PROOF_RUNS,
    FailureFacts,
    PolicyDoubt,
    Rerun,
    RerunTree,
    SpecDoubt,
    SpecSource,
    ToolEnd,
)
from agent_fox.verifier.ground.results import Failure, FailureKind, Scope, Status, Tool

FAILING_TEST = Failure(FailureKind.TEST_FAILURE, "assert 1 == 2", test_name="tests/test_a.py::test_x")
UNFORMATTED = Failure(FailureKind.FORMAT_FAILURE, "would be reformatted", file="app.py")
UNEXPLAINED = Failure(FailureKind.UNKNOWN, "it failed with exit code 1")
LATE = Failure(FailureKind.TIMEOUT, "it did not end in time")
FAILED = ToolEnd(exit_code=1)
FULL_DISK = "Error: ENOSPC: no space left on device\nnpm error code ENOSPC\nbwrap: no\nsh: 1: jest: not found"


def facts(
    failure: Failure = FAILING_TEST,
    *,
    tool: Tool = Tool.UNIT_TESTS,
    end: ToolEnd = FAILED,
    same: tuple[bool | None, ...] = (),
    base: tuple[bool | None, ...] = (),
    own: str = "",
    tail: str = "",
    changed: str = "",
    spec: tuple[SpecDoubt, ...] = (),
    policy: tuple[PolicyDoubt, ...] = (),
    known_flaky: frozenset[str] = frozenset(),
    scope: Scope | None = None,
) -> FailureFacts:
    return FailureFacts(
        failure,
        tool,
        Status.FAILED,
        end,
        scope=scope,
        tail=tail,
        files_changed=frozenset(changed.split()),
        own_tests=frozenset(own.split()),
        reruns=(Rerun(RerunTree.SAME, same), Rerun(RerunTree.BASE, base)),
        spec=spec,
        policy=policy,
        known_flaky=known_flaky,
    )


def disposition(some: FailureFacts) -> Disposition:
    return dispose(some).disposition


OUTCOMES = (True, False, None)


@pytest.mark.parametrize("runs", range(5))
def test_flaky_is_proven_by_three_or_more_reruns_that_all_pass_and_by_nothing_else(runs: int) -> None:
    for outcomes in itertools.product(OUTCOMES, repeat=runs):
        is_proof = runs >= PROOF_RUNS and all(outcome is True for outcome in outcomes)
        found = dispose(facts(same=outcomes))
        assert (found.disposition is Disposition.FLAKY, found.is_proven) == (is_proof, is_proof), outcomes


@pytest.mark.parametrize("runs", range(4))
def test_pre_existing_is_proven_by_the_base_tree_failing_and_never_passing(runs: int) -> None:
    for outcomes in itertools.product(OUTCOMES, repeat=runs):
        is_proof = False in outcomes and True not in outcomes
        found = dispose(facts(base=outcomes))
        assert (found.disposition is Disposition.PRE_EXISTING, found.is_proven) == (is_proof, is_proof), outcomes


@pytest.mark.parametrize(
    "own",
    [
        "tests/test_a.py::test_x",
        "tests/test_a.py",
        "tests/test_a.py::test_y tests/test_a.py::test_x",
    ],
)
def test_the_base_tree_excuses_no_test_of_the_requirement(own: str) -> None:
    assert disposition(facts(base=(False,), own=own)) is Disposition.REPAIRABLE


@pytest.mark.parametrize("name", ["test_x[1-2]", "test_x/sub", "test_x::inner", "test_x > inner", "test_x(int)"])
def test_a_case_of_a_requirements_test_is_the_requirements_too(name: str) -> None:
    failure = Failure(FailureKind.TEST_FAILURE, "no", test_name=name)
    assert disposition(facts(failure, base=(False,), own="test_x")) is Disposition.REPAIRABLE


def test_a_test_that_only_begins_like_one_of_the_requirement_is_another() -> None:
    failure = Failure(FailureKind.TEST_FAILURE, "no", test_name="test_x_of_old")
    assert disposition(facts(failure, base=(False,), own="test_x")) is Disposition.PRE_EXISTING


def test_what_keeps_the_requirements_tests_from_running_is_not_excused_by_the_base_tree() -> None:
    broken = Failure(FailureKind.COMPILE_ERROR, "undefined: Greet", file="app_test.go", line=3)
    assert disposition(facts(broken, base=(False,), own="TestGreet")) is Disposition.REPAIRABLE
    assert disposition(facts(broken, base=(False,))) is Disposition.PRE_EXISTING


def test_nothing_that_stands_around_a_failing_test_makes_it_the_machines() -> None:
    said = Failure(FailureKind.TEST_FAILURE, FULL_DISK, test_name="test_x", evidence=FULL_DISK)
    assert disposition(facts(said, tail=FULL_DISK, end=ToolEnd(exit_code=1))) is Disposition.REPAIRABLE


def test_the_log_is_not_asked_once_tests_have_run() -> None:
    silent = facts(UNEXPLAINED, tail=FULL_DISK, end=ToolEnd(exit_code=1, tests_run=0))
    talking = facts(UNEXPLAINED, tail=FULL_DISK, end=ToolEnd(exit_code=1, tests_run=7))
    assert disposition(silent) is not disposition(talking)
    assert disposition(talking) is Disposition.VERIFIER_FAULT


def test_a_compiler_that_points_at_the_code_is_right_however_the_command_ended() -> None:
    error = Failure(FailureKind.COMPILE_ERROR, "no such type", file="src/app.ts", line=3)
    for code in (1, 126, 127, 137, -9, -11):
        assert disposition(facts(error, end=ToolEnd(exit_code=code), tail=FULL_DISK)) is Disposition.REPAIRABLE


@pytest.mark.parametrize(
    ("same", "base", "expected"),
    [
        ((), (), Disposition.INFRASTRUCTURE),
        ((None,), (), Disposition.INFRASTRUCTURE),
        ((False,), (), Disposition.REPAIRABLE),
        ((False, True), (), Disposition.INFRASTRUCTURE),
        ((True, True, True), (), Disposition.INFRASTRUCTURE),
        ((False,), (True,), Disposition.REPAIRABLE),
        ((False,), (False,), Disposition.VERIFIER_FAULT),
    ],
)
@pytest.mark.parametrize(
    "end", [ToolEnd(timed_out=True), ToolEnd(-9, out_of_memory=True), ToolEnd(1, process_limit_hit=True)]
)
def test_a_limit_is_the_codes_only_if_it_is_reached_again(
    end: ToolEnd, same: tuple[bool | None, ...], base: tuple[bool | None, ...], expected: Disposition
) -> None:
    assert disposition(facts(LATE, end=end, same=same, base=base)) is expected


@pytest.mark.parametrize("code", [137, -9, 143, -15])
def test_a_kill_from_outside_is_the_codes_only_if_it_comes_again_and_not_on_the_base_tree(code: int) -> None:
    end = ToolEnd(exit_code=code)
    assert disposition(facts(UNEXPLAINED, end=end, same=(False,))) is Disposition.INFRASTRUCTURE
    assert disposition(facts(UNEXPLAINED, end=end, base=(True,))) is Disposition.INFRASTRUCTURE
    assert disposition(facts(UNEXPLAINED, end=end, same=(False,), base=(True,))) is Disposition.REPAIRABLE


@pytest.mark.parametrize(
    ("module", "package", "is_asked_for"),
    [
        ("yaml", "PyYAML", True),
        ("slugify", "python-slugify", True),
        ("google.cloud.storage", "google-cloud-storage", True),
        ("requests_mock", "requests-mock", True),
        ("request", "requests", False),
        ("yml", "PyYAML", False),
    ],
)
def test_a_module_that_is_missing_is_the_machines_if_a_declared_package_brings_it(
    module: str, package: str, is_asked_for: bool
) -> None:
    failure = Failure(FailureKind.COMPILE_ERROR, f"ModuleNotFoundError: No module named '{module}'", "app.py", 1)
    found = disposition(replace(facts(failure), declared=frozenset({package})))
    assert found is (Disposition.ENVIRONMENT if is_asked_for else Disposition.REPAIRABLE)


@pytest.mark.parametrize(
    ("fixture", "available", "expected"),
    [
        ("mocker", "cache, tmp_path", Disposition.ENVIRONMENT),
        ("mocker", "cache, mocker_session", Disposition.REPAIRABLE),
        ("tmp_pth", "cache, tmp_path", Disposition.REPAIRABLE),
    ],
)
def test_a_fixture_is_the_machines_only_if_nothing_of_its_declared_plugin_is_there(
    fixture: str, available: str, expected: Disposition
) -> None:
    failure = Failure(FailureKind.TEST_FAILURE, f"fixture '{fixture}' not found", test_name="test_a.py::test_a")
    some = facts(failure, tail=f">       available fixtures: {available}")
    assert disposition(replace(some, declared=frozenset({"pytest-mock"}))) is expected


def test_what_edited_code_runs_into_each_time_and_never_without_the_edit_is_the_edits() -> None:
    failure = Failure(FailureKind.UNKNOWN, "OSError: [Errno 28] No space left on device", "conftest.py", 3)
    assert disposition(facts(failure, changed="conftest.py")) is Disposition.INFRASTRUCTURE
    shown = facts(failure, changed="conftest.py", same=(False,), base=(True,))
    assert disposition(shown) is Disposition.REPAIRABLE
    assert disposition(replace(shown, files_changed=frozenset({"app.py"}))) is Disposition.INFRASTRUCTURE


def test_without_a_network_no_package_is_said_not_to_exist() -> None:
    said = "ERROR: Could not find a version that satisfies the requirement x (from versions: none)"
    failure = Failure(FailureKind.DEPENDENCY_RESOLUTION_FAILURE, said)
    edited = facts(failure, changed="requirements.txt", base=(True,))
    assert disposition(edited) is Disposition.ENVIRONMENT
    assert disposition(replace(edited, has_network=True)) is Disposition.REPAIRABLE


def test_one_session_cannot_find_the_spec_at_fault_however_often_it_says_so() -> None:
    one = SpecDoubt(SpecSource.READING, "odd", "r1")
    assert disposition(facts(spec=(one, one, one))) is Disposition.REPAIRABLE
    assert disposition(facts(spec=(one, SpecDoubt(SpecSource.READING, "odd", "r2")))) is Disposition.SPEC_FAULT
    assert disposition(facts(spec=(SpecDoubt(SpecSource.READING, "no name"),) * 2)) is Disposition.REPAIRABLE


def test_gaming_counts_before_any_excuse_and_goes_to_whom_the_rule_says() -> None:
    excused = (True,) * PROOF_RUNS
    mild, grave = PolicyDoubt("skip-added", "skipped"), PolicyDoubt("ci-edited", "no tests", needs_person=True)
    back = dispose(facts(same=excused, policy=(mild,)))
    person = dispose(facts(same=excused, policy=(mild, grave)))
    assert (back.disposition, back.repairable_by_agent, back.requires_human) == (Disposition.POLICY, True, False)
    assert (person.disposition, person.repairable_by_agent, person.requires_human) == (Disposition.POLICY, False, True)


def texts() -> st.SearchStrategy[str]:
    lines = [
        "ENOSPC",
        "npm error code E404",
        "signal: killed",
        "Killed",
        "no tests ran",
        "x" * 50,
        *FULL_DISK.split("\n"),
    ]
    return st.lists(st.sampled_from(lines), max_size=3).map("\n".join)


def outcomes() -> st.SearchStrategy[tuple[bool | None, ...]]:
    return st.lists(st.sampled_from(OUTCOMES), max_size=4).map(tuple)


def any_facts() -> st.SearchStrategy[FailureFacts]:
    failure = st.builds(
        Failure,
        st.sampled_from(FailureKind),
        texts(),
        test_name=st.sampled_from([None, "t"]),
        line=st.sampled_from([None, 3]),
        file=st.sampled_from([None, "a.py", "package.json"]),
    )
    end = st.builds(
        ToolEnd,
        exit_code=st.sampled_from([None, 0, 1, 2, 126, 127, 137, -9, -11, 255]),
        timed_out=st.booleans(),
        cancelled=st.booleans(),
        start_error=st.sampled_from(["", "[Errno 2] No such file or directory: 'x'"]),
        out_of_memory=st.booleans(),
        process_limit_hit=st.booleans(),
        is_report_readable=st.booleans(),
        tests_run=st.sampled_from([None, 0, 4]),
    )
    return st.builds(
        facts,
        failure,
        tool=st.sampled_from(Tool),
        end=end,
        same=outcomes(),
        base=outcomes(),
        own=st.sampled_from(["", "t", "u"]),
        tail=texts(),
        changed=st.sampled_from(["", "a.py", "package.json a.py"]),
    )


@given(any_facts())
def test_every_failure_is_somebodys_and_only_proof_excuses(some: FailureFacts) -> None:
    found = dispose(some)
    is_excuse = found.disposition in PASSES_WHEN_PROVEN
    assert found.is_proven is is_excuse
    assert is_excuse is not any((found.repairable_by_agent, found.retryable_infrastructure, found.requires_human))
    assert found.reason
    assert found == dispose(some)
    assert not (found.disposition in NOT_THE_CODERS_FAULT and found.repairable_by_agent)


@given(any_facts())
def test_nothing_passes_without_the_reruns_that_prove_it(some: FailureFacts) -> None:
    if dispose(some).is_proven:
        assert some.is_proven_flaky or (some.fails_on_base and not some.is_own_test)


@given(any_facts())
def test_whatever_the_facts_a_settled_failure_asks_for_no_more_runs_of_that_tree(some: FailureFacts) -> None:
    kinds = [wanted.kind for wanted in reruns_wanted(some)]
    assert len(kinds) == len(set(kinds))
    if False in some.outcomes(RerunTree.SAME):
        assert RerunKind.SAME_TREE not in kinds
    if some.outcomes(RerunTree.BASE):
        assert RerunKind.BASE_TREE not in kinds


def test_a_failing_test_is_run_three_times_more_and_once_on_the_base_tree() -> None:
    name = "tests/test_a.py::test_x"
    same, base = reruns_wanted(facts())
    assert (same.kind, same.target, same.times) == (RerunKind.SAME_TREE, name, PROOF_RUNS)
    assert (base.kind, base.target, base.times) == (RerunKind.BASE_TREE, name, 1)


def test_reruns_go_on_only_while_they_pass_and_prove_nothing_yet() -> None:
    def times(same: tuple[bool | None, ...]) -> list[int]:
        return [wanted.times for wanted in reruns_wanted(facts(same=same, base=(True,)))]

    assert times((True,)) == [2]
    assert times((True, True)) == [1]
    assert times((True, True, True)) == times((False,)) == times((True, None)) == []


def test_the_base_tree_is_not_asked_about_the_requirements_own_tests() -> None:
    kinds = [wanted.kind for wanted in reruns_wanted(facts(own="tests/test_a.py::test_x"))]
    assert kinds == [RerunKind.SAME_TREE]


def test_a_name_on_the_flaky_list_is_a_reason_to_run_again_and_no_proof() -> None:
    some = facts(known_flaky=frozenset({"tests/test_a.py::test_x"}))
    assert disposition(some) is Disposition.REPAIRABLE
    assert "list of flaky tests" in reruns_wanted(some)[0].reason


def test_a_full_suite_that_ran_out_of_time_is_tried_as_selected_tests() -> None:
    late = facts(LATE, end=ToolEnd(timed_out=True), scope=Scope.FULL)
    assert [wanted.kind for wanted in reruns_wanted(late)] == [RerunKind.SELECTED_TESTS]
    selected = facts(LATE, end=ToolEnd(timed_out=True), scope=Scope.SELECTED)
    assert [wanted.kind for wanted in reruns_wanted(selected)] == [RerunKind.SAME_TREE, RerunKind.BASE_TREE]


def test_formatting_alone_is_left_to_the_formatter() -> None:
    wanted = reruns_wanted(facts(UNFORMATTED, tool=Tool.FORMAT_CHECK))
    assert wanted == (RerunWanted(RerunKind.FORMAT_APPLY, "the formatter repairs it"),)
    assert reruns_wanted(facts(UNFORMATTED, tool=Tool.FORMAT_APPLY)) == ()
    assert is_pure_format([UNFORMATTED, UNFORMATTED])
    assert not is_pure_format([UNFORMATTED, FAILING_TEST])
    assert not is_pure_format([])


@pytest.mark.parametrize("end", [ToolEnd(cancelled=True), ToolEnd(start_error="[Errno 2] No such file: 'mvn'")])
def test_what_never_ran_is_not_run_again_by_itself(end: ToolEnd) -> None:
    assert reruns_wanted(facts(UNEXPLAINED, end=end)) == ()
