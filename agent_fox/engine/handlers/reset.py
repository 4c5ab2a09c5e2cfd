"""What a person's `reset` does: a new budget and a new start for one node, and what it held back goes on."""

from __future__ import annotations

from agent_fox.core.ids import Archetype
from agent_fox.core.retry.standing import Status, Step
from agent_fox.engine.handlers import final_review
from agent_fox.engine.record import promotion
from agent_fox.engine.record.blocking_history import freed_by, is_cascaded
from agent_fox.engine.record.docket import Docket, Handled, Move
from agent_fox.store.plan import PlannedNode, add_retry_edges, node_by_id, nodes_of_spec
from agent_fox.store.records import last_block


class NothingToReset(ValueError):
    """The node cannot be reset; its text says why and what to do instead."""


def reset(docket: Docket, node_id: str, reason: str = "") -> Handled:
    """Reset one node: tickets, history and open FAILs stay; budget and convergence window are new.

    Raises NothingToReset.
    """
    planned = node_by_id(docket.db, node_id)
    if planned is None:
        raise NothingToReset(f"{node_id}: there is no such node in the plan; `agent-fox status` lists them")
    refuse_idle(docket, planned)
    moves, waits = moves_for(docket, planned)
    reopened = [move.planned for move in moves]
    moves += freed_by(docket, reopened)
    number, moved = docket.record(planned, "Reset", moves, note=reason or "reset by a person")
    add_retry_edges(docket.db, waits, number)
    promotion.reset(docket, planned.node.spec_name, number)
    return Handled(None, number, moved, waits=waits)


def refuse_idle(docket: Docket, planned: PlannedNode) -> None:
    if planned.standing.status in {Status.PENDING, Status.RUNNING}:
        raise NothingToReset(
            f"{planned.node.id} is {planned.standing.status}: it runs anyway; there is nothing to reset"
        )
    _, root = last_block(docket.db, planned.node.uid) or ("", planned.node.id)
    if planned.standing.status is Status.BLOCKED and root != planned.node.id:
        raise NothingToReset(f"{planned.node.id} only waits for {root}: agent-fox reset {root}")


def moves_for(docket: Docket, planned: PlannedNode) -> tuple[list[Move], tuple[tuple[str, str], ...]]:
    """The moves of the node itself and of those that must read again after it, and the edges between them."""
    nodes = nodes_of_spec(docket.db, planned.node.spec_name)
    if final_review.is_final(planned):
        return [Move(planned, Step.RESET), *final_review.verifier_again(docket, planned.node.spec_name)], ()
    reviews = final_review.review_again(docket, planned.node.spec_name, is_reset=True)
    if planned.node.archetype is Archetype.VERIFIER:
        renewed = [Move(coder, Step.RENEW) for coder in nodes if _has_tried(coder)]
        return [Move(planned, Step.REOPEN), *renewed, *_own(docket, reviews)], ()
    moves = [Move(planned, Step.RESET)]
    verifiers = [n for n in nodes if n.node.archetype is Archetype.VERIFIER]
    moves += [Move(v, Step.REOPEN) for v in verifiers if v.standing.status is Status.COMPLETED]
    return [*moves, *_own(docket, reviews)], tuple((planned.node.uid, v.node.uid) for v in verifiers)


def _own(docket: Docket, moves: list[Move]) -> list[Move]:
    """Those whose node is blocked by itself, or not at all: what others hold is lifted with them."""
    return [move for move in moves if not is_cascaded(docket.db, move.planned)]


def _has_tried(planned: PlannedNode) -> bool:
    return planned.node.archetype is Archetype.CODER and planned.standing.attempt > 0
