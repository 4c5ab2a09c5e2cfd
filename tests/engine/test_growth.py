"""What a step of a run costs in plans of different sizes, counted in work: calls, steps of SQLite, rows. No clock."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import pytest

from agent_fox.core.ledger.gates import Gate
from agent_fox.engine.account.account import read_account
from agent_fox.engine.running import finish
from agent_fox.store.ledger.journal import why_others
from bench.stub import TREE, Stub
from bench.worlds import plan_with, planned

if TYPE_CHECKING:
    from _typeshed import TraceFunction

SMALL, LARGE = 200, 1_200
NODES = 12
MOST_GROWTH = 1.02
"""A loop over the plan with one line a turn is 1,000 lines more, of 17,000 that a node takes."""
STEPS_OF_SQLITE = 10
"""How many instructions of SQLite's machine one count stands for."""


@dataclass
class Work:
    """Calls of functions, executed lines (each turn of a loop or comprehension is one), instructions of SQLite by tens,
    changed rows, and bytes that were written. What one call of a built-in does inside is not seen."""

    calls: int = 0
    lines: int = 0
    instructions: int = 0
    rows: int = 0
    written: int = 0

    def profile(self, frame: FrameType, event: str, argument: object) -> None:
        self.calls += event in ("call", "c_call")

    def trace(self, frame: FrameType, event: str, argument: object) -> TraceFunction:
        self.lines += event == "line"
        return self.trace

    def instruct(self) -> int:
        self.instructions += 1
        return 0


def counted(stub: Stub, step: Callable[[], object]) -> Work:
    """The work of one step on a stub's world."""
    work, connection = Work(), stub.world.db.conn
    assert connection is not None
    rows, written = connection.total_changes, recorded(stub)
    connection.set_progress_handler(work.instruct, STEPS_OF_SQLITE)
    before = sys.gettrace()
    sys.setprofile(work.profile)
    sys.settrace(work.trace)
    try:
        step()
    finally:
        sys.settrace(before)
        sys.setprofile(None)
        connection.set_progress_handler(None, 0)
    work.rows, work.written = connection.total_changes - rows, recorded(stub) - written
    return work


def recorded(stub: Stub) -> int:
    """Bytes of all records: what is written about any row that is evidence stands there, too."""
    found = stub.world.db.execute("SELECT coalesce(sum(length(content)), 0) FROM ledger").fetchone()
    return int(found[0])


def assert_grows(small: Work, large: Work, times: float) -> None:
    """No kind of work is more than so many times as much."""
    for kind in fields(Work):
        assert getattr(large, kind.name) <= times * getattr(small, kind.name), kind.name


def work_of_nodes(folder: Path, nodes: int, first: int, *, is_chained: bool) -> list[Work]:
    """Of some nodes of a plan, each from ready to completed: launch, session's order, result, board, outbox."""
    folder.mkdir()
    with planned(folder / "state.db", plan_with(nodes, is_chained=is_chained)) as world:
        stub = Stub(world)
        for _ in range(first):
            stub.complete()  # what is looked up once for the whole run
        return [counted(stub, stub.complete) for _ in range(NODES)]


@pytest.mark.parametrize(("is_chained", "first"), [(True, 1), (True, 73), (False, 1)])
def test_a_node_costs_the_same_in_a_plan_six_times_as_large(tmp_path: Path, is_chained: bool, first: int) -> None:
    """The first nodes, and those in which the first specs are verified and their issues come to an end."""
    small = work_of_nodes(tmp_path / "small", SMALL, first, is_chained=is_chained)
    large = work_of_nodes(tmp_path / "large", LARGE, first, is_chained=is_chained)
    for of_small, of_large in zip(small, large, strict=True):
        assert of_large.rows == of_small.rows
        assert_grows(of_small, of_large, MOST_GROWTH)


def work_of_the_whole(folder: Path, nodes: int) -> dict[str, Work]:
    """Of what looks at all of a plan, when all is completed: the board of a run, status, the end of a run."""
    folder.mkdir()
    with planned(folder / "state.db", plan_with(nodes)) as world:
        stub = Stub(world)
        while stub.complete():
            pass
        steps: dict[str, Callable[[], object]] = {
            "board": world.board,
            "status": lambda: read_account(world.db, tip_tree=TREE),
            "finish": lambda: list(finish.shortfalls(world.db, stub.board, Gate.TESTED)),
            "claim": lambda: finish.claim(stub.board, (), (), Gate.TESTED),
            "believed": lambda: why_others(world.db, is_whole=True),
        }
        return {name: counted(stub, step) for name, step in steps.items()}


def test_what_looks_at_a_whole_plan_grows_with_it_and_no_faster(tmp_path: Path) -> None:
    small, large = work_of_the_whole(tmp_path / "small", 20), work_of_the_whole(tmp_path / "large", 100)
    for name, work in large.items():
        assert_grows(small[name], work, MOST_GROWTH * 5)
