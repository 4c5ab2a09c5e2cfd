"""Where a test is at fault: who gets it back, what waits for a person, what the final review is asked. No processes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.ledger.gates import Gate
from agent_fox.core.policy import Policy
from agent_fox.core.retry.decision import Accept, Block, Cause, Recode
from agent_fox.core.retry.standing import Outcome, Status
from agent_fox.engine.handlers.final_review import asked_in
from agent_fox.engine.record.docket import Docket
from agent_fox.specs.planner import PlanShape
from tests.engine.desk import Desk, small_spec

ONE = small_spec("01_a", {1: ("1.1",), 2: ("1.2",)})
THREE = small_spec("01_a", {1: ("1.1",), 2: (), 3: ()})
NOBODYS = replace(THREE, groups=tuple(replace(group, requirements=()) for group in THREE.groups))
A, B = "01-REQ-1.1", "01-REQ-1.2"
VERIFIER, REVIEW = "01_a:3", "01_a:3:reviewer:final-review"
SHAPE = PlanShape(pre_review=False, audit_review=False, final_review=True)
FOUND: dict[str, object] = {
    "test": "tests/test_a.py::test_a", "files": ["tests/test_a.py"], "committed": "0" * 64, "changed": "1" * 64,
    "reason": "test_a expected what nobody wants any more", "before": "assert f() == 3", "after": "assert f() == 4",
}  # fmt: skip


def answer(word: str, **more: object) -> str:
    """What `checks` says of A; B passes."""
    return json.dumps(
        {"verdicts": [{"requirement_id": A, "verdict": word, **more}, {"requirement_id": B, "verdict": "PASS"}]}
    )


def opened(folder: Path, policy: Policy | None = None, shape: PlanShape | None = None) -> Desk:
    desk = Desk.open(folder, [ONE], policy, shape or PlanShape(pre_review=False, audit_review=False))
    desk.end("01_a:1")
    desk.end("01_a:2")
    return desk


CHANGED = answer("UNKNOWN", disposition="changed expectation", needs_person=True, expectation=FOUND)


def test_a_changed_expectation_blocks_at_once_with_both_versions_and_the_command(tmp_path: Path) -> None:
    desk = opened(tmp_path)
    assert desk.end(VERIFIER, output=CHANGED, is_trusted=True).decision == Block(Cause.NEEDS_PERSON)
    assert desk.node(VERIFIER).standing.outcome is Outcome.ESCALATED
    ((payload,),) = desk.rows("SELECT payload FROM outbox")
    for words in ("f() == 3", "f() == 4", "nobody wants any more", f"agent-fox agree 01_a {A}"):
        assert words in str(payload)


def test_a_model_that_speaks_of_changed_expectations_is_not_believed(tmp_path: Path) -> None:
    desk = opened(tmp_path)
    assert desk.end(VERIFIER, output=CHANGED).decision != Block(Cause.NEEDS_PERSON)
    assert desk.rows("SELECT count(*) FROM verification_results WHERE expectation IS NOT NULL") == [(0,)]


@pytest.mark.parametrize(
    ("touched", "blamed"),
    [
        ({"c1": {"a.py"}, "c2": {"tests/test_a.py"}}, "01_a:coder:2"),
        ({"c1": {"tests/test_a.py"}, "c2": {"b.py"}}, "01_a:coder:1"),
        ({"c1": {"tests/test_a.py"}, "c2": {"tests/test_a.py"}}, "01_a:coder:2"),
        ({"c1": {"a.py"}, "c2": {"b.py"}}, "01_a:coder:1"),  # nobody changed it: its owner
    ],
)
def test_a_weakened_test_goes_back_to_the_group_that_changed_it_last(
    tmp_path: Path, touched: dict[str, set[str]], blamed: str
) -> None:
    desk = opened(tmp_path)
    for number, landed in enumerate(("c1", "c2"), 1):
        desk.db.execute(
            "UPDATE sessions SET landed_commit = ?, base_commit = 'c0' WHERE node_id = ?", [landed, f"01_a:{number}"]
        )
    desk.db.conn.commit()
    plain = desk.docket

    def docket() -> Docket:
        return replace(plain(), touched=lambda base, landed: frozenset(touched[landed]))

    desk.docket = docket  # type: ignore[method-assign]
    said = answer("FAIL", disposition="weakened test", test_files=["tests/test_a.py"], expectation=FOUND)
    decision = desk.end(VERIFIER, output=said, is_trusted=True).decision
    assert isinstance(decision, Recode)
    assert decision.blamed == (blamed,)


FRAME = "`pytest` (exit 1): ValueError\ntests/test_a.py:3: \nshop/cart.py:12: ValueError"


@pytest.mark.parametrize(
    ("touched", "evidence", "blamed"),
    [
        ({"c1": {"shop/cart.py"}, "c2": {"shop/mail.py"}, "c3": {"README.md"}}, FRAME, "01_a:coder:1"),
        ({"c1": {"shop/mail.py"}, "c2": {"shop/cart.py", "tests/test_a.py"}, "c3": set[str]()}, FRAME, "01_a:coder:2"),
        ({"c1": {"shop/cart.py"}, "c2": {"shop/cart.py"}, "c3": set[str]()}, FRAME, "01_a:coder:3"),  # two did
        ({"c1": {"tests/test_a.py"}, "c2": set[str](), "c3": set[str]()}, FRAME, "01_a:coder:3"),  # only a test
        ({"c1": {"shop/cart.py"}, "c2": set[str](), "c3": set[str]()}, "it fails", "01_a:coder:3"),  # no frame
    ],
)
def test_what_nobody_owns_goes_to_the_one_group_whose_work_the_failure_went_through(
    tmp_path: Path, touched: dict[str, set[str]], evidence: str, blamed: str
) -> None:
    desk = Desk.open(tmp_path, [NOBODYS], None, PlanShape(pre_review=False, audit_review=False))
    for number in (1, 2, 3):
        desk.end(f"01_a:{number}")
        landed = [f"c{number}", f"01_a:{number}"]
        desk.db.execute("UPDATE sessions SET landed_commit = ?, base_commit = 'c0' WHERE node_id = ?", landed)
    desk.db.conn.commit()
    plain = desk.docket

    def docket() -> Docket:
        return replace(plain(), touched=lambda base, landed: frozenset(touched[landed]))

    desk.docket = docket  # type: ignore[method-assign]
    report = {"verdicts": [{"requirement_id": A, "verdict": "FAIL", "evidence": evidence}]}
    decision = desk.end("01_a:4", output=json.dumps(report), is_trusted=True).decision
    assert isinstance(decision, Recode)
    assert decision.blamed == (blamed,)


def reviewed(folder: Path) -> Desk:
    """A desk on which the final review is to be asked about a changed expectation."""
    desk = opened(folder, Policy(required_state=Gate.REVIEWED), SHAPE)
    said = answer("PASS", expectation={**FOUND, "is_asked": True})
    assert desk.end(VERIFIER, output=said, is_trusted=True).decision == Accept()
    assert [one.requirement for one in asked_in(desk.db, "01_a")] == [A]
    return desk


@pytest.mark.parametrize(
    "answers",
    [
        None, [], [{"requirement_id": A, "agree": False}], [{"requirement_id": A, "agree": "true"}],
        [{"requirement_id": B, "agree": True}],
        [{"requirement_id": A, "agree": True}, {"requirement_id": A, "agree": False}],
    ],
)  # fmt: skip
def test_a_review_that_does_not_agree_in_so_many_words_leaves_it_to_a_person(tmp_path: Path, answers: object) -> None:
    desk = reviewed(tmp_path)
    said = json.dumps({"findings": []} | ({"expectations": answers} if answers is not None else {}))
    assert desk.end(REVIEW, output=said).decision == Block(Cause.NEEDS_PERSON)
    assert desk.node(REVIEW).standing.status is Status.BLOCKED
    assert desk.rows(f"SELECT state FROM gates WHERE requirement_id = '{A}'") == [("rejected",)]
    ((payload,),) = desk.rows("SELECT payload FROM outbox")
    assert f"agent-fox agree 01_a {A}" in str(payload)


def test_a_review_that_agrees_is_on_record_with_both_names(tmp_path: Path) -> None:
    desk = reviewed(tmp_path)
    said = json.dumps({"findings": [], "expectations": [{"requirement_id": A, "agree": True}]})
    assert desk.end(REVIEW, output=said).decision == Accept()
    ((note,),) = desk.rows(
        "SELECT json_extract(content, '$.body.note') FROM ledger WHERE kind = 'decision' "
        "AND status = 'Accept' ORDER BY position DESC LIMIT 1"
    )
    assert str(note).startswith(f"{A}: the change of tests/test_a.py::test_a is agreed to by ")
