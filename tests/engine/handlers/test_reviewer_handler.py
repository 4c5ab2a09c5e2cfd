"""What the end of a final review does: real state, real handlers, no processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.core.ledger.gates import Gate
from agent_fox.core.policy import Policy
from agent_fox.core.retry.decision import Accept, Block, Cause, Reread, SendBack
from agent_fox.core.retry.standing import Status
from agent_fox.engine.handlers.final_review import commit_to_read
from agent_fox.engine.handlers.reset import reset
from agent_fox.engine.record.docket import Docket
from agent_fox.specs.planner import PlanShape
from agent_fox.store.gates import gates_of
from agent_fox.store.state import transaction
from tests.engine.desk import Desk, small_spec

ONE = small_spec("01_a", {1: ("1.1", "1.2"), 2: ("2.1",)})
A, B, C = "01-REQ-1.1", "01-REQ-1.2", "01-REQ-2.1"
ALL_PASS = {A: "PASS", B: "PASS", C: "PASS"}
VERIFIER, REVIEW = "01_a:3", "01_a:3:reviewer:final-review"
SHAPE = PlanShape(pre_review=False, audit_review=False, final_review=True)
REVIEWED = Policy(required_state=Gate.REVIEWED)


def said(*critical: str) -> str:
    return json.dumps(
        {"findings": [{"severity": "critical", "text": "bad", "requirement_id": one} for one in critical]}
    )


def opened(folder: Path, policy: Policy = REVIEWED, shape: PlanShape = SHAPE) -> Desk:
    """A desk on which the spec is verified, and its review awaited."""
    desk = Desk.open(folder, [ONE], policy, shape)
    desk.end("01_a:1")
    desk.end("01_a:2")
    desk.report(VERIFIER, ALL_PASS)
    return desk


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return opened(tmp_path)


def gates(desk: Desk) -> dict[str, str]:
    return {row.requirement_id: row.state.value for row in gates_of(desk.db)}


def status(desk: Desk, *nodes: str) -> list[Status]:
    return [desk.node(node).standing.status for node in nodes]


def test_nothing_critical_and_every_gate_is_accepted(desk: Desk) -> None:
    assert desk.end(REVIEW, output=said()).decision == Accept()
    assert set(gates(desk).values()) == {"accepted"}


def test_where_a_proof_is_required_what_was_reviewed_is_only_that(tmp_path: Path) -> None:
    desk = opened(tmp_path, Policy(required_state=Gate.PROVED))
    desk.end(REVIEW, output=said())
    assert set(gates(desk).values()) == {"reviewed"}


def test_the_owners_of_what_is_named_go_back_and_the_verifier_waits_for_them(desk: Desk) -> None:
    handled = desk.end(REVIEW, output=said(A))
    assert handled.decision == SendBack(("01_a:coder:1",))
    assert handled.waits == (("01_a:coder:1", "01_a:verifier"),)
    assert status(desk, "01_a:1", "01_a:2", VERIFIER, REVIEW) == [
        Status.PENDING, Status.COMPLETED, Status.PENDING, Status.PENDING,
    ]  # fmt: skip
    assert gates(desk) == {A: "rejected", B: "tested", C: "tested"}


def test_a_requirement_that_is_named_as_a_whole_stands_for_its_criteria(desk: Desk) -> None:
    desk.end(REVIEW, output=said("01-REQ-1"))
    assert gates(desk) == {A: "rejected", B: "rejected", C: "tested"}


def test_several_owners_go_back_in_plan_order(desk: Desk) -> None:
    assert desk.end(REVIEW, output=said(C, A)).decision == SendBack(("01_a:coder:1", "01_a:coder:2"))


def test_only_the_board_decides_the_order_verifier_then_review(desk: Desk) -> None:
    desk.end(REVIEW, output=said(A))
    board = desk.board()
    taken = board.take()
    assert taken is not None
    assert taken.node.id == "01_a:1"
    assert board.take() is None


def test_what_a_reviewer_spends_is_not_the_coders(desk: Desk) -> None:
    before = desk.node("01_a:1").standing.attempts_spent
    desk.end(REVIEW, output=said(A))
    assert desk.node("01_a:1").standing.attempts_spent == before


def test_the_budget_is_read_from_decisions_and_ends_in_a_block(desk: Desk) -> None:
    desk.end(REVIEW, output=said(A))
    desk.end("01_a:1")
    desk.report(VERIFIER, ALL_PASS)
    assert desk.end(REVIEW, output=said(A)).decision == Block(Cause.ATTEMPTS_SPENT)
    assert gates(desk)[A] == "rejected"
    assert desk.rows("SELECT count(*) FROM outbox WHERE kind = 'file'") == [(1,)]


def test_a_node_ceiling_that_is_reached_blocks(desk: Desk) -> None:
    plain = desk.docket
    reached = lambda spec, uid: "$5"  # noqa: E731 - a ceiling that is always reached

    def docket() -> Docket:
        found = plain()
        return Docket(found.db, found.at, found.policy, found.shelf, found.run_id, ceiling=reached)

    desk.docket = docket  # type: ignore[method-assign]
    assert desk.end(REVIEW, output=said(A)).decision == Block(Cause.CEILING)


def test_what_a_person_has_waived_sends_nobody_back(desk: Desk) -> None:
    plain = desk.docket

    def docket() -> Docket:
        found = plain()
        return Docket(
            found.db, found.at, found.policy, found.shelf, found.run_id, waived=lambda spec: frozenset({A, B})
        )

    desk.docket = docket  # type: ignore[method-assign]
    assert desk.end(REVIEW, output=said("01-REQ-1")).decision == Accept()
    (facts,) = desk.rows("SELECT facts FROM decisions ORDER BY id DESC LIMIT 1")[0]
    assert json.loads(str(facts))["findings"] == [["critical", "bad", "01-REQ-1"]]


def test_a_review_of_another_commit_than_the_verified_one_says_nothing(desk: Desk) -> None:
    desk.commit = "another"
    assert desk.end(REVIEW, output=said()).decision == Reread(())
    assert set(gates(desk).values()) == {"tested"}


def test_the_review_is_launched_on_what_was_verified_and_others_on_the_tip(desk: Desk) -> None:
    assert commit_to_read(desk.db, desk.node(REVIEW), "tip") == desk.commit
    assert commit_to_read(desk.db, desk.node(VERIFIER), "tip") == "tip"


@pytest.mark.parametrize("output", ["looks good", '{"findings": [{"severity": "soso"}]}', "> " + said() + " {"])
def test_what_cannot_be_read_is_no_approval(desk: Desk, output: str) -> None:
    assert desk.end(REVIEW, output=output).decision == Reread(())
    assert desk.end(REVIEW, output=output).decision == Block(Cause.NO_CLEAR_VERDICT)


def test_the_verifiers_issue_is_closed_when_the_review_is_content_and_not_before(tmp_path: Path) -> None:
    desk = Desk.open(tmp_path, [ONE], Policy(attempts=1, required_state=Gate.REVIEWED), SHAPE)
    desk.end("01_a:1")
    desk.end("01_a:2")
    desk.report(VERIFIER, {**ALL_PASS, A: "FAIL"})
    with transaction(desk.db):
        reset(desk.docket(), VERIFIER)
    desk.report(VERIFIER, ALL_PASS)
    desk.report(VERIFIER, ALL_PASS)
    assert status(desk, VERIFIER) == [Status.COMPLETED]
    assert desk.rows("SELECT state FROM issues") == [("open",)]
    desk.end(REVIEW, output=said())
    assert desk.rows("SELECT state FROM issues") == [("closed",)]


def test_an_escalated_verifier_holds_the_review_and_its_reset_lifts_it(tmp_path: Path) -> None:
    desk = Desk.open(tmp_path, [ONE], Policy(attempts=1, required_state=Gate.REVIEWED), SHAPE)
    desk.end("01_a:1")
    desk.end("01_a:2")
    desk.report(VERIFIER, {**ALL_PASS, A: "FAIL"})
    assert status(desk, REVIEW) == [Status.BLOCKED]
    with transaction(desk.db):
        reset(desk.docket(), VERIFIER)
    assert status(desk, VERIFIER, REVIEW) == [Status.PENDING, Status.PENDING]


def test_resetting_a_blocked_review_has_the_verifier_read_first(desk: Desk) -> None:
    desk.end(REVIEW, output="?")
    desk.end(REVIEW, output="?")
    with transaction(desk.db):
        reset(desk.docket(), REVIEW)
    board = desk.board()
    taken = board.take()
    assert taken is not None
    assert taken.node.id == VERIFIER
    assert board.take() is None
