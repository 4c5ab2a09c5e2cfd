"""A state file made anew from the records of a ledger alone: every row that is evidence, and the ledger itself."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.evidence.fold import FORGED, FORGED_CLOSE_OUT, FORGED_STEP, FORGED_VERDICT
from agent_fox.evidence.rows import empty_state
from agent_fox.evidence.verify import read_chain
from agent_fox.store.ledger import journal, ledger
from agent_fox.store.light import light_database
from agent_fox.store.schema.migrations import MIGRATIONS
from agent_fox.store.state import read_state
from agent_fox.system import clock

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.ledger.evidence import Cell
    from agent_fox.evidence.rows import Rows

BESIDE = "state.db.rebuilt"
TRIGGERS = "SELECT sql FROM sqlite_master WHERE type = 'trigger'"
MEANT = frozenset({FORGED, FORGED_VERDICT, FORGED_STEP, FORGED_CLOSE_OUT})
"""Faults in what records say, not in the records: they are no reason to make another state than they make."""

LOOK = "look with `agent-fox ledger verify`"


class CannotRebuild(Exception):
    """These records make no state. Its text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What was made: where, how many rows of each table that has any, how many records; `kept`: where the state that
    stood there before is, empty where the new one did not take its place."""

    path: Path
    rows: dict[str, int]
    records: int
    kept: str = ""


def rebuild(state: Path, file: Path | None = None, *, is_installed: bool = False) -> Rebuilt:
    """Make the state anew into `file`, or beside; `is_installed`: and put it in the place of `state`, which is kept.

    What stands in the tables of `state` is not looked at. Raises CannotRebuild, StateError.
    """
    path = file or state.with_name(BESIDE)
    if path.exists():
        raise CannotRebuild(f"{path}: it is there already; name another file, or move it away")
    with closing(read_state(state)) as db:
        db.execute("BEGIN")
        made = _made(db, path)
    return _installed(state, made) if is_installed else made


def _made(db: Database, path: Path) -> Rebuilt:
    checked = read_chain(db)
    faults = [fault for fault in checked.findings.faults if fault.meaning not in MEANT]
    if faults:
        first = faults[0]
        where = f"record {first.position}: " if first.position else ""
        raise CannotRebuild(f"the records cannot be relied on ({where}{first.what}): {LOOK}")
    if not checked.rows.first:
        raise CannotRebuild(
            "no record binds any row: the ledger is empty, or of version 0.1, which `agent-fox run` binds"
        )
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.new")
    try:
        with closing(empty_state(str(unfinished))) as new:
            _fill(new, checked.rows)
            records = _copy_ledger(db, new)
            _finish(new)
        os.link(unfinished, path)
    except OSError as error:
        raise CannotRebuild(f"{path}: cannot be written ({error.strerror}); check the folder and the disk") from error
    finally:
        unfinished.unlink(missing_ok=True)
    return Rebuilt(path, {table: len(rows) for table, rows in checked.rows.tables.items() if rows}, records)


def _fill(new: sqlite3.Connection, fold: Rows) -> None:
    for table, rows in fold.tables.items():
        blank = _blank(new, table)
        for recorded in rows.values():
            row = {**blank, **recorded.row}
            marks = ", ".join("?" * len(row))
            new.execute(f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})", list(row.values()))


def _blank(new: sqlite3.Connection, table: str) -> dict[str, Cell]:
    """What stands in columns that are not evidence and must hold something."""
    columns = new.execute(f"PRAGMA table_info({table})").fetchall()
    needed = [(name, kind) for _, name, kind, is_needed, default, _ in columns if is_needed and default is None]
    return {name: "" if kind == "TEXT" else 0 for name, kind in needed if f"{table}.{name}" in journal.NOT_EVIDENCE}


def _copy_ledger(db: Database, new: sqlite3.Connection) -> int:
    marks = ", ".join("?" * (ledger.COLUMNS.count(",") + 1))
    rows = db.execute(f"SELECT {ledger.COLUMNS} FROM ledger ORDER BY position")
    records = new.executemany(f"INSERT INTO ledger ({ledger.COLUMNS}) VALUES ({marks})", rows).rowcount
    repositories = db.execute("SELECT only, id, root FROM ledger_repository")
    new.executemany("INSERT INTO ledger_repository (only, id, root) VALUES (?, ?, ?)", repositories)
    run_heads = db.execute("SELECT ledger_begin, ledger_head, id FROM runs")
    new.executemany("UPDATE runs SET ledger_begin = ?, ledger_head = ? WHERE id = ?", run_heads)
    return records


def _finish(new: sqlite3.Connection) -> None:
    """The record that it was made anew, and the guards."""
    if not new.in_transaction:
        new.execute("BEGIN")
    journal.record_rebuilt(light_database(new), clock.now())
    with closing(sqlite3.connect(":memory:")) as whole:
        for script in MIGRATIONS:
            whole.executescript(script)
        for (sql,) in whole.execute(TRIGGERS):
            new.execute(sql)
    new.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")
    new.commit()


def _installed(state: Path, made: Rebuilt) -> Rebuilt:
    """In the place of the state, whose files are kept under the first free number."""
    number = next(n for n in count(1) if not _numbered(state, n).exists())
    for end in ("", "-wal", "-shm"):
        part = state.with_name(state.name + end)
        if part.exists():
            part.rename(_numbered(state, number).with_name(_numbered(state, number).name + end))
    made.path.rename(state)
    return Rebuilt(state, made.rows, made.records, str(_numbered(state, number)))


def _numbered(state: Path, number: int) -> Path:
    return state.with_name(f"{state.name}.{number}")


def lines_of(made: Rebuilt) -> Iterator[str]:
    """What was made, in lines."""
    yield f"{made.path}: made anew from {made.records} records"
    for table, number in sorted(made.rows.items()):
        yield f"  {number:>7}  {table}"
    if made.kept:
        yield f"the state that stood there before is kept as {made.kept}"
