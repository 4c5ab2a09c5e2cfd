"""What is read again before a run may end: real state, a real repository, no processes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.config import EvidenceSettings
from agent_fox.core.policy import Policy
from agent_fox.core.retry.standing import Status
from agent_fox.engine.record.board import Board
from agent_fox.engine.record.environment import Standpoint
from agent_fox.engine.running.final_check import Conditions, reopen_stale, seed_of, shown
from agent_fox.store import sessions
from agent_fox.store.state import transaction
from agent_fox.testing.worlds import commit_all, first_commit, git
from tests.engine.desk import AT, Desk, small_spec

SPECS = [small_spec(f"0{number}_x", {1: ("1.1",)}) for number in range(1, 9)]
HERE = Standpoint("here", "1 checks")


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    (root / "a.txt").write_text("a\n")
    first_commit(root)
    return root


@pytest.fixture
def desk(tmp_path: Path, repo: Path) -> Desk:
    """A desk on which one spec was proven on the repository's commit, here."""
    desk = Desk.open(tmp_path, SPECS[:1], Policy())
    prove(desk, repo, "01_x")
    return desk


def prove(desk: Desk, repo: Path, spec: str, place: Standpoint = HERE) -> None:
    desk.end(f"{spec}:1")
    desk.commit = git(repo, "rev-parse", "HEAD")
    judged(desk, f"{spec}:2", place)


def judged(desk: Desk, node: str, place: Standpoint) -> None:
    """The verifier's session ends with a PASS, made in this place."""
    with transaction(desk.db):
        sessions.set_session(
            desk.db, desk.session(desk.node(node)), {"environment": place.environment, "verifier": place.verifier}
        )
    desk.report(node, {f"{node[:2]}-REQ-1.1": "PASS"})
    with transaction(desk.db):
        desk.db.execute("UPDATE sessions SET status = 'completed' WHERE status = 'running'")


def present(repo: Path, place: Standpoint = HERE, **settings: object) -> Conditions:
    evidence = EvidenceSettings.model_validate(settings)
    return Conditions(repo, git(repo, "rev-parse", "HEAD"), evidence, (), lambda planned, rung: place)


def reopened(desk: Desk, now: Conditions) -> list[tuple[str, dict[str, object]]]:
    """Node and note of what is read again, with the facts it was worked out from."""
    with transaction(desk.db):
        handled = reopen_stale(desk.docket(), desk.board(), now)
    numbers = [one.decision_id for one in handled]
    rows = [desk.rows(f"SELECT note, facts FROM decisions WHERE id = {number}")[0] for number in numbers]
    return [(str(note), json.loads(str(facts))) for note, facts in rows]


def next_run(desk: Desk) -> None:
    with transaction(desk.db):
        desk.run_id = sessions.start_run(desk.db, AT, "head")


def board(desk: Desk) -> Board:
    return desk.board()


def test_what_was_proven_here_on_this_tree_stands(desk: Desk, repo: Path) -> None:
    assert reopened(desk, present(repo)) == []
    next_run(desk)
    assert reopened(desk, present(repo)) == []


def test_another_tree_is_read_again(desk: Desk, repo: Path) -> None:
    (repo / "a.txt").write_text("b\n")
    commit_all(repo, "change")
    ((note, facts),) = reopened(desk, present(repo))
    why = "it rests on the whole tree: what 01-REQ-1.1 rests on was not measured"
    again = "the code has changed since this spec was verified; it is verified again as it stands at the end"
    assert note == f"{again}: {why}"
    assert facts == {"stale": ["the code has changed"], "touched": why}
    assert desk.node("01_x:2").standing.status is Status.PENDING


