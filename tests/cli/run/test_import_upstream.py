"""Runs that the upstream orchestrator recorded, told as they would have ended here; files are made by its schema."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pytest

from agent_fox.testing.worlds import run_cli

SCHEMA = """
CREATE TABLE runs (
    id VARCHAR PRIMARY KEY, plan_content_hash VARCHAR NOT NULL, started_at TIMESTAMP NOT NULL, completed_at TIMESTAMP,
    status VARCHAR NOT NULL DEFAULT 'running', total_input_tokens BIGINT NOT NULL DEFAULT 0,
    total_output_tokens BIGINT NOT NULL DEFAULT 0, total_cost DOUBLE NOT NULL DEFAULT 0.0,
    total_sessions INTEGER NOT NULL DEFAULT 0);
CREATE TABLE plan_nodes (
    id VARCHAR PRIMARY KEY, spec_name VARCHAR NOT NULL, group_number INTEGER NOT NULL, title VARCHAR NOT NULL,
    body TEXT NOT NULL DEFAULT '', archetype VARCHAR NOT NULL DEFAULT 'coder', mode VARCHAR, model_tier VARCHAR,
    status VARCHAR NOT NULL DEFAULT 'pending', subtask_count INTEGER NOT NULL DEFAULT 0,
    optional BOOLEAN NOT NULL DEFAULT FALSE, instances INTEGER NOT NULL DEFAULT 1,
    sort_position INTEGER NOT NULL DEFAULT 0, blocked_reason VARCHAR);
CREATE TABLE session_outcomes (
    id UUID PRIMARY KEY, spec_name TEXT, task_group TEXT, node_id TEXT, touched_path TEXT, status TEXT,
    input_tokens INTEGER, output_tokens INTEGER, duration_ms INTEGER, created_at TIMESTAMP, run_id VARCHAR,
    attempt INTEGER DEFAULT 1, cost DOUBLE DEFAULT 0.0, model VARCHAR, archetype VARCHAR);
CREATE TABLE verification_results (
    id UUID PRIMARY KEY, requirement_id TEXT NOT NULL, verdict TEXT NOT NULL, evidence TEXT, spec_name TEXT NOT NULL,
    task_group TEXT NOT NULL, session_id TEXT NOT NULL, superseded_by TEXT, created_at TIMESTAMP NOT NULL);
"""
DAY = "2026-04-03 "


class Made:
    """A record as upstream leaves it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.db = duckdb.connect(str(path))
        self.db.execute(SCHEMA)

    def run(self, id: str, begun: str, ended: str | None, cost: float, sessions: int) -> None:
        values = [id, DAY + begun, DAY + ended if ended else None, cost, sessions]
        self.db.execute(
            "INSERT INTO runs (id, plan_content_hash, started_at, completed_at, total_cost, total_sessions) "
            "VALUES (?, 'x', ?, ?, ?, ?)", values,
        )  # fmt: skip

    def nodes(self, spec: str, *states: str) -> None:
        for number, state in enumerate(states, 1):
            kind = "verifier" if number == len(states) else "coder"
            self.db.execute(
                "INSERT INTO plan_nodes (id, spec_name, group_number, title, archetype, status) VALUES (?,?,?,'t',?,?)",
                [f"{spec}:{number}", spec, number, kind, state],
            )

    def session(self, spec: str, archetype: str, at: str, cost: float, run: str = "r1") -> None:
        self.db.execute(
            "INSERT INTO session_outcomes (id, spec_name, status, created_at, run_id, cost, archetype) "
            "VALUES (uuid(), ?, 'completed', ?, ?, ?, ?)", [spec, DAY + at, run, cost, archetype],
        )  # fmt: skip

    def verdicts(
        self, spec: str, at: str, session: str, failing: Sequence[str], passing: Sequence[str] = (),
        superseded_by: str | None = None, evidence: str = "logs go to stdout",
    ) -> None:  # fmt: skip
        for verdict, ids in (("FAIL", failing), ("PASS", passing)):
            for id in ids:
                self.db.execute(
                    "INSERT INTO verification_results VALUES (uuid(), ?, ?, ?, ?, '10', ?, ?, ?)",
                    [id, verdict, evidence, spec, session, superseded_by, DAY + at],
                )

    def tell(self, *words: str) -> str:
        self.db.close()
        done = run_cli(self.path.parent, "import", "upstream", str(self.path), *words)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def document(self) -> Any:  # noqa: ANN401 - the shape of a JSON document
        (told,) = json.loads(self.tell("--json")).values()
        return told


@pytest.fixture
def made(tmp_path: Path) -> Made:
    return Made(tmp_path / "knowledge.duckdb")


def ids(spec: str, count: int) -> list[str]:
    return [f"{spec}-REQ-{number}.1" for number in range(1, count + 1)]


