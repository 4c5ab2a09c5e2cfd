"""What regression memory adds to a brief and to a launch, where a great many items are remembered."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

from sqlite_utils import Database

from agent_fox.core import memory
from agent_fox.core.memory import DEFAULT_LIMITS, Birth, Item, item_id
from agent_fox.core.verdicts.verdict import RunTest
from agent_fox.engine.launching.remembering import to_name
from agent_fox.store.ledger import memory as stored
from agent_fox.store.state import open_state, transaction
from bench.figures import Aim, Figure, best
from bench.worlds import temporary_folder

AT = "2026-03-01T12:00:00.000Z"
ROUNDS = 5
BRIEF, READING = Aim(limit=0.05), Aim(limit=1.0)
OVERLAP = 10
"""Every so many items stand near a brief."""


def measure(items: int) -> Iterator[Figure]:
    with temporary_folder() as folder, closing(open_state(folder / "state.db")) as db:
        with transaction(db):
            for number in range(items):
                stored.remember(db, item(number))
        parts, files = [f"01_bell/R{number}" for number in range(20)], ["shop/a0.py", "docs/b.md"]
        took, alone = best(ROUNDS, lambda: to_name(db, parts, files, DEFAULT_LIMITS), lambda: rows(db))
        yield Figure(f"what a brief names, of {items} items", took, alone, "their rows by sqlite3", BRIEF)
        changed = frozenset(files)
        took, alone = best(
            ROUNDS, lambda: memory.to_read(stored.items(db), changed, DEFAULT_LIMITS.read), lambda: rows(db)
        )
        yield Figure(f"what a pre-reading runs, of {items} items", took, alone, "their rows by sqlite3", READING)


def item(number: int) -> Item:
    test = RunTest("pytest -q tests", f"tests/test_{number}.py", (), "test_it", f"tests/test_{number}.py::test_it")
    files = (test.file, f"shop/a{number % OVERLAP}.py", f"shop/c{number}.py")
    spec, part = f"{number % 100:02}_bell", f"R{number}"
    return Item(item_id(spec, part, "v1", test), spec, part, "v1", test, Birth.REPAIR, AT, files)


def rows(db: Database) -> None:
    db.execute("SELECT * FROM memory_items").fetchall()
