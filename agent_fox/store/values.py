"""How values stand in columns: text that SQLite can hold, structured facts as JSON, a sum over rows of two tables."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from agent_fox.core.values import to_document

if TYPE_CHECKING:
    from sqlite_utils import Database

NOT_TAKEN = "not taken: "
"""Begins the reason of a launch that was one of several tries of its attempt, of which another one counts."""

TOLD_USD = "coalesce((SELECT sum(l.cost_usd) FROM launches AS l WHERE l.session_id = sessions.id), sessions.cost_usd)"
"""What a session told that it cost: all its launches, those that were lost too. A host's session has no launches."""


def storable(value: object) -> object:
    """The value as a column can hold it: half a surrogate pair (broken file names, odd JSON) becomes `?`."""
    if not isinstance(value, str) or value.isascii():
        return value
    return value.encode("utf-8", "replace").decode()


COMPACT = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, default=to_document)


def to_json(value: object) -> str:
    """Compact JSON with stable key order, for columns that hold structured facts; dataclasses too."""
    return COMPACT.encode(value)


def insert(db: Database, table: str, row: Mapping[str, object]) -> int:
    """Insert one row; gives its row id. Table and columns are ours, values are bound."""
    columns, marks = ", ".join(row), ", ".join("?" * len(row))
    values = [storable(value) for value in row.values()]
    number = db.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", values).lastrowid
    assert number is not None
    return number


def change(db: Database, table: str, key: object, changes: Mapping[str, object]) -> None:
    """Change columns of the row with this `id`; the schema refuses what must stay."""
    columns = ", ".join(f"{column} = ?" for column in changes)
    values = [storable(value) for value in (*changes.values(), key)]
    db.execute(f"UPDATE {table} SET {columns} WHERE id = ?", values)


def insert_many(db: Database, table: str, columns: str, rows: Iterable[Iterable[object]]) -> None:
    """Insert rows whose values stand in the order of `columns`, a list with commas."""
    marks = ", ".join("?" * (columns.count(",") + 1))
    values = [
        [value if not isinstance(value, str) or value.isascii() else storable(value) for value in row] for row in rows
    ]
    db.conn.executemany(f"INSERT INTO {table} ({columns}) VALUES ({marks})", values)
