"""What is read from real specs agrees with what a person read from them, where those specs are at hand."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_fox.core.graph import EdgeKind
from agent_fox.core.ids import Archetype
from agent_fox.core.spec import BareCriteria, Spec, TaskState
from agent_fox.specs.planner import plan_of
from agent_fox.specs.reader import read_specs

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "specs"
TRUTH = json.loads((DATA / "expected.json").read_text()) if (DATA / "expected.json").exists() else []
CASES = [case for case in TRUTH if case["kind"] in ("agent-fox", "kiro")]
STATES = {TaskState.DONE: "x", TaskState.OPEN: " "}

pytestmark = pytest.mark.skipif(not CASES, reason="the real specs are not at hand")


@pytest.fixture(params=CASES, ids=[case["path"] for case in CASES])
def case(request: pytest.FixtureRequest) -> dict[str, Any]:
    found: dict[str, Any] = request.param
    return found


def spec_of(case: dict[str, Any]) -> Spec:
    folder = DATA / Path(case["path"])
    specs, _ = read_specs(folder.parent, DATA)
    return next(spec for spec in specs if spec.name == folder.name)


def test_requirement_ids_agree(case: dict[str, Any]) -> None:
    read = {
        r.id: {"criteria": [c.id for c in r.criteria], "edge": [e.id for e in r.edge_cases]}
        for r in spec_of(case).requirements
    }
    assert read == (case["requirements"] or {})


def test_groups_agree(case: dict[str, Any]) -> None:
    read = [(g.number, STATES[g.state], g.optional, [s.number for s in g.subtasks]) for g in spec_of(case).groups]
    truth = [
        (g["n"], g["state"].replace("pending", " "), g.get("optional", False), g["subtasks"]) for g in case["groups"]
    ]
    assert read == truth


def test_dependencies_agree(case: dict[str, Any]) -> None:
    read = [{"spec": d.spec, "from_group": d.from_group, "to_group": d.to_group} for d in spec_of(case).dependencies]
    assert read == case["dependencies"]


def test_every_criterion_of_the_data_broker_is_accounted_for() -> None:
    """57 stand there: 31 with ids, and 26 without, which are in the texts of the requirements that they are about."""
    specs, _ = read_specs(DATA / "parking-fee-service", DATA)
    spec = next(spec for spec in specs if spec.name == "02_data_broker")
    details = [(requirement, detail) for requirement in spec.requirements for detail in requirement.details]
    assert (len(spec.expected), len(details)) == (31, 26)
    assert all(detail in part.text for requirement, detail in details for part in requirement.criteria)
    required, _ = read_specs(DATA / "parking-fee-service", DATA, bare=BareCriteria.REQUIRED)
    assert len(next(spec for spec in required if spec.name == "02_data_broker").expected) == 57


def test_nine_real_specs_make_83_nodes() -> None:
    plan = plan_of(*read_specs(DATA / "parking-fee-service", DATA))
    kinds = [node.archetype for node in plan.nodes]
    assert [kinds.count(kind) for kind in (Archetype.CODER, Archetype.REVIEWER, Archetype.VERIFIER)] == [56, 18, 9]
    assert [e.kind for e in plan.edges].count(EdgeKind.CHAIN) == 74
    assert [e.kind for e in plan.edges].count(EdgeKind.DEPENDENCY) == 17  # one row stands in two documents
    assert plan.problems == ()


def test_each_of_the_nine_has_one_group_that_only_writes_tests() -> None:
    specs, _ = read_specs(DATA / "parking-fee-service", DATA)
    assert [[g.number for g in spec.groups if g.writes_tests_only] for spec in specs] == [[1]] * 9
