"""A light database does what our queries ask of a whole one, and gives a whole one to whoever asks for more."""

from __future__ import annotations

import sqlite3
import subprocess
import sys

import pytest

from agent_fox.store.light import light_database


def test_our_queries_need_no_more_than_a_light_one() -> None:
    program = """
import sqlite3, sys
from agent_fox.store.light import light_database
db = light_database(sqlite3.connect(":memory:"))
db.executescript("CREATE TABLE a (x); INSERT INTO a VALUES (1), (2)")
assert db.execute("SELECT sum(x) FROM a WHERE x > ?", [1]).fetchone() == (2,)
assert db.execute("SELECT sum(x) FROM a WHERE x < :most", {"most": 2}).fetchone() == (1,)
assert db.execute("PRAGMA recursive_triggers").fetchone() == (1,)
db.execute("BEGIN"); db.execute("DELETE FROM a"); db.rollback()
assert db.execute("SELECT count(*) FROM a").fetchone() == (2,)
assert "sqlite_utils" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_whoever_asks_for_more_gets_it() -> None:
    db = light_database(sqlite3.connect(":memory:"))
    db.execute("CREATE TABLE a (x)")
    assert db.table_names() == ["a"]
    assert db["a"].exists()
    db.close()
    with pytest.raises(sqlite3.ProgrammingError):
        db.execute("SELECT 1")
