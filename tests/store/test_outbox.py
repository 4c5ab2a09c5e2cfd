"""The outbox keeps what is to be sent until it was sent; issues know what they are about."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.store import outbox
from agent_fox.store.issue_view import read_issues
from agent_fox.store.outbox import OutboxRow
from agent_fox.store.schema.migrations import DELIVERY, MIGRATIONS
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
            OutboxRow(number, "file", "print", "s", {"title": "print"}, "pending", 0, "", None, "7", url="issues/7.md")
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
        (issue,) = read_issues(db)
        assert (issue.number, issue.where, issue.title) == ("7", "issues/7.md", "Title")
        assert (issue.cause, issue.state, issue.updated_at) == ("other cause", "open", LATE)


def due(db: Database, at: str = LATE) -> list[str]:
    return [row.id for row in outbox.due(db, at)]


def test_of_each_issue_the_oldest_that_is_not_settled_is_due(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        add_nodes(db, VERIFIER)
        first, other, second = put(db, "a"), put(db, "b"), put(db, "a", "comment")
        assert due(db) == [first, other]
        outbox.set_outbox(db, first, "done", LATE)
        assert due(db) == [other, second]


@pytest.mark.parametrize("one", ["held", "pending", "unknown", "inflight"])
def test_what_is_held_or_must_wait_holds_back_what_follows_about_the_same_issue(tmp_path: Path, one: str) -> None:
    with state(tmp_path) as db:
        add_nodes(db, VERIFIER)
        first, other = put(db, "a"), put(db, "b")
        second = put(db, "a", "comment")
        outbox.set_outbox(db, first, one, EARLY, "why", LATE)
        assert due(db, EARLY) == [other]
        outbox.set_outbox(db, first, "moot", LATE)
        assert due(db, EARLY) == [other, second]


def part_of(db: Database, whole: str, part: str) -> None:
    for fingerprint in (whole, part):
        outbox.open_issue(db, fingerprint, fingerprint, "cause", "s", ["R1"], EARLY)
    outbox.set_parent(db, part, whole)


def test_a_part_waits_for_the_number_of_the_issue_that_it_is_a_part_of(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        add_nodes(db, VERIFIER)
        part_of(db, "whole", "part")
        whole, part = put(db, "whole"), put(db, "part")
        for told in ("pending", "unknown", "held"):
            outbox.set_outbox(db, whole, told, EARLY)
            assert part not in due(db)
        outbox.set_outbox(db, whole, "done", EARLY)
        outbox.name_issue(db, "whole", "7", "url")
        (row,) = outbox.due(db, LATE)
        assert (row.id, row.parent, row.parent_number) == (part, "whole", "7")


def test_a_part_of_an_issue_that_is_never_filed_waits_for_nothing(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        add_nodes(db, VERIFIER)
        part_of(db, "whole", "part")
        whole, part = put(db, "whole"), put(db, "part")
        outbox.set_outbox(db, whole, "moot", EARLY, "fixed before it was sent")
        assert due(db) == [part]


def test_what_follows_is_what_was_decided_later_about_the_same_issue(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        add_nodes(db, VERIFIER)
        first = put(db, "a")
        settled, last = put(db, "a", "comment"), put(db, "a", "close")
        put(db, "b")
        outbox.set_outbox(db, settled, "done", EARLY)
        (row,) = [one for one in outbox.due(db, LATE) if one.id == first]
        assert [one.id for one in outbox.followers(db, row)] == [last]


def test_doubt_keeps_witness_and_time_of_the_first_sending_until_it_is_over(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        add_nodes(db, VERIFIER)
        number = put(db, "print")
        outbox.send_outbox(db, number, "3", EARLY)
        outbox.set_outbox(db, number, "unknown", EARLY, is_in_doubt=True, readings=2)
        outbox.send_outbox(db, number, "9", LATE)
        (row,) = outbox.due(db, LATE)
        assert (row.is_in_doubt, row.witness, row.sent_at, row.readings) == (True, "3", EARLY, 2)
        outbox.set_outbox(db, number, "pending", LATE)
        outbox.send_outbox(db, number, "9", LATE)
        (row,) = outbox.due(db, LATE)
        assert (row.witness, row.sent_at) == ("9", LATE)


def test_what_another_process_has_settled_is_not_sent(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        add_nodes(db, VERIFIER)
        number = put(db, "print")
        assert (outbox.send_outbox(db, number, "", EARLY), outbox.is_settled(db, number)) == (True, False)
        outbox.set_outbox(db, number, "done", EARLY)
        assert (outbox.send_outbox(db, number, "", LATE), outbox.is_settled(db, number)) == (False, True)


def test_a_new_run_forgets_when_to_try_again_and_who_was_to_act_but_no_doubt(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        add_nodes(db, VERIFIER)
        for one in ("pending", "unknown", "held"):
            outbox.set_outbox(db, put(db, one), one, EARLY, one, LATE, is_in_doubt=one != "pending", readings=1)
        assert due(db, EARLY) == []
        outbox.wake(db, EARLY)
        rows = outbox.due(db, EARLY)
        assert [(row.fingerprint, row.state, row.is_in_doubt) for row in rows] == [
            ("pending", "pending", False), ("unknown", "unknown", True), ("held", "unknown", True),
        ]  # fmt: skip
        assert outbox.next_time(db) is None


def test_the_next_time_is_the_first_that_something_unsettled_waits_for(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        add_nodes(db, VERIFIER)
        for one, until in (("pending", LATE), ("done", EARLY), ("held", EARLY)):
            outbox.set_outbox(db, put(db, one), one, EARLY, "", until)
        assert outbox.next_time(db) == LATE


def test_an_issue_with_another_number_is_another_episode_and_the_earlier_one_is_kept(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        outbox.open_issue(db, "print", "Title", "cause", "a", ["R1"], EARLY)
        for number in ("7", "7", "9"):
            outbox.name_issue(db, "print", number, f"url/{number}", "open", LATE)
        found = db.execute("SELECT number, url, episode, remote, seen_at FROM issues").fetchall()
        assert found == [("9", "url/9", 2, "open", LATE)]
        earlier = db.execute("SELECT episode, number, url, ended_at FROM issue_episodes").fetchall()
        assert earlier == [(1, "7", "url/7", LATE)]
        assert outbox.named_issues(db) == [("print", "9", "open")]


def test_issues_that_are_gone_are_no_numbers_that_should_be_there(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        for number, remote in (("7", "open"), ("12", "closed"), ("9", "deleted"), ("10", "moved")):
            outbox.open_issue(db, number, "Title", "cause", "a", ["R1"], EARLY)
            outbox.name_issue(db, number, number, "url", remote, EARLY)
        assert outbox.known_numbers(db) == (12, 7)


def test_an_effect_is_wanted_once_by_a_decision(tmp_path: Path) -> None:
    first = outbox.effect_id(1, "file", "a", EARLY)
    assert first == outbox.effect_id(1, "file", "a", EARLY)
    others = [(2, "file", "a", EARLY), (1, "close", "a", EARLY), (1, "file", "b", EARLY), (1, "file", "a", LATE)]
    assert len({first, *(outbox.effect_id(*other) for other in others)}) == 5
    with state(tmp_path) as db:
        add_nodes(db, VERIFIER)
        decision = decide(db)
        outbox.put(db, decision, "file", "a", "s", {}, EARLY)
        with pytest.raises(sqlite3.IntegrityError):
            outbox.put(db, decision, "file", "a", "s", {}, EARLY)


def test_failing_again_after_a_proof_is_flapping_and_after_anything_else_it_is_not(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        for proves, flaps in ((True, 1), (False, 1), (True, 2)):
            outbox.open_issue(db, "print", "Title", "cause", "a", ["R1"], EARLY)
            if proves:
                outbox.note_proof(db, "print")
            outbox.close_issue(db, "print", EARLY)
            outbox.open_issue(db, "print", "Title", "cause", "a", ["R1"], EARLY)
            assert (outbox.flaps_of(db, "print"), outbox.awaits_second_proof(db, "a")) == (flaps, False)
        assert outbox.note_proof(db, "print") == (1, 2)
        assert outbox.awaits_second_proof(db, "a") is True


OLDER = MIGRATIONS.index(DELIVERY)
"""Formats before the tables of delivery to a tracker."""


def test_what_an_older_agent_fox_left_under_way_is_in_doubt(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with closing(sqlite3.connect(path)) as old:
        for number in range(OLDER):
            old.executescript(MIGRATIONS[number])
        old.execute(f"PRAGMA user_version = {OLDER}")
        old.execute("PRAGMA foreign_keys = OFF")
        row = (
            "INSERT INTO outbox (id, decision_id, kind, fingerprint, spec_name, payload, state, created_at, updated_at)"
        )
        for one in ("pending", "inflight", "unknown", "held", "done"):
            old.execute(f"{row} VALUES (?, 1, 'file', ?, 's', '{{}}', ?, ?, ?)", [one, one, one, EARLY, LATE])
        old.commit()
    with state(tmp_path) as db:
        found = db.execute("SELECT state, is_in_doubt, sent_at FROM outbox ORDER BY position").fetchall()
    assert found == [
        ("pending", 0, None), ("inflight", 1, LATE), ("unknown", 1, LATE), ("held", 0, None), ("done", 0, None),
    ]  # fmt: skip
