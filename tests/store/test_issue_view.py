"""What is known of every issue: how it stands, what it is about, what waits and why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.store import outbox
from agent_fox.store.issue_view import (
    IssueStanding,
    IssueView,
    Member,
    Waits,
    named,
    read_effects,
    read_issue_counts,
    read_issues,
    read_waiting,
    standing_of,
)
from agent_fox.store.plan import spec_names
from agent_fox.trackers.protocol import Remote
from tests.store.world import VERIFIER, add_nodes, decide, state

AT, LATER = "2026-03-01T12:00:00.000Z", "2026-03-01T13:00:00.000Z"


@pytest.fixture
def db(tmp_path: Path) -> Iterator[Database]:
    with state(tmp_path) as db:
        add_nodes(db, VERIFIER)
        yield db


def put(db: Database, fingerprint: str, kind: str = "file", body: str = "") -> str:
    return outbox.put(db, decide(db), kind, fingerprint, "s", {"title": fingerprint, "body": body}, AT)


def filed(db: Database, fingerprint: str, number: str, remote: str = "", spec: str = "s", at: str = AT) -> None:
    outbox.open_issue(db, fingerprint, f"Title of {fingerprint}", "attempts spent", spec, ["R1", "R2"], at)
    if number:
        outbox.name_issue(db, fingerprint, number, f"https://example.org/i/{number}", remote, at)


def only(db: Database) -> IssueView:
    (issue,) = read_issues(db)
    return issue


def test_an_issue_is_read_with_its_members_age_and_place(db: Database) -> None:
    outbox.set_outbox(db, put(db, "aaaa1111"), "done", AT)
    filed(db, "aaaa1111", "7", "open", at=LATER)
    outbox.settle_member(db, "aaaa1111", "s", "R1")
    issue = only(db)
    assert (issue.number, issue.standing, issue.where) == ("7", IssueStanding.OPEN, "https://example.org/i/7")
    assert (issue.since, issue.updated_at, issue.waits) == (AT, LATER, 0)
    assert issue.members == (Member("s", "R1", False), Member("s", "R2", True))
    assert (issue.specs, issue.open_ids) == (("s",), ("R2",))


@pytest.mark.parametrize("remote", Remote)
def test_how_the_tracker_was_seen_last_counts_over_what_we_want(remote: Remote) -> None:
    assert {standing_of(wanted, "7", remote, 0) for wanted in ("open", "closed")} == {IssueStanding(remote.value)}


@pytest.mark.parametrize(
    ("wanted", "waits", "standing"),
    [
        ("open", 1, IssueStanding.WAITING),
        ("open", 0, IssueStanding.WAITING),
        ("closed", 1, IssueStanding.WAITING),
        ("closed", 0, IssueStanding.NEVER),
    ],
)
def test_an_issue_without_a_number_waits_or_was_never_needed(wanted: str, waits: int, standing: IssueStanding) -> None:
    assert standing_of(wanted, None, "", waits) is standing


def test_a_tracker_that_tells_nothing_of_its_issues_is_believed_to_have_done_what_was_asked() -> None:
    assert [standing_of(wanted, "7", "", 0).value for wanted in ("open", "closed")] == ["open", "closed"]


def test_issues_come_by_number_as_a_number_and_those_without_one_last(db: Database) -> None:
    for number in ("10", "", "9"):
        filed(db, f"print{number}", number)
    assert [issue.number for issue in read_issues(db)] == ["9", "10", ""]


def test_an_earlier_issue_of_the_same_cause_is_kept_and_found_by_its_number(db: Database) -> None:
    filed(db, "aaaa1111", "3")
    outbox.name_issue(db, "aaaa1111", "8", "https://example.org/i/8", at=LATER)
    issue = only(db)
    assert [(past.number, past.ended_at) for past in issue.earlier] == [("3", LATER)]
    assert issue.episode == 2
    assert named([issue], "3") == named([issue], "8") == (issue,)


def test_everything_that_was_to_be_done_is_told_with_what_came_of_it(db: Database) -> None:
    first, second = put(db, "aaaa1111", body="whole"), put(db, "aaaa1111", "comment", "again")
    put(db, "bbbb2222")
    outbox.set_outbox(db, first, "done", AT)
    outbox.set_outbox(db, second, "held", AT, "no token; set one")
    found = [(one.kind, one.state, one.note, one.body, one.is_settled) for one in read_effects(db, "aaaa1111")]
    assert found == [
        ("file", "done", "", "whole", True),
        ("comment", "held", "no token; set one", "again", False),
    ]


def test_what_waits_for_one_reason_is_told_once_and_what_a_person_must_do_first(db: Database) -> None:
    for fingerprint in ("a", "b", "a"):
        outbox.set_outbox(db, put(db, fingerprint), "pending", AT, "rate limit", LATER)
    outbox.set_outbox(db, put(db, "c"), "unknown", AT, "read timeout")
    outbox.set_outbox(db, put(db, "d"), "held", AT, "no token")
    outbox.set_outbox(db, put(db, "e"), "done", AT)
    put(db, "f")
    found = read_waiting(db, AT)
    assert [(one.why, one.note, one.count, one.until) for one in found] == [
        (Waits.HELD, "no token", 1, ""),
        (Waits.DOUBT, "read timeout", 1, ""),
        (Waits.LATER, "rate limit", 3, LATER),
        (Waits.DUE, "", 1, ""),
    ]
    assert found[2].fingerprints == ("a", "b")


def test_what_is_to_be_tried_again_and_was_held_for_the_same_reason_is_no_reason_of_its_own(db: Database) -> None:
    outbox.set_outbox(db, put(db, "a"), "held", AT, "no token")
    outbox.set_outbox(db, put(db, "b"), "pending", AT, "no token")
    assert [(one.why, one.count) for one in read_waiting(db, AT)] == [(Waits.HELD, 2)]


def test_what_was_to_wait_is_due_when_its_time_has_come(db: Database) -> None:
    outbox.set_outbox(db, put(db, "a"), "pending", AT, "rate limit", LATER)
    assert [[one.why for one in read_waiting(db, at)] for at in (AT, LATER)] == [[Waits.LATER], [Waits.DUE]]


def test_the_overview_counts_standings_and_what_waits(db: Database) -> None:
    filed(db, "a", "1", "open")
    filed(db, "b", "2", "open")
    filed(db, "c", "3", "refused by a person")
    filed(db, "d", "")
    put(db, "d")
    overview = read_issue_counts(db, AT)
    assert overview.standings == {IssueStanding.OPEN: 2, IssueStanding.WAITING: 1, IssueStanding.REFUSED: 1}
    assert overview.waits == 1


def test_the_overview_agrees_with_the_list(db: Database) -> None:
    for number, remote in enumerate(("", *Remote)):
        filed(db, f"print{number}", str(number + 1), remote)
    outbox.close_issue(db, "print0", AT)
    standings = [issue.standing for issue in read_issues(db)]
    assert read_issue_counts(db, AT).standings == {one: standings.count(one) for one in set(standings)}


@pytest.mark.parametrize("name", ["7", "#7", "0007", " 7 ", "https://example.org/i/7", "https://example.org/i/7/"])
def test_an_issue_is_found_however_a_person_writes_its_number(db: Database, name: str) -> None:
    filed(db, "aaaa1111", "7")
    filed(db, "bbbb2222", "77")
    assert [issue.number for issue in named(read_issues(db), name)] == ["7"]


def test_an_issue_is_found_by_the_start_of_its_fingerprint_but_not_by_three_letters_of_it(db: Database) -> None:
    filed(db, "aaaa1111", "7")
    assert [len(named(read_issues(db), name)) for name in ("AAAA1111", "aaaa", "aaa", "")] == [1, 1, 0, 0]


def test_of_a_spec_those_that_are_open_are_meant_and_not_their_parts(db: Database) -> None:
    filed(db, "aaaa1111", "1", "closed")
    filed(db, "bbbb2222", "2", "open")
    filed(db, "cccc3333", "3", "open")
    outbox.set_parent(db, "cccc3333", "bbbb2222")
    assert [issue.number for issue in named(read_issues(db), "s")] == ["2"]
    outbox.note_remote(db, "bbbb2222", "closed", AT)
    assert [issue.number for issue in named(read_issues(db), "s")] == ["1", "2"]


def test_nothing_is_known_of_an_empty_state(db: Database) -> None:
    assert (read_issues(db), read_waiting(db, AT), read_issue_counts(db, AT).standings) == ((), (), {})
    assert named((), "1") == ()
    assert spec_names(db) == ()
