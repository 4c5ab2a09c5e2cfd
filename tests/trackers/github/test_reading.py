"""What readings mean: whose issue it is, how it stands, who has spoken, and when a doubt is given up."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.retry.filing import Says, Seen
from agent_fox.trackers.github.answers import Absent, RemoteComment, RemoteIssue
from agent_fox.trackers.github.marker import Marker
from agent_fox.trackers.github.reading import (
    after,
    as_found,
    chosen,
    has_person_spoken,
    is_given_up,
    kept_instead,
    marked,
    ops_in,
    patience,
    seen,
)
from agent_fox.trackers.protocol import Remote

KEY = bytes(range(32))
NOW = "2026-03-31T12:00:00.000Z"
ISSUE = RemoteIssue(
    number=1, id=101, title="t", body=Marker("f1", "e1").above("x", KEY), state="open", state_reason=None,
    creator="fox-bot", is_pull=False, is_locked=False, comments=0, created_at="2026-03-01T12:00:00.000Z", closed_at="",
    url="https://github.com/o/r/issues/1", repository="o/r",
)  # fmt: skip
CLOSED = replace(ISSUE, state="closed", state_reason="completed", closed_at="2026-03-30T12:00:00.000Z")


def numbered(number: int, op: str = "e", fp: str = "f1", base: RemoteIssue = ISSUE) -> RemoteIssue:
    return replace(base, number=number, body=Marker(fp, op).above("x", KEY))


def comment(op: str, author: str = "fox-bot", is_bot: bool = False) -> RemoteComment:
    """One of ours where an operation is told, else a person's."""
    body = Marker("f1", op).above("x", KEY) if op else "Hello."
    return RemoteComment(abs(hash((op, author))) + 1, body, author, is_bot, "", "")


def found(*issues: RemoteIssue, stale: tuple[int, ...] = ()) -> int | None:
    issue = chosen(marked(issues, ("fox-bot",), KEY), "f1", "mine", stale)
    return None if issue is None else issue.number


def test_only_marked_issues_of_our_creator_are_ours() -> None:
    forged = replace(ISSUE, body=Marker("f1", "e1").above("x", b"other"))
    strangers, pull, bare = replace(ISSUE, creator="m"), replace(ISSUE, is_pull=True), replace(ISSUE, body="x")
    assert marked((forged, strangers, pull, bare), ("fox-bot",), KEY) == ()
    assert [one.issue for one in marked((ISSUE,), ("other", "FOX-bot"), KEY)] == [ISSUE]
    assert marked((strangers,), ("",), KEY) == ()
    assert len(marked((replace(ISSUE, creator="github-actions[bot]"),), ("",), KEY)) == 1


def test_the_issue_of_a_cause_is_what_this_made_else_the_lowest_open_else_the_latest_closed() -> None:
    assert found(numbered(5), numbered(3), numbered(4, base=CLOSED), numbered(9, "mine", base=CLOSED)) == 9
    assert found(numbered(5), numbered(3), numbered(2, base=CLOSED), numbered(1, fp="f2")) == 3
    assert found(numbered(2, base=CLOSED), numbered(4, base=CLOSED)) == 4
    assert found(numbered(2, base=CLOSED), numbered(4, base=replace(CLOSED, state_reason="duplicate"))) == 2
    assert found(numbered(2, base=replace(CLOSED, state_reason="not_planned"))) == 2
    assert found(numbered(1, fp="f2")) is None


def test_of_what_is_past_nothing_counts_but_what_this_made() -> None:
    assert found(numbered(2, base=CLOSED), numbered(4, base=CLOSED), stale=(4,)) is None
    assert found(numbered(2), numbered(4, base=CLOSED), stale=(4,)) == 2
    assert found(numbered(4, base=CLOSED), numbered(6, base=CLOSED), stale=(4,)) == 6
    assert found(numbered(4, "mine", base=CLOSED), stale=(4,)) == 4


@pytest.mark.parametrize(
    ("comments", "has_spoken"),
    [
        ((), False),
        ((comment("e1"),), False),
        ((comment("", "alex"),), True),
        ((comment("", "alex"), comment("e1")), False),
        ((comment("e1"), comment("", "alex")), True),
        ((comment("", "alex"), comment("now")), True),
        ((comment("", "alex"), comment("now"), comment("now/2")), True),
        ((comment("e1"), comment("now"), comment("", "alex")), True),
        ((comment("e1"), comment("", "ci[bot]", is_bot=True)), False),
        ((comment("e1"), comment("", "fox-bot")), True),
        ((comment("e1", "another"),), False),
    ],
)
def test_a_person_has_spoken_where_no_other_comment_of_ours_came_later(
    comments: tuple[RemoteComment, ...], has_spoken: bool
) -> None:
    assert has_person_spoken(comments, "now", KEY) is has_spoken


