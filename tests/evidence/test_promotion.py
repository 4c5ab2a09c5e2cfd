"""The promotion state: counts computed from what is recorded, and each blocked step with its reason."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.core.formal.specification import FunctionContract, Specification, SpecKind
from agent_fox.core.ledger.gates import Gate, Role, ways
from agent_fox.core.verdicts.verdict import Word
from agent_fox.evidence.library import sync
from agent_fox.evidence.promotion import MOST_REFS, Ground, PromotionState, Proofs, Reviews, promotion_state
from agent_fox.store.plan import load_parts
from tests.evidence.readings import BOTH, COMMIT, FINAL, TREE, accept, begin, check, move, read, session, texts
from tests.store.test_gates import PATHS, prepare
from tests.store.world import AT, SPEC, decide, state, writing

CLOSED = Specification(
    f"{SPEC}/closed", SpecKind.CONTRACT, "a rung bell is closed", (f"{SPEC}/R1",),
    FunctionContract("bell:ring", "(times: int) -> int", ("__return__ >= 0",)),
)  # fmt: skip


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with writing(tmp_path) as opened:
        yield opened


def asked(db: Database, part: str = "R1", required: Gate = Gate.TESTED) -> PromotionState:
    (found,) = [one for one in load_parts(db, SPEC) if one.id == part]
    return promotion_state(Ground(db, SPEC, required), found)


def why(db: Database, finish: Gate, part: str = "R1", required: Gate = Gate.TESTED) -> str:
    (found,) = [one for one in asked(db, part, required).blocked if one.finish is finish]
    return found.why


def test_what_nobody_has_read_is_proposed_and_says_so(db: Database) -> None:
    begin(db)
    told = asked(db)
    assert (told.overall, told.is_enough) == (Gate.PROPOSED, False)
    assert (told.tests.passed, told.tests.failed, told.tests.unknown, told.tests.record_refs) == (0, 0, 0, ())
    assert (told.artifact_ref.path, told.artifact_ref.commit, told.artifact_ref.version) == (f"specs/{SPEC}", "", "v1")
    assert why(db, Gate.TESTED) == "no verifier has read it yet"


@pytest.mark.parametrize("word", [Word.FAIL, Word.UNKNOWN])
def test_what_was_not_passed_says_by_which_word(db: Database, word: Word) -> None:
    begin(db)
    read(db, {"R1": word, "R2": Word.PASS})
    told = asked(db)
    assert (told.tests.failed, told.tests.unknown) == (int(word is Word.FAIL), int(word is Word.UNKNOWN))
    assert len(told.tests.record_refs) == 1
    assert (told.artifact_ref.commit, told.artifact_ref.tree) == (COMMIT, TREE)
    assert why(db, Gate.TESTED) == f"the current verdict on it is {word}"
    assert why(db, Gate.TESTED, "R2") == "a spec is accepted as a whole, and these are not proven: R1"


def test_a_pass_waits_for_the_report_to_be_accepted(db: Database) -> None:
    begin(db)
    read(db, BOTH)
    assert why(db, Gate.TESTED) == "its verifier's report has not been accepted yet"
    accept(db, "R1", "R2")
    told = asked(db)
    assert (told.overall, told.is_enough, told.tests.passed) == (Gate.TESTED, True, 1)


def test_only_readings_of_the_present_text_on_the_last_tree_are_counted(db: Database) -> None:
    begin(db)
    read(db, {"R1": Word.FAIL}, versions={"R1": "v0"})
    read(db, {"R1": Word.FAIL}, tree="b" * 40, attempt=2)
    read(db, {"R1": Word.PASS}, attempt=3)
    told = asked(db).tests
    assert (told.passed, told.failed) == (1, 0)
    texts(db, R1="v2", R2="v1")
    told = asked(db).tests
    assert (told.passed, told.failed) == (0, 0)


def test_a_reason_names_a_few_and_counts_the_rest(db: Database) -> None:
    begin(db)
    texts(db, **dict.fromkeys(["R1", *(f"X{number}" for number in range(100))], "v1"))
    read(db, {"R1": Word.PASS})
    assert why(db, Gate.TESTED).endswith("not proven: X0, X1, X2, X3, X4 and 95 more")


def test_the_counts_count_all_and_the_references_are_the_newest(db: Database) -> None:
    begin(db)
    for attempt in range(1, MOST_REFS + 6):
        read(db, {"R1": Word.PASS}, attempt=attempt)
    told = asked(db).tests
    assert (told.passed, len(told.record_refs)) == (MOST_REFS + 5, MOST_REFS)
    last = db.execute("SELECT record_id FROM ledger WHERE kind = 'verdict' ORDER BY position DESC LIMIT 1").fetchone()
    assert told.record_refs[-1] == last[0]


def test_what_failed_once_in_a_spec_must_stay_green(db: Database) -> None:
    begin(db)
    assert asked(db).regression_checks.all_passing
    read(db, {"R1": Word.PASS, "R2": Word.FAIL})
    told = asked(db).regression_checks
    assert (told.all_passing, told.known_failures, len(told.record_refs)) == (False, ("R2",), 1)
    read(db, BOTH, attempt=2)
    told = asked(db).regression_checks
    assert (told.all_passing, told.known_failures, len(told.record_refs)) == (True, (), 1)


def test_without_a_final_review_it_says_whether_one_was_asked_for(db: Database) -> None:
    begin(db)
    read(db, BOTH)
    accept(db, "R1", "R2")
    assert why(db, Gate.REVIEWED) == "no final review is asked for: [policy] required_state is 'tested'"
    assert "no final review of its spec is part of the plan" in why(db, Gate.REVIEWED, required=Gate.REVIEWED)
    assert not asked(db, required=Gate.REVIEWED).is_enough


def test_reviews_are_open_approved_or_ask_for_changes_and_an_older_approval_is_dismissed(db: Database) -> None:
    begin(db, FINAL)
    read(db, BOTH)
    accept(db, "R1", "R2")
    assert asked(db).reviews == Reviews(1, 0, 0, 0, ())
    assert why(db, Gate.REVIEWED, required=Gate.REVIEWED) == "the final review of its spec has not accepted it yet"
    decide(db, FINAL, "SendBack")
    approve(db)
    told = asked(db).reviews
    assert (told.open, told.approved, told.changes_requested, told.dismissed) == (1, 1, 1, 0)
    read(db, BOTH, tree="b" * 40, attempt=2)
    told = asked(db).reviews
    assert (told.approved, told.dismissed, len(told.record_refs)) == (0, 1, 2)


def approve(db: Database) -> int:
    """The final reviewer accepts; its session is about the tree that was read."""
    return decide(db, FINAL, "Accept", session(db, FINAL))


def test_proofs_are_those_bound_to_it_by_their_last_check(db: Database) -> None:
    begin(db, FINAL)
    sync(db, AT, SPEC, [CLOSED])
    read(db, BOTH)
    accept(db, "R1", "R2")
    move(db, approve(db), "R1", "R2", start=Gate.TESTED, finish=Gate.REVIEWED, role=Role.REVIEWER)
    assert asked(db).proofs == Proofs((), (CLOSED.address,), (), ())
    assert why(db, Gate.PROVED) == f"not proved on this tree: {CLOSED.address}"
    assert "no contract or theorem is bound to it" in why(db, Gate.PROVED, "R2")
    check(db, "contract", CLOSED.address, CLOSED.version, Word.FAIL)
    assert asked(db).proofs.counterexample == (CLOSED.address,)
    assert why(db, Gate.PROVED) == f"refuted: {CLOSED.address}"
    check(db, "contract", CLOSED.address, CLOSED.version, Word.PASS, 2)
    told = asked(db)
    assert (told.proofs.proved, told.proofs.counterexample) == ((CLOSED.address,), ())
    assert (told.tests.passed, told.tests.failed) == (1, 0)
    assert "the formal lane runs at the end of a run" in why(db, Gate.PROVED)


def test_a_proof_of_another_text_or_tree_proves_nothing(db: Database) -> None:
    begin(db)
    sync(db, AT, SPEC, [CLOSED])
    read(db, BOTH, tree="b" * 40)
    check(db, "contract", CLOSED.address, CLOSED.version, Word.PASS)
    check(db, "contract", CLOSED.address, "an older version", Word.PASS, 2)
    assert asked(db).proofs.pending == (CLOSED.address,)


def test_from_every_gate_every_step_of_the_table_is_told_with_a_reason(tmp_path: Path) -> None:
    prepare(tmp_path)
    with state(tmp_path) as db:
        ground = Ground(db, SPEC, Gate.TESTED)
        for part, begin_at in zip(load_parts(db, SPEC), PATHS, strict=True):
            told = promotion_state(ground, part)
            expected = ways(begin_at or Gate.PROPOSED)
            assert {one.finish: one.roles for one in told.blocked} == expected
            assert all(one.why for one in told.blocked)


def test_a_waived_gate_is_worth_what_its_waiver_is_worth_now(tmp_path: Path) -> None:
    prepare(tmp_path)
    with state(tmp_path) as db:
        (part,) = [one for one in load_parts(db, SPEC) if one.id == "R-waived"]
        grounds = {None: None, frozenset({"R-waived"}): True, frozenset({"R-other"}): False}
        for waived, enough in grounds.items():
            told = promotion_state(Ground(db, SPEC, Gate.TESTED, waived=waived), part)
            assert (told.overall, told.is_enough) == (Gate.WAIVED, enough)


def test_accepted_by_a_reviewer_is_not_enough_where_a_proof_is_asked_for(tmp_path: Path) -> None:
    prepare(tmp_path)
    with state(tmp_path) as db:
        (part,) = [one for one in load_parts(db, SPEC) if one.id == "R-accepted"]
        enough = {one: promotion_state(Ground(db, SPEC, one), part).is_enough for one in (Gate.REVIEWED, Gate.PROVED)}
    assert enough == {Gate.REVIEWED: True, Gate.PROVED: False}
