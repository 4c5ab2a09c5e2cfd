"""Which nodes may start, as the state has it now: for hosts, which keep no board. An edge has the board's rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.engine.launching.launching import waiting
from agent_fox.engine.record.board import Board, is_satisfied
from agent_fox.store import plan as stored
from agent_fox.store import sessions

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.policy import Policy
    from agent_fox.store.plan import PlannedNode


def open_edges(db: Database, planned: PlannedNode, policy: Policy) -> list[PlannedNode]:
    """The nodes that one still waits for, in plan order. The cost is in proportion to its edges."""
    spec_name, goes_on = planned.node.spec_name, policy.goes_on_after_escalation
    sources = {
        source.node.uid: source
        for source, kind in stored.edges_into(db, planned.node.uid)
        if kind is None or not is_satisfied(source.node, source.standing, spec_name, kind, goes_on=goes_on)
    }
    return list(sources.values())


def ready_nodes(db: Database, policy: Policy) -> list[PlannedNode]:
    """Every node that may be launched, in fair order: the spec that was served longest ago has the first turn."""
    board = board_of(db, policy)
    for uid in sessions.served_nodes(db):
        board.launched(stored.node_by_uid(db, uid))
    ready: list[PlannedNode] = []
    while (planned := board.take()) is not None:
        board.launched(planned)
        ready.append(planned)
    return ready


def board_of(db: Database, policy: Policy) -> Board:
    """The whole plan as it stands."""
    return Board(
        stored.load_nodes(db), stored.load_edges(db), stored.load_retry_edges(db),
        goes_on_after_escalation=policy.goes_on_after_escalation,
    )  # fmt: skip


def recall(db: Database, policy: Policy) -> list[PlannedNode]:
    """Sessions under way that were overtaken, for what they build on is to be done again: their nodes wait once more.

    That is a launch that was lost: it costs nothing, and the same ticket is launched again. Gives these nodes.
    """
    overtaken = [planned for planned in stored.running_nodes(db) if open_edges(db, planned, policy)]
    for planned in overtaken:
        stored.move_node(db, waiting(planned).standing, None)
        session = sessions.session_by_ticket(db, planned.standing.ticket)
        if session is not None:
            sessions.set_session(db, session.id, {"status": "waiting"})
    return overtaken
