"""The state as a fold of the ledger: the rows that its records make, and in what the rows that stand differ from them.

What is not evidence stands in `store.journal.NOT_EVIDENCE`. Records of version 0.1 bind no rows; from the first record
about rows on, everything is bound.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import field
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_fox.core.ledger.evidence import Cell, Change, Evidence, Kind, NotSums, Row, Sums
from agent_fox.core.values import dataclass
from agent_fox.evidence.faults import Fault
from agent_fox.store.ledger import journal
from agent_fox.store.light import light_database
from agent_fox.store.schema.migrations import MIGRATIONS

if TYPE_CHECKING:
    from sqlite_utils import Database

Key = tuple[Cell, ...]
ROW_CHANGED = "the row or the record was changed past the engine"
ROW_GONE = "the row was removed past the engine"
NOT_RECORDED = "the row was written past the engine, or its record was removed"
NOT_OURS = "it was not written by agent-fox"
CHANGED_BEFORE = "rows were changed past the engine before it was written"
LONGEST_SHOWN = 60


class _Changed(BaseModel, defer_build=True):
    model_config = ConfigDict(strict=True, extra="forbid")
    key: dict[str, Cell]
    to: dict[str, Cell]


class _Table(BaseModel, defer_build=True):
    model_config = ConfigDict(strict=True, extra="forbid")
    added: list[dict[str, Cell]] = Field(default_factory=list)
    changed: list[_Changed] = Field(default_factory=list)
    removed: list[dict[str, Cell]] = Field(default_factory=list)


class _Body(BaseModel, defer_build=True):
    """The body of a record about rows."""

    model_config = ConfigDict(strict=True, extra="forbid")
    tables: dict[str, _Table]


class Impossible(Exception):
    """A change that no fold can make; its text says which."""


@lru_cache(maxsize=1)
def shapes() -> Mapping[str, tuple[journal.Column, ...]]:
    """The columns of every table that is evidence, as the present schema has them."""
    with closing(empty_state()) as db:
        return {table: journal.columns_of(light_database(db), table) for table in journal.EVIDENCE}


def empty_state(path: str = ":memory:") -> sqlite3.Connection:
    """A state file with its tables, and without any guard."""
    db = sqlite3.connect(path)
    for script in MIGRATIONS:
        db.executescript(script)
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        db.execute(f"DROP TRIGGER {name}")
    return db


@dataclass(frozen=True, slots=True)
class Recorded:
    """A row as the records leave it, and the position of the last record about it."""

    row: Row
    position: int


@dataclass(slots=True)
class Rows:
    """All rows that the records make, as far as they were read. `first`: the first record about rows, 0 before it."""

    tables: dict[str, dict[Key, Recorded]] = field(default_factory=dict)
    sums: Sums = field(default_factory=Sums)
    first: int = 0
    is_changing: bool = False
    disputes: list[Fault] = field(default_factory=list)
    """Where the rows had been changed past the engine before it wrote on."""
    settled: list[Fault] = field(default_factory=list)
    """The same, before the state was made anew."""
    is_bound_late: bool = False
    """Whether records of version 0.1 stand before the first one."""

    def add(self, position: int, record: Evidence) -> Iterator[Fault]:
        """Take one record about rows, in the order of the chain; what is wrong with it."""
        status = record.outcome.status
        if status in (journal.BEGUN, journal.BOUND) and self.is_changing:
            yield Fault(position, "it binds the whole state anew, which is done once", NOT_OURS)
        self.first = self.first or position
        self.is_changing = status not in (journal.BEGUN, journal.BOUND)
        self.is_bound_late = self.is_bound_late or status == journal.BOUND
        try:
            for change in self._read(record):
                self._take(position, change)
            sums = Sums.read(record.about.version)
        except ValidationError as error:
            yield Fault(position, f"its body is not that of {Kind.ROWS} ({error.errors()[0]['msg']})", NOT_OURS)
        except (Impossible, NotSums) as error:
            yield Fault(position, str(error), NOT_OURS)
        else:
            self._sum(position, record.outcome.status, sums)

    def _sum(self, position: int, status: str, sums: Sums) -> None:
        """What the rows came to when it was written is what the records make. A state that was made anew settles it."""
        if status == journal.REBUILT:
            self.sums, self.settled, self.disputes = self._all(), [*self.settled, *self.disputes], []
        if sums != self.sums:
            what = "the rows came to something else than the records before it say"
            self.disputes.append(Fault(position, what, CHANGED_BEFORE))
            self.sums = sums

    def _all(self) -> Sums:
        sums = Sums()
        for table, rows in self.tables.items():
            for row in rows.values():
                sums = sums.moved(Change(table, None, row.row))
        return sums

    def _take(self, position: int, change: Change) -> None:
        self.sums = self.sums.moved(change)
        rows = self.tables.setdefault(change.table, {})
        if change.after is None:
            rows.pop(key_in(change.table, change.before or {}), None)
        else:
            rows[key_in(change.table, change.after)] = Recorded(change.after, position)

    def _read(self, record: Evidence) -> Iterator[Change]:
        for table, changes in _Body.model_validate(dict(record.body)).tables.items():
            if table not in shapes():
                raise Impossible(f"it is about the table {table}, which is none that is evidence")
            rows = self.tables.setdefault(table, {})
            for key in changes.removed:
                yield Change(table, _row(rows, table, key), None)
            for changed in changes.changed:
                before = _row(rows, table, changed.key)
                yield Change(table, before, _changed(table, before, changed.to))
            for row in changes.added:
                if key_in(table, row) in rows:
                    raise Impossible(f"it adds {name_of(table, row)}, which is there already")
                yield Change(table, None, row)


def _row(rows: Mapping[Key, Recorded], table: str, key: Row) -> Row:
    row = rows.get(key_in(table, key))
    if row is None:
        raise Impossible(f"it is about {name_of(table, key)}, and no record before it made that")
    return row.row


def _changed(table: str, row: Row, to: Row) -> Row:
    columns = shapes()[table]
    now = {**row, **to}
    return journal.row_of(columns, [now.get(column.name, column.default) for column in columns])


def key_in(table: str, row: Row) -> Key:
    """The key of a row. Raises Impossible for one that has none."""
    try:
        return tuple(row[column.name] for column in journal.key_of(shapes()[table]))
    except KeyError as error:
        raise Impossible(f"it has a row of {table} without {error.args[0]}") from error


def name_of(table: str, row: Row) -> str:
    """A row in words: `row 01_bell, R1 of plan_parts`."""
    return f"row {', '.join(str(value) for value in key_in(table, row))} of {table}"


def differences(db: Database, fold: Rows) -> Iterator[Fault]:
    """In what the rows that stand differ from those that the records make; nothing where no record binds any."""
    if not fold.first:
        return
    for table, columns in shapes().items():
        recorded = dict(fold.tables.get(table, {}))
        for row in journal.rows_of(db, table):
            yield from _different(table, columns, row, recorded.pop(key_in(table, row), None))
        for gone in recorded.values():
            yield Fault(gone.position, f"there is no {name_of(table, gone.row)} any more", ROW_GONE)


def _different(table: str, columns: Sequence[journal.Column], row: Row, entry: Recorded | None) -> Iterator[Fault]:
    if entry is None:
        yield Fault(0, f"{name_of(table, row)} is in no record", NOT_RECORDED)
        return
    for column in columns if row != entry.row else ():
        stands, recorded = row.get(column.name, column.default), entry.row.get(column.name, column.default)
        if stands != recorded:
            here, there = _short(stands), _short(recorded)
            what = f"{name_of(table, row)} has {here} as its {column.name}, and by the records {there}"
            yield Fault(entry.position, what, ROW_CHANGED)


def _short(value: Cell) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 3]}..."
