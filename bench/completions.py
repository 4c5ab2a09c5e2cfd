"""What one node's completion costs, board and state, in plans of every size; and how large the state file becomes."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

from agent_fox.store.state import checkpoint
from bench.figures import Aim, Figure, seconds, typical
from bench.stub import Stub
from bench.worlds import NODES_PER_SPEC, plan_with, planned, temporary_folder

FLAT = Aim(ratio=1.3)
BASE = 1_000
"""The size of plan that the others are compared with."""

MEGABYTE = 1e6


def measure(sizes: Sequence[int], completions: int) -> Iterator[Figure]:
    """Per completion at each size, beside the same at `BASE`; and beside commits of one row, which nothing can beat."""
    with temporary_folder() as folder:
        commit = typical(commits(folder / "commits.db", completions))
        for size in sizes:
            took, base = in_turn(folder / f"of-{size}", size, BASE, min(size, completions))
            yield Figure(f"completion, plan of {size:,} nodes", took, base, f"of {BASE:,} nodes", FLAT)
        yield Figure(f"completion, plan of {BASE:,} nodes", base, 3 * commit, "three commits of one row")
        wide, firsts = max(sizes), min(completions, BASE // NODES_PER_SPEC)
        took, base = in_turn(folder / "wide", wide, BASE, firsts, is_chained=False)
        yield Figure(f"first nodes of {wide:,}, all specs at once", took, base, f"of {BASE:,} nodes", FLAT)


def in_turn(folder: Path, nodes: int, base: int, completions: int, *, is_chained: bool = True) -> tuple[float, float]:
    """Seconds for one of the first completions in plans of two sizes, which take turns: one weather for both."""
    with (
        planned(folder / "state.db", plan_with(nodes, is_chained=is_chained)) as world,
        planned(folder / "base.db", plan_with(base, is_chained=is_chained)) as other,
    ):
        ours, theirs = Stub(world), Stub(other)
        samples = [(seconds(ours.complete), seconds(theirs.complete)) for _ in range(completions)]
    return typical([sample for sample, _ in samples]), typical([sample for _, sample in samples])


def commits(path: Path, count: int) -> list[float]:
    """Seconds of single rows, each committed by plain sqlite3."""
    with closing(sqlite3.connect(path, isolation_level=None)) as plain:
        plain.execute("PRAGMA journal_mode = WAL")
        plain.execute("PRAGMA synchronous = FULL")
        plain.execute("CREATE TABLE rows (text TEXT)")
        return [seconds(lambda: plain.execute("INSERT INTO rows VALUES ('a row')")) for _ in range(count)]


def measure_size(nodes: int) -> Iterator[Figure]:
    """The state file before the first completion and after all of them; and the first ones beside the last."""
    with temporary_folder() as folder, planned(folder / "state.db", plan_with(nodes)) as world:
        checkpoint(world.db)
        before = world.path.stat().st_size / MEGABYTE
        stub = Stub(world)
        times = [seconds(stub.complete) for _ in range(nodes)]
        checkpoint(world.db)
        after = world.path.stat().st_size / MEGABYTE
        log = Path(f"{world.path}-wal").stat().st_size / MEGABYTE
    tenth = max(1, nodes // 10)
    yield Figure(f"state file after {nodes:,} completions", after, before, "before the first", unit="MB")
    yield Figure("its write-ahead log then", log, before, "the file before the first", unit="MB")
    last, first = typical(times[-tenth:]), typical(times[:tenth])
    yield Figure(f"the last {tenth:,} completions of these", last, first, f"the first {tenth:,}", FLAT)
