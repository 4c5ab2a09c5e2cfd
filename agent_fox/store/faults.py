"""What SQLite's result codes mean: whose fault an error is, and what a person can do. Opens no state."""

from __future__ import annotations

import sqlite3

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
