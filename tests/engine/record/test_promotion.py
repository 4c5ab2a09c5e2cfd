"""Gates and standings move by the same recorded decisions: random plans, every decision looked at."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_fox.core.ledger import promotion
from agent_fox.core.ledger.gates import ENOUGH, Gate, Role
from agent_fox.core.ledger.promotion import Promotion
from agent_fox.core.retry.standing import Status
from agent_fox.engine.handlers.reset import reset
from agent_fox.specs.planner import plan_of
from agent_fox.store.gates import gates_of
from agent_fox.store.state import transaction
from tests.engine.desk import BARE, Desk, small_spec

SPEC = "01_bell"
PARTS = ("01-REQ-1.1", "01-REQ-1.2", "01-REQ-2.1")
WORDS = st.fixed_dictionaries(dict.fromkeys(PARTS, st.sampled_from(["PASS", "PASS", "FAIL", "UNKNOWN"])))


def desk_in(folder: Path) -> Desk:
    return Desk.open(folder, [small_spec(SPEC, {1: ("1.1", "1.2"), 2: ("2.1",)})])


def work(desk: Desk, words: dict[str, str]) -> None:
    """Every coder that may, ends well; then the verifier says `words`. What is settled is reset by a person."""
    for node in (f"{SPEC}:1", f"{SPEC}:2"):
        if desk.node(node).standing.status is Status.PENDING:
            desk.end(node)
    verifier = desk.node(f"{SPEC}:3")
    if verifier.standing.is_settled:
        with transaction(desk.db):
            reset(desk.docket(), f"{SPEC}:3")
    desk.report(f"{SPEC}:3", words)


def gates(desk: Desk) -> dict[str, Gate]:
    return {row.requirement_id: row.state for row in gates_of(desk.db, SPEC)}


def folded(desk: Desk) -> dict[str, Gate]:
    """The gates from the recorded decisions alone, by the rules of the core."""
    found = dict.fromkeys(PARTS, Gate.PROPOSED)
    sql = "SELECT kind, facts FROM decisions WHERE spec_name = ? ORDER BY id"
    for kind, facts in desk.db.execute(sql, [SPEC]).fetchall():
        for move in moves_of(found, kind, json.loads(facts)):
            assert found[move.requirement_id] is move.start
            found[move.requirement_id] = move.finish
    return found


def moves_of(found: dict[str, Gate], kind: str, facts: dict[str, list[str]]) -> tuple[Promotion, ...]:
    match kind:
        case "Accept":
            return promotion.proven(found, PARTS)
        case "Recode" | "Block":
            return promotion.failed(found, facts["failing"], "")
        case "Land":
            return promotion.resubmitted(found, Role.BUILDER, "")
        case "Reset":
            return promotion.resubmitted(found, Role.PERSON, "")
    return ()


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(st.tuples(WORDS, st.booleans()), min_size=1, max_size=6))
def test_gates_are_the_fold_of_the_recorded_decisions_and_never_contradict_standings(
    rounds: list[tuple[dict[str, str], bool]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        desk = desk_in(Path(folder))
        for number, (words, is_moved) in enumerate(rounds):
            desk.commit = f"tree {number}" if is_moved else desk.commit
            work(desk, words)
            assert gates(desk) == folded(desk)
            if desk.node(f"{SPEC}:3").standing.is_proven:
                assert set(gates(desk).values()) <= ENOUGH[Gate.TESTED]
        records = desk.rows("SELECT count(*) FROM ledger WHERE kind = 'gate'")
        assert records == desk.rows("SELECT count(*) FROM gate_history")
        desk.db.close()


def test_what_failed_after_it_was_tested_is_rejected_then_proposed_then_tested_again(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    passes = dict.fromkeys(PARTS, "PASS")
    work(desk, passes)
    desk.commit = "another tree"
    work(desk, passes | {PARTS[0]: "FAIL"})
    work(desk, passes)
    sql = "SELECT start, finish, role FROM gate_history WHERE requirement_id = ? ORDER BY id"
    assert desk.db.execute(sql, [PARTS[0]]).fetchall() == [
        ("proposed", "tested", "evaluator"),
        ("tested", "rejected", "evaluator"),
        ("rejected", "proposed", "builder"),
        ("proposed", "tested", "evaluator"),
    ]


def test_a_changed_text_begins_again_and_an_old_one_that_comes_back_is_not_taken_for_tested(tmp_path: Path) -> None:
    desk = desk_in(tmp_path)
    work(desk, dict.fromkeys(PARTS, "PASS"))
    spec = small_spec(SPEC, {1: ("1.1", "1.2"), 2: ("2.1",)})
    first, second = spec.requirements
    changed = replace(first, criteria=(replace(first.criteria[0], text="another text"), *first.criteria[1:]))
    desk.replan(plan_of([replace(spec, requirements=(changed, second))], (), BARE))
    assert gates(desk) == {PARTS[0]: Gate.PROPOSED, PARTS[1]: Gate.TESTED, PARTS[2]: Gate.TESTED}
    desk.replan(plan_of([spec], (), BARE))
    assert gates(desk)[PARTS[0]] is Gate.PROPOSED
    desk.replan(plan_of([replace(spec, requirements=(replace(first, criteria=first.criteria[:1]), second))], (), BARE))
    desk.replan(plan_of([spec], (), BARE))
    assert gates(desk) == {PARTS[0]: Gate.PROPOSED, PARTS[1]: Gate.PROPOSED, PARTS[2]: Gate.TESTED}
    reasons = desk.rows("SELECT requirement_id, reason FROM gate_history WHERE start IS NULL ORDER BY id")
    again = (PARTS[0], "its text changed")
    assert reasons == [again, again, (PARTS[1], "it is back in the plan")]
