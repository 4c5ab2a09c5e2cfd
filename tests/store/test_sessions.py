"""Runs, sessions and launches: what is found again, and what they cost."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.core.ids import Ticket
from agent_fox.store import account, sessions
from agent_fox.store.sessions import LaunchRow
from tests.store.world import AT, CODER, SPEC, VERIFIER, add_launch, add_nodes, add_session, fill, state, writing


def begin(db: Database) -> int:
    add_nodes(db, CODER, VERIFIER)
    return sessions.start_run(db, AT, "c0ffee")


@pytest.mark.parametrize(("status", "goes_on"), [("paused", True), ("interrupted", True), ("ended", False)])
def test_a_run_is_continued_unless_it_came_to_its_end(tmp_path: Path, status: str, goes_on: bool) -> None:
    with writing(tmp_path) as db:
        assert sessions.open_run(db) is None
        run = sessions.start_run(db, AT, "c0ffee")
        assert sessions.open_run(db) == run
        sessions.end_run(db, run, AT, status, 3, "why", "tip")
        assert sessions.open_run(db) == (run if goes_on else None)


def test_a_continued_run_goes_on_with_its_time(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        run = sessions.start_run(db, AT, "c0ffee")
        sessions.add_run_seconds(db, run, 1.5)
        sessions.end_run(db, run, AT, "paused", 3, "why", None)
        sessions.resume_run(db, run, "tested", AT)
        sessions.add_run_seconds(db, run, 2.0)
        assert sessions.run_seconds(db, run) == 3.5
        assert db.execute("SELECT status, ended_at, exit_code FROM runs").fetchone() == ("running", None, None)
        with pytest.raises(sqlite3.IntegrityError, match="time that was spent stays spent"):
            sessions.add_run_seconds(db, run, -1)


def at(minute: int) -> str:
    return f"2026-03-01T12:{minute:02}:00.000Z"


def test_a_wait_ends_when_its_session_is_launched_again_and_no_later_than_it_was_to(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        run = begin(db)
        session = add_session(db, run, CODER)
        for number, until in enumerate((at(5), at(1)), 1):
            sessions.begin_wait(db, run, session, "rate limit", "429", at(0), until)
            sessions.start_launch(db, {
                "id": f"launch-{number}", "session_id": session, "run_id": run, "number": number, "status": "lost",
                "pinned_commit": "c0ffee", "folder": "", "started_at": at(2),
            })  # fmt: skip
        waits = account.wait_rows(db)
    rest = (run, session, CODER.id, "rate limit", "429", at(0))
    assert waits == [(1, *rest, at(5), at(2)), (2, *rest, at(1), at(1))]


@pytest.mark.parametrize(("status", "pauses"), [("paused", 1), ("interrupted", 1), ("ended", 0)])
def test_a_run_that_stops_waits_until_it_goes_on_and_its_sessions_do_not(
    tmp_path: Path, status: str, pauses: int
) -> None:
    with writing(tmp_path) as db:
        run = begin(db)
        sessions.begin_wait(db, run, add_session(db, run, CODER), "network", "no route", at(0), at(9))
        assert [row[:2] for row in account.open_wait_rows(db, run)] == [(CODER.id, "network")]
        sessions.end_run(db, run, at(3), status, 3, "ceiling of the run", None)
        assert account.open_wait_rows(db, run) == []
        sessions.resume_run(db, run, "tested", at(7))
        of_session, *of_run = [row[4:] for row in account.wait_rows(db)]
    assert of_session == ("network", "no route", at(0), at(9), at(3))
    assert of_run == [(status, "ceiling of the run", at(3), "", at(7))] * pauses


def test_a_session_is_found_by_its_ticket_and_there_is_one_for_a_ticket(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        run = begin(db)
        number = add_session(db, run, CODER)
        found = sessions.session_by_ticket(db, Ticket(CODER.uid, 1))
        assert found == sessions.session_by_id(db, number)
        assert found is not None
        assert (found.run_id, found.node_id, found.ticket) == (run, CODER.id, Ticket(CODER.uid, 1))
        assert sessions.session_by_ticket(db, Ticket(CODER.uid, 2)) is None
        with pytest.raises(KeyError):
            sessions.session_by_id(db, 4711)
        with pytest.raises(sqlite3.IntegrityError):
            add_session(db, run, CODER)


def test_a_session_tells_what_came_of_it(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        run = begin(db)
        number = add_session(db, run, CODER)
        end = {"status": "completed", "end_kind": "ended", "reason": "", "rung": 1, "pinned_commit": "p", "tree": "t"}
        more = {"base_commit": "b", "landed_commit": "l", "cost_usd": 0.5, "summary": "rings", "log": "a.log"}
        sessions.set_session(db, number, {**end, **more, "ended_at": AT, "seconds": 2.5})
        (found,) = sessions.sessions_where(db, "spec_name = ?", [SPEC])
        told = (found.status, found.end_kind, found.rung, found.pinned, found.tree, found.base, found.landed)
        assert told == ("completed", "ended", 1, "p", "t", "b", "l")
        counts = (found.cost_usd, found.assumed_cost_usd, found.summary, found.log, found.ended_at, found.seconds)
        assert counts == (0.5, 1.0, "rings", "a.log", AT, 2.5)


def test_only_one_launch_of_a_ticket_ever_ends(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        run = begin(db)
        session = add_session(db, run)
        for name in ("lost", "ended", "doubled"):
            add_launch(db, name, session, run)
        sessions.set_launch(db, "lost", {"status": "lost"})
        sessions.set_launch(db, "ended", {"status": "ended"})
        with pytest.raises(sqlite3.IntegrityError):
            sessions.set_launch(db, "doubled", {"status": "ended"})
        with pytest.raises(sqlite3.IntegrityError, match="a launch that ended cannot change"):
            sessions.set_launch(db, "lost", {"status": "ended"})


def test_launches_under_way_are_found_again_after_a_crash(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        run = begin(db)
        session = add_session(db, run)
        for name in ("one", "two"):
            add_launch(db, name, session, run)
        sessions.set_launch(db, "one", {"status": "lost"})
        sessions.set_launch(db, "two", {"pid": 17, "pid_start": "4711"})
        two = LaunchRow("two", session, 2, "running", "c0ffee", "/launches/two", 17, "4711")
        assert sessions.open_launches(db) == [two]
        assert sessions.launch_number(db, session) == 3


def test_losses_to_infrastructure_are_counted_for_this_run_alone(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        first = begin(db)
        session, second = add_session(db, first), sessions.start_run(db, AT, "c0ffee")
        for run, status in ((first, "infrastructure"), (second, "infrastructure"), (second, "lost")):
            add_launch(db, f"{run}-{status}", session, run)
            sessions.set_launch(db, f"{run}-{status}", {"status": status})
        assert sessions.infrastructure_losses(db, session, second) == 1


@pytest.mark.parametrize(
    ("status", "said", "counts"),
    [
        ("running", None, 1.25),
        ("ended", None, 1.25),
        ("ended", 0.0, 0.0),
        ("ended", 0.4, 0.4),
        ("interrupted", None, 1.25),
        ("lost", None, 0.0),
        ("infrastructure", None, 0.0),
        ("infrastructure", 0.4, 0.4),
    ],
)
def test_a_launch_costs_what_it_said_or_as_assumed_and_nothing_when_lost(
    tmp_path: Path, status: str, said: float | None, counts: float
) -> None:
    with state(tmp_path) as db:
        run = begin(db)
        add_launch(db, "one", add_session(db, run, assumed=1.25), run)
        sessions.set_launch(db, "one", {"status": status, "cost_usd": said})
        assert sessions.run_cost(db, run) == counts


def test_costs_add_up_for_a_run_a_spec_and_a_node(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        fill(db)
    with writing(tmp_path) as db:
        run = sessions.start_run(db, AT, "c0ffee")
        for attempt, node in ((2, CODER), (2, VERIFIER), (3, CODER)):
            add_launch(db, f"{node.uid}{attempt}", add_session(db, run, node, attempt, assumed=0.5), run)
        assert (sessions.run_cost(db, 1), sessions.run_cost(db, run), sessions.run_cost(db, 9)) == (0.5, 1.5, 0.0)
        assert (sessions.spec_cost(db, run, SPEC), sessions.spec_cost(db, run, "other")) == (1.5, 0.0)
        assert sessions.node_cost(db, run, CODER.uid) == 1.0
        assert sessions.session_counts(db, run) == 3
        assert sessions.count_sessions(db, run, "spec_name", SPEC) == 3
        assert sessions.count_sessions(db, run, "node_uid", VERIFIER.uid) == 1
