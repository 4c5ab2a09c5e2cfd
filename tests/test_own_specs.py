"""This project's own specs: read by its own planner, and true about its own tests."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent_fox.core.graph import Plan
from agent_fox.core.ids import Archetype
from agent_fox.core.plan.blame import ownership
from agent_fox.core.spec import Group, Spec, Trace
from agent_fox.specs.planner import plan_of
from agent_fox.specs.reader import read_specs

ROOT = Path(__file__).parents[1]
EARS = re.compile(r"(?:(?:WHEN|WHILE|WHERE|IF)\b.*, (?:THEN )?)?THE SYSTEM SHALL ", re.DOTALL)


@pytest.fixture(scope="module")
def plan() -> Plan:
    return plan_of(*read_specs(ROOT / "specs", ROOT))


@pytest.fixture(scope="module")
def known() -> frozenset[str]:
    """Every test of the project, named as pytest names it."""
    return frozenset(name for path in (ROOT / "tests").rglob("test_*.py") for name in names_in(path))


def names_in(path: Path) -> Iterator[str]:
    """Read, never imported."""
    file = path.relative_to(ROOT).as_posix()
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.ClassDef):
            yield from (f"{file}::{statement.name}::{name}" for name in functions(statement.body))
        yield from (f"{file}::{name}" for name in functions([statement]))


def functions(statements: list[ast.stmt]) -> Iterator[str]:
    for statement in statements:
        if isinstance(statement, ast.FunctionDef) and statement.name.startswith("test_"):
            yield statement.name


def traces(plan: Plan) -> Iterator[Trace]:
    return (trace for spec in plan.specs for trace in spec.traceability)


def ticked(plan: Plan) -> Iterator[tuple[Spec, Group]]:
    groups = {(node.spec_name, node.group) for node in plan.nodes if node.is_ticked}
    return ((spec, group) for spec in plan.specs for group in spec.groups if (spec.name, group.number) in groups)


def shown(spec: Spec, part: str) -> bool:
    """Whether the traceability table names a test for the id."""
    return any(trace.tests for trace in spec.traceability if trace.requirement == part)


def test_the_planner_reads_them_without_a_problem(plan: Plan) -> None:
    assert not plan.problems
    assert plan.specs
    assert {spec.name for spec in plan.specs} == {path.name for path in (ROOT / "specs").iterdir() if path.is_dir()}


def test_each_spec_is_built_by_coders_and_judged_by_a_verifier(plan: Plan) -> None:
    for spec in plan.specs:
        mine = {node.archetype for node in plan.nodes if node.spec_name == spec.name}
        assert {Archetype.CODER, Archetype.VERIFIER} <= mine, spec.name


def test_each_requirement_is_one_sentence_of_a_known_form(plan: Plan) -> None:
    odd = [part.id for spec in plan.specs for part in spec.parts if not EARS.match(part.text)]
    assert not odd


def test_each_requirement_is_traced_to_a_task_of_its_spec(plan: Plan) -> None:
    for spec in plan.specs:
        tasks = {subtask.number for group in spec.groups for subtask in group.subtasks}
        traced = {trace.requirement for trace in spec.traceability if trace.tasks and tasks.issuperset(trace.tasks)}
        assert traced == set(spec.expected), spec.name


def test_tasks_and_traceability_name_the_same_owner(plan: Plan) -> None:
    for spec in plan.specs:
        for group in spec.groups:
            owned = {part for part in spec.expected if group.number in ownership(spec).of(part)}
            assert owned == set(group.requirements), f"{spec.name}:{group.number}"


def test_every_test_that_a_table_names_is_there(plan: Plan, known: frozenset[str]) -> None:
    absent = [f"{trace.requirement}: {name}" for trace in traces(plan) for name in trace.tests if name not in known]
    assert not absent


def test_each_requirement_of_a_ticked_group_has_a_test(plan: Plan) -> None:
    unshown = [part for spec, group in ticked(plan) for part in group.requirements if not shown(spec, part)]
    assert not unshown


def test_every_file_that_a_task_or_a_design_names_is_there(plan: Plan) -> None:
    named = re.compile(r"`((?:agent_fox|tests|fixtures|docs)/[\w./-]+)`")
    for spec in plan.specs:
        for name in ("design.md", "tasks.md"):
            paths = named.findall((ROOT / spec.documents[name]).read_text(encoding="utf-8"))
            assert not [path for path in paths if "::" not in path and not (ROOT / path).exists()], spec.name


def test_the_test_command_of_a_spec_runs_the_tests_that_it_names(plan: Plan) -> None:
    for spec in plan.specs:
        words = shlex.split(spec.test_commands["spec_tests"])
        places = [word for word in words if word.startswith("tests/")]
        outside = [name for trace in spec.traceability for name in trace.tests if not name.startswith(tuple(places))]
        assert words[:3] == ["python", "-m", "pytest"]
        assert all((ROOT / place).exists() for place in places)
        assert not outside, spec.name


def test_each_entry_of_a_test_specification_is_about_a_requirement_of_its_spec(plan: Plan) -> None:
    entry = re.compile(r"^### (TS-\d+-\w+): .+\n\n\*\*Requirement:\*\* (.+)$", re.MULTILINE)
    for spec in plan.specs:
        found = entry.findall((ROOT / spec.documents["test_spec.md"]).read_text(encoding="utf-8"))
        named = {name for trace in spec.traceability for name in trace.tests_specified}
        assert {part for _, ids in found for part in ids.split(", ")} == set(spec.expected), spec.name
        assert named <= {name for name, _ in found}, spec.name
