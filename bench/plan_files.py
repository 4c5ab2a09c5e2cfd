"""Reading specs into a plan, and saving, loading and holding large plans."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path

from agent_fox.config import Settings
from agent_fox.engine.planning.plan_reading import read_plan
from agent_fox.specs.reader import BUILT_IN
from agent_fox.store.state import checkpoint
from agent_fox.testing.worlds import Req
from agent_fox.testing.worlds import World as Story
from bench.figures import Aim, Figure, best, seconds
from bench.worlds import World, opened, plan_with, temporary_folder

KILOBYTES_IN_A_MEGABYTE = 1024
GROUPS, REQUIREMENTS = 6, 15
ROUNDS = 3


def measure_planning(specs: int) -> Iterator[Figure]:
    """From a folder of specs to a plan, beside reading the same files."""
    with temporary_folder() as folder:
        write_specs(folder, specs)
        files = [path for path in folder.rglob("*") if path.is_file()]
        took, floor = best(ROUNDS, lambda: read(folder), lambda: [path.read_text() for path in files])
    yield Figure(f"planning {specs} specs", took, floor, f"reading {len(files):,} files", Aim(limit=3.0))


def write_specs(root: Path, count: int) -> None:
    """Specs of the agent-fox dialect, some waiting for others."""
    names = [f"{number:03}_part" for number in range(1, count + 1)]
    specs = {
        name: [Req(f"{name[:3]}-REQ-{n}.1", group=n % GROUPS + 1) for n in range(1, REQUIREMENTS + 1)] for name in names
    }
    story = Story(specs, depends=dict(zip(names[5:], names, strict=False)))
    for name in names:
        story.write_spec(root, name)


def read(root: Path) -> None:
    plan = read_plan(root, Settings(), BUILT_IN)
    assert plan.nodes
    assert not plan.problems, plan.problems[0]


def measure_saving(nodes: int) -> Iterator[Figure]:
    """A plan into an empty state file, and from there onto a board; beside the bare rows."""
    plan = plan_with(nodes)
    with temporary_folder() as folder, opened(folder / "state.db") as world:
        saved = seconds(lambda: world.save(plan))
        loaded = best(ROUNDS, world.board)[0]
        checkpoint(world.db)
        rows = plan_rows(world)
        written = seconds(lambda: write_rows(folder / "plain.db", world, rows))
        fetched = best(ROUNDS, lambda: plan_rows(world))[0]
    yield Figure(f"saving a plan of {nodes:,} nodes", saved, written, "plain sqlite3, same rows", Aim(limit=1.0))
    yield Figure(f"loading it onto a board of {nodes:,} nodes", loaded, fetched, "fetching the rows", Aim(limit=1.0))


PLAN_TABLES = ("plan_specs", "plan_parts", "plan_nodes", "plan_edges")


def plan_rows(world: World) -> Mapping[str, list[tuple[object, ...]]]:
    return {table: world.db.execute(f"SELECT * FROM {table}").fetchall() for table in PLAN_TABLES}


def write_rows(path: Path, world: World, rows: Mapping[str, list[tuple[object, ...]]]) -> None:
    """The same rows into tables with the same keys and indexes, in one transaction."""
    with closing(sqlite3.connect(path, isolation_level=None)) as plain:
        plain.execute("PRAGMA journal_mode = WAL")
        plain.execute("PRAGMA synchronous = FULL")
        schema = "SELECT sql FROM sqlite_master WHERE type IN ('table', 'index') AND sql <> '' ORDER BY type DESC"
        for (sql,) in world.db.execute(schema):
            plain.execute(sql)
        plain.execute("BEGIN")
        for table, found in rows.items():
            if found:
                plain.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(found[0]))})", found)
        plain.execute("COMMIT")


def measure_memory(nodes: int) -> Iterator[Figure]:
    """The most memory that a process held which made, saved and loaded a plan and completed some of its nodes."""
    held, floor = megabytes_of(nodes), megabytes_of(0)
    yield Figure(f"memory at {nodes:,} nodes", held, floor, "with the imports alone", Aim(limit=500), unit="MB")


def megabytes_of(nodes: int) -> float:
    done = subprocess.run(
        [sys.executable, "-m", "bench.memory", str(nodes)], capture_output=True, text=True, check=True
    )
    return int(done.stdout) / KILOBYTES_IN_A_MEGABYTE