@pytest.mark.parametrize(
    ("place", "why"),
    [
        (replace(HERE, environment="elsewhere"), "the environment has changed"),
        (replace(HERE, verifier="2 checks"), "the verifier has changed"),
    ],
)
def test_another_environment_or_judge_reads_again_or_is_shown(
    desk: Desk, repo: Path, place: Standpoint, why: str
) -> None:
    kept = present(repo, place, environment="show")
    assert reopened(desk, kept) == []
    (line,) = shown(desk.docket(), board(desk), kept)
    assert line.startswith(f"01_x: {why} since it was verified")
    ((note, _),) = reopened(desk, present(repo, place))
    assert note.startswith(why)


def test_read_again_in_the_new_place_it_stands(desk: Desk, repo: Path) -> None:
    place = replace(HERE, environment="elsewhere")
    assert len(reopened(desk, present(repo, place))) == 1
    judged(desk, "01_x:2", place)
    assert reopened(desk, present(repo, place)) == []


def test_a_verdict_of_an_earlier_run_that_nobody_wrote_the_place_of_is_read_again(tmp_path: Path, repo: Path) -> None:
    desk = Desk.open(tmp_path, SPECS[:1], Policy())
    prove(desk, repo, "01_x", Standpoint("", ""))
    assert reopened(desk, present(repo)) == []
    next_run(desk)
    ((note, _),) = reopened(desk, present(repo))
    assert note.startswith("no record shows what its verdict counts for")


class TestChance:
    def test_nothing_is_drawn_by_default_and_everything_at_one(self, desk: Desk, repo: Path) -> None:
        next_run(desk)
        assert reopened(desk, present(repo)) == []
        ((note, facts),) = reopened(desk, present(repo, rerun_fraction=1.0))
        assert note.startswith("drawn by chance")
        rerun = facts["rerun"]
        assert isinstance(rerun, dict)
        assert (rerun["fraction"], rerun["seed"]) == (1.0, seed_of(desk.docket()))

    def test_what_was_proven_in_this_run_is_not_old(self, desk: Desk, repo: Path) -> None:
        assert reopened(desk, present(repo, rerun_fraction=1.0)) == []

    def test_read_again_in_this_run_it_is_not_drawn_twice(self, desk: Desk, repo: Path) -> None:
        next_run(desk)
        assert len(reopened(desk, present(repo, rerun_fraction=1.0))) == 1
        judged(desk, "01_x:2", HERE)
        assert reopened(desk, present(repo, rerun_fraction=1.0)) == []

    def test_a_run_draws_once_from_where_the_ledger_stood_and_another_run_draws_anew(
        self, tmp_path: Path, repo: Path
    ) -> None:
        desk = Desk.open(tmp_path, SPECS, Policy())
        for spec in SPECS:
            prove(desk, repo, spec.name)
        drawn = []
        for _ in range(6):
            next_run(desk)
            names = drawn_names(desk, present(repo, rerun_fraction=0.5))
            assert drawn_names(desk, present(repo, rerun_fraction=0.5)) == names
            drawn.append(names)
        assert len(set(drawn)) > 1


def drawn_names(desk: Desk, now: Conditions) -> frozenset[str]:
    """The specs that this run would read again; nothing is kept."""
    desk.db.conn.execute("BEGIN IMMEDIATE")
    handled = reopen_stale(desk.docket(), desk.board(), now)
    desk.db.conn.rollback()
    return frozenset(one.transitions[0].node_id for one in handled)


def test_a_gate_that_does_not_show_its_verdict_is_read_again_once_it_is_old(desk: Desk, repo: Path) -> None:
    """A state file from before there were gates."""
    next_run(desk)
    bare = replace_gates(desk.db)
    assert bare == [("01-REQ-1.1", "proposed")]
    ((note, _),) = reopened(desk, present(repo))
    assert note.startswith("no record shows")


def replace_gates(db: Database) -> list[tuple[object, ...]]:
    db.execute("DROP TRIGGER gate_history_no_delete")
    db.execute("DELETE FROM gate_history")
    return list(db.execute("SELECT requirement_id, state FROM gates").fetchall())
