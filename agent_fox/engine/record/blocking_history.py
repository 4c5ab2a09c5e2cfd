"""What is held back, by which node, and what is set free again. The record of it is never edited."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.core.graph import EdgeKind
from agent_fox.core.ids import Archetype
from agent_fox.core.retry.decision import Cause
from agent_fox.core.retry.standing import Outcome, Status, Step
from agent_fox.engine.record.docket import Docket, Move, Transition
from agent_fox.store.plan import PlannedNode, node_by_uid, sources_of, targets_of
from agent_fox.store.records import has_started, last_block, record_block

if TYPE_CHECKING:
    from sqlite_utils import Database

ROUND = "retry"


def held_by(tx: Docket, root: PlannedNode) -> list[PlannedNode]:
    """The nodes that cannot go on once `root` is blocked or escalated, in the order they are reached.

    Within a spec everything that waits is held; of other specs only what has not started, and only where the policy
    does not go on after an escalation.
    """
    held: dict[str, PlannedNode] = {}
    frontier = deque([root])
    while frontier:
        for target in _dependents(tx, frontier.popleft()):
            if target.node.uid not in held and target.standing.status is Status.PENDING:
                held[target.node.uid] = target
                frontier.append(target)
    return list(held.values())


def _dependents(tx: Docket, source: PlannedNode) -> Iterable[PlannedNode]:
    for uid in targets_of(tx.db, source.node.uid):
        target = node_by_uid(tx.db, uid)
        if target.node.spec_name == source.node.spec_name or _is_held_across(tx, target):
            yield target


def _is_held_across(tx: Docket, target: PlannedNode) -> bool:
    return not tx.policy.goes_on_after_escalation and not has_started(tx.db, target.node.uid)


def cascade(tx: Docket, root: PlannedNode) -> tuple[Move, ...]:
    """The moves that block what waits for `root`."""
    return tuple(Move(planned, Step.BLOCK) for planned in held_by(tx, root))


def write_history(
    tx: Docket,
    decision_id: int,
    root: PlannedNode,
    cascaded: Iterable[Move],
    cause: Cause,
    reason: str,
    requirements: tuple[str, ...] = (),
) -> None:
    """One row for the node itself, and one for each node that it holds back, naming it as the root."""
    _write(tx, decision_id, root, root, cause, reason, requirements)
    for move in cascaded:
        why = f"waits for {root.node.id}, which is blocked: {cause}"
        _write(tx, decision_id, move.planned, root, Cause.CASCADE, why, ())


def _write(
    tx: Docket,
    decision_id: int,
    planned: PlannedNode,
    root: PlannedNode,
    cause: Cause,
    reason: str,
    requirements: tuple[str, ...],
) -> None:
    node = planned.node
    named = {
        "archetype": node.archetype,
        "node_id": node.id,
        "node_uid": node.uid,
        "spec_name": node.spec_name,
    }
    record_block(tx.db, tx.at, tx.run_id, decision_id, named, cause, reason, root.node.id, requirements)


def freed_by(tx: Docket, roots: Iterable[PlannedNode]) -> list[Move]:
    """The nodes that nothing holds any more once `roots` are open again: those blocked only because of them."""
    free = {root.node.uid for root in roots}
    frontier = deque(free)
    moves: list[Move] = []
    while frontier:
        uid = frontier.popleft()
        for target_uid in targets_of(tx.db, uid):
            target = node_by_uid(tx.db, target_uid)
            if target_uid in free or not is_cascaded(tx.db, target) or _is_still_held(tx, target, free):
                continue
            free.add(target_uid)
            frontier.append(target_uid)
            moves.append(Move(target, Step.LIFT))
    return moves


def is_held(tx: Docket, planned: PlannedNode) -> bool:
    """Whether the node is blocked only because of others, and one of those still holds it."""
    return is_cascaded(tx.db, planned) and _is_still_held(tx, planned, set())


def is_cascaded(db: Database, planned: PlannedNode) -> bool:
    """Whether the node is blocked only because of another one."""
    cause, _ = last_block(db, planned.node.uid) or ("", "")
    return planned.standing.status is Status.BLOCKED and cause == Cause.CASCADE


def _is_still_held(tx: Docket, planned: PlannedNode, free: set[str]) -> bool:
    sources = sources_of(tx.db, planned.node.uid)
    return any(_holds(node_by_uid(tx.db, uid), kind) for uid, kind in sources if uid not in free)


def _holds(source: PlannedNode, kind: str) -> bool:
    if source.standing.status is Status.BLOCKED:
        return True
    is_gate = kind == EdgeKind.GATE and source.node.archetype is Archetype.VERIFIER
    return is_gate and source.standing.outcome is Outcome.ESCALATED


def block(
    tx: Docket,
    root: PlannedNode,
    step: Step,
    cause: Cause,
    reason: str,
    *,
    session_id: int | None,
    commit: str | None,
    facts: dict[str, object],
    requirements: tuple[str, ...] = (),
) -> tuple[int, tuple[Transition, ...]]:
    """Record that work stops at `root`, hold back what depends on it, and write the history."""
    cascaded = cascade(tx, root)
    decision_id, moved = tx.record(
        root, "Block", (Move(root, step), *cascaded), cause=cause, session_id=session_id, commit=commit,
        facts=facts, note=reason,
    )  # fmt: skip
    write_history(tx, decision_id, root, cascaded, cause, reason, requirements)
    return decision_id, moved