def test_comments_are_known_by_cause_and_operation() -> None:
    other = RemoteComment(9, Marker("f2", "e1").above("x", KEY), "fox-bot", False, "", "")
    first, second = comment("e1"), comment("e1", "again")
    assert ops_in((other, first, second, comment("", "alex")), "f1", KEY) == {"e1": first}


def test_what_we_closed_as_a_duplicate_names_what_stays() -> None:
    assert kept_instead((comment("e1"), comment("duplicate-of-12")), "f1", KEY) == 12
    assert kept_instead((comment("e1"), comment("duplicate-of-x")), "f1", KEY) is None


@pytest.mark.parametrize(
    ("issue", "left", "has_spoken", "sight"),
    [
        (Absent.NONE, None, False, Seen.GONE),
        (Absent.GONE, Remote.OPEN, False, Seen.GONE),
        (Absent.MOVED, Remote.OPEN, False, Seen.MOVED),
        (replace(ISSUE, is_pull=True), None, False, Seen.GONE),
        (ISSUE, None, False, Seen.OPEN),
        (ISSUE, Remote.OPEN, True, Seen.SPOKEN),
        (ISSUE, Remote.CLOSED, False, Seen.SPOKEN),
        (ISSUE, Remote.KEPT, False, Seen.SPOKEN),
        (ISSUE, Remote.REFUSED, False, Seen.SPOKEN),
        (CLOSED, Remote.CLOSED, False, Seen.PROVEN),
        (CLOSED, Remote.OPEN, False, Seen.FINISHED),
        (CLOSED, None, True, Seen.FINISHED),
        (replace(CLOSED, state_reason=None), None, False, Seen.FINISHED),
        (replace(CLOSED, state_reason="not_planned"), Remote.CLOSED, False, Seen.REFUSED),
        (replace(CLOSED, state_reason="duplicate"), Remote.OPEN, False, Seen.REFUSED),
        (replace(CLOSED, closed_at="2026-03-01T11:00:00.000Z"), Remote.CLOSED, False, Seen.OLD),
        (replace(CLOSED, closed_at=""), Remote.CLOSED, False, Seen.PROVEN),
        (replace(CLOSED, closed_at="2026-01-01T00:00:00.000Z", state_reason="not_planned"), None, False, Seen.REFUSED),
    ],
)
def test_how_an_issue_stands(issue: RemoteIssue | Absent, left: Remote | None, has_spoken: bool, sight: Seen) -> None:
    assert seen(issue, left, has_spoken, NOW, 30) is sight


def test_how_it_is_left_is_told_for_every_sight() -> None:
    for sight, left in product(Seen, (None, *Remote)):
        found = (after(sight, Says.FAILING, left), after(sight, Says.PROOF, left), as_found(sight, left) is None)
        proven = Remote.KEPT if sight is Seen.SPOKEN else Remote.CLOSED
        assert found == (Remote.OPEN, proven, sight is Seen.NEVER), (sight, left)


def test_an_issue_that_a_person_wants_open_is_kept_as_that() -> None:
    assert as_found(Seen.SPOKEN, Remote.CLOSED) is Remote.KEPT
    assert as_found(Seen.SPOKEN, Remote.OPEN) is Remote.OPEN


@given(st.integers(0, 1000), st.floats(0, 1e5))
def test_readings_come_soon_and_then_rarely_but_never_stop(readings: int, grace: float) -> None:
    assert 5.0 <= patience(readings, grace) <= max(5.0, grace)
    assert patience(readings, 900.0) <= patience(readings + 1, 900.0) or readings == 0


@pytest.mark.parametrize(
    ("readings", "since", "is_over"),
    [
        (3, "2026-03-31T11:45:00.000Z", True),
        (2, "2026-03-31T11:00:00.000Z", False),
        (9, "2026-03-31T11:45:00.001Z", False),
        (9, "2026-04-01T00:00:00.000Z", False),
    ],
)
def test_a_doubt_is_given_up_after_the_time_of_grace_and_three_readings(
    readings: int, since: str, is_over: bool
) -> None:
    assert is_given_up(readings, since, NOW, 900.0) is is_over
