"""What is history stays: tried on every append-only table, from our connection and from any other."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path

import pytest
from sqlite_utils import Database

from agent_fox.core.retry.standing import FREE, LEGAL, Outcome, Standing, Status
from agent_fox.store import outbox, plan, sessions
from agent_fox.store.schema import evidence_tables, guards
from agent_fox.store.state import transaction
from tests.store.world import (
    CODER,
    VERIFIER,
    add_launch,
    add_nodes,
    add_session,
    decide,
    fill,
    state,
    stranger,
)

MAY_LOSE_ROWS = {"plan_specs", "plan_edges", "retry_edges", "plan_parts", "issues", "issue_members"} | {
    *("issue_episodes", "tracker_memory", "tracker_writes", "tracker_leases"),
}
MAY_CHANGE = {
    "verification_results": {"superseded_by"},
    "sessions": {"base_commit", "landed_commit", "is_landed"},
    "runs": {"ended_at", "status", "exit_code", "reason", "tip_commit", "seconds", "required_state"},
    "ledger_repository": {"root"},
    "outbox": {*("note", "tries", "witness", "not_before", "updated_at", "readings", "sent_at", "is_in_doubt")},
    "plan_nodes": {
        *("id", "group_number", "title", "position", "is_optional", "is_ticked", "retry_predecessor"),
        "decision_id",
    },
}
"""What may still change about a row of `fill`, whose sessions have ended and whose issue is delivered."""
APPEND_ONLY = (
    guards.APPEND_ONLY
    | evidence_tables.APPEND_ONLY
    | evidence_tables.MEMORY_APPEND_ONLY
    | {"ledger_repository": (guards.Key(("only",)),), "waits": (guards.ID,)}
    | {"traces": (guards.Key(("session_id",)),), "onsets": (guards.ID,)}
)
TABLES = sorted(APPEND_ONLY)
Rows = list[tuple[object, ...]]


@contextmanager
def ours(folder: Path) -> Iterator[sqlite3.Connection]:
    with state(folder) as db:
        db.conn.isolation_level = None
        yield db.conn


@pytest.fixture(params=["our connection", "any connection"])
def connection(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[sqlite3.Connection]:
    with state(tmp_path) as db:
        fill(db)
    connect = ours if request.param == "our connection" else stranger
    with connect(tmp_path) as opened:
        yield opened


def rows(connection: sqlite3.Connection, table: str) -> Rows:
    found = connection.execute(f"SELECT * FROM {table} ORDER BY 1, 2").fetchall()
    assert found, f"{table} is empty: nothing would be shown"
    return found


def columns(connection: sqlite3.Connection, table: str) -> dict[str, str]:
    return {name: kind for _, name, kind, *_ in connection.execute(f"PRAGMA table_info({table})")}


def refused(connection: sqlite3.Connection, table: str, sql: str, *values: object) -> None:
    """The statement fails by a trigger of the table, and the table is as it was."""
    before = rows(connection, table)
    with pytest.raises(sqlite3.IntegrityError, match=f"^{table}: "):
        connection.execute(sql, values)
    assert rows(connection, table) == before


def test_every_table_either_keeps_its_rows_or_is_known_to_lose_them(connection: sqlite3.Connection) -> None:
    found = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    assert {name for (name,) in found} == set(APPEND_ONLY) | MAY_LOSE_ROWS


def test_every_way_in_which_a_row_can_clash_is_guarded(connection: sqlite3.Connection) -> None:
    guarded = {table: {key.columns for key in APPEND_ONLY[table]} for table in TABLES}
    assert guarded == {table: unique_columns(connection, table) for table in TABLES}


def unique_columns(connection: sqlite3.Connection, table: str) -> set[tuple[str, ...]]:
    """The columns of each unique index, and of the primary key."""
    indexes = connection.execute(f"PRAGMA index_list({table})").fetchall()
    unique = {
        tuple(column for _, _, column in connection.execute(f"PRAGMA index_info({name})"))
        for _, name, is_unique, *_ in indexes
        if is_unique
    }
    info = connection.execute(f"PRAGMA table_info({table})").fetchall()
    return unique | {tuple(name for _, name, _, _, _, place in info if place)}


def test_no_table_of_history_has_a_hidden_row_id(connection: sqlite3.Connection) -> None:
    for table in TABLES:
        ((without_rowid, is_strict),) = connection.execute(
            "SELECT wr, strict FROM pragma_table_list WHERE name = ?", [table]
        )
        is_alias = columns(connection, table).get(APPEND_ONLY[table][0].columns[0]) == "INTEGER"
        assert is_strict, table
        assert without_rowid or is_alias, table


def test_no_row_of_history_can_be_deleted(connection: sqlite3.Connection) -> None:
    for table in TABLES:
        refused(connection, table, f"DELETE FROM {table}")


def test_no_column_of_history_can_be_changed(connection: sqlite3.Connection) -> None:
    kinds = {(table, column): kind for table in TABLES for column, kind in columns(connection, table).items()}
    for (table, column), kind in kinds.items():
        if column not in MAY_CHANGE.get(table, set()):
            other = "elsewhere" if kind == "TEXT" else 4711
            for verb in ("UPDATE", "UPDATE OR REPLACE", "UPDATE OR IGNORE"):
                refused(connection, table, f"{verb} {table} SET {column} = ?", other)


@pytest.mark.parametrize("verb", ["INSERT OR REPLACE INTO", "REPLACE INTO", "INSERT INTO", "INSERT OR IGNORE INTO"])
def test_no_row_of_history_can_be_replaced_by_itself(connection: sqlite3.Connection, verb: str) -> None:
    for table in TABLES:
        for row in rows(connection, table):
            marks = ", ".join("?" * len(row))
            refused(connection, table, f"{verb} {table} VALUES ({marks})", *row)


def test_no_row_of_history_can_be_replaced_by_way_of_a_single_key(connection: sqlite3.Connection) -> None:
    for table, key in [(name, key) for name in TABLES for key in APPEND_ONLY[name]]:
        names = columns(connection, table)
        row = dict(zip(names, rows(connection, table)[-1], strict=True))
        keys = {column for other in APPEND_ONLY[table] for column in other.columns}
        fresh = {name: "fresh" if names[name] == "TEXT" else 4711 for name in keys - set(key.columns)}
        clash = {**row, **fresh}
        marks = ", ".join("?" * len(clash))
        refused(connection, table, f"REPLACE INTO {table} ({', '.join(clash)}) VALUES ({marks})", *clash.values())


def test_no_row_of_history_can_be_changed_by_an_upsert(connection: sqlite3.Connection) -> None:
    for table in TABLES:
        row = rows(connection, table)[0]
        marks, first = ", ".join("?" * len(row)), next(iter(columns(connection, table)))
        sql = f"INSERT INTO {table} VALUES ({marks}) ON CONFLICT DO UPDATE SET {first} = {first}"
        refused(connection, table, sql, *row)


def test_a_row_id_below_one_cannot_stand_in_the_way_of_later_rows(connection: sqlite3.Connection) -> None:
    for table, keys in APPEND_ONLY.items():
        key = keys[0].columns[0]
        if columns(connection, table)[key] == "INTEGER":
            row = dict(zip(columns(connection, table), rows(connection, table)[0], strict=True))
            clash = {**row, **{name: f"fresh {name}" for name in ("id", "fingerprint") if row.get(name)}, key: -1}
            marks = ", ".join("?" * len(clash))
            with pytest.raises(sqlite3.IntegrityError):
                connection.execute(f"INSERT INTO {table} ({', '.join(clash)}) VALUES ({marks})", [*clash.values()])


def test_the_table_of_transitions_takes_nothing_new(connection: sqlite3.Connection) -> None:
    refused(connection, "legal_transitions", "INSERT INTO legal_transitions VALUES ('completed', 'running', 0)")
    refused(connection, "gate_transitions", "INSERT INTO gate_transitions VALUES ('proposed', 'proved', 'builder')")


def test_a_verdict_is_superseded_only_once_and_only_by_the_next_row(connection: sqlite3.Connection) -> None:
    table, after = "verification_results", len(rows(connection, "verification_results")) + 1
    current = "SELECT max(id) FROM verification_results WHERE superseded_by IS NULL"
    for target in (1, 4711, None):
        refused(connection, table, f"UPDATE {table} SET superseded_by = ? WHERE id = ({current})", target)
    for target in (after, None):
        refused(connection, table, f"UPDATE {table} SET superseded_by = ? WHERE superseded_by > 0", target)


def test_a_requirement_has_one_current_verdict(connection: sqlite3.Connection) -> None:
    copy = "SELECT 4711, spec_name, requirement_id, verdict, read_as, at FROM verification_results WHERE id = 2"
    names = "id, spec_name, requirement_id, verdict, read_as, at"
    for verb in ("INSERT", "REPLACE"):
        refused(connection, "verification_results", f"{verb} INTO verification_results ({names}) {copy}")


def test_another_node_cannot_be_pushed_out_by_taking_its_name(connection: sqlite3.Connection) -> None:
    sql = "UPDATE OR REPLACE plan_nodes SET id = ? WHERE uid = ?"
    refused(connection, "plan_nodes", sql, VERIFIER.id, CODER.uid)


def test_the_launch_that_ended_cannot_be_pushed_out_by_another(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        fill(db)
        with transaction(db):
            add_launch(db, "again", 1, 1)
    with stranger(tmp_path) as connection:
        for sql in (
            "UPDATE OR REPLACE launches SET status = 'ended' WHERE id = 'again'",
            "UPDATE launches SET status = 'ended' WHERE id = 'again'",
            "UPDATE OR REPLACE launches SET id = 'launch-1' WHERE id = 'again'",
            "REPLACE INTO launches SELECT 'more', session_id, run_id, 7, status, pinned_commit, folder, pid, "
            "pid_start, reason, cost_usd, started_at, ended_at, runner FROM launches WHERE id = 'launch-1'",
        ):
            refused(connection, "launches", sql)


def test_a_node_enters_the_plan_pending_or_ticked_never_proven(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        names = "uid, id, spec_name, group_number, archetype, position, attempt, reading, status, outcome"
        insert = f"INSERT INTO plan_nodes ({names}) VALUES (?, ?, 's', 1, 'verifier', 1, 1, 1, ?, ?)"
        entries = [("a", "pending", None), ("b", "completed", "ticked")]
        for uid, status, outcome in entries:
            db.execute(insert, [uid, uid, status, outcome])
        for status, outcome in (("completed", "verified"), ("running", None), ("blocked", None)):
            with pytest.raises(sqlite3.IntegrityError, match=r"^plan_nodes: "):
                db.execute(insert, ["c", "c", status, outcome])


OUTCOMES = {Status.COMPLETED: Outcome.VERIFIED}


def standing(status: Status) -> Standing:
    return Standing(CODER.uid, status, OUTCOMES.get(status))


@pytest.mark.parametrize(("start", "end"), list(product(Status, Status)))
def test_only_legal_transitions_are_possible_and_only_with_a_new_decision(
    tmp_path: Path, start: Status, end: Status
) -> None:
    with state(tmp_path) as db:
        add_nodes(db, CODER)
        old = decide(db, CODER)
        if start is not Status.PENDING:
            plan.move_node(db, standing(start), old)
        attempts = {"no decision": None, "the last decision": old, "a new decision": decide(db, CODER)}
        taken = {name: is_taken(db, standing(end), decision) for name, decision in attempts.items()}
    is_legal, is_free = start is end or (start, end) in LEGAL, start is end or (start, end) in FREE
    # A node that is still pending was never decided about: the first decision is new to it.
    is_new_to_it = is_legal if start is Status.PENDING else is_free
    assert taken == {"no decision": is_free, "the last decision": is_new_to_it, "a new decision": is_legal}


def is_taken(db: Database, asked: Standing, decision: int | None) -> bool:
    """Whether the schema lets the node move; it is put back afterwards."""
    db.execute("SAVEPOINT attempt")
    try:
        plan.move_node(db, asked, decision)
    except sqlite3.IntegrityError:
        return False
    else:
        return True
    finally:
        db.execute("ROLLBACK TO attempt")
        db.execute("RELEASE attempt")


@pytest.mark.parametrize(
    "change",
    [
        "outcome = 'verified'",
        "attempt = attempt + 1",
        "reading = reading + 1",
        "attempt_base = 1",
        "reading_base = 1",
        "rung = 1",
        "status = 'pending', outcome = NULL",
        "status = 'pending', outcome = NULL, decision_id = 4711",
        "status = 'pending', outcome = NULL, decision_id = 1",
        "decision_id = NULL",
        "attempt = attempt - 1",
        "reading = 0",
    ],
)
def test_nothing_that_budgets_are_read_from_changes_without_a_decision(
    connection: sqlite3.Connection, change: str
) -> None:
    refused(connection, "plan_nodes", f"UPDATE plan_nodes SET {change} WHERE outcome = 'escalated'")


def test_attempts_and_readings_never_go_back_even_with_a_decision(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        add_nodes(db, CODER)
        plan.move_node(db, Standing(CODER.uid, attempt=2, reading=2), decide(db, CODER))
        for attempt, reading in ((1, 1), (1, 3), (2, 1)):
            with pytest.raises(sqlite3.IntegrityError, match="never go back"):
                plan.move_node(db, Standing(CODER.uid, attempt=attempt, reading=reading), decide(db, CODER))
        plan.move_node(db, Standing(CODER.uid, attempt=3, reading=1), decide(db, CODER))
        assert plan.node_by_uid(db, CODER.uid).standing == Standing(CODER.uid, attempt=3, reading=1)


def test_a_uid_never_changes_its_meaning(connection: sqlite3.Connection) -> None:
    for change in ("uid = NULL", "uid = 'x'", "archetype = 'coder'", "spec_name = 'x'", "mode = 'audit-review'"):
        refused(connection, "plan_nodes", f"UPDATE plan_nodes SET {change} WHERE uid = ?", VERIFIER.uid)


def test_landed_work_stays_landed(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        fill(db)
        sessions.set_session(db, 1, {"base_commit": "b", "landed_commit": "l"})
        sessions.set_landed(db, 1)
        for change in ({"is_landed": 0}, {"landed_commit": None}, {"base_commit": "other"}):
            with pytest.raises(sqlite3.IntegrityError, match="stays landed"):
                sessions.set_session(db, 1, change)


def test_an_open_session_goes_on_and_then_is_settled_for_good(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        add_nodes(db, CODER)
        session = add_session(db, sessions.start_run(db, "now", "c0ffee"))
        for status in ("waiting", "running", "failed"):
            sessions.set_session(db, session, {"status": status, "summary": status})
        for change in ({"status": "completed"}, {"summary": "better"}, {"cost_usd": 0.0}, {"backend": "checks"}):
            with pytest.raises(sqlite3.IntegrityError, match="a session that ended cannot change"):
                sessions.set_session(db, session, change)


def test_what_was_sent_stays_sent_and_the_rest_of_it_can_be_noted(connection: sqlite3.Connection) -> None:
    for reached in ("pending", "inflight", "held", "moot"):
        refused(connection, "outbox", "UPDATE outbox SET state = ?", reached)
    connection.execute("UPDATE outbox SET note = 'seen'")


def test_a_decision_cannot_want_the_same_effect_twice(tmp_path: Path) -> None:
    with state(tmp_path) as db:
        add_nodes(db, VERIFIER)
        decision = decide(db)
        outbox.put(db, decision, "file", "print", "s", {}, "now")
        with pytest.raises(sqlite3.IntegrityError):
            outbox.put(db, decision, "file", "print", "s", {}, "now")
        outbox.put(db, decision, "comment", "print", "s", {}, "now")
        outbox.put(db, decide(db), "file", "print", "s", {}, "now")
        assert outbox.waiting(db) == 3
