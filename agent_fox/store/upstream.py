"""Runs that the upstream orchestrator recorded: its DuckDB file, opened read-only. Needs the extra `upstream`.

Its schema has had the tables `runs`, `plan_nodes`, `session_outcomes` and `verification_results` since version 11.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb

from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from pathlib import Path

TABLES = ("runs", "plan_nodes", "session_outcomes", "verification_results")


class UpstreamError(Exception):
    """The file cannot be read as such a record. Its text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class UpstreamRun:
    """Times are ISO 8601 without a zone. `cost_usd` None: none was recorded."""

    id: str
    begun: str
    ended: str | None
    status: str
    cost_usd: float | None
    sessions: int


@dataclass(frozen=True, slots=True)
class UpstreamSession:
    """One session. `run` is None for one of no run, `at` is empty where no time is recorded."""

    run: str | None
    spec: str
    archetype: str
    status: str
    cost_usd: float | None
    at: str


@dataclass(frozen=True, slots=True)
class UpstreamVerdict:
    """A verdict as it was recorded. `superseded_by`: the session on whose word it no longer counts."""

    spec: str
    requirement: str
    verdict: str
    evidence: str
    session: str
    superseded_by: str | None
    at: str


@dataclass(frozen=True, slots=True)
class UpstreamRecord:
    """A whole file. `nodes`: by spec, the states of the last plan's nodes."""

    runs: tuple[UpstreamRun, ...]
    nodes: dict[str, tuple[str, ...]]
    sessions: tuple[UpstreamSession, ...]
    verdicts: tuple[UpstreamVerdict, ...]


def read_upstream(path: Path) -> UpstreamRecord:
    """Raises UpstreamError."""
    try:
        db = duckdb.connect(str(path), read_only=True)
    except duckdb.Error as error:
        hint = "copy the file while nothing writes to it" if "lock" in str(error).lower() else "is it a DuckDB file?"
        raise UpstreamError(f"{path} cannot be opened ({first_line(error)}); {hint}") from error
    with db:
        try:
            return read_tables(db, path)
        except duckdb.Error as error:
            raise UpstreamError(f"{path} is not such a record: {first_line(error)}") from error


def read_tables(db: duckdb.DuckDBPyConnection, path: Path) -> UpstreamRecord:
    there = {name for (name,) in db.execute("SELECT table_name FROM information_schema.tables").fetchall()}
    missing = [name for name in TABLES if name not in there]
    if missing:
        raise UpstreamError(f"{path} has no table {missing[0]}: runs are recorded since schema version 11")
    runs = db.execute(
        f"SELECT id, {iso('started_at')}, {iso('completed_at')}, status, nullif(total_cost, 0), "
        "total_sessions FROM runs ORDER BY 2, 1"
    )
    recorded = tuple(UpstreamRun(*row) for row in runs.fetchall())
    nodes = db.execute("SELECT spec_name, list(status ORDER BY sort_position, id) FROM plan_nodes GROUP BY 1")
    states = {spec: tuple(listed) for spec, listed in nodes.fetchall()}
    sessions = db.execute(
        "SELECT run_id, coalesce(spec_name, ''), coalesce(archetype, ''), coalesce(status, ''), nullif(cost, 0), "
        f"coalesce({iso('created_at')}, '') FROM session_outcomes ORDER BY created_at, id"
    )
    outcomes = tuple(UpstreamSession(*row) for row in sessions.fetchall())
    verdicts = db.execute(
        "SELECT spec_name, requirement_id, verdict, coalesce(evidence, ''), session_id, superseded_by::VARCHAR, "
        f"{iso('created_at')} FROM verification_results ORDER BY created_at, id"
    )
    return UpstreamRecord(recorded, states, outcomes, tuple(UpstreamVerdict(*row) for row in verdicts.fetchall()))


def iso(column: str) -> str:
    """SQL for a time as text that sorts as the time does, without a zone, as upstream has it."""
    return f"strftime({column}, '%Y-%m-%dT%H:%M:%S.%f')"


def first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]
