"""Close-outs in the ledger: counted, kept with what they were made from, and made again from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.core.ledger.close_out import CloseOut, Contract, FeedbackRecord, RuleReport, Severity, judge
from agent_fox.core.ledger.close_out_scope import Boundary, ScopeReport
from agent_fox.core.ledger.evidence import RunContext
from agent_fox.evidence.close_outs import Damaged
from agent_fox.review.close_out.record import edited, given_of, keep, task_in
from agent_fox.review.close_out.report import Judged, document_of, write_report
from agent_fox.store.ledger import ledger
from agent_fox.store.ledger.ledger import Kept
from agent_fox.store.state import transaction
from tests.states import fresh_state

AT = "2030-01-01T00:00:00.000Z"
GIVEN = CloseOut(
    "01_a:1@1",
    (FeedbackRecord("make", 1, stderr="red"), FeedbackRecord("ls", None)),
    ScopeReport(("src",), (".env",), ("x",), ("y",)),
    RuleReport(("r",), ("w",)),
    Contract(Boundary(("src",), ("doc",), (".env",), is_closed=True), ("make",), Severity.WARN, needs_feedback=False),
)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with closing(fresh_state(tmp_path / "state.db")) as opened:
        yield opened


def kept(db: Database, given: CloseOut = GIVEN, session: int | None = 7) -> Judged:
    with transaction(db):
        return keep(db, given, Judged(judge(given), AT, "t", "c"), RunContext(session=session, ticket="01_a:1@1.1"))


def last(db: Database, name: str) -> Kept:
    found = task_in(db, name)
    assert found is not None
    return found


def test_a_judgement_is_made_again_from_its_record(db: Database) -> None:
    done = kept(db)
    found = last(db, GIVEN.task_id)
    assert (found.link.record_id, given_of(found)) == (done.record, GIVEN)
    assert judge(given_of(found)) == done.verification


def test_every_judgement_of_a_task_is_a_record_of_its_own(db: Database) -> None:
    kept(db)
    kept(db)
    identities = [row.document["identity"] for row in ledger.records(db)]
    assert identities == ["close-out:01_a:1@1:1", "close-out:01_a:1@1:2"]


def test_a_record_says_what_it_is_about_and_how_it_came_out(db: Database) -> None:
    kept(db)
    (row,) = ledger.records(db)
    assert (row.kind, row.spec_name, row.address, row.status, row.tree, row.session_id) == (
        "close-out", "01_a", "01_a:1@1", "blocked", "t", 7,
    )  # fmt: skip
    assert row.document["reviewer_decision"] == "rejected"
    assert row.document["feedback"] == {
        "kind": "", "payload_ref": "", "teacher_context_ref": "", "credit_scope": "", "used_for_training": False,
    }  # fmt: skip


def test_a_node_stands_for_its_last_attempt_and_not_for_a_node_with_a_longer_name(db: Database) -> None:
    for task in ("01_a:1@1", "01_a:1@2", "01_a:11@1"):
        kept(db, CloseOut(task))
    assert last(db, "01_a:1").address == "01_a:1@2"
    assert last(db, "01_a:1@1").address == "01_a:1@1"
    assert task_in(db, "01_a") is None


def test_only_a_session_s_own_close_out_is_a_task_of_the_run(db: Database) -> None:
    kept(db, CloseOut("01_a:1@1"), session=None)
    assert task_in(db, "01_a:1@1") is None


def test_a_record_that_does_not_come_to_its_findings_is_found(db: Database) -> None:
    other = judge(CloseOut("01_a:1@1", (FeedbackRecord("make", 0),)))
    with transaction(db):
        keep(db, GIVEN, Judged(other, AT), RunContext(session=7))
    with pytest.raises(Damaged, match="does not come to the findings"):
        given_of(last(db, "01_a:1@1"))


def test_a_record_whose_text_was_changed_is_found(db: Database) -> None:
    kept(db)
    db.executescript("DROP TRIGGER ledger_no_update")
    (content,) = db.execute("SELECT content FROM ledger").fetchone()
    db.execute("UPDATE ledger SET content = ?", [content.replace('"red"', '"green"')])
    with pytest.raises(Damaged, match="was changed"):
        given_of(last(db, "01_a:1@1"))


def test_a_report_that_was_edited_or_made_up_is_told_from_the_one_in_the_ledger(db: Database, tmp_path: Path) -> None:
    assert edited(db, tmp_path, GIVEN.task_id) == ()
    path = write_report(tmp_path, document_of(kept(db)))
    assert edited(db, tmp_path, GIVEN.task_id) == ()
    path.write_text(path.read_text().replace('"passed": false', '"passed": true'))
    (warning,) = edited(db, tmp_path, GIVEN.task_id)
    assert (warning.check, warning.severity) == ("report_edited", "warn")
    path.write_text(json.dumps({"task_id": GIVEN.task_id, "passed": True}))
    assert "record none" in edited(db, tmp_path, GIVEN.task_id)[0].detail
