"""Our tables in somebody else's database, inside the transaction that its owner has open. Nothing is committed here.

The owner's `user_version`, pragmas and way of giving rows stay as they are; our format has a table of its own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from sqlite_utils import Database

from agent_fox.store.schema.migrations import MIGRATIONS
from agent_fox.store.state import StateError

FORMAT = "agent_fox_format"
NAMES = "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\'"


@contextmanager
def guest(connection: sqlite3.Connection) -> Iterator[Database]:
    """The connection as our code reads it: rows are tuples, text is text."""
    row_factory, text_factory = connection.row_factory, connection.text_factory
    connection.row_factory, connection.text_factory = None, str
    try:
        yield Database(connection, recursive_triggers=False, execute_plugins=False)
    finally:
        connection.row_factory, connection.text_factory = row_factory, text_factory


def settle_in(db: Database) -> None:
    """Make our tables, or bring them up to date, in the open transaction.

    Raises StateError, with nothing changed, where the database was used by a newer agent-fox or has tables of the
    same names.
    """
    number = format_of(db)
    if number > len(MIGRATIONS):
        raise StateError(f"these tables are of a newer agent-fox (format {number}, this one knows {len(MIGRATIONS)})")
    if number == 0:
        refuse_clash(db)
        db.execute(f"CREATE TABLE {FORMAT} (version INTEGER NOT NULL) STRICT")
        db.execute(f"INSERT INTO {FORMAT} VALUES (0)")
    for script in MIGRATIONS[number:]:
        db.executescript(script)
        db.execute(f"UPDATE {FORMAT} SET version = version + 1")


def format_of(db: Database) -> int:
    """How many migrations were applied to our tables here; 0 where we have none."""
    if db.execute("SELECT 1 FROM sqlite_master WHERE name = ?", [FORMAT]).fetchone() is None:
        return 0
    return int(db.execute(f"SELECT version FROM {FORMAT}").fetchone()[0])


def refuse_clash(db: Database) -> None:
    """SQLite's names know no case: `Runs` would be in the way of `runs`."""
    theirs = {name.lower(): name for (name,) in db.execute(NAMES)}
    in_the_way = sorted(theirs[name] for name in our_names() & theirs.keys())
    if in_the_way:
        raise StateError(
            f"the database has {', '.join(in_the_way)} already, and agent-fox needs these names for its own tables: "
            "rename yours, or give agent-fox a database file of its own"
        )


def our_names() -> set[str]:
    """What the migrations make, as SQLite itself sees it."""
    scratch = sqlite3.connect(":memory:")
    try:
        for script in MIGRATIONS:
            scratch.executescript(script)
        return {str(name).lower() for (name,) in scratch.execute(NAMES)}
    finally:
        scratch.close()
