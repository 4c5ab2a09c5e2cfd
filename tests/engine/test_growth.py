"""What a step of a run costs in plans of different sizes, counted in work: calls, steps of SQLite, rows. No clock."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

import pytest

from bench.stub import Stub
from bench.worlds import plan_with, planned

SMALL, LARGE = 60, 1_200
NODES = 12
MOST_GROWTH = 1.3
STEPS_OF_SQLITE = 10
"""How many instructions of SQLite's machine one count stands for."""


@dataclass
class Work:
    """Calls of Python functions, instructions of SQLite by tens, and changed rows."""

    calls: int = 0
    instructions: int = 0
    rows: int = 0

    def profile(self, frame: FrameType, event: str, argument: object) -> None:
        self.calls += event in ("call", "c_call")

    def instruct(self) -> int:
        self.instructions += 1
        return 0


def counted(stub: Stub, step: Callable[[], object]) -> Work:
    """The work of one step on a stub's world."""
    work, connection = Work(), stub.world.db.conn
    assert connection is not None
    before = connection.total_changes
    connection.set_progress_handler(work.instruct, STEPS_OF_SQLITE)
    sys.setprofile(work.profile)
    try:
        step()
    finally:
        sys.setprofile(None)
        connection.set_progress_handler(None, 0)
    work.rows = connection.total_changes - before
    return work


def work_of_nodes(folder: Path, nodes: int, *, is_chained: bool) -> list[Work]:
    """Of the first nodes of a plan, each from ready to completed: launch, session's order, result, board, outbox."""
    folder.mkdir()
    with planned(folder / "state.db", plan_with(nodes, is_chained=is_chained)) as world:
        stub = Stub(world)
        stub.complete()  # what is looked up once for the whole run
        return [counted(stub, stub.complete) for _ in range(NODES)]


@pytest.mark.parametrize("is_chained", [True, False])
def test_a_node_costs_the_same_in_a_plan_twenty_times_as_large(tmp_path: Path, is_chained: bool) -> None:
    small = work_of_nodes(tmp_path / "small", SMALL, is_chained=is_chained)
    large = work_of_nodes(tmp_path / "large", LARGE, is_chained=is_chained)
    for of_small, of_large in zip(small, large, strict=True):
        assert of_large.rows == of_small.rows
        assert of_large.calls <= MOST_GROWTH * of_small.calls
        assert of_large.instructions <= MOST_GROWTH * of_small.instructions
