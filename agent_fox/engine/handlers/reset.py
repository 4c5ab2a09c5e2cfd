"""What a person's `reset` does: a new budget and a new start for one node, and what it held back goes on."""

from __future__ import annotations

from agent_fox.core.ids import Archetype
from agent_fox.core.retry.standing import Status, Step
from agent_fox.core.words import quote
from agent_fox.engine.handlers import final_review
from agent_fox.engine.record import promotion
from agent_fox.engine.record.blocking_history import freed_by, is_cascaded
from agent_fox.engine.record.docket import Docket, Handled, Move
from agent_fox.store.plan import PlannedNode, add_retry_edges, node_by_id, nodes_of_spec
from agent_fox.store.records import last_block


class NothingToReset(ValueError):
    """The node cannot be reset; its text says why and what to do instead."""


def reset(tx: Docket, node_id: str, reason: str = "") -> Handled:
    """Reset one node: tickets, history and open FAILs stay; budget and convergence window are new.

    Raises NothingToReset.
    """
    planned = node_by_id(tx.db, node_id)
    if planned is None:
        raise NothingToReset(f"{node_id}: there is no such node in the plan; `agent-fox status` lists them")
    refuse_idle(tx, planned)
    moves, waits = moves_for(tx, planned)
    reopened = [move.planned for move in moves]
    moves += freed_by(tx, reopened)
    number, moved = tx.record(planned, "Reset", moves, note=reason or "reset by a person")
    add_retry_edges(tx.db, waits, number)
    promotion.reset(tx, planned.node.spec_name, number)
    return Handled(None, number, moved, waits=waits)


def refuse_idle(tx: Docket, planned: PlannedNode) -> None:
    if planned.standing.status in {Status.PENDING, Status.RUNNING}:
        raise NothingToReset(
            f"{planned.node.id} is {planned.standing.status}: it runs anyway; there is nothing to reset"
        )
    _, root = last_block(tx.db, planned.node.uid) or ("", planned.node.id)
    if planned.standing.status is Status.BLOCKED and root != planned.node.id:
        raise NothingToReset(f"{planned.node.id} only waits for {root}: agent-fox reset {quote(root)}")


def moves_for(tx: Docket, planned: PlannedNode) -> tuple[list[Move], tuple[tuple[str, str], ...]]:
    """The moves of the node itself and of those that must read again after it, and the edges between them."""
    nodes = nodes_of_spec(tx.db, planned.node.spec_name)
    if final_review.is_final(planned):
        return [Move(planned, Step.RESET), *final_review.verifier_again(tx, planned.node.spec_name)], ()
    reviews = final_review.review_again(tx, planned.node.spec_name, is_reset=True)
    if planned.node.archetype is Archetype.VERIFIER:
        tried = [each for each in nodes if each.node.archetype is Archetype.CODER and each.standing.attempt > 0]
        renewed = [Move(coder, Step.RENEW) for coder in tried]
        return [Move(planned, Step.REOPEN), *renewed, *_own(tx, reviews)], ()
    moves = [Move(planned, Step.RESET)]
    verifiers = [n for n in nodes if n.node.archetype is Archetype.VERIFIER]
    moves += [Move(v, Step.REOPEN) for v in verifiers if v.standing.status is Status.COMPLETED]
    return [*moves, *_own(tx, reviews)], tuple((planned.node.uid, v.node.uid) for v in verifiers)


def _own(tx: Docket, moves: list[Move]) -> list[Move]:
    """Those whose node is blocked by itself, or not at all: what others hold is lifted with them."""
    return [move for move in moves if not is_cascaded(tx.db, move.planned)]
