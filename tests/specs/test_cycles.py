"""Cycles are errors that name specs and rows; those between whole specs say how to go on."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from agent_fox.core.graph import Edge, EdgeKind
from agent_fox.core.spec import Severity
from agent_fox.specs.planner import PlanShape, without_cycles
from tests.specs.worlds import planned, usual


def test_a_cycle_of_rows_names_its_specs_and_rows(tmp_path: Path) -> None:
    usual(tmp_path / "specs", "01_a", "03_c | 2 | 1")
    usual(tmp_path / "specs", "02_b", "01_a | 2 | 1")
    usual(tmp_path / "specs", "03_c", "02_b | 2 | 1")
    (problem,) = planned(tmp_path / "specs").problems
    assert problem.severity is Severity.ERROR
    for word in ("01_a", "02_b", "03_c", *(f"specs/{name}/prd.md:7" for name in ("01_a", "02_b", "03_c"))):
        assert word in problem.what
    assert 'gate = "group"' not in problem.what


def test_two_cycles_are_two_errors(tmp_path: Path) -> None:
    for one, other in (("01_a", "02_b"), ("03_c", "04_d")):
        usual(tmp_path / "specs", one, f"{other} | 2 | 1")
        usual(tmp_path / "specs", other, f"{one} | 2 | 1")
    assert len(planned(tmp_path / "specs").problems) == 2


def interleaved(specs: Path) -> None:
    """Each spec's second group needs the other's first: no cycle between groups."""
    usual(specs, "01_a", "02_b | 1 | 2")
    usual(specs, "02_b", "01_a | 1 | 2")


def test_a_cycle_between_whole_specs_proposes_gates_between_groups(tmp_path: Path) -> None:
    interleaved(tmp_path / "specs")
    (problem,) = planned(tmp_path / "specs").problems
    assert problem.severity is Severity.ERROR
    assert "only between whole specs" in problem.what
    assert 'gate = "group"' in problem.what
    assert "specs/01_a/prd.md:7" in problem.what


def test_what_it_proposes_works(tmp_path: Path) -> None:
    interleaved(tmp_path / "specs")
    plan = planned(tmp_path / "specs", PlanShape(gate="group"))
    assert [problem.severity for problem in plan.problems] == [Severity.WARNING]
    assert [edge for edge in plan.edges if edge.kind is EdgeKind.GATE] == []
    assert len([edge for edge in plan.edges if edge.kind is EdgeKind.DEPENDENCY]) == 2


def test_a_cycle_of_fifty_thousand_nodes_is_found() -> None:
    names = [f"s:{n}" for n in range(50_000)]
    ring: dict[Edge, tuple[str, ...]] = {Edge(a, b, EdgeKind.CHAIN): () for a, b in pairwise(names)}
    ring[Edge(names[-1], names[0], EdgeKind.DEPENDENCY)] = ("prd.md:7",)
    _, (problem,) = without_cycles(ring, "spec")
    assert problem.where == "prd.md:7"
