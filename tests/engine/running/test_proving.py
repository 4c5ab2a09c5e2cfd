"""What the formal lane's answer does: real state and gates; the provers' results are made here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.formal.specification import Specification, SpecKind, TheoremStatement
from agent_fox.core.ledger.gates import Gate
from agent_fox.core.policy import Policy
from agent_fox.core.verdicts.verdict import Word
from agent_fox.engine.handlers.final_review import verifier_of
from agent_fox.engine.running import proving
from agent_fox.engine.running.proving import Answer, Subject
from agent_fox.session.order import EndKind, SessionEnd
from agent_fox.store.gates import gates_of
from agent_fox.store.state import transaction
from agent_fox.verifier.lanes.results import LaneResult
from tests.engine.desk import Desk, small_spec
from tests.engine.handlers.test_reviewer_handler import SHAPE, said

A, B = "01-REQ-1.1", "01-REQ-1.2"
EVEN = Specification("01_a/even", SpecKind.THEOREM, "even", (f"01_a/{A}",), TheoremStatement("(= 1 1)"))
PROOF = LaneResult(EVEN.address, EVEN.version, EVEN.kind, Word.PASS, is_proof=True, requirements=EVEN.requirements)
KEY: dict[str, object] = {"tree": "t1"}


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """A desk on which a spec of two requirements is verified and reviewed, and a proof is required."""
    spec = small_spec("01_a", {1: ("1.1", "1.2")})
    desk = Desk.open(tmp_path, [spec], Policy(required_state=Gate.PROVED), SHAPE)
    desk.end("01_a:1")
    desk.report("01_a:2", {A: "PASS", B: "PASS"})
    desk.end("01_a:2:reviewer:final-review", output=said())
    return desk


def subject(desk: Desk, key: dict[str, object] = KEY) -> Subject:
    verifier = verifier_of(desk.db, "01_a")
    assert verifier is not None
    return Subject(verifier, "c1", "t1", (A, B), (EVEN,), key)


def record(desk: Desk, answer: Answer, key: dict[str, object] = KEY) -> None:
    with transaction(desk.db):
        proving.record(desk.docket(), subject(desk, key), answer, "1 checks")


def gates(desk: Desk) -> dict[str, str]:
    return {row.requirement_id: row.state.value for row in gates_of(desk.db)}


def is_open(desk: Desk, key: dict[str, object] = KEY) -> bool:
    return proving.is_open(desk.db, subject(desk, key), gates_of(desk.db))


def test_what_is_proved_is_accepted_and_the_rest_stays_reviewed_with_a_reason(desk: Desk) -> None:
    record(desk, Answer((PROOF,)))
    assert gates(desk) == {A: "accepted", B: "reviewed"}
    reasons = proving.reasons(desk.db, "01_a")
    assert set(reasons) == {B}
    assert reasons[B].startswith("no contract or theorem is linked to it")


def test_each_answer_stands_in_the_ledger_with_its_decision(desk: Desk) -> None:
    record(desk, Answer((PROOF,)))
    ((address, version, status, decision),) = desk.rows(
        "SELECT address, version, status, decision_id FROM ledger WHERE kind = 'check'"
    )
    assert (address, version, status) == (EVEN.address, EVEN.version, "PASS")
    assert desk.rows(f"SELECT kind FROM decisions WHERE id = {decision}") == [("Prove",)]


@pytest.mark.parametrize(
    "result",
    [
        replace(PROOF, is_proof=False),
        replace(PROOF, status=Word.UNKNOWN, is_proof=False, why="not confirmed"),
        replace(PROOF, status=Word.FAIL, is_proof=False, counterexample="x = 3"),
        replace(PROOF, version="another"),
    ],
)
def test_nothing_but_a_proof_of_the_present_version_proves(desk: Desk, result: LaneResult) -> None:
    record(desk, Answer((result,)))
    assert gates(desk) == {A: "reviewed", B: "reviewed"}
    assert A in proving.reasons(desk.db, "01_a")


def test_the_same_proof_is_not_made_twice_and_another_tree_is_proved_anew(desk: Desk) -> None:
    assert is_open(desk)
    record(desk, Answer((PROOF,)))
    assert not is_open(desk)
    assert is_open(desk, {"tree": "t2"})


def test_what_was_moved_back_since_is_proved_again(desk: Desk) -> None:
    record(desk, Answer((PROOF,)))
    record(desk, Answer((replace(PROOF, status=Word.UNKNOWN, is_proof=False),)), {"tree": "t2"})
    assert gates(desk)[A] == "reviewed"
    record(desk, Answer((PROOF,)))
    assert gates(desk)[A] == "accepted"


def test_provers_that_could_not_run_prove_nothing_and_are_asked_again(desk: Desk) -> None:
    record(desk, Answer(failure="the provers could not be run: no space"))
    assert proving.reasons(desk.db, "01_a") == dict.fromkeys((A, B), "the provers could not be run: no space")
    assert is_open(desk)


@pytest.mark.parametrize(
    ("kind", "output", "answer"),
    [
        (EndKind.INTERRUPTED, "", None),
        (EndKind.ENDED, "half an ans", Answer(failure="the provers' answer could not be read")),
        (EndKind.TIMED_OUT, "", Answer(failure="the provers could not be run: timed out: too slow")),
    ],
)
def test_an_end_without_an_answer_is_a_reason_or_a_stop(kind: EndKind, output: str, answer: Answer | None) -> None:
    assert proving.answer_of(SessionEnd(kind, "too slow", Path("log"), output=output)) == answer
