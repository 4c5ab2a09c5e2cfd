"""A connection as what reads the state uses it, without the time that sqlite-utils takes to import, and what SQLite's
result codes mean: whose fault an error is, and what a person can do. No SQL is here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlite_utils import Database

FORMATS = 13
"""How many migrations there are (`schema.MIGRATIONS`), for who only reads and needs none of them."""


def light_database(connection: sqlite3.Connection) -> Database:
    """Like `Database(connection)`, where nothing is written but in an open transaction: no statement commits."""
    return LightDatabase(connection)  # type: ignore[return-value] # it stands in for what it becomes


def whole_database(connection: sqlite3.Connection) -> Database:
    from sqlite_utils import Database  # noqa: PLC0415 - it takes longer to import than most commands to read the state

    return Database(connection, execute_plugins=False)


class LightDatabase:
    """What all queries of ours need; whoever asks for more of a Database gets it from a whole one."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.conn = connection
        self.execute("PRAGMA recursive_triggers = ON")  # as a whole one has them

    def execute(self, sql: str, parameters: Sequence[object] | Mapping[str, object] | None = None) -> sqlite3.Cursor:
        return self.conn.execute(sql) if parameters is None else self.conn.execute(sql, parameters)

    def executescript(self, script: str) -> sqlite3.Cursor:
        return self.conn.executescript(script)

    def rollback(self) -> None:
        self.conn.rollback()

    def __enter__(self) -> LightDatabase:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.conn.close()

    def __getattr__(self, name: str) -> object:
        attribute: object = getattr(whole_database(self.conn), name)
        return attribute

    def __getitem__(self, table: str) -> object:
        return whole_database(self.conn)[table]


STUCK = {
    sqlite3.SQLITE_FULL: "the disk is full: free some space",
    sqlite3.SQLITE_IOERR: "the disk reports an error: check it",
    sqlite3.SQLITE_BUSY: "another program holds the file: close it",
    sqlite3.SQLITE_LOCKED: "another program holds the file: close it",
}
UNUSABLE = {
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened: check what is there, and its permissions",
    sqlite3.SQLITE_PERM: "it cannot be opened: check what is there, and its permissions",
    sqlite3.SQLITE_READONLY: "it cannot be written: check the permissions of the file and its folder",
}
THE_WORLD = {*STUCK, *UNUSABLE, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}


def primary_code(error: sqlite3.DatabaseError | str) -> int:
    """SQLite's result code, 0 where the error is not one of SQLite's own."""
    code: int = getattr(error, "sqlite_errorcode", 0)  # only errors that SQLite itself reported have one
    return code & 0xFF


def is_of_the_world(error: BaseException) -> bool:
    """Whether the disk or the file failed, not a statement."""
    return isinstance(error, sqlite3.DatabaseError) and primary_code(error) in THE_WORLD
