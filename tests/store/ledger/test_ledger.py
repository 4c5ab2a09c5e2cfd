"""The ledger in the state file: appended behind the last record, once for each event, and read back as written."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.ledger.evidence import (
    GENESIS,
    Artifact,
    Evidence,
    Kind,
    Outcome,
    RunContext,
    SpecRef,
    canonical,
    content_of,
    head_after,
    linked,
    record_id,
)
from agent_fox.store.ledger import ledger
from agent_fox.store.ledger.ledger import Tip, append, known, records, tip_of
from agent_fox.store.state import transaction
from tests.store.world import AT, SPEC, fill, state, stranger, writing

LATER = "2026-03-01T12:00:01.000Z"
RECORD = Evidence(
    Kind.VERDICT, "verdict:1", AT, Outcome("PASS"), SpecRef("requirement", f"{SPEC}/R1", "v1"),
    RunContext(decision=None, session=None), Artifact("tree", "commit"), body={"said": "PASS"},
)  # fmt: skip


def many(count: int) -> list[Evidence]:
    return [replace(RECORD, identity=f"verdict:{number}") for number in range(1, count + 1)]


def test_the_head_of_an_empty_ledger_is_known(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        assert tip_of(db) == Tip(0, GENESIS, "")
        assert list(records(db)) == []


def test_records_are_chained_in_their_order_also_across_transactions(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        with transaction(db):
            first = append(db, many(2), SPEC)
        with transaction(db):
            second = append(db, [replace(RECORD, identity="verdict:3")])
        kept = list(records(db))
        assert [one.link for one in kept] == [*first, *second]
        assert [one.link.position for one in kept] == [1, 2, 3]
        assert [one.link.previous for one in kept] == [GENESIS, first[0].head, first[1].head]
        assert all(one.link.head == head_after(one.link.previous, one.link.record_id) for one in kept)
        assert all(one.link.record_id == record_id(one.content) for one in kept)
        assert tip_of(db) == Tip(3, second[0].head, AT)


def test_a_record_is_read_back_as_it_was_written(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        append(db, [RECORD], SPEC)
        (kept,) = records(db, "address = ?", [f"{SPEC}/R1"])
        assert kept.document == content_of(replace(RECORD, repository=known(db)))
        columns = (kept.kind, kept.spec_name, kept.version, kept.status, kept.tree, kept.at)
        assert columns == ("verdict", SPEC, "v1", "PASS", "tree", AT)
        assert list(records(db, "address = ?", ["other"])) == []


def test_the_same_event_is_never_recorded_twice(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        with transaction(db):
            append(db, [RECORD])
        for again in ([RECORD], [replace(RECORD, outcome=Outcome("FAIL"))], [*many(3)[1:], RECORD]):
            with pytest.raises(sqlite3.IntegrityError, match=r"^ledger: "), transaction(db):
                append(db, again)
        assert tip_of(db).position == 1


def test_a_clock_that_was_set_back_does_not_turn_time_back_and_is_told(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        early, late = replace(RECORD, identity="early"), replace(RECORD, identity="late", timestamp=LATER)
        append(db, [late, early])
        kept = list(records(db))
        assert [one.at for one in kept] == [LATER, LATER]
        assert [one.document["timestamp"] for one in kept] == [LATER, LATER]
        assert [one.document["limitation"] for one in kept] == ["", ledger.BACKWARDS]


def test_the_ledger_is_written_only_in_a_transaction(tmp_path: Path) -> None:
    with state(tmp_path) as db, pytest.raises(RuntimeError, match="transaction"):
        append(db, [RECORD])


def test_what_is_rolled_back_leaves_no_record(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        with transaction(db):
            append(db, [RECORD])
            db.conn.rollback()
        assert tip_of(db) == Tip()
        with transaction(db):
            assert append(db, [RECORD])[0].position == 1


def test_text_that_no_column_can_hold_is_kept_in_the_record(tmp_path: Path) -> None:
    odd = replace(RECORD, outcome=Outcome("FAIL", counterexample="file-\ud800.py"))
    with writing(tmp_path) as db:
        append(db, [odd])
        (kept,) = records(db)
        assert json.loads(kept.content)["result"]["counterexample"] == "file-\ud800.py"
        assert record_id(kept.content) == kept.link.record_id


def forged(position: int, previous: str, at: str = LATER, **columns: object) -> dict[str, object]:
    """The row of a record that a stranger wrote, hashes and all."""
    content = canonical(content_of(replace(RECORD, identity="forged", timestamp=at)))
    link = linked(position, previous, content)
    row = {
        "position": link.position, "record_id": link.record_id, "identity": "forged", "previous": link.previous,
        "head": link.head, "kind": "verdict", "at": at, "content": content,
    }  # fmt: skip
    return row | columns


def write(connection: sqlite3.Connection, row: dict[str, object]) -> None:
    marks = ", ".join("?" * len(row))
    connection.execute(f"INSERT INTO ledger ({', '.join(row)}) VALUES ({marks})", list(row.values()))


def test_a_record_can_stand_nowhere_but_behind_the_last_one(tmp_path: Path) -> None:
    with state(tmp_path) as db, transaction(db):
        links = append(db, many(3))
    head = links[-1].head
    with stranger(tmp_path) as connection:
        for row in (
            forged(3, links[1].head),
            forged(5, head),
            forged(0, GENESIS),
            forged(-1, head),
            forged(4, links[1].head),
            forged(4, GENESIS),
            forged(4, head) | {"position": None},
            forged(4, head, at="2026-02-28T12:00:00.000Z"),
            forged(4, head, record_id=links[0].record_id),
            forged(4, head, content="{"),
        ):
            with pytest.raises(sqlite3.IntegrityError):
                write(connection, row)
        assert connection.execute("SELECT count(*) FROM ledger").fetchone() == (3,)


def test_the_first_record_stands_behind_the_known_head_alone(tmp_path: Path) -> None:
    with state(tmp_path):
        pass
    with stranger(tmp_path) as connection:
        with pytest.raises(sqlite3.IntegrityError):
            write(connection, forged(1, "0" * 64))
        write(connection, forged(1, GENESIS))


def test_a_run_keeps_the_head_it_began_at_and_ends_at_the_last_record(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        fill(db)
        ((begin, head),) = db.execute("SELECT ledger_begin, ledger_head FROM runs")
        heads = [one.link.head for one in records(db)]
        assert (begin, head) == (GENESIS, heads[-1])
    with stranger(tmp_path) as connection:
        for change in (f"ledger_begin = '{heads[2]}'", f"ledger_head = '{heads[2]}'", "ledger_head = ''"):
            with pytest.raises(sqlite3.IntegrityError, match=r"^runs: "):
                connection.execute(f"UPDATE runs SET {change}")


def test_what_stands_in_the_tables_stands_in_the_ledger_too(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        fill(db)
        for kind, table in (("decision", "decisions"), ("verdict", "verification_results"), ("gate", "gate_history")):
            rows = [f"{kind}:{number}" for (number,) in db.execute(f"SELECT id FROM {table} ORDER BY id")]
            kept = [row[0] for row in db.execute("SELECT identity FROM ledger WHERE kind = ? ORDER BY 1", [kind])]
            assert kept == sorted(rows)


def test_a_connection_asks_for_the_columns_of_a_table_once(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        fill(db)
        before = tip_of(db).position
        asked: list[str] = []
        db.conn.set_trace_callback(asked.append)
        with transaction(db):
            db.execute("UPDATE runs SET seconds = seconds + 1")
        assert tip_of(db).position == before + 1
        assert [sql for sql in asked if "table_info" in sql] == []


def test_nothing_is_asked_where_nothing_is_appended(tmp_path: Path) -> None:
    with writing(tmp_path) as db:
        asked: list[str] = []
        db.conn.set_trace_callback(asked.append)
        assert append(db, [], SPEC) == []
        assert asked == []
