"""The chain of evidence: proven by what, by whom, on which tree, in which environment, and whether it still counts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.core.ledger.gates import Gate, Role
from agent_fox.core.retry.standing import Outcome, Standing, Status
from agent_fox.core.verdicts.verdict import Word
from agent_fox.evidence.about import UnknownRequirement, parts_named
from agent_fox.evidence.chain import CHANGED, MOST_RECORDS, NOT_CHECKED, Chain, Now, chain_of
from agent_fox.store import plan
from agent_fox.store.ledger.ledger import tip_of
from agent_fox.store.plan import StoredPart
from tests.evidence.readings import BOTH, COMMIT, STANDPOINT, TREE, accept, begin, read, texts
from tests.store.world import AT, SPEC, VERIFIER, add_row, writing

NOW = Now(TREE, STANDPOINT["environment"], STANDPOINT["verifier"])


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with writing(tmp_path) as opened:
        begin(opened)
        yield opened


def asked(db: Database, now: Now = NOW, name: str = "R1") -> Chain:
    (part,) = parts_named(db, name)
    return chain_of(db, part, now, AT, disbelieved="")


def test_a_proven_requirement_names_its_record_its_session_its_commit_and_its_environment(db: Database) -> None:
    decision = read(db, BOTH)
    accept(db, "R1", "R2")
    chain = asked(db)
    assert chain.is_proven_now
    (proof,) = chain.proofs
    assert (proof.status, proof.kind, proof.about, proof.version) == ("PASS", "verdict", f"{SPEC}/R1", "v1")
    assert (proof.commit, proof.tree, proof.environment, proof.verifier) == (COMMIT, TREE, *STANDPOINT.values())
    assert (proof.session, proof.decision, proof.ticket) == (1, decision, f"{SPEC}:2@1.1")
    assert (proof.command, proof.said, proof.is_current) == ("pytest -k R1", "R1 is PASS", True)
    (judge,) = chain.judges
    assert (judge.backend, judge.models, judge.ticket) == ("checks", ("rules-1",), f"{SPEC}:2@1.1")
    (step,) = chain.steps
    assert (step.start, step.finish, step.role) == ("proposed", "tested", "evaluator")
    assert chain.head == tip_of(db)
    assert chain.current == proof


def test_the_commands_check_the_ledger_and_run_again_what_was_run(db: Database) -> None:
    assert asked(db).check == ()
    read(db, BOTH)
    folder = f"../check-{COMMIT[:12]}"
    assert asked(db).check == (
        "agent-fox ledger verify", f"git worktree add --detach {folder} {COMMIT}", f"cd {folder}", "pytest -k R1",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("now", "why"),
    [
        (replace(NOW, tree="b" * 40), "the code has changed"),
        (replace(NOW, environment="other"), "the environment has changed"),
        (replace(NOW, verifier="2 checks"), "the verifier has changed"),
        (replace(NOW, tree=None), "whether the code has changed is not known here"),
        (replace(NOW, environment=None), "whether the environment has changed is not known here"),
        (replace(NOW, verifier=None), "whether the verifier has changed is not known here"),
    ],
)
def test_evidence_counts_only_where_everything_is_known_to_be_as_it_was(db: Database, now: Now, why: str) -> None:
    read(db, BOTH)
    chain = asked(db, now)
    assert not chain.is_proven_now
    assert chain.proofs[0].why_stale == (why,)


def test_evidence_about_an_older_text_does_not_count(db: Database) -> None:
    read(db, BOTH)
    texts(db, R1="v2", R2="v1")
    chain = asked(db)
    assert not chain.is_proven_now
    assert chain.proofs[0].why_stale == ("the text of the specification has changed",)


@pytest.mark.parametrize("word", [Word.FAIL, Word.UNKNOWN])
def test_what_is_not_passed_is_never_proven(db: Database, word: Word) -> None:
    read(db, {"R1": word})
    chain = asked(db)
    assert not chain.is_proven_now
    assert chain.proofs[0].why_stale == ()


def test_the_last_word_counts_and_the_earlier_ones_stay_to_be_seen(db: Database) -> None:
    read(db, {"R1": Word.PASS})
    read(db, {"R1": Word.FAIL}, attempt=2)
    chain = asked(db)
    assert [(one.status, one.is_current) for one in chain.proofs] == [("PASS", False), ("FAIL", True)]
    assert not chain.is_proven_now


def test_nothing_of_a_spec_that_waits_for_a_person_is_proven_now(db: Database) -> None:
    decision = read(db, BOTH)
    accept(db, "R1", "R2")
    assert asked(db).is_proven_now
    plan.move_node(db, Standing(VERIFIER.uid, Status.COMPLETED, Outcome.ESCALATED), decision)
    assert not asked(db).is_proven_now


def test_a_record_that_was_changed_does_not_count(db: Database) -> None:
    read(db, {"R1": Word.FAIL})
    db.execute("DROP TRIGGER ledger_no_update")
    db.execute("""UPDATE ledger SET content = replace(content, '"status":"FAIL"', '"status":"PASS"')""")
    chain = asked(db)
    assert chain.proofs[0].status == "PASS"
    assert CHANGED in chain.proofs[0].why_stale
    assert not chain.is_proven_now


def test_a_record_that_cannot_be_read_is_no_evidence(db: Database) -> None:
    read(db, {"R1": Word.PASS})
    db.execute("DROP TRIGGER ledger_no_update")
    db.execute("UPDATE ledger SET content = '{}' WHERE kind = 'verdict'")
    chain = asked(db)
    assert (chain.proofs, chain.current, chain.is_proven_now) == ((), None, False)


def test_a_verdict_without_a_record_proves_nothing(db: Database) -> None:
    read(db, {"R1": Word.PASS})
    db.execute("DROP TRIGGER ledger_no_delete")
    db.execute("DELETE FROM ledger WHERE kind = 'verdict'")
    assert not asked(db).is_proven_now


def test_the_chain_is_bounded_and_says_what_it_leaves_out(db: Database) -> None:
    for attempt in range(1, MOST_RECORDS + 11):
        read(db, {"R1": Word.PASS}, attempt=attempt)
    chain = asked(db)
    assert (len(chain.proofs), chain.left_out) == (MOST_RECORDS, 10)
    assert chain.is_proven_now
    assert len(chain.judges) == MOST_RECORDS


def test_a_waiver_is_shown_and_without_the_signers_it_is_not_said_to_count(db: Database) -> None:
    about = {"spec_name": SPEC, "address": "R1", "version": "v1", "signer": "a person", "reason": "known"}
    add_row(db, "waivers", id="0" * 20, kind="requirement", **about)
    (waiver,) = asked(db).waivers
    assert (waiver.signer, waiver.reason, waiver.why_not) == ("a person", "known", NOT_CHECKED)
    assert asked(db, name="R2").waivers == ()


def test_the_gates_history_has_every_step_with_its_role(db: Database) -> None:
    read(db, BOTH)
    accept(db, "R1", "R2")
    chain = asked(db)
    assert chain.promotion.overall is Gate.TESTED
    assert [(one.role, one.decision) for one in chain.steps] == [(Role.EVALUATOR, 2)]


def parts(db: Database, *rows: tuple[str, str, str]) -> None:
    plan.save_parts(db, [StoredPart(spec, part, whole, "text", "v1") for spec, part, whole in rows])


def test_a_requirement_is_named_by_its_id_with_its_spec_or_by_the_one_it_belongs_to(db: Database) -> None:
    parts(db, ("04_gate", "04-REQ-1.1", "04-REQ-1"), ("04_gate", "04-REQ-1.2", "04-REQ-1"), ("05_b", "A", "A"))
    for name, found in (
        ("04-REQ-1.1", ["04-REQ-1.1"]),
        ("04_gate/04-REQ-1.2", ["04-REQ-1.2"]),
        ("04-REQ-1", ["04-REQ-1.1", "04-REQ-1.2"]),
        ("A", ["A"]),
    ):
        assert [part.id for part in parts_named(db, name)] == found


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("04-REQ-1.3", "04-REQ-1.3: there is no such requirement in the plan; did you mean 04-REQ-1.1"),
        ("05_b/04-REQ-1.1", "05_b/04-REQ-1.1: there is no such requirement in the plan; did you mean "),
        ("A", "A: several specs have it; say which one: 05_b/A, 06_c/A"),
        ("", ": there is no such requirement in the plan"),
    ],
)
def test_a_name_that_names_none_or_several_says_what_there_is(db: Database, name: str, why: str) -> None:
    parts(db, ("04_gate", "04-REQ-1.1", "04-REQ-1"), ("05_b", "A", "A"), ("06_c", "A", "A"))
    with pytest.raises(UnknownRequirement) as said:
        parts_named(db, name)
    assert str(said.value).startswith(why)


def test_without_a_plan_it_says_what_shows_one(db: Database) -> None:
    parts(db)
    with pytest.raises(UnknownRequirement, match="`agent-fox plan` shows what there is"):
        parts_named(db, "R1")
