"""Gates by the records alone: what is waived is signed, and what a role did is shown by a decision."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlite_utils import Database

from agent_fox.core.ledger.close_out import CloseOut, FeedbackRecord, judge
from agent_fox.core.ledger.evidence import Artifact, Evidence, Json, Kind, Outcome, RunContext, SpecRef
from agent_fox.core.ledger.gates import TRANSITIONS, Gate, Role
from agent_fox.core.ledger.waivers import NAMESPACE, AboutRequirement, Statement, columns_of
from agent_fox.evidence import granting
from agent_fox.evidence.exports import export
from agent_fox.evidence.exports.verify_export import verify_export
from agent_fox.evidence.fold import SHOWN_BY, Fold
from agent_fox.evidence.signing import keys
from agent_fox.evidence.signing.keys import Signer
from agent_fox.review.close_out.report import Judged, document_of
from agent_fox.store import waivers
from agent_fox.store.gates import GateMove, record_moves
from agent_fox.store.ledger import ledger
from agent_fox.store.schema.evidence_tables import SHOWN
from agent_fox.store.state import transaction
from agent_fox.store.waivers import WaiverRow
from tests.evidence.ledgers import NOW, VERSION, check, grown, opened
from tests.store.world import SPEC

PERSON = Ed25519PrivateKey.from_private_bytes(bytes([7] * 32))
MALLORY = Ed25519PrivateKey.from_private_bytes(bytes([8] * 32))
ALICE = Signer("alice", (NAMESPACE,), keys.public_of(PERSON))
ID = "0123456789abcdef0123"


def statement(**changes: str) -> Statement:
    told = {"id": ID, "repository": "c0ffee", "reason": "the vendor mends it", "signer": "alice", "key": ALICE.key.id}
    subject = AboutRequirement(SPEC, "R1", changes.pop("version", VERSION))
    return Statement(
        subject=subject, dependencies=(), granted_at=NOW, expires_at="2026-06-01T00:00:00.000Z", **{**told, **changes}
    )


def waive(db: Database, private: Ed25519PrivateKey, said: Statement) -> None:
    """A waiver is kept, and the gate moved, as `agent-fox waive` does it; whoever signed it."""
    envelope = granting.sign_with_key(said, private)
    waivers.insert_waiver(db, WaiverRow(ID, columns_of(said), envelope))
    waivers.record_waiver_event(db, NOW, "granted", ID, subject=said.subject.address)
    ledger.append(db, [granting.granted_record(said, envelope, NOW)], SPEC)
    record_moves(db, NOW, SPEC, [GateMove("R1", VERSION, Gate.REJECTED, Gate.WAIVED, Role.PERSON, ID)])


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Its gates are rejected, and can be waived."""
    return grown(tmp_path, 3)


def faults(path: Path, *signers: Signer) -> list[str]:
    return [fault.what for fault in check(path, signers=signers).findings.faults]


def test_a_waiver_that_a_trusted_person_signed_is_sound(path: Path) -> None:
    with opened(path) as db, transaction(db):
        waive(db, PERSON, statement())
    checked = check(path, signers=(ALICE,))
    assert checked.findings.is_sound, checked.findings
    gate = checked.fold.gates()[SPEC, "R1"]
    assert (gate.state, gate.role, gate.waiver) == (Gate.WAIVED, Role.PERSON, ID)


def test_who_signed_it_is_not_known_where_nobody_is_trusted(path: Path) -> None:
    with opened(path) as db, transaction(db):
        waive(db, PERSON, statement())
    findings = check(path).findings
    assert (findings.faults, [doubt.what for doubt in findings.unchecked]) == ([], ["who signed the waivers"])


def test_a_waiver_that_somebody_else_signed_is_found_in_the_state_and_in_an_export(path: Path) -> None:
    with opened(path) as db, transaction(db):
        waive(db, MALLORY, statement())
        texts = list(export.lines(db, export.unsigned, repository="", at=NOW))
    assert any("is not signed by anybody trusted" in what for what in faults(path, ALICE))
    found = verify_export(texts, (), waiver_signers=(ALICE,)).checked.findings.faults
    assert any("is not signed by anybody trusted" in fault.what for fault in found)


def test_a_waiver_that_has_ended_vouches_for_nothing_and_is_asked_nothing(path: Path) -> None:
    with opened(path) as db, transaction(db):
        waive(db, MALLORY, statement())
        record_moves(
            db, NOW, SPEC, [GateMove("R1", VERSION, Gate.WAIVED, Gate.PROPOSED, Role.ENGINE, reason="revoked")]
        )
        granting.end(db, NOW, waivers.waivers_of(db)[0], "revoked", "a mistake")
    assert check(path, signers=(ALICE,)).findings.is_sound


def waived(waiver: str | None = ID, version: str = VERSION, requirement: str = "R1") -> Evidence:
    body: dict[str, Json] = {
        "spec": SPEC, "requirement": requirement, "version": version, "start": "proposed", "finish": "waived",
        "role": "person", "waiver": waiver, "reason": "",
    }  # fmt: skip
    about = SpecRef("requirement", f"{SPEC}/{requirement}", version)
    return Evidence(Kind.GATE, "gate:1", NOW, Outcome("waived"), about, body=body)


