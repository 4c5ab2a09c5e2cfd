"""Specs become nodes and edges."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest

from agent_fox.core.graph import Edge, EdgeKind, Plan
from agent_fox.core.ids import Archetype, Mode
from agent_fox.core.spec import Group, Severity, Spec
from agent_fox.specs.planner import PlanShape, plan_of
from tests.specs.worlds import planned, usual, write_spec


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    return tmp_path / "specs"


def ids(plan: Plan) -> list[str]:
    return [node.id for node in plan.nodes]


def edges(plan: Plan, kind: EdgeKind) -> list[tuple[str, str]]:
    return [(edge.source, edge.target) for edge in plan.edges if edge.kind is kind]


def test_the_nodes_of_a_spec_stand_in_their_order(specs: Path) -> None:
    usual(specs, "01_a")
    plan = planned(specs, PlanShape(drift_review=True))
    assert [(node.id, node.uid, node.archetype, node.mode) for node in plan.nodes] == [
        ("01_a:0:reviewer:pre-review", "01_a:reviewer:pre-review", Archetype.REVIEWER, Mode.PRE_REVIEW),
        ("01_a:0:reviewer:drift-review", "01_a:reviewer:drift-review", Archetype.REVIEWER, Mode.DRIFT_REVIEW),
        ("01_a:1", "01_a:coder:1", Archetype.CODER, None),
        ("01_a:1:reviewer:audit-review", "01_a:reviewer:audit-review:1", Archetype.REVIEWER, Mode.AUDIT_REVIEW),
        ("01_a:2", "01_a:coder:2", Archetype.CODER, None),
        ("01_a:3", "01_a:verifier", Archetype.VERIFIER, None),
    ]
    assert edges(plan, EdgeKind.CHAIN) == list(zip(ids(plan), ids(plan)[1:], strict=False))
    assert plan.problems == ()


def test_reviewers_and_the_verifier_can_be_left_out(specs: Path) -> None:
    usual(specs, "01_a")
    plan = planned(specs, PlanShape(pre_review=False, audit_review=False, verifier=False))
    assert ids(plan) == ["01_a:1", "01_a:2"]


def test_a_final_review_stands_behind_a_gate_after_the_verifier(specs: Path) -> None:
    usual(specs, "01_a")
    plan = planned(specs, PlanShape(final_review=True))
    last = plan.nodes[-1]
    assert (last.id, last.uid) == ("01_a:3:reviewer:final-review", "01_a:reviewer:final-review")
    assert (last.archetype, last.mode) == (Archetype.REVIEWER, Mode.FINAL_REVIEW)
    assert edges(plan, EdgeKind.GATE) == [("01_a:3", last.id)]
    assert plan.nodes[:-1] == planned(specs, PlanShape()).nodes


def test_without_a_verifier_there_is_nothing_to_review(specs: Path) -> None:
    usual(specs, "01_a")
    shape = PlanShape(final_review=True, verifier=False)
    assert ids(planned(specs, shape)) == ids(planned(specs, PlanShape(verifier=False)))


@pytest.mark.parametrize(("gate", "waits"), [("spec", "02_b:0:reviewer:pre-review"), ("group", "02_b:3")])
def test_what_depends_on_a_spec_waits_for_its_final_review(
    specs: Path, gate: Literal["spec", "group"], waits: str
) -> None:
    usual(specs, "01_a")
    usual(specs, "02_b", "01_a | 1 | 1")
    plan = planned(specs, PlanShape(final_review=True, gate=gate))
    assert ("01_a:3:reviewer:final-review", waits) in edges(plan, EdgeKind.GATE)
    assert plan.problems == ()


def test_a_row_and_its_gate_join_two_specs(specs: Path) -> None:
    usual(specs, "01_a")
    usual(specs, "02_b", "01_a | 1 | 2", "01_a | 2 | 2", "01_a | 1 | 2")
    plan = planned(specs)
    assert edges(plan, EdgeKind.DEPENDENCY) == [("01_a:1", "02_b:2"), ("01_a:2", "02_b:2")]
    assert edges(plan, EdgeKind.GATE) == [("01_a:3", "02_b:0:reviewer:pre-review")]


def test_a_gate_between_groups_holds_the_verifier_alone(specs: Path) -> None:
    usual(specs, "01_a")
    usual(specs, "02_b", "01_a | 1 | 1")
    plan = planned(specs, PlanShape(gate="group"))
    assert edges(plan, EdgeKind.DEPENDENCY) == [("01_a:1", "02_b:1")]
    assert edges(plan, EdgeKind.GATE) == [("01_a:3", "02_b:3")]


def test_whole_specs_wait_from_the_last_group_to_the_first(specs: Path) -> None:
    usual(specs, "01_a")
    usual(specs, "02_b", "1 | all | -")
    plan = planned(specs)
    assert edges(plan, EdgeKind.DEPENDENCY) == [("01_a:2", "02_b:1")]
    assert plan.specs[1].dependencies[0].spec == "01_a"


def test_without_a_verifier_the_last_node_is_waited_for(specs: Path) -> None:
    usual(specs, "01_a")
    usual(specs, "02_b", "01_a | 1 | 2")
    plan = planned(specs, PlanShape(verifier=False, pre_review=False, audit_review=False))
    assert edges(plan, EdgeKind.DEPENDENCY) == [("01_a:1", "02_b:2"), ("01_a:2", "02_b:1")]
    assert edges(plan, EdgeKind.GATE) == []


def test_ticks_and_options_stand_on_the_nodes(specs: Path) -> None:
    usual(specs, "01_a", tasks="- [x] 1. A\n- [~] 2. B\n- [-] 3. C\n- [ ]* 4. D\n")
    plan = planned(specs, PlanShape(pre_review=False))
    assert [(n.is_ticked, n.is_optional) for n in plan.nodes] == [
        (True, False),
        (True, False),
        (False, False),
        (False, True),
        (False, False),
    ]
    left_out = planned(specs, PlanShape(pre_review=False, optional_groups=False))
    assert left_out.nodes[3].is_ticked


def test_the_retry_of_a_predecessor_is_set_for_a_spec_or_a_node(specs: Path) -> None:
    usual(specs, "01_a")
    shape = PlanShape(pre_review=False, audit_review=False, overrides={"01_a": False, "01_a:2": True})
    assert [node.retry_predecessor for node in planned(specs, shape).nodes] == [False, True, False]


def test_a_group_may_be_of_another_archetype_that_is_known(specs: Path) -> None:
    usual(specs, "01_a", tasks="- [ ] 1. A [archetype: reviewer]\n- [ ] 2. B [archetype: poet]\n")
    plan = planned(specs, PlanShape(pre_review=False))
    assert [(node.uid, node.archetype) for node in plan.nodes[:2]] == [
        ("01_a:reviewer:1", Archetype.REVIEWER),
        ("01_a:coder:2", Archetype.CODER),
    ]
    (problem,) = plan.problems
    assert problem.severity is Severity.WARNING
    assert "'poet'" in problem.what


def test_a_spec_with_nothing_to_prove_is_reported(specs: Path) -> None:
    write_spec(specs, "01_a", tasks="- [ ] 1. A\n")
    (problem,) = planned(specs).problems
    assert (problem.severity, problem.where, problem.spec) == (Severity.WARNING, "specs/01_a", "01_a")
    assert "nothing to prove" in problem.what


def test_a_spec_without_groups_is_reported_and_keeps_its_verifier(specs: Path) -> None:
    usual(specs, "01_a", tasks="# Plan\n")
    plan = planned(specs)
    assert ids(plan)[-1] == "01_a:1"
    assert "no task groups" in plan.problems[0].what


def test_nothing_of_a_superseded_spec_is_planned(specs: Path) -> None:
    usual(specs, "01_a", "07_gone | 1 | 1", tasks="**SUPERSEDED** by spec 02_b\n\n- [ ] 1. A\n")
    usual(specs, "02_b", "01_a | 1 | 1")
    plan = planned(specs)
    assert {node.spec_name for node in plan.nodes} == {"02_b"}
    assert [spec.name for spec in plan.specs] == ["01_a", "02_b"]
    assert [p.severity for p in plan.problems] == [Severity.WARNING]


def test_what_depends_on_an_unreadable_spec_is_not_blamed_for_it(specs: Path) -> None:
    usual(specs, "02_b", "01_a | 1 | 1", "1 | 1 | 2")
    (write_spec(specs, "01_a") / "tasks.md").write_bytes(b"\x00")
    assert [problem.spec for problem in planned(specs).problems] == ["01_a"]


def test_a_plan_of_a_hundred_thousand_nodes_is_made_without_recursion() -> None:
    groups = tuple(Group(number, f"Part {number}") for number in range(1, 100_001))
    plan = plan_of(
        [Spec("01_a", "agent-fox", "01_a", groups=groups)], (), PlanShape(pre_review=False, audit_review=False)
    )
    assert len(plan.nodes) == 100_001
    assert plan.edges[-1] == Edge("01_a:100000", "01_a:100001", EdgeKind.CHAIN)