def test_a_spec_that_was_completed_with_open_fails(made: Made) -> None:
    made.run("r1", "10:00", "14:00", 160.0, 83)
    made.nodes("04_gateway", "completed", "completed")
    made.session("04_gateway", "coder", "10:30", 3.0)
    made.session("04_gateway", "coder", "10:40", 5.0)
    made.session("04_gateway", "verifier", "11:00", 1.0)
    made.verdicts("04_gateway", "11:00", "v1", ids("04", 6), [f"04-REQ-{number}.2" for number in range(1, 19)])
    assert made.tell() == (
        "run r1: 2026-04-03 10:00 to 2026-04-03 14:00, 83 sessions, $160.00\n"
        "  ✗ 04_gateway: completed; 18 of 24 passed in 1 readings\n"
        "      FAIL  04-REQ-1.1  logs go to stdout\n"
        "      FAIL  04-REQ-2.1  logs go to stdout\n"
        "      FAIL  04-REQ-3.1  logs go to stdout\n"
        "      FAIL  04-REQ-4.1  logs go to stdout\n"
        "      FAIL  04-REQ-5.1  logs go to stdout\n"
        "      and 1 more\n"
        "      here: Recode after 1.1; the work goes back with the evidence, 2 attempts left, at most $10.00\n"
        "\n"
        "1 specs completed with 6 requirements whose last verdict is no PASS\n"
    )


def test_a_fail_that_a_coders_end_took_back_is_still_open(made: Made) -> None:
    made.run("r1", "10:00", "12:00", 0, 2)
    made.nodes("01_setup", "completed", "completed")
    made.verdicts("01_setup", "10:30", "v1", ids("01", 1), superseded_by="coder-session")
    (told,) = made.document()["runs"][0]["specs"]
    assert told["open_fails"] == [
        {"requirement": "01-REQ-1.1", "verdict": "FAIL", "evidence": "logs go to stdout", "closed_by": "coder-session"}
    ]
    assert told["try_usd"] is None


def test_a_repair_that_was_read_again_is_an_attempt_and_proven(made: Made) -> None:
    made.run("r1", "10:00", "12:00", 9.0, 4)
    made.nodes("02_store", "completed", "completed")
    made.session("02_store", "coder", "10:10", 2.0)
    made.verdicts("02_store", "10:30", "v1", ids("02", 1), superseded_by="v2")
    made.session("02_store", "coder", "10:40", 2.0)
    made.verdicts("02_store", "11:00", "v2", [], ids("02", 1))
    (told,) = made.document()["runs"][0]["specs"]
    assert (told["open_fails"], told["end"]) == ([], "verified")
    assert [(one["attempt"], one["decision"]) for one in told["decisions"]] == [(1, "Recode"), (2, "Accept")]


def test_a_spec_that_goes_on_failing_goes_to_a_person(made: Made) -> None:
    made.run("r1", "10:00", "14:00", 9.0, 6)
    made.nodes("02_store", "completed", "in_progress")
    for number in (1, 2, 3):
        made.session("02_store", "coder", f"1{number}:10", 2.0)
        made.verdicts("02_store", f"1{number}:30", f"v{number}", ids("02", 1))
    (told,) = made.document()["runs"][0]["specs"]
    assert (told["state"], told["end"], told["attempts_left"]) == ("not completed", "escalated", 0)
    assert "Block" in [one["decision"] for one in told["decisions"]]


def test_a_verdict_belongs_to_the_run_that_had_begun_and_a_spec_goes_on_in_the_next(made: Made) -> None:
    made.run("r1", "08:00", "09:00", 1.0, 1)
    made.run("r2", "10:00", None, 1.0, 1)
    made.nodes("02_store", "completed", "completed")
    made.nodes("03_quiet", "completed")
    made.verdicts("02_store", "07:00", "v0", ids("02", 1))
    made.verdicts("02_store", "08:30", "v1", ids("02", 1))
    made.verdicts("02_store", "10:30", "v2", [], ids("02", 1))
    told = made.document()
    assert [[spec["state"] for spec in run["specs"]] for run in told["runs"]] == [["went on"], ["completed"]]
    assert (told["unplaced"], told["unjudged"]) == (1, ["03_quiet"])


def test_a_folder_is_searched_and_each_file_told(made: Made, tmp_path: Path) -> None:
    made.db.close()
    other = Made(tmp_path / "deeper.duckdb")
    other.db.close()
    done = run_cli(tmp_path, "import", "upstream", str(tmp_path))
    assert "deeper.duckdb" in done.stdout
    assert "knowledge.duckdb" in done.stdout


def test_what_is_no_record_is_said(tmp_path: Path) -> None:
    (tmp_path / "text.duckdb").write_text("no database")
    text = run_cli(tmp_path, "import", "upstream", "text.duckdb")
    assert text.returncode == 1
    assert "is it a DuckDB file?" in text.stderr
    duckdb.connect(str(tmp_path / "empty.duckdb")).close()
    empty = run_cli(tmp_path, "import", "upstream", "empty.duckdb")
    assert "has no table runs: runs are recorded since schema version 11" in empty.stderr
    (tmp_path / "bare").mkdir()
    assert "holds no *.duckdb file" in run_cli(tmp_path, "import", "upstream", "bare").stderr


def test_markup_for_terminals_in_evidence_is_shown_as_spaces(made: Made) -> None:
    made.run("r1", "10:00", "12:00", 0, 1)
    made.verdicts("01_a", "10:30", "v1", ids("01", 1), evidence="\x1b[2Jgone")
    assert "\x1b" not in made.tell()