def planned(**parts: str) -> Evidence:
    body: dict[str, Json] = {"spec": SPEC, "parts": {**parts}}
    return Evidence(Kind.SPECIFICATION, "plan", NOW, Outcome("planned"), SpecRef("spec", SPEC), body=body)


def granted(status: str = "granted", version: str = VERSION) -> Evidence:
    about = SpecRef("requirement", f"{SPEC}/R1", version)
    return Evidence(Kind.WAIVER, f"waiver:{ID}:{status}", NOW, Outcome(status), about, body={"waiver": ID})


def folded(*records: Evidence) -> list[str]:
    fold = Fold()
    return [fault.what for position, record in enumerate(records, 1) for fault in fold.add(position, record)]


def test_a_waiver_serves_one_requirement_in_one_version_once() -> None:
    plan = planned(R1=VERSION, R2=VERSION)
    assert folded(plan, granted(), waived()) == []
    assert folded(plan, waived()) == ["no waiver is recorded by which it could have been waived"]
    assert folded(plan, granted(), waived(None)) == ["no waiver is recorded by which it could have been waived"]
    assert folded(plan, granted(), waived(requirement="R2")) == ["it was waived by the waiver of something else"]
    assert folded(plan, granted(version="old"), waived()) == ["it was waived by the waiver of something else"]
    assert folded(plan, granted(), granted("revoked"), waived()) == ["it was waived by a waiver that was over already"]
    again = folded(plan, granted(), waived(), waived())
    assert "it was waived by a waiver that was used already" in again


def test_a_changed_text_begins_again_at_proposed() -> None:
    fold = Fold()
    for position, record in enumerate((planned(R1=VERSION), granted(), waived(), planned(R1="new")), 1):
        assert fold.add(position, record) == ()
    gate = fold.gates()[SPEC, "R1"]
    assert (gate.state, gate.version, gate.position) == (Gate.PROPOSED, "new", 4)


@pytest.mark.parametrize("kind", [Kind.GATE, Kind.WAIVER, Kind.DECISION, Kind.SPECIFICATION])
def test_a_body_that_is_not_of_its_kind_is_found(kind: Kind) -> None:
    from_elsewhere: dict[str, Json] = {"finish": 7, "waiver": 7, "archetype": 7, "parts": 7}
    record = Evidence(kind, "one", NOW, Outcome("planned"), body=from_elsewhere)
    (what,) = folded(record if kind is not Kind.DECISION else with_decision(record))
    assert what.startswith(f"its body is not that of a {kind}")


def with_decision(record: Evidence) -> Evidence:
    return replace(record, context=replace(record.context, decision=1))


def test_every_change_of_a_gate_that_a_role_makes_can_be_shown() -> None:
    missing = [
        (finish, role)
        for (_, finish), roles in TRANSITIONS.items()
        for role in roles
        if role is not Role.ENGINE and finish is not Gate.WAIVED and finish not in SHOWN_BY[role]
    ]
    assert missing == []


def test_a_reviewer_of_tests_moves_no_gate_forward() -> None:
    """Only the reviewer of the whole does."""
    read = (planned(R1=VERSION), decision(1, "verifier"), verdict("PASS"))
    tested = moved(Gate.PROPOSED, Gate.TESTED, Role.EVALUATOR, 1)
    reviewed = moved(Gate.TESTED, Gate.REVIEWED, Role.REVIEWER, 2)
    assert folded(*read, tested, decision(2, "reviewer", "final-review"), reviewed) == []
    assert folded(*read, tested, decision(2, "reviewer", "audit-review"), reviewed) == [
        "it was moved as a reviewer's, by a decision about a reviewer"
    ]


def decision(number: int, archetype: str, mode: str | None = None, step: str | None = "") -> Evidence:
    """Accepted, with the step that belongs to that, with another one, or (None) with none."""
    word = step or ("review" if archetype == "reviewer" else "accept")
    steps: list[Json] = [] if step is None else [{"uid": archetype, "step": word, "rung": None}]
    body: dict[str, Json] = {"uid": archetype, "archetype": archetype, "mode": mode, "steps": steps}
    context = RunContext(decision=number)
    return Evidence(
        Kind.DECISION, f"decision:{number}", NOW, Outcome("Accept"), SpecRef("node", f"{SPEC}:2"), context, body=body
    )


def verdict(word: str) -> Evidence:
    about, context = SpecRef("requirement", f"{SPEC}/R1", VERSION), RunContext(decision=1)
    return Evidence(Kind.VERDICT, "verdict:1", NOW, Outcome(word), about, context)


