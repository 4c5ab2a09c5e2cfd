"""Where a review task stands: by its last event, and only with the ledger's record of it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.core.ledger.evidence import ReviewerDecision
from agent_fox.core.values import to_document
from agent_fox.review.repositories import Registered
from agent_fox.review.tasks import Event, Word, record, register, standing
from agent_fox.store.ledger.ledger import records
from agent_fox.store.reviews import TaskRow, events_of
from agent_fox.store.state import transaction
from tests.review.worlds import TASK
from tests.states import fresh_state

AT = "2026-01-01T00:00:00.000Z"
REPOSITORIES = [Registered("/p", "", "f")]
ROW = TaskRow("afx-0123456789ab", AT, TASK, json.dumps(to_document(REPOSITORIES)), "client 1")


@pytest.fixture
def db(tmp_path: Path) -> Database:
    db = fresh_state(tmp_path / "state.db")
    with transaction(db):
        register(db, AT, ROW, REPOSITORIES)
    return db


def put(db: Database, word: Word, **data: str) -> None:
    with transaction(db):
        record(db, AT, ROW, Event(word, dict(data)))


def without_guards(db: Database) -> None:
    """What only somebody with the whole file in hand can do."""
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
    for name in names:
        db.execute(f"DROP TRIGGER {name}")


def test_a_task_that_is_not_there_is_unknown(db: Database) -> None:
    assert standing(db, "afx-ffffffffffff").word is Word.UNKNOWN


@pytest.mark.parametrize("word", [Word.VERIFIED, Word.REJECTED, Word.FAILED, Word.CLEARED])
def test_a_task_stands_where_its_last_event_left_it(db: Database, word: Word) -> None:
    assert standing(db, ROW.id).word is Word.REGISTERED
    put(db, Word.REJECTED, feedback="no")
    put(db, word, reason="r")
    found = standing(db, ROW.id)
    assert (found.word, found.is_verified, found.data) == (word, word is Word.VERIFIED, {"reason": "r"})


def test_every_event_has_a_record_with_what_was_decided(db: Database) -> None:
    put(db, Word.REJECTED, feedback="no route")
    put(db, Word.VERIFIED)
    documents = [kept.document for kept in records(db, "kind = 'review'")]
    assert [one["identity"] for one in documents] == [f"review:{ROW.id}:{number}" for number in (1, 2, 3)]
    decisions = [one["reviewer_decision"] for one in documents]
    assert decisions == [ReviewerDecision.PENDING, ReviewerDecision.REJECTED, ReviewerDecision.ACCEPTED]
    assert all("nothing was run" in str(one["limitation"]) for one in documents)
    assert "no route" in str(documents[1]["result"])


def test_a_cleared_task_says_that_nobody_judged(db: Database) -> None:
    put(db, Word.CLEARED)
    (kept,) = records(db, "status = 'cleared'")
    assert kept.document["reviewer_decision"] == ReviewerDecision.PENDING
    assert "nobody judged" in str(kept.document["limitation"])
    assert not standing(db, ROW.id).is_verified


def test_a_row_alone_verifies_nothing(db: Database) -> None:
    db.execute("INSERT INTO review_events (id, at, task_id, kind) VALUES (2, ?, ?, 'verified')", [AT, ROW.id])
    found = standing(db, ROW.id)
    assert (found.word, found.is_verified) == (Word.DAMAGED, False)
    assert "the ledger has no record" in found.reason


def test_rows_cannot_be_changed_removed_or_replaced(db: Database) -> None:
    for statement in (
        "UPDATE review_events SET kind = 'verified'",
        "DELETE FROM review_events",
        "INSERT OR REPLACE INTO review_events (id, at, task_id, kind) VALUES (1, '', 'x', 'verified')",
        "UPDATE review_tasks SET description = 'easy'",
        "DELETE FROM review_tasks",
        "REPLACE INTO review_tasks (id, at, description, repositories) VALUES ('afx-0123456789ab', '', 'easy', '[]')",
    ):
        with pytest.raises(sqlite3.IntegrityError, match=r"history|in order"):
            db.execute(statement)
        db.conn.rollback()


LAST = f"identity = 'review:{ROW.id}:2'"
CHANGES = {
    "the event": "UPDATE review_events SET kind = 'verified' WHERE id = 2",
    "the event's data": "UPDATE review_events SET data = '{}' WHERE id = 2",
    "the description": "UPDATE review_tasks SET description = 'easy'",
    "the repositories": "UPDATE review_tasks SET repositories = '[]'",
    "the record": f"UPDATE ledger SET content = replace(content, 'rejected', 'verified') WHERE {LAST}",
    "the record's name": f"UPDATE ledger SET record_id = 'x' WHERE {LAST}",
    "the record's head": f"UPDATE ledger SET head = 'x' WHERE {LAST}",
    "the record's identity": f"UPDATE ledger SET identity = 'review:x:2' WHERE {LAST}",
    "the first record": "DELETE FROM ledger WHERE position = 1",
    "the first event": "DELETE FROM review_events WHERE id = 1",
    "all events": "DELETE FROM review_events",
}


@pytest.mark.parametrize("what", sorted(CHANGES))
def test_who_changes_the_file_without_its_guards_gets_a_damaged_task(db: Database, what: str) -> None:
    put(db, Word.REJECTED, feedback="no")
    without_guards(db)
    db.execute(CHANGES[what])
    assert standing(db, ROW.id).word is Word.DAMAGED


def test_the_record_of_another_task_is_of_no_use(db: Database) -> None:
    other = TaskRow("afx-ffffffffffff", AT, TASK, ROW.repositories)
    with transaction(db):
        register(db, AT, other, REPOSITORIES)
        record(db, AT, other, Event(Word.VERIFIED))
    db.execute("INSERT INTO review_events (id, at, task_id, kind) VALUES (4, ?, ?, 'verified')", [AT, ROW.id])
    assert standing(db, other.id).is_verified
    assert standing(db, ROW.id).word is Word.DAMAGED


def test_an_event_and_its_record_are_written_together_or_not_at_all(db: Database) -> None:
    before = [kept.content for kept in records(db)]
    with pytest.raises(sqlite3.IntegrityError), transaction(db):
        _verified_twice(db)
    assert [event.kind for event in events_of(db, ROW.id)] == ["registered"]
    assert [kept.content for kept in records(db)] == before


def _verified_twice(db: Database) -> None:
    """Two events of which the second cannot be written."""
    record(db, AT, ROW, Event(Word.VERIFIED))
    db.execute("INSERT INTO review_events (id, at, task_id, kind) VALUES (9, '', 'nobody', 'verified')")
