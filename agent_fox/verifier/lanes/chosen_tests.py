"""The lane of tests and properties: the chosen tests must run, each of them, and pass."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.verdict import Word
from agent_fox.verifier.ground.cases import SHOWN, Case, Outcome
from agent_fox.verifier.ground.command_line import Command, CommandRefused, split_command, suites
from agent_fox.verifier.lanes.formal import version_of
from agent_fox.verifier.lanes.results import LaneResult, failed, passed, unknown
from agent_fox.verifier.suites.asking import with_tests
from agent_fox.verifier.suites.calls import Call, call_of
from agent_fox.verifier.suites.evidence_text import evidence_of, evidence_of_broken
from agent_fox.verifier.suites.running_suites import run_suite

if TYPE_CHECKING:
    from agent_fox.core.formal.specification import ChosenTests, PropertyTests, Specification
    from agent_fox.verifier.lanes.ground import Bench
    from agent_fox.verifier.suites.suite import SuiteRun

PYTEST = "python -m pytest"
REPORTERS = Path(__file__).resolve().parents[1] / "reporters"
PLUGIN = "hypothesis_profile"
"""The plugin for pytest in `reporters` that fixes how hypothesis looks for examples."""

SAMPLED = "only the examples that were tried"
TESTED = "only the inputs that the tests use"
FLAKY = "it failed, and then did not on the same tree: flaky"
_PLAN = "agent_fox.verifier.running.planned_commands"  # loaded where nobody names a command: it costs the start
_STATISTICS = regex(r"(?m)^\s+- (\d+) passing\b")
_FALSIFYING = regex(r"^(?:E\s+)?((?:Falsifying|Failing) (?:example|test case).*?\n(?:E\s+)?\))", re.M | re.DOTALL)
"""What hypothesis prints has other words in other versions."""


@dataclass(frozen=True, slots=True)
class Choice:
    """The command line that runs the chosen tests, and the names that each must be there of."""

    line: str
    names: tuple[str, ...]


def run_tests(specification: Specification, check: ChosenTests, bench: Bench, name: str) -> LaneResult:
    try:
        choice = Choice(check.command, ()) if check.command else chosen(check.select, bench)
    except CommandRefused as error:
        return unknown(specification, str(error))
    first, run = tried(specification, choice, bench, name)
    return replace(first, limitation=TESTED, environment=facts(run))


def run_properties(specification: Specification, check: PropertyTests, bench: Bench, name: str) -> LaneResult:
    try:
        choice = chosen(check.select, bench, ("-p", PLUGIN, "--hypothesis-show-statistics"))
    except CommandRefused as error:
        return unknown(specification, str(error))
    folders = ":".join((str(REPORTERS), *known_path(choice.line)))
    fixed = f"PYTHONPATH={shlex.quote(folders)} AGENT_FOX_EXAMPLES={check.examples} "
    seeing = replace(bench, ground=replace(bench.ground, also=(*bench.ground.also, REPORTERS)))
    result, run = tried(specification, replace(choice, line=fixed + choice.line), seeing, name)
    counts = [int(each) for each in _STATISTICS.findall(run.output)]
    if result.status is Word.PASS and not counts:
        result = unknown(specification, "none of the chosen tests is one that hypothesis feeds")
    shown = replace(result, counterexample=falsifying(run) or result.counterexample, limitation=SAMPLED)
    environment = {
        **facts(run),
        "profile": f"derandomized, at most {check.examples} examples",
        "examples": str(sum(counts)),
    }
    return replace(shown, environment=environment, command=f"pytest {shlex.join(check.select)}")


def known_path(line: str) -> tuple[str, ...]:
    """What the line's own PYTHONPATH says, which must hold beside ours."""
    path = split_command(line).variables.get("PYTHONPATH", "")
    return (path,) if path else ()


def chosen(select: Sequence[str], bench: Bench, more: Sequence[str] = ()) -> Choice:
    """The project's own test command with these tests alone; pytest where its command cannot select tests.

    Raises CommandRefused for one that needs a shell.
    """
    for line in lines_of(bench):
        command = split_command(line)
        call = call_of(command.argv, bench.workspace)
        selected = with_tests(call, [case_of(name) for name in select]) if call else None
        if selected is not None and (not more or selected.tool == "pytest"):
            return Choice(line_of(command, selected, more), tuple(select))
    return Choice(shlex.join([*PYTEST.split(), *more, *select]), tuple(select))


def line_of(command: Command, call: Call, more: Sequence[str]) -> str:
    return command.shown((*call.argv[: call.at + 1], *more, *call.argv[call.at + 1 :]))


def lines_of(bench: Bench) -> tuple[str, ...]:
    order = bench.context.order
    planned: tuple[str, ...] = order.configured or suites(order.commands)
    return planned or import_module(_PLAN).planned_lines(bench.workspace)


def case_of(name: str) -> Case:
    """`tests/test_x.py::TestY::test_z` as a test."""
    file, *inner = name.split("::")
    return Case(tuple(inner[:-1]), inner[-1] if inner else "", file)


def tried(specification: Specification, choice: Choice, bench: Bench, name: str) -> tuple[LaneResult, SuiteRun]:
    """Run; a failure is believed when it fails again."""
    run = run_suite(choice.line, bench.ground, f"{name}-first")
    result = result_from(specification, choice, run)
    if result.status is not Word.FAIL:
        return result, run
    again = result_from(specification, choice, run_suite(choice.line, bench.ground, f"{name}-again"))
    if again.status is Word.FAIL:
        return result, run
    return replace(unknown(specification, FLAKY), command=result.command, log_ref=run.log), run


def result_from(specification: Specification, choice: Choice, run: SuiteRun) -> LaneResult:
    """What one run shows."""
    failing = tuple(case for case in run.cases if case.outcome is Outcome.FAILED)
    result = judged(specification, choice, run, failing)
    return replace(result, command=run.reproduction(failing), log_ref=run.log)


def judged(specification: Specification, choice: Choice, run: SuiteRun, failing: Sequence[Case]) -> LaneResult:
    if run.unattempted is not None:
        return unknown(specification, run.unattempted.reason)
    if run.broken:
        return failed(specification, evidence_of_broken(run.broken[0]), run.broken[0].what)
    if failing:
        return failed(specification, evidence_of(failing), f"{len(failing)} of {len(run.cases)} tests fail")
    absent = [name for name in choice.names if not any(is_named(case, name) for case in run.cases)]
    if absent or not run.cases:
        return unknown(specification, f"no such test ran: {', '.join(absent) or run.line}")
    unshown = [case.id for case in run.cases if case.outcome not in SHOWN]
    if unshown:
        return unknown(specification, f"a test that was skipped shows nothing: {', '.join(unshown[:3])}")
    return passed(specification)


def is_named(case: Case, name: str) -> bool:
    """Whether a selection is about this test: its whole name, without parameters, or what holds it."""
    return case.id == name or case.id.startswith(tuple(name.rstrip("/") + mark for mark in ("[", "::", "/")))


def facts(run: SuiteRun) -> Mapping[str, str]:
    tool = run.call.tool if run.call else "?"
    return {"tool": version_of(tool) if tool == "pytest" else tool, "isolation": run.isolation}


def falsifying(run: SuiteRun) -> str:
    """The example that hypothesis found, as it prints it."""
    for case in run.cases:
        match = _FALSIFYING.search(f"{case.message}\n{case.text}")
        if case.outcome is Outcome.FAILED and match:
            return re.sub(r"(?m)^E\s{0,3}", "", match[1])
    return ""
