"""A plan over a state that has one already: what came, changed and went; and a person's reset."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.policy import Policy
from agent_fox.core.retry.standing import Outcome, Status
from agent_fox.core.spec import Criterion, Requirement, Spec, TaskState
from agent_fox.engine.handlers.reset import NothingToReset, reset
from agent_fox.engine.planning.planning import sync_plan
from agent_fox.engine.planning.scope import Scope, with_dependencies
from agent_fox.specs.planner import plan_of
from agent_fox.store.state import transaction
from tests.engine.desk import BARE, Desk, small_spec

A, B = "01-REQ-1.1", "01-REQ-2.1"
ONE = small_spec("01_a", {1: ("1.1",), 2: ("2.1",)})
CURRENT = "SELECT requirement_id, verdict FROM verification_results WHERE superseded_by IS NULL ORDER BY 1"


def proven(tmp_path: Path, spec: Spec = ONE) -> Desk:
    desk = Desk.open(tmp_path, [spec])
    desk.end("01_a:1")
    desk.end("01_a:2")
    desk.report("01_a:3", {A: "PASS", B: "PASS"})
    return desk


def change(spec: Spec, part: str, text: str) -> Spec:
    def changed(one: Criterion) -> Criterion:
        return replace(one, text=text) if one.id == part else one

    requirements = tuple(replace(r, criteria=tuple(changed(c) for c in r.criteria)) for r in spec.requirements)
    return replace(spec, requirements=requirements)


def statuses(desk: Desk) -> dict[str, str]:
    return {str(i): str(s) for i, s in desk.rows("SELECT id, status FROM plan_nodes ORDER BY position")}


def test_the_same_plan_again_changes_nothing(tmp_path: Path) -> None:
    desk = proven(tmp_path)
    before = desk.rows("SELECT * FROM plan_nodes"), desk.rows("SELECT * FROM decisions")
    assert desk.replan(plan_of([ONE], (), BARE)) == ()
    assert (desk.rows("SELECT * FROM plan_nodes"), desk.rows("SELECT * FROM decisions")) == before


def test_a_changed_text_takes_the_verdict_and_sends_owner_and_verifier_back(tmp_path: Path) -> None:
    desk = proven(tmp_path)
    lines = desk.replan(plan_of([change(ONE, B, "WHEN asked, it SHALL answer twice")], (), BARE))
    assert "changed requirement: 01-REQ-2.1 of 01_a loses its verdict" in lines
    assert statuses(desk) == {"01_a:1": "completed", "01_a:2": "pending", "01_a:3": "pending"}
    assert desk.rows(CURRENT) == [(A, "PASS"), (B, "UNKNOWN")]
    assert desk.node("01_a:2").standing.attempts_spent == 1


def test_a_changed_text_takes_a_fail_too(tmp_path: Path) -> None:
    desk = Desk.open(tmp_path, [ONE], Policy(attempts=1))
    desk.end("01_a:1")
    desk.end("01_a:2")
    desk.report("01_a:3", {A: "PASS", B: "FAIL"})
    desk.replan(plan_of([change(ONE, B, "WHEN asked, it SHALL answer")], (), BARE))
    assert desk.rows(CURRENT) == [(A, "PASS"), (B, "UNKNOWN")]
    assert statuses(desk)["01_a:3"] == "pending"


def test_a_removed_requirement_leaves_no_current_verdict(tmp_path: Path) -> None:
    desk = proven(tmp_path)
    desk.replan(plan_of([small_spec("01_a", {1: ("1.1",), 2: ()})], (), BARE))
    assert desk.rows(CURRENT) == [(A, "PASS")]
    assert statuses(desk)["01_a:3"] == "pending"


def test_an_added_group_takes_the_verifiers_name_and_the_verifier_keeps_its_history(tmp_path: Path) -> None:
    desk = proven(tmp_path)
    desk.replan(plan_of([small_spec("01_a", {1: ("1.1",), 2: ("2.1",), 3: ("3.1",)})], (), BARE))
    assert desk.rows("SELECT id, uid, status FROM plan_nodes ORDER BY position") == [
        ("01_a:1", "01_a:coder:1", "completed"),
        ("01_a:2", "01_a:coder:2", "completed"),
        ("01_a:3", "01_a:coder:3", "pending"),
        ("01_a:4", "01_a:verifier", "pending"),
    ]
    assert desk.node("01_a:4").standing.reading == 2


def test_a_removed_group_is_withdrawn_and_comes_back_as_itself(tmp_path: Path) -> None:
    desk = proven(tmp_path)
    desk.replan(plan_of([small_spec("01_a", {1: ("1.1",)})], (), BARE))
    assert desk.rows("SELECT status FROM plan_nodes WHERE uid = '01_a:coder:2'") == [("withdrawn",)]
    desk.replan(plan_of([ONE], (), BARE))
    assert desk.rows("SELECT id, status FROM plan_nodes WHERE uid = '01_a:coder:2'") == [("01_a:2", "pending")]


def test_a_ticked_group_is_not_launched_until_it_is_asked_for(tmp_path: Path) -> None:
    ticked = replace(ONE, groups=tuple(replace(g, state=TaskState.DONE) for g in ONE.groups))
    desk = Desk.open(tmp_path, [ticked])
    assert desk.node("01_a:1").standing.outcome is Outcome.TICKED
    with transaction(desk.db):
        sync_plan(desk.docket(), Scope(plan_of([ticked], (), BARE), {}), redo=True)
    again = desk.node("01_a:1").standing
    assert (again.status, again.attempt, again.attempts_spent) == (Status.PENDING, 1, 1)


def test_a_fail_launches_a_ticked_group(tmp_path: Path) -> None:
    ticked = replace(ONE, groups=tuple(replace(g, state=TaskState.DONE) for g in ONE.groups))
    desk = Desk.open(tmp_path, [ticked])
    desk.report("01_a:3", {A: "PASS", B: "FAIL"})
    standing = desk.node("01_a:2").standing
    assert (standing.status, standing.attempt) == (Status.PENDING, 1)


def test_scope_takes_in_what_a_spec_depends_on() -> None:
    specs = [small_spec("01_a", {1: ()}), small_spec("02_b", {1: ()}, "01_a"), small_spec("03_c", {1: ()}, "02_b")]
    plan = plan_of(specs, (), BARE)
    assert with_dependencies(plan, ["02_b"]) == {"01_a", "02_b"}


def escalated(tmp_path: Path) -> Desk:
    after = small_spec("02_b", {1: ("1.1",)}, after="01_a")
    desk = Desk.open(tmp_path, [small_spec("01_a", {1: ("1.1",)}), after], Policy(attempts=1))
    desk.end("01_a:1")
    desk.report("01_a:2", {A: "FAIL"})
    return desk


def test_resetting_the_coder_reopens_the_verifier_and_lifts_what_waited(tmp_path: Path) -> None:
    desk = escalated(tmp_path)
    with transaction(desk.db):
        handled = reset(desk.docket(), "01_a:1")
    assert statuses(desk) == dict.fromkeys(["01_a:1", "01_a:2", "02_b:1", "02_b:2"], "pending")
    assert handled.waits == (("01_a:coder:1", "01_a:verifier"),)
    coder, verifier = desk.node("01_a:1").standing, desk.node("01_a:2").standing
    assert (coder.attempt, coder.attempts_spent) == (2, 1)
    assert (verifier.attempt, verifier.reading, verifier.readings_spent) == (1, 2, 1)


def test_resetting_the_verifier_renews_its_coders_budgets(tmp_path: Path) -> None:
    desk = escalated(tmp_path)
    with transaction(desk.db):
        reset(desk.docket(), "01_a:2")
    coder = desk.node("01_a:1").standing
    assert (coder.status, coder.attempts_spent) == (Status.COMPLETED, 0)
    desk.report("01_a:2", {A: "FAIL"})
    assert desk.node("01_a:1").standing.status is Status.PENDING


@pytest.mark.parametrize(
    ("node", "says"), [("02_b:1", "only waits for 01_a:2: agent-fox reset 01_a:2"), ("09_x:1", "no such node")]
)
def test_what_cannot_be_reset_says_what_can(tmp_path: Path, node: str, says: str) -> None:
    desk = escalated(tmp_path)
    with pytest.raises(NothingToReset, match=says), transaction(desk.db):
        reset(desk.docket(), node)


def test_a_pending_node_has_nothing_to_reset(tmp_path: Path) -> None:
    desk = Desk.open(tmp_path, [ONE])
    with pytest.raises(NothingToReset, match="it runs anyway"), transaction(desk.db):
        reset(desk.docket(), "01_a:1")


def test_a_block_with_two_roots_is_lifted_when_both_are_reset(tmp_path: Path) -> None:
    two = small_spec("02_b", {1: ("1.1",)})
    last = replace(small_spec("03_c", {1: ("1.1",)}, after="01_a"))
    last = replace(last, dependencies=(*last.dependencies, replace(last.dependencies[0], spec="02_b")))
    desk = Desk.open(tmp_path, [small_spec("01_a", {1: ("1.1",)}), two, last], Policy(attempts=1))
    for spec, part in (("01_a", "01-REQ-1.1"), ("02_b", "02-REQ-1.1")):
        desk.end(f"{spec}:1")
        desk.report(f"{spec}:2", {part: "FAIL"})
    with transaction(desk.db):
        reset(desk.docket(), "01_a:1")
    assert desk.node("03_c:1").standing.status is Status.BLOCKED
    with transaction(desk.db):
        reset(desk.docket(), "02_b:1")
    assert desk.node("03_c:1").standing.status is Status.PENDING


def test_requirements_without_criteria_expect_themselves(tmp_path: Path) -> None:
    bare = replace(ONE, requirements=(Requirement("01-REQ-1", "one", "it SHALL be"),))
    desk = Desk.open(tmp_path, [bare])
    assert desk.rows("SELECT id, requirement_id FROM plan_parts") == [("01-REQ-1", "01-REQ-1")]
