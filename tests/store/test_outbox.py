"""The outbox keeps what is to be sent until it was sent; issues know what they are about."""

from __future__ import annotations

from pathlib import Path

from sqlite_utils import Database

from agent_fox.store import outbox
from agent_fox.store.outbox import OutboxRow
from tests.store.world import VERIFIER, add_nodes, decide, state

EARLY, LATE = "2026-03-01T12:00:00.000Z", "2026-03-01T13:00:00.000Z"


def put(db: Database, fingerprint: str, kind: str = "file") -> str:
    return outbox.put(db, decide(db), kind, fingerprint, "s", {"title": fingerprint}, EARLY)


def pending(db: Database, at: str = LATE) -> list[str]:
    return [row.fingerprint for row in outbox.undelivered(db, at)]


def test_effects_are_sent_in_the_order_in_which_they_were_decided(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        add_nodes(db, VERIFIER)
        decision = decide(db)
        later = decide(db)
        outbox.put(db, later, "file", "third", "s", {}, EARLY)
        for fingerprint in ("first", "second"):
            outbox.put(db, decision, "file", fingerprint, "s", {}, EARLY)
        assert pending(db) == ["first", "second", "third"]


def test_an_effect_comes_back_as_it_was_put(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        add_nodes(db, VERIFIER)
        number = put(db, "print")
        outbox.open_issue(db, "print", "Title", "cause", "s", ["R1"], EARLY)
        outbox.name_issue(db, "print", "7", "issues/7.md")
        assert outbox.undelivered(db, LATE) == [
            OutboxRow(number, "file", "print", "s", {"title": "print"}, "pending", 0, "", None, "7")
        ]


def test_what_is_in_doubt_is_sent_again_and_what_is_settled_is_not(tmp_path: Path) -> None:
    states = ("pending", "inflight", "unknown", "held", "done", "moot")
    with state(tmp_path) as db:
        add_nodes(db, VERIFIER)
        for one in states:
            outbox.set_outbox(db, put(db, one), one, EARLY, note=f"was {one}")
        assert pending(db) == ["pending", "inflight", "unknown"]
        assert [(row.fingerprint, row.note) for row in outbox.held(db)] == [("held", "was held")]
        assert outbox.waiting(db) == 4


def test_what_a_tracker_asked_to_wait_for_waits(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        add_nodes(db, VERIFIER)
        outbox.set_outbox(db, put(db, "print"), "pending", EARLY, "rate limit", LATE)
        assert pending(db, EARLY) == []
        assert pending(db, LATE) == ["print"]


def test_sending_is_noted_before_it_happens_and_keeps_the_first_witness(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        add_nodes(db, VERIFIER)
        number = put(db, "print")
        for witness in ("3", "9"):
            outbox.send_outbox(db, number, witness, EARLY)
        (row,) = outbox.undelivered(db, LATE)
        assert (row.state, row.tries, row.witness) == ("inflight", 2, "3")


def test_what_was_held_is_tried_again_when_a_person_has_acted(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        add_nodes(db, VERIFIER)
        for fingerprint in ("one", "two"):
            outbox.set_outbox(db, put(db, fingerprint), "held", EARLY)
        assert outbox.release_held(db, LATE) == 2
        assert outbox.release_held(db, LATE) == 0
        assert pending(db) == ["one", "two"]


def test_an_issue_is_open_until_every_part_of_it_is_settled(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        outbox.open_issue(db, "print", "Title", "cause", "a", ["R1", "R2"], EARLY)
        outbox.open_issue(db, "print", "Title", "cause", "b", [""], EARLY)
        assert outbox.issues_of_spec(db, "a") == outbox.issues_of_spec(db, "b") == ["print"]
        assert outbox.settle_members(db, "print", "a") == 1
        assert outbox.issues_of_spec(db, "a") == []
        assert outbox.settle_members(db, "print", "b") == 0
        outbox.close_issue(db, "print", LATE)
        assert outbox.issue_state(db, "print") == "closed"


def test_an_issue_that_comes_back_is_the_same_issue(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        assert outbox.issue_state(db, "print") is None
        outbox.open_issue(db, "print", "Title", "cause", "a", ["R1"], EARLY)
        outbox.name_issue(db, "print", "7", "issues/7.md")
        outbox.settle_members(db, "print", "a")
        outbox.close_issue(db, "print", EARLY)
        outbox.open_issue(db, "print", "Title", "other cause", "a", ["R1"], LATE)
        assert outbox.issues_of_spec(db, "a") == ["print"]
        assert outbox.list_issues(db) == [
            {
                **{"fingerprint": "print", "number": "7", "url": "issues/7.md", "title": "Title"},
                **{"cause": "other cause", "state": "open", "updated_at": LATE},
            }
        ]
