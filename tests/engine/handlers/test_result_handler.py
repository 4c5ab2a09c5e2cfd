"""What a verifier's report does to the plan: real state, real handlers, no processes."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_fox.core.ids import Ticket
from agent_fox.core.policy import Policy
from agent_fox.core.retry.decision import Accept, Block, Cause, Ignore, Recode, Reread
from agent_fox.core.retry.standing import Outcome, Standing, Status, Step, first_standing, fold
from agent_fox.engine.handlers.reset import reset
from agent_fox.store.plan import load_nodes
from agent_fox.store.records import decisions_of_spec
from agent_fox.store.state import transaction
from tests.engine.desk import Desk, small_spec

ONE = small_spec("01_a", {1: ("1.1",), 2: ("2.1", "2.E1")})
A, B, C = "01-REQ-1.1", "01-REQ-2.1", "01-REQ-2.E1"
ALL_PASS = {A: "PASS", B: "PASS", C: "PASS"}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk.open(tmp_path, [ONE])
    desk.end("01_a:1")
    desk.end("01_a:2")
    return desk


def standing(desk: Desk, node_id: str) -> tuple[Status, Outcome | None, int, int]:
    at = desk.node(node_id).standing
    return at.status, at.outcome, at.attempt, at.reading


def test_a_sound_report_completes_the_verifier_as_verified(desk: Desk) -> None:
    assert desk.report("01_a:3", ALL_PASS).decision == Accept()
    assert standing(desk, "01_a:3") == (Status.COMPLETED, Outcome.VERIFIED, 1, 1)
    assert desk.rows("SELECT name, verified_commit FROM plan_specs") == [("01_a", "c2")]


def test_a_fail_sends_the_blamed_coder_and_the_verifier_back_together(desk: Desk) -> None:
    handled = desk.report("01_a:3", {**ALL_PASS, C: "FAIL"})
    assert handled.decision == Recode(("01_a:coder:2",), {"01_a:coder:2": 0})
    assert standing(desk, "01_a:1") == (Status.COMPLETED, Outcome.LANDED, 1, 1)
    assert standing(desk, "01_a:2") == (Status.PENDING, None, 2, 1)
    assert standing(desk, "01_a:3") == (Status.PENDING, None, 2, 1)
    assert handled.waits == (("01_a:coder:2", "01_a:verifier"),)


def test_two_blamed_coders_run_in_plan_order_and_the_verifier_waits_for_both(desk: Desk) -> None:
    handled = desk.report("01_a:3", {A: "FAIL", B: "FAIL", C: "PASS"})
    first, second, verifier = "01_a:coder:1", "01_a:coder:2", "01_a:verifier"
    assert handled.waits == ((first, second), (first, verifier), (second, verifier))


def test_a_doubled_report_counts_once(desk: Desk) -> None:
    desk.report("01_a:3", {**ALL_PASS, B: "FAIL"})
    before = desk.rows("SELECT * FROM plan_nodes"), desk.rows("SELECT * FROM verification_results")
    late = desk.report("01_a:3", {**ALL_PASS, B: "FAIL"}, ticket=Ticket("01_a:verifier", 1, 1))
    assert isinstance(late.decision, Ignore)
    assert (desk.rows("SELECT * FROM plan_nodes"), desk.rows("SELECT * FROM verification_results")) == before
    assert desk.rows("SELECT kind FROM events") == [("ignored",)]


def test_a_late_pass_does_not_overwrite_a_block(desk: Desk) -> None:
    desk.policy = Policy(attempts=1)
    desk.report("01_a:3", {**ALL_PASS, B: "FAIL"})
    assert isinstance(desk.report("01_a:3", ALL_PASS).decision, Ignore)
    assert standing(desk, "01_a:3")[1] is Outcome.ESCALATED


def test_an_unreadable_report_is_read_again_without_touching_the_coders(desk: Desk) -> None:
    coders = [desk.node("01_a:1"), desk.node("01_a:2")]
    assert desk.end("01_a:3", output="all good, trust me").decision == Reread((A, B, C))
    assert [desk.node("01_a:1"), desk.node("01_a:2")] == coders
    assert standing(desk, "01_a:3") == (Status.PENDING, None, 1, 2)


def test_a_crashed_verifier_is_a_spent_reading(desk: Desk) -> None:
    assert isinstance(desk.end("01_a:3", failure="failed: exit 3").decision, Reread)
    handled = desk.end("01_a:3", failure="failed: exit 3")
    assert handled.decision == Block(Cause.NO_CLEAR_VERDICT)
    assert standing(desk, "01_a:3") == (Status.COMPLETED, Outcome.ESCALATED, 1, 2)


def test_two_readings_of_one_tree_add_up(desk: Desk) -> None:
    assert desk.report("01_a:3", {A: "PASS", B: "PASS"}).decision == Reread((C,))
    assert desk.report("01_a:3", {C: "PASS"}).decision == Accept()


def test_a_fail_that_passes_on_an_unchanged_tree_needs_a_second_reading(desk: Desk) -> None:
    desk.report("01_a:3", {**ALL_PASS, B: "FAIL"})
    tree = desk.commit
    desk.end("01_a:2")
    desk.commit = tree
    assert desk.report("01_a:3", ALL_PASS).decision == Reread((B,))
    current = "SELECT verdict, read_as, said FROM verification_results WHERE requirement_id = '01-REQ-2.1' ORDER BY id"
    assert desk.rows(current) == [("FAIL", "FAIL", "FAIL"), ("UNKNOWN", "PASS", "PASS")]
    assert desk.report("01_a:3", ALL_PASS).decision == Accept()


def test_a_fail_is_closed_only_by_a_pass(desk: Desk) -> None:
    desk.report("01_a:3", {**ALL_PASS, B: "FAIL"})
    desk.end("01_a:2")
    desk.report("01_a:3", {A: "PASS", C: "PASS"})
    open_ = "SELECT verdict FROM verification_results WHERE requirement_id = '01-REQ-2.1' AND superseded_by IS NULL"
    assert desk.rows(open_) == [("FAIL",)]
    desk.report("01_a:3", {B: "PASS"})
    assert desk.rows(open_) == [("PASS",)]


def test_a_block_writes_history_one_issue_and_completes_as_escalated(desk: Desk) -> None:
    desk.policy = Policy(attempts=1)
    handled = desk.report("01_a:3", {A: "PASS", B: "FAIL", C: "FAIL"})
    assert handled.decision == Block(Cause.ATTEMPTS_SPENT)
    assert len(handled.effects) == 1
    assert desk.rows("SELECT archetype, cause, requirements FROM blocking_history") == [
        ("verifier", "attempts spent", f'["{B}","{C}"]')
    ]
    assert desk.rows("SELECT kind, state FROM outbox") == [("file", "pending")]
    assert desk.rows("SELECT requirement_id FROM issue_members") == [(B,), (C,)]


def test_what_waits_for_an_escalated_spec_is_blocked_and_names_the_root(tmp_path: Path) -> None:
    desk = Desk.open(tmp_path, [small_spec("01_a", {1: ("1.1",)}), small_spec("02_b", {1: ("1.1",)}, after="01_a")])
    desk.policy = Policy(attempts=1)
    desk.end("01_a:1")
    desk.report("01_a:2", {"01-REQ-1.1": "FAIL"})
    assert [desk.node(n).standing.status for n in ("02_b:1", "02_b:2")] == [Status.BLOCKED, Status.BLOCKED]
    sql = "SELECT node_id, cause, root_node FROM blocking_history ORDER BY id"
    assert desk.rows(sql) == [
        ("01_a:2", "attempts spent", "01_a:2"),
        ("02_b:1", "depends on a blocked node", "01_a:2"),
        ("02_b:2", "depends on a blocked node", "01_a:2"),
    ]


def test_a_regression_is_blamed_on_who_ran_since_and_then_on_the_owner(desk: Desk) -> None:
    desk.policy = Policy(attempts=9)
    desk.report("01_a:3", {**ALL_PASS, B: "FAIL"})
    desk.end("01_a:2")
    assert desk.report("01_a:3", {**ALL_PASS, A: "FAIL"}).decision == Recode(("01_a:coder:2",), {"01_a:coder:2": 0})
    desk.end("01_a:2")
    assert desk.report("01_a:3", {**ALL_PASS, A: "FAIL"}).decision == Recode(("01_a:coder:1",), {"01_a:coder:1": 0})


def test_the_same_failure_twice_with_the_same_coder_stops(desk: Desk) -> None:
    desk.report("01_a:3", {**ALL_PASS, B: "FAIL"})
    desk.end("01_a:2")
    assert desk.report("01_a:3", {**ALL_PASS, B: "FAIL"}).decision == Block(Cause.NO_PROGRESS)


def test_an_issue_is_closed_with_the_proof_once_the_spec_is_proven(desk: Desk) -> None:
    desk.policy = Policy(attempts=1)
    desk.report("01_a:3", {**ALL_PASS, B: "FAIL"})
    with transaction(desk.db):
        reset(desk.docket(), "01_a:3")
    assert desk.report("01_a:3", ALL_PASS).decision == Reread((B,))
    assert desk.report("01_a:3", ALL_PASS).decision == Accept()
    assert desk.rows("SELECT kind FROM outbox ORDER BY rowid") == [("file",), ("close",)]
    assert desk.rows("SELECT state FROM issues") == [("closed",)]


words = st.sampled_from(["PASS", "FAIL", "PARTIAL"])
said = st.fixed_dictionaries({}, optional={A: words, B: words, C: words})
act: st.SearchStrategy[tuple[str, dict[str, str]]] = st.one_of(
    st.tuples(st.just("report"), said),
    st.tuples(st.just("gibberish"), st.just({})),
    st.tuples(st.just("late"), said),
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(act, max_size=14), st.integers(1, 3), st.booleans())
def test_any_history_is_bounded_and_its_projection_is_its_fold(
    acts: list[tuple[str, dict[str, str]]], attempts: int, stop: bool
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk.open(Path(folder), [ONE], Policy(attempts=attempts, stop_without_progress=stop))
        for kind, report in acts:
            run_coders(desk)
            play(desk, kind, report)
        check_history(desk, attempts)
        desk.db.close()


def run_coders(desk: Desk) -> None:
    for node_id in ("01_a:1", "01_a:2"):
        if desk.node(node_id).standing.status is Status.PENDING:
            desk.end(node_id)


def play(desk: Desk, kind: str, report: dict[str, str]) -> None:
    match kind:
        case "report":
            desk.report("01_a:3", report)
        case "gibberish":
            desk.end("01_a:3", output="no idea")
        case _:
            desk.report("01_a:3", report, ticket=Ticket("01_a:verifier", 99, 1))


def check_history(desk: Desk, attempts: int) -> None:
    past = decisions_of_spec(desk.db, "01_a")
    for planned in load_nodes(desk.db):
        steps = [(Step(s["step"]), s["rung"]) for d in past for s in d.steps if s["uid"] == planned.node.uid]
        assert planned.standing == fold(first_standing(planned.node.uid), steps)
    assert sum(d.kind == "Recode" for d in past) <= 2 * attempts
    verifier = desk.node("01_a:3").standing
    check_claims(desk, verifier)


def check_claims(desk: Desk, verifier: Standing) -> None:
    sql = "SELECT DISTINCT verdict FROM verification_results WHERE superseded_by IS NULL"
    if verifier.outcome is Outcome.VERIFIED:
        assert desk.rows(sql) == [("PASS",)]
    (issues,) = desk.rows("SELECT count(*) FROM issues")[0]
    assert issues == (1 if verifier.outcome is Outcome.ESCALATED else 0)
