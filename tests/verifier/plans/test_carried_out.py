from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from time import monotonic, sleep

import pytest

from agent_fox.system.processes import processors
from agent_fox.verifier.ground.results import FailureKind, Status, Tool
from agent_fox.verifier.plans.baseline import compared
from agent_fox.verifier.plans.carried_out import Listener, PlanRun
from agent_fox.verifier.plans.steps import Plan
from agent_fox.verifier.plans.toolbox import Verifier
from agent_fox.verifier.profiles.loading import load_profile
from agent_fox.verifier.profiles.model import Policy
from agent_fox.verifier.reporting.report import ReportStatus, Step, StepOutcome
from tests.verifier.made_projects import CART, PYPROJECT, committed, git, verifier, write

UNFORMATTED = {
    "pyproject.toml": PYPROJECT + "[tool.ruff]\n",
    "cart.py": "def total( prices ): return sum(prices)\n",
}
FLAKY = """\
import pathlib

MARK = pathlib.Path(__file__).parent.parent / "build" / "mark"


def test_sometimes():
    MARK.parent.mkdir(exist_ok=True)
    was_there = MARK.exists()
    MARK.write_text("x")
    assert was_there
"""


def plan(*steps: Step) -> Plan:
    return Plan("mine", steps, "asked for")


def test_a_plan_runs_its_steps_in_order_and_tells_of_each(project: Path) -> None:
    told: list[str] = []
    listener = Listener(
        begins=lambda step: told.append(f"begins {step.title}"),
        ended=lambda outcome: told.append(f"{outcome.result.status} {outcome.step.title}"),
    )
    steps = plan(Step(Tool.COMPILE), Step(Tool.UNIT_TESTS))
    report = PlanRun(verifier(project), steps, listener=listener).report()
    assert report.status is ReportStatus.PASSED
    assert told == ["begins run_compile", "passed run_compile", "begins run_unit_tests", "passed run_unit_tests"]


WAITING = """\
import pathlib
import time

BUILD = pathlib.Path(__file__).parent.parent / "build"
BADLY = BUILD.with_name("scratch.py")


def test_waits():
    ends = time.monotonic() + 20
    while not (BUILD / "read").exists() and time.monotonic() < ends:
        time.sleep(0.02)
    BADLY.unlink(missing_ok=True)
    assert (BUILD / "read").exists()
"""


def told_when_read(tools: Verifier, project: Path) -> threading.Thread:
    """A thread that tells the tests of the project as soon as the format was looked at."""
    (project / "build").mkdir()

    def tell() -> None:
        ends = monotonic() + 20
        while not any("run_format_check.result" in kept.name for kept in tools.store.listed()) and monotonic() < ends:
            sleep(0.02)
        (project / "build/read").touch()

    return threading.Thread(target=tell)


@pytest.mark.skipif(processors() == 1, reason="there is one processor")
@pytest.mark.parametrize(("scratch", "looks"), [({}, ["passed"]), ({"scratch.py": "x  =  1"}, ["failed", "passed"])])
def test_what_only_reads_source_runs_while_tests_run_and_again_where_they_disturbed_it(
    project: Path, scratch: dict[str, str], looks: list[str]
) -> None:
    settings = PYPROJECT + "[tool.ruff]\n"
    write(project, {"pyproject.toml": settings, "tests/test_waits.py": WAITING, **scratch})
    tools = verifier(project)
    steps = plan(Step(Tool.UNIT_TESTS), Step(Tool.FORMAT_CHECK))
    teller = told_when_read(tools, project)
    teller.start()
    report = PlanRun(tools, steps).report()
    teller.join()
    assert report.outcomes[1].result.status is Status.PASSED
    kept = [each for each in tools.store.listed() if "run_format_check.result" in each.name]
    assert [json.loads(tools.store.path_of(each.uri).read_bytes())["status"] for each in kept] == looks


def test_a_step_that_the_project_has_no_tool_for_is_left_out_and_named(project: Path) -> None:
    report = PlanRun(verifier(project), plan(Step(Tool.LINT), Step(Tool.COMPILE))).report()
    assert [outcome.step.tool for outcome in report.outcomes] == [Tool.COMPILE]
    assert report.notes == ("run_lint is no part of this plan: the project configures none of ruff, mypy, flake8",)


