"""One durable session result beside the same rows in the same tables, written by plain sqlite3 on the same disk."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any, cast

from agent_fox.core.graph import Plan
from agent_fox.core.verdicts.answer import read_report
from agent_fox.store.ledger.journal import MIRROR
from bench.figures import Aim, Figure, best, seconds
from bench.stub import Stub, report
from bench.worlds import REQUIREMENTS_PER_SPEC, World, plan_with, planned, temporary_folder

ROUNDS = 50
AIM = Aim(ratio=2.0, limit=1.3e-3)
FIGURES = {
    "work": "a coder's result: session, decision, node",
    "verdicts": f"a verifier's result: the same and {REQUIREMENTS_PER_SPEC} verdicts",
    "launch": "a launch: session, launch, node",
}

Statement = tuple[str, list[Any]]
"""One statement and every set of parameters that it is executed with."""

Step = tuple[str, list[Statement]]
"""The name of a transaction, and what it writes."""


@dataclass
class Recorder:
    """A connection that notes what is written in each transaction, in order."""

    connection: sqlite3.Connection
    steps: list[Step] = field(default_factory=list)
    open: list[Statement] = field(default_factory=list)

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        self.note(sql, [parameters])
        return self.connection.execute(sql, parameters)

    def executemany(self, sql: str, rows: Iterable[Any]) -> sqlite3.Cursor:
        found = list(rows)
        self.note(sql, found)
        return self.connection.executemany(sql, found)

    def note(self, sql: str, rows: list[Any]) -> None:
        is_kept = sql.startswith(("INSERT", "UPDATE", "DELETE")) and f"temp.{MIRROR}" not in sql
        if is_kept and rows:
            self.open.append((sql, rows))

    def on_step(self, name: str, seconds: float) -> None:
        self.steps.append((name, self.open))
        self.open = []

    def __getattr__(self, name: str) -> object:
        return getattr(self.connection, name)


@dataclass
class Race:
    """Times each step of the engine, and the same writes on the plain connection right after it."""

    plain: sqlite3.Connection
    steps: Iterator[Step]
    ours: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    floor: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def on_step(self, name: str, took: float) -> None:
        expected, statements = next(self.steps)
        assert name == expected, f"the second run takes another way: {name}, not {expected}"
        self.ours[name].append(took)
        self.floor[name].append(seconds(lambda: self.write(statements)))

    def write(self, statements: list[Statement]) -> None:
        self.plain.execute("BEGIN IMMEDIATE")
        for sql, rows in statements:
            self.plain.executemany(sql, rows)
        self.plain.execute("COMMIT")


def measure(nodes: int) -> Iterator[Figure]:
    """Completes a plan twice: first to record what is written, then timed, in turn with the floor."""
    plan = plan_with(nodes)
    with temporary_folder() as folder:
        steps = recorded(folder / "recorded.db", plan)
        with planned(folder / "state.db", plan) as world, closing(plain_copy(world, folder / "plain.db")) as plain:
            race = Race(plain, iter(steps))
            complete_all(Stub(world, race.on_step))
    for name, told in FIGURES.items():
        yield Figure(told, median(race.ours[name]), median(race.floor[name]), "plain sqlite3", AIM)
    yield reading()


def reading() -> Figure:
    """What is done with a verifier's output before its result is written, beside parsing the JSON in it."""
    parts = [f"01-REQ-{number}.1" for number in range(REQUIREMENTS_PER_SPEC)]
    text, index = report(parts), {part: () for part in parts}
    took, floor = best(ROUNDS, lambda: read_report(text, index), lambda: json.loads(text))
    return Figure(f"reading a report of {len(parts)} verdicts", took, floor, "json.loads")


def took(plan: Plan) -> dict[str, float]:
    """Seconds of each kind of transaction while a plan is completed: the median."""
    samples: defaultdict[str, list[float]] = defaultdict(list)
    with temporary_folder() as folder, planned(folder / "state.db", plan) as world:
        complete_all(Stub(world, lambda name, seconds: samples[name].append(seconds)))
    return {name: median(each) for name, each in samples.items()}


def recorded(path: Path, plan: Plan) -> list[Step]:
    with planned(path, plan) as world:
        recorder = Recorder(world.db.conn)
        stub = Stub(world, recorder.on_step)
        world.db.conn = cast(sqlite3.Connection, recorder)
        complete_all(stub)
    return recorder.steps


def complete_all(stub: Stub) -> None:
    while stub.complete():
        pass


def plain_copy(world: World, path: Path) -> sqlite3.Connection:
    """The same tables and indexes with the same plan in them, as anybody would open them: no guards, no checks."""
    world.db.execute("VACUUM INTO ?", [str(path)])
    plain = sqlite3.connect(path, isolation_level=None, cached_statements=256)
    plain.execute("PRAGMA journal_mode = WAL")
    plain.execute("PRAGMA synchronous = FULL")
    for (name,) in plain.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        plain.execute(f"DROP TRIGGER {name}")
    return plain
