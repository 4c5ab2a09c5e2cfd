"""What people and other tools rely on about the state file: questions and columns that stay as they are."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.store.world import fill, state

QUESTIONS = {
    "SELECT DISTINCT archetype FROM blocking_history": [("verifier",)],
    "SELECT id, status FROM plan_nodes WHERE archetype = 'verifier'": [("01_bell:2", "completed")],
    "SELECT spec_name, verdict, count(*) FROM verification_results WHERE superseded_by IS NULL "
    "GROUP BY spec_name, verdict": [("01_bell", "FAIL", 2)],
}
COLUMNS = {
    "sessions": "node_id, node_uid, attempt, reading, status, cost_usd",
    "plan_nodes": "id, spec_name, archetype, status, outcome, retry_predecessor",
    "verification_results": "spec_name, requirement_id, verdict, evidence, superseded_by",
    "blocking_history": "archetype, node_id, cause",
    "plan_edges": "source, target",
    **dict.fromkeys(("decisions", "outbox", "issues", "events", "runs"), "*"),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_that_people_ask_works_as_it_stands(tmp_path: Path, question: str) -> None:
    with state(tmp_path) as db:
        fill(db)
    with closing(sqlite3.connect(tmp_path / "state.db")) as connection:
        assert connection.execute(question).fetchall() == QUESTIONS[question]


@pytest.mark.parametrize("table", COLUMNS)
def test_tables_keep_the_columns_that_others_read(tmp_path: Path, table: str) -> None:
    with state(tmp_path) as db:
        fill(db)
    with closing(sqlite3.connect(tmp_path / "state.db")) as connection:
        assert connection.execute(f"SELECT {COLUMNS[table]} FROM {table}").fetchall()


def test_the_sessions_whose_result_counts_are_those_that_completed(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        fill(db)
    with closing(sqlite3.connect(tmp_path / "state.db")) as connection:
        found = connection.execute("SELECT node_id, cost_usd FROM sessions WHERE status = 'completed'").fetchall()
    assert found == [("01_bell:1", 0.25), ("01_bell:2", 0.25)]