@pytest.mark.parametrize("script", ["npm run test --workspaces", "turbo run test", "pnpm -r test", "node tools/all.js"])
def test_the_packages_of_a_workspace_are_tested_where_its_root_names_no_runner(tmp_path: Path, script: str) -> None:
    test = "require('node:test')('adds', () => require('node:assert').strictEqual(1 + 1, %s))\n"
    package = '{"name": "%s", "scripts": {"test": "node --test"}}'
    root = {"workspaces": ["packages/*"], "scripts": {"test": script}, "devDependencies": {"vitest": "3"}}
    if "all.js" in script:
        del root["devDependencies"]
    files = {
        "package.json": json.dumps(root),
        "packages/a/package.json": package % "a",
        "packages/a/a.test.js": test % 2,
        "packages/b/package.json": package % "b",
        "packages/b/b.test.js": test % 3,
        "packages/types/package.json": '{"name": "types"}',
    }
    tools = verifier(write(tmp_path / "root", files), profile="javascript-npm")
    report = PlanRun(tools, plan(Step(Tool.UNIT_TESTS))).report()
    assert [(outcome.step.title, outcome.result.status) for outcome in report.outcomes] == [
        ("run_unit_tests(packages/a)", Status.PASSED),
        ("run_unit_tests(packages/b)", Status.FAILED),
    ]
    assert report.outcomes[1].result.failures[0].file == "packages/b/b.test.js"
    assert report.notes == ("run_unit_tests is no part of this plan for packages/types: no test runner is named there",)


def test_a_package_that_is_refused_is_told_and_not_passed_over(tmp_path: Path) -> None:
    package = '{"name": "a", "scripts": {"test": "node --test"}}'
    files = {
        "package.json": '{"workspaces": ["packages/*"]}',
        "packages/a/package.json": package,
        "packages/a/a.test.js": "",
    }
    tools = verifier(write(tmp_path / "root", files), profile="javascript-npm", modules=("packages/b",))
    report = PlanRun(tools, plan(Step(Tool.UNIT_TESTS))).report()
    assert [outcome.step.title for outcome in report.outcomes] == ["run_unit_tests(packages/b)"]
    assert report.status is not ReportStatus.PASSED


def test_a_scan_without_advisories_is_errored_and_never_passed(project: Path) -> None:
    report = PlanRun(verifier(project), plan(Step(Tool.COMPILE), Step(Tool.SECURITY_SCAN))).report()
    assert report.outcomes[1].result.status is Status.SKIPPED
    assert report.status is ReportStatus.ERRORED


def test_a_plan_that_asks_for_what_is_refused_is_errored(project: Path) -> None:
    report = PlanRun(verifier(project), plan(Step(Tool.SELECTED_TEST, selector="--co"))).report()
    assert report.status is ReportStatus.ERRORED


def test_a_test_that_passes_three_times_on_the_same_tree_is_flaky_and_the_record_is_kept(project: Path) -> None:
    write(project, {"tests/test_flaky.py": FLAKY})
    tools = verifier(project)
    report = PlanRun(tools, plan(Step(Tool.UNIT_TESTS))).report()
    result = report.outcomes[0].result
    assert report.status is ReportStatus.PASSED
    assert result.notes[-1] == (
        "flaky: tests/test_flaky.py::test_sometimes failed, then passed 3 of 3 reruns on the same tree"
    )
    assert [warning.test_name for warning in result.warnings] == ["tests/test_flaky.py::test_sometimes"]
    reruns = [one.name for one in tools.store.listed() if one.name.endswith("run_selected_test.result.json")]
    assert len(reruns) == 3


def test_a_test_that_fails_again_is_believed_after_one_rerun(project: Path) -> None:
    write(project, {"cart.py": CART.replace("sum(prices)", "sum(prices) + 1 if prices else 0")})
    tools = verifier(project)
    report = PlanRun(tools, plan(Step(Tool.UNIT_TESTS))).report()
    assert report.status is ReportStatus.FAILED
    reruns = [one.name for one in tools.store.listed() if one.name.endswith("run_selected_test.result.json")]
    assert len(reruns) == 1


