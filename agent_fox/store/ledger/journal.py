"""Every change of a row that is evidence, put into the ledger at the end of the transaction that made it.

A connection of ours watches its own writes by triggers of its own, which no other connection has: what is written past
them is in no record, and is found. The state is the fold of these records (`evidence.rows`). Nothing is judged here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple
from weakref import WeakKeyDictionary

from agent_fox.core.ledger.evidence import (
    CLAIMS,
    OLD_FORMAT,
    Cell,
    Change,
    Evidence,
    Json,
    Kind,
    NotSums,
    Outcome,
    Row,
    SpecRef,
    Sums,
)
from agent_fox.store.ledger import ledger

if TYPE_CHECKING:
    from sqlite_utils import Database

EVIDENCE = (
    *("runs", "plan_specs", "plan_nodes", "plan_edges", "retry_edges", "plan_parts", "sessions", "launches"),
    *("decisions", "verification_results", "blocking_history", "outbox", "issues", "issue_members", "issue_episodes"),
    *("events", "gate_history", "waivers", "waiver_events", "specifications", "review_tasks", "review_events"),
    *("traces", "onsets"),
    *("memory_items", "memory_moves"),
    "waits",
)
"""The tables whose rows are made anew from the ledger, and held against it."""

NOT_EVIDENCE = {
    "ledger": "the records themselves, which are held against each other by their hashes",
    "ledger_repository": "whose ledger it is: every record says it too, and both are compared",
    "legal_transitions": "a fixed table of the program, compared with it",
    "gate_transitions": "a fixed table of the program, compared with it",
    "tracker_leases": "which process delivers just now",
    "tracker_memory": "what was last seen at a tracker, which is asked again",
    "tracker_writes": "the times of the last hour's writes, for the rate",
    "issues.seen_at": "when a tracker was last looked at; what was seen there is evidence",
    "launches.folder": "a folder of this machine that is gone once the launch has ended",
    "launches.pid": "a process of this machine",
    "launches.pid_start": "a process of this machine",
    "runs.ledger_begin": "a head of the chain, held against the chain itself",
    "runs.ledger_head": "a head of the chain, held against the chain itself",
    "traces.document": "the nodes of a session's trace; their digest, beside them, is evidence",
    "sessions.log": "a place on this machine; the name of the log is in the record of the session",
}
"""What is neither rebuilt nor compared, and why: tables, and columns of tables. A test walks the schema with it."""

BEGUN, BOUND, CHANGED, REBUILT = "begun", "bound", "changed", "rebuilt"
OLDER = "what stood here before this record is vouched for by nothing that is older than it"
ADDRESS = "state"
EARLIEST = "1970-01-01T00:00:00.000Z"
MIRROR = "agent_fox_was_"
LARGEST = 4_000_000
"""Characters of rows after which another record is begun: an export holds a record in one line."""


class Column(NamedTuple):
    """One column that is evidence, with its default."""

    name: str
    default: Cell
    is_key: bool


def columns_of(db: Database, table: str) -> tuple[Column, ...]:
    """The columns of a table that are evidence, in their order."""
    rows = db.execute(f"PRAGMA main.table_info({table})").fetchall()
    return tuple(
        Column(name, _literal(default), bool(place))
        for _, name, _kind, _needed, default, place in rows
        if f"{table}.{name}" not in NOT_EVIDENCE
    )


def _literal(text: str | None) -> Cell:
    """A default as the schema spells it: a text in quotes, or a number."""
    if text is None:
        return None
    return text[1:-1].replace("''", "'") if text.startswith("'") else json.loads(text)


def named(columns: Sequence[Column]) -> str:
    return ", ".join(column.name for column in columns)


def key_of(columns: Sequence[Column]) -> tuple[Column, ...]:
    return tuple(column for column in columns if column.is_key)


def row_of(columns: Iterable[Column], values: Iterable[Cell]) -> Row:
    """A row without what is as the table has it by itself."""
    pairs = zip(columns, values, strict=True)
    return {name: value for (name, default, is_key), value in pairs if value != default or is_key}


def rows_of(db: Database, table: str) -> Iterator[Row]:
    """Every row of a table as evidence, in the order of its key."""
    columns = columns_of(db, table)
    rows = db.execute(f"SELECT {named(columns)} FROM main.{table} ORDER BY {named(key_of(columns))}")
    return (row_of(columns, values) for values in rows)


class Watched(NamedTuple):
    """A table as its triggers see it: its columns, which of them are its key, and the queries of what was and is."""

    columns: tuple[Column, ...]
    key: tuple[int, ...]
    before: str
    after: str


WATCHED: WeakKeyDictionary[Database, dict[str, Watched]] = WeakKeyDictionary()
"""By connection: tables stay what they were when it began to watch them."""


def watched_of(db: Database, table: str) -> Watched:
    tables = WATCHED.setdefault(db, {})
    if table not in tables:
        columns = columns_of(db, table)
        names, keys = named(columns), named(key_of(columns))
        tables[table] = Watched(
            columns, tuple(columns.index(column) for column in key_of(columns)),
            f"SELECT was_there, {names} FROM temp.{MIRROR}{table} ORDER BY rowid",
            f"SELECT {names} FROM main.{table} WHERE ({keys}) IN (SELECT {keys} FROM temp.{MIRROR}{table})",
        )  # fmt: skip
    return tables[table]


def watch(db: Database) -> None:
    """From now on the changes of this connection are put into the ledger. Safe to repeat."""
    if is_watched(db):
        return
    for table in EVIDENCE:
        columns = columns_of(db, table)
        db.execute(
            f"CREATE TEMP TABLE {MIRROR}{table} AS SELECT 0 AS was_there, {named(columns)} FROM main.{table} WHERE 0"
        )
        for event, sql in _triggers(table, columns):
            db.execute(f"CREATE TEMP TRIGGER {MIRROR}{table}_{event.split()[0]} AFTER {event} ON main.{table} {sql}")


def _triggers(table: str, columns: Sequence[Column]) -> Iterator[tuple[str, str]]:
    keys = key_of(columns)
    before = f"(was_there, {named(columns)}) VALUES (1, {', '.join(f'OLD.{column.name}' for column in columns)})"
    added = f"(was_there, {named(keys)}) VALUES (0, {', '.join(f'NEW.{column.name}' for column in keys)})"
    yield "INSERT", f"BEGIN INSERT INTO {MIRROR}{table} {added}; END"
    yield f"UPDATE OF {named(columns)}", f"BEGIN INSERT INTO {MIRROR}{table} {before}; END"
    yield "DELETE", f"BEGIN INSERT INTO {MIRROR}{table} {before}; END"


def is_watched(db: Database) -> bool:
    sql = "SELECT 1 FROM sqlite_temp_master WHERE name = ?"
    return db.execute(sql, [f"{MIRROR}{EVIDENCE[-1]}_DELETE"]).fetchone() is not None


def flush(db: Database) -> None:
    """Put what this transaction changed into the ledger, before it is committed. Nothing where nothing is watched.

    The first time it is the whole state that is put there: what stood in it, from whatever time, is bound from then on.
    """
    if not is_watched(db):
        return
    touched = [table for (table,) in db.execute(TOUCHED)]
    if not touched:
        return
    sums = last_sums(db)
    if sums is None:
        _append(db, Sums(), _whole(db), *_beginning(db))
    else:
        _append(db, sums, (change for table in touched for change in _changes(db, table)), CHANGED, "")
    for table in touched:
        db.execute(f"DELETE FROM temp.{MIRROR}{table}")


TOUCHED = " UNION ALL ".join(f"SELECT '{one}' WHERE EXISTS (SELECT 1 FROM temp.{MIRROR}{one})" for one in EVIDENCE)
LAST = "SELECT version FROM ledger WHERE address = ? AND kind = ? ORDER BY position DESC LIMIT 1"


def last_sums(db: Database) -> Sums | None:
    """What the rows came to when they were last recorded; None where they never were. Raises NotSums."""
    row = db.execute(LAST, [ADDRESS, Kind.ROWS.value]).fetchone()
    return Sums.read(row[0]) if row else None


def why_others(db: Database, *, is_whole: bool = False) -> str:
    """That the rows which claims are read from, or all, are not those of the ledger, in words; empty where they are.

    Reads these rows and one record, in one snapshot. Where no record binds any, nothing is known, and nothing is said.
    """
    with _snapshot(db):
        try:
            last = last_sums(db)
        except NotSums as error:
            return f"the ledger cannot be read ({error}): {LOOK}"
        if last is None:
            return ""
        stand = Sums()
        for table in EVIDENCE if is_whole else sorted(CLAIMS):
            for row in rows_of(db, table):
                stand = stand.moved(Change(table, None, row))
    if stand.claims != last.claims:
        return f"the plan, its verdicts or its gates are not those of the ledger: {LOOK}"
    return f"the state is not that of the ledger: {LOOK}" if is_whole and stand != last else ""


@contextmanager
def _snapshot(db: Database) -> Iterator[None]:
    """What is read stands still meanwhile, whoever writes; in an open transaction it does anyway."""
    if db.conn.in_transaction:
        yield
        return
    db.execute("BEGIN")
    try:
        yield
    finally:
        db.conn.rollback()


LOOK = "`agent-fox ledger verify` says which rows, and `agent-fox ledger rebuild` makes them anew"


def _beginning(db: Database) -> tuple[str, str]:
    """The status of the first record, and its limitation: behind records of version 0.1 it binds what it cannot
    vouch for."""
    row = db.execute("SELECT json_extract(content, '$.format') FROM ledger WHERE position = 1").fetchone()
    return (BOUND, OLDER) if row and row[0] == OLD_FORMAT else (BEGUN, "")


def _whole(db: Database) -> Iterator[Change]:
    return (Change(table, None, row) for table in EVIDENCE for row in rows_of(db, table))


def _changes(db: Database, table: str) -> Iterator[Change]:
    """What became of each row of a table in this transaction, where it is another one now."""
    columns, place, was, now = watched_of(db, table)
    before: dict[tuple[Cell, ...], Row | None] = {}
    for was_there, *values in db.execute(was):
        key = tuple(values[at] for at in place)
        before.setdefault(key, row_of(columns, values) if was_there else None)
    after = {tuple(values[at] for at in place): row_of(columns, values) for values in db.execute(now)}
    for key, row in before.items():
        if row != after.get(key):
            yield Change(table, row, after.get(key))


def _append(db: Database, sums: Sums, changes: Iterable[Change], status: str, limitation: str) -> None:
    """Records of these changes, each with what the rows come to after it."""
    held: list[Change] = []
    size = 0
    for change in changes:
        sums = sums.moved(change)
        held.append(change)
        size += _size(change)
        if size > LARGEST:
            _record(db, sums, held, status, limitation)
            held, size = [], 0
    if held:
        _record(db, sums, held, status, limitation)


def record_rebuilt(db: Database, at: str) -> None:
    """The rows are those that the records make: from here on, sums are counted from them. In the open transaction."""
    sums = Sums()
    for change in _whole(db):
        sums = sums.moved(change)
    identity = f"rows:{ledger.tip_of(db).position + 1}"
    about, body = SpecRef("rows", ADDRESS, str(sums)), dict[str, Json](tables={})
    ledger.append(db, [Evidence(Kind.ROWS, identity, at, Outcome(REBUILT), about, body=body)])


def _size(change: Change) -> int:
    row = change.after or change.before or {}
    return sum(map(len, map(str, row.values()))) + sum(map(len, row)) + 6 * len(row)


def _record(db: Database, sums: Sums, changes: Sequence[Change], status: str, limitation: str) -> None:
    """The time is that of the record before it: what a transaction changed happened with what it recorded."""
    tip = ledger.tip_of(db)
    about = SpecRef("rows", ADDRESS, str(sums))
    body = body_of(db, changes)
    identity = f"rows:{tip.position + 1}"
    record = Evidence(Kind.ROWS, identity, tip.at or EARLIEST, Outcome(status), about, limitation=limitation, body=body)
    ledger.append(db, [record])


def body_of(db: Database, changes: Iterable[Change]) -> dict[str, Json]:
    """By table: rows that were added (whole), changed (key, and what is another value now), removed (key)."""
    tables: dict[str, dict[str, list[Json]]] = {}
    for change in changes:
        kind, what = _described(change, watched_of(db, change.table).columns)
        tables.setdefault(change.table, {}).setdefault(kind, []).append(what)
    return {"tables": {table: dict(kinds) for table, kinds in tables.items()}}


def _described(change: Change, columns: Sequence[Column]) -> tuple[str, Json]:
    before, after = change.before, change.after
    if before is None:
        return "added", dict(after or {})
    key: dict[str, Json] = {column.name: before[column.name] for column in key_of(columns)}
    if after is None:
        return "removed", key
    now = {column.name: after.get(column.name, column.default) for column in columns}
    was = {column.name: before.get(column.name, column.default) for column in columns}
    return "changed", {"key": key, "to": {name: value for name, value in now.items() if value != was[name]}}