def moved(start: Gate, finish: Gate, role: Role, number: int) -> Evidence:
    body: dict[str, Json] = {
        "spec": SPEC, "requirement": "R1", "version": VERSION, "start": start, "finish": finish, "role": role,
        "waiver": None, "reason": "",
    }  # fmt: skip
    about, context = SpecRef("requirement", f"{SPEC}/R1", VERSION), RunContext(decision=number)
    return Evidence(Kind.GATE, f"gate:{number}", NOW, Outcome(finish), about, context, body=body)


def test_a_tested_gate_needs_a_pass_of_this_version() -> None:
    tested = moved(Gate.PROPOSED, Gate.TESTED, Role.EVALUATOR, 1)
    faults = ["the last verdict that is recorded about it is no PASS of this version"]
    for word, found in (("PASS", []), ("FAIL", faults), ("UNKNOWN", faults)):
        assert folded(planned(R1=VERSION), decision(1, "verifier"), verdict(word), tested) == found


def test_a_verdict_is_written_with_the_decision_about_its_report() -> None:
    assert folded(verdict("PASS")) == ["no decision is recorded that this verdict was read for"]
    late = replace(verdict("PASS"), timestamp="2026-03-03T00:00:00.000Z")
    assert folded(decision(1, "verifier"), late) == ["it was not read when its decision was made"]


def test_roles_are_shown_by_the_decisions_that_the_database_asks_for() -> None:
    for role, ways in SHOWN_BY.items():
        said = " ".join(rule for rule in SHOWN if f"NEW.role = '{role}'" in rule)
        for kinds in ways.values():
            assert all(f"'{kind}'" in said for kind in kinds), role


@pytest.mark.parametrize("step", [None, "reread"])
def test_a_decision_that_did_nothing_to_its_node_shows_no_role(step: str | None) -> None:
    tested = moved(Gate.PROPOSED, Gate.TESTED, Role.EVALUATOR, 1)
    assert folded(planned(R1=VERSION), decision(1, "verifier", step=step), verdict("PASS"), tested) == [
        "the decision Accept by which it was moved did not accept or waive its node"
    ]


def test_a_decision_about_nobody_knows_whom_shows_no_role() -> None:
    made = decision(1, "verifier")
    nobody = replace(made, body={key: value for key, value in made.body.items() if key != "archetype"})
    tested = moved(Gate.PROPOSED, Gate.TESTED, Role.EVALUATOR, 1)
    found = folded(planned(R1=VERSION), nobody, verdict("PASS"), tested)
    assert "it was moved as a evaluator's, by a decision about nobody knows whom" in found


def test_a_node_that_is_escalated_is_not_accepted() -> None:
    escalated = decision(1, "verifier", step="escalate")
    assert folded(escalated, decision(2, "verifier")) == ["its step accept cannot be: verifier was escalated"]


def test_a_pass_of_another_decision_counts_on_the_same_files_alone() -> None:
    read = replace(verdict("PASS"), artifact=Artifact("t" * 40))
    first, second = decision(1, "verifier", step="reread"), decision(2, "verifier")
    gate = moved(Gate.PROPOSED, Gate.TESTED, Role.EVALUATOR, 2)
    same = replace(gate, artifact=Artifact("t" * 40))
    assert folded(planned(R1=VERSION), first, read, second, same) == []
    assert folded(planned(R1=VERSION), first, read, second, gate) == [
        "the PASS that is recorded about it was read on other files, for another decision"
    ]


def closed(status: str, exit_code: int) -> Evidence:
    """A close-out whose report names what its material comes to, with this word on it."""
    given = CloseOut("bell:1@1", (FeedbackRecord("make", exit_code),))
    report = document_of(Judged(judge(given), NOW))
    body: dict[str, Json] = json.loads(json.dumps({"given": asdict(given), "report": report}))
    about = SpecRef("task", given.task_id)
    return Evidence(Kind.CLOSE_OUT, "close-out:1", NOW, Outcome(status), about, body=body)


def test_a_close_out_is_judged_again_from_its_record() -> None:
    assert folded(closed("passed", 0)) == folded(closed("blocked", 1)) == []
    assert folded(closed("passed", 1)) == ["it says passed, and by the rules it is blocked"]
    assert folded(replace(closed("passed", 0), body={})) == ["it does not hold what it was made from"]
    mixed = replace(closed("passed", 0), body={**closed("passed", 0).body, "given": closed("passed", 1).body["given"]})
    assert folded(mixed) == ["it does not come to the findings it names"]
    fold = Fold()
    fold.add(1, closed("passed", 1))
    assert (fold.close_outs["bell:1@1"].status, fold.close_outs["bell:1@1"].judged_again) == ("passed", "blocked")


def test_a_waiver_that_is_not_recorded_covers_no_finding() -> None:
    made = closed("passed", 1)
    report = made.body["report"]
    assert isinstance(report, dict)
    assert isinstance(report["findings"], list)
    findings: list[Json] = [{**one, "waived_by": ID} for one in report["findings"] if isinstance(one, dict)]
    signed = replace(made, body={**made.body, "report": {**report, "findings": findings}})
    assert folded(signed) == ["it says passed, and by the rules it is blocked"]
