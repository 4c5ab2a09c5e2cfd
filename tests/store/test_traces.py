"""Traces and onsets in the state file: written once, with their digest, read back as they were."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from agent_fox.core.retry.onset import Onset
from agent_fox.core.retry.replay import Finding
from agent_fox.core.trace import Node, NodeKind, Trace
from agent_fox.store.traces import findings_of, onsets_in, refs_kept, trace_of, verdicts_recorded
from tests.store.world import fill, state, stranger


def test_a_trace_is_read_back_with_its_counts_and_where_its_states_are_kept(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        fill(db)
        row = trace_of(db, 1)
        assert row is not None
        trace = Trace((Node(0, NodeKind.STATE_CHANGE, 0, tree="t0"),), "c0ffee")
        assert (row.commit, row.ref, row.until) == ("c0ffee", "refs/x", "2026-03-15")
        assert (row.document, row.counts, row.nodes) == (trace.document(), trace.counts, trace.nodes)
        assert refs_kept(db) == {"refs/x": "2026-03-15"}
        assert trace_of(db, 2) is None


def test_an_onset_is_found_by_the_reading_and_by_the_session_that_it_is_in(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        fill(db)
        (finding,) = findings_of(db, 2)
        assert finding == Finding("R2", "test_b", Onset.FOUND, session=1, step=1)
        assert (onsets_in(db, 1), findings_of(db, 1)) == ([finding], [])


def test_the_verdicts_of_a_reading_come_with_their_records(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        fill(db)
        rows = verdicts_recorded(db, 2)
    assert [(part, word) for part, word, _ in rows] == [("R1", "PASS"), ("R2", "FAIL"), ("R1", "FAIL")]
    assert all(len(record) == 64 for *_, record in rows)


@pytest.mark.parametrize("table", ["traces", "onsets"])
def test_neither_is_ever_changed_removed_or_replaced(tmp_path: Path, table: str) -> None:
    with state(tmp_path) as db:
        fill(db)
    key = {"traces": "session_id", "onsets": "id"}[table]
    with stranger(tmp_path) as db:
        for sql in (
            f"UPDATE {table} SET at = 'x'", f"UPDATE {table} SET {key} = 99", f"DELETE FROM {table}",
            f"INSERT OR REPLACE INTO {table} SELECT * FROM {table}",
        ):  # fmt: skip
            with pytest.raises(sqlite3.IntegrityError, match="this is history"):
                db.execute(sql)


def test_a_document_that_is_not_what_was_recorded_is_not_shown(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        fill(db)
    with stranger(tmp_path) as other:
        other.execute("DROP TRIGGER traces_no_update")
        other.execute("UPDATE traces SET document = ?", [json.dumps({"nodes": []})])
    with state(tmp_path) as db:
        row = trace_of(db, 1)
        assert row is not None
        assert row.document == {}
