"""What our tables keep to wherever they are: in a state file of their own, or in the database of a host."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.core.retry.standing import Outcome, Standing, Status
from agent_fox.core.verdicts.verdict import Word
from agent_fox.store import plan
from agent_fox.store.hosted import guest, settle_in
from agent_fox.store.schema.guards import APPEND_ONLY
from agent_fox.store.state import transaction
from tests.store.world import AT, CODER, SPEC, fill, fill_in, report, state

QUESTIONS = {
    "SELECT DISTINCT archetype FROM blocking_history": [("verifier",)],
    "SELECT id, status FROM plan_nodes WHERE archetype = 'verifier'": [("01_bell:2", "completed")],
    "SELECT spec_name, verdict, count(*) FROM verification_results WHERE superseded_by IS NULL "
    "GROUP BY spec_name, verdict": [("01_bell", "FAIL", 2)],
}


@contextmanager
def hosted(database: str) -> Iterator[Database]:
    with closing(sqlite3.connect(database, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE jobs (name TEXT)")
        with guest(connection) as db:
            with transaction(db):
                settle_in(db)
            yield db


STORES: dict[str, Callable[[Path], AbstractContextManager[Database]]] = {
    "a state file": state,
    "a host's file": lambda folder: hosted(str(folder / "host.db")),
    "a host's memory": lambda folder: hosted(":memory:"),
}


@pytest.fixture(params=sorted(STORES))
def db(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Database]:
    with STORES[request.param](tmp_path) as opened:
        fill(opened)
        yield opened


@pytest.mark.parametrize("question", QUESTIONS)
def test_the_three_questions_work_as_they_stand(db: Database, question: str) -> None:
    assert db.execute(question).fetchall() == QUESTIONS[question]


@pytest.mark.parametrize("table", sorted(APPEND_ONLY))
def test_history_is_neither_removed_nor_replaced(db: Database, table: str) -> None:
    before = db.execute(f"SELECT * FROM {table}").fetchall()
    for attack in (f"DELETE FROM {table}", f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}"):
        with pytest.raises(sqlite3.IntegrityError):
            db.execute(attack)
    assert db.execute(f"SELECT * FROM {table}").fetchall() == before


def test_a_transaction_is_all_or_nothing(db: Database) -> None:
    before = list(db.conn.iterdump())
    with pytest.raises(RuntimeError, match="power is gone"):
        lose_power_after_a_report(db)
    assert list(db.conn.iterdump()) == before


def lose_power_after_a_report(db: Database) -> None:
    with transaction(db):
        report(db, 2, R1=Word.PASS, R2=Word.PASS)
        raise RuntimeError("power is gone")


def test_a_newer_verdict_takes_the_place_of_the_older_one_and_both_stay(db: Database) -> None:
    (count,) = db.execute("SELECT count(*) FROM verification_results").fetchone()
    with transaction(db):
        report(db, 2, R1=Word.PASS)
    sql = "SELECT verdict FROM verification_results WHERE requirement_id = 'R1' AND superseded_by IS NULL"
    assert db.execute(sql).fetchall() == [("PASS",)]
    assert db.execute("SELECT count(*) FROM verification_results").fetchone() == (count + 1,)


def test_a_node_does_not_move_without_a_decision(db: Database) -> None:
    with pytest.raises(sqlite3.IntegrityError, match="no decision was recorded"):
        plan.move_node(db, Standing(CODER.uid, Status.COMPLETED, Outcome.LANDED), None)


def test_what_is_saved_is_what_is_loaded(db: Database) -> None:
    assert [planned.node.uid for planned in plan.load_nodes(db)] == ["bell:0", CODER.uid, "bell:verifier"]
    assert plan.load_spec(db, SPEC).name == SPEC
    assert AT in {at for (at,) in db.execute("SELECT at FROM decisions")}


def test_two_stores_do_not_fill_one_database_twice(db: Database) -> None:
    with pytest.raises(sqlite3.IntegrityError), transaction(db):
        fill_in(db)
