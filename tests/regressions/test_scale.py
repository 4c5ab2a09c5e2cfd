"""Defects seen elsewhere in the cost of a plan: a scan of all nodes at each step, 24 s to save 10,000 of them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from types import FrameType

from agent_fox.core.graph import EdgeKind, Node
from agent_fox.core.ids import Archetype
from agent_fox.core.retry.standing import Outcome, Standing, Status
from agent_fox.engine.record.board import Board
from agent_fox.store.plan import PlannedNode, StoredEdge, insert_nodes, load_edges, load_nodes, replace_edges
from agent_fox.store.state import open_state, transaction


def nodes(count: int) -> list[PlannedNode]:
    """Specs of ten groups each."""
    names = [(f"s{n // 10}", n % 10 + 1) for n in range(count)]
    made = [Node(f"{spec}:coder:{g}", f"{spec}:{g}", spec, g, Archetype.CODER) for spec, g in names]
    return [PlannedNode(node, Standing(node.uid), place) for place, node in enumerate(made)]


def edges(plan: list[PlannedNode]) -> list[StoredEdge]:
    return [StoredEdge(a.node.uid, b.node.uid, EdgeKind.CHAIN) for a, b in pairwise(plan) if b.node.group > 1]


def calls(work: Callable[[], object]) -> int:
    """How many Python functions are called: the same on every machine."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def test_a_completion_costs_the_same_in_a_plan_of_any_size() -> None:
    """Elsewhere the ready set was found by looking at every node of the plan, at every step."""
    assert cost_of_a_completion(100) == cost_of_a_completion(10_000)


def cost_of_a_completion(count: int) -> int:
    """Calls until the next node is taken after the first has landed, in a plan of this size."""
    plan = nodes(count)
    board = Board(plan, edges(plan))
    first = board.take()
    assert first is not None
    landed = Standing(first.node.uid, Status.COMPLETED, Outcome.LANDED)

    def complete() -> None:
        board.stand(landed.uid, landed)
        board.take()

    return calls(complete)


def test_a_plan_is_saved_and_loaded_as_a_whole(tmp_path: Path) -> None:
    """Elsewhere each node was saved by itself, in a transaction of its own: 24 s for 10,000."""
    plan = nodes(10_000)
    db = open_state(tmp_path / "state.db")
    statements: list[str] = []
    db.conn.set_trace_callback(statements.append)
    with transaction(db):
        insert_nodes(db, plan)
        replace_edges(db, edges(plan))
    db.conn.set_trace_callback(None)
    assert sum("BEGIN" in statement.upper() for statement in statements) == 1
    assert calls(lambda: load_nodes(db)) < 20 * len(plan)
    assert (len(load_nodes(db)), len(load_edges(db))) == (10_000, 9_000)
    db.close()