def test_what_only_lacks_format_is_formatted_where_that_is_allowed(project: Path) -> None:
    write(project, UNFORMATTED)
    profile = load_profile("python").model_copy(update={"policy": Policy(allow_source_mutation=True)})
    tools = verifier(project, allow_format_apply=True)
    tools.context = replace(tools.context, profile=profile)
    report = PlanRun(tools, plan(Step(Tool.FORMAT_CHECK))).report()
    assert [(outcome.step.tool, outcome.result.status) for outcome in report.outcomes] == [
        (Tool.FORMAT_APPLY, Status.PASSED),
        (Tool.FORMAT_CHECK, Status.PASSED),
    ]
    assert report.outcomes[1].result.notes[-1].endswith("run_format_apply formatted them")


def test_a_format_failure_that_may_not_be_repaired_is_a_failure(project: Path) -> None:
    write(project, UNFORMATTED)
    report = PlanRun(verifier(project), plan(Step(Tool.FORMAT_CHECK))).report()
    assert report.blocking[0].failure.kind is FailureKind.FORMAT_FAILURE


def test_selected_tests_are_tried_where_the_whole_suite_ran_out_of_time(project: Path) -> None:
    write(project, {"tests/test_slow.py": "import time\ndef test_slow():\n    time.sleep(60)\n"})
    patient = load_profile("python")
    impatient = [command.model_copy(update={"seconds": 4.0}) for command in patient.commands[Tool.UNIT_TESTS]]
    tools = verifier(project)
    commands = {**patient.commands, Tool.UNIT_TESTS: impatient}
    tools.context = replace(tools.context, profile=patient.model_copy(update={"commands": commands}))
    outcomes = PlanRun(tools, plan(Step(Tool.UNIT_TESTS)), ("tests/test_cart.py",)).report().outcomes
    assert [(one.step.tool, one.result.status, one.step.required) for one in outcomes] == [
        (Tool.UNIT_TESTS, Status.TIMED_OUT, True),
        (Tool.SELECTED_TEST, Status.PASSED, False),
    ]


def test_a_plan_that_is_stopped_runs_no_further_step(project: Path) -> None:
    stop = threading.Event()
    steps = plan(Step(Tool.COMPILE), Step(Tool.UNIT_TESTS))

    def stop_it(outcome: StepOutcome) -> None:
        stop.set()

    report = PlanRun(verifier(project), steps, stop=stop, listener=Listener(ended=stop_it)).report()
    assert [outcome.step.tool for outcome in report.outcomes] == [Tool.COMPILE]


def test_what_failed_on_the_base_commit_too_is_shown_and_still_fails(project: Path, tmp_path: Path) -> None:
    base = committed(project, {"cart.py": CART.replace("sum(prices)", "sum(prices) + 1 if prices else 0")})
    write(project, {"tests/test_new.py": "def test_new():\n    assert 1 == 2\n"})
    tools = verifier(project, base=base)
    report = compared(PlanRun(tools, plan(Step(Tool.UNIT_TESTS))).report(), tools.context, tmp_path / "cache")
    assert report.comparison is not None
    assert [failure.test_name for failure in report.comparison.new] == ["tests/test_new.py::test_new"]
    assert [failure.test_name for failure in report.comparison.unchanged] == ["tests/test_cart.py::test_total"]
    whose = {one.failure.test_name: one.disposed and one.disposed.disposition.value for one in report.blocking}
    assert whose == {
        "tests/test_cart.py::test_total": "pre-existing",
        "tests/test_new.py::test_new": "repairable",
    }
    assert report.status is ReportStatus.FAILED


def test_the_base_commit_is_run_once_for_a_tree_and_a_profile(project: Path, tmp_path: Path) -> None:
    base = git(project, "rev-parse", "HEAD")
    tools = verifier(project, base=base)
    steps = plan(Step(Tool.COMPILE))
    first = compared(PlanRun(tools, steps).report(), tools.context, tmp_path / "cache")
    (cached,) = (tmp_path / "cache").iterdir()
    before = cached.stat().st_mtime_ns
    again = compared(PlanRun(tools, steps).report(), tools.context, tmp_path / "cache")
    assert again.comparison == first.comparison
    assert cached.stat().st_mtime_ns == before
    cached.write_text("{ damaged")
    assert compared(PlanRun(tools, steps).report(), tools.context, tmp_path / "cache").comparison == first.comparison
