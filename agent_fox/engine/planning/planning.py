"""The plan of the files becomes the plan of the state: what came, changed and went, recorded as decisions."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.late import late_module
from agent_fox.core.plan.replan import PlanChange, describe
from agent_fox.core.retry.standing import Outcome, Status, Step, first_standing
from agent_fox.core.spec import text_version
from agent_fox.engine.issues.settling import withdraw_issues, withdraw_parts
from agent_fox.engine.planning.changes import change_of
from agent_fox.engine.record import promotion
from agent_fox.engine.record.blocking_history import freed_by, is_held
from agent_fox.engine.record.docket import Docket, Move, round_edges
from agent_fox.store import plan as stored
from agent_fox.store.ledger import evidence
from agent_fox.store.plan import PlannedNode, StoredEdge, StoredPart, node_by_uid
from agent_fox.store.records import supersede_by_change

if TYPE_CHECKING:
    from agent_fox.core.graph import Node, Plan
    from agent_fox.engine.handlers import final_review
    from agent_fox.engine.planning.scope import Scope
    from agent_fox.evidence import remembering
else:
    remembering = late_module("agent_fox.evidence.remembering")
    final_review = late_module("agent_fox.engine.handlers.final_review")

KIND = "Replan"


def sync_plan(tx: Docket, scope: Scope, *, redo: bool = False) -> tuple[str, ...]:
    """Bring the state in line with the files, in the open transaction. Gives the difference in sentences."""
    is_first = not stored.has_nodes(tx.db)
    change = change_of(tx, scope)
    withdraw(tx, change)
    place_nodes(tx, change, redo=redo)
    again(tx, change)
    save(tx, scope, change)
    evidence.record_plan(tx.db, tx.at, scope.plan.specs)
    promotion.begin_again(tx)
    if redo:
        launch_ticked(tx)
    hold_verifiers(tx)
    return () if is_first else describe(change)


def withdraw(tx: Docket, change: PlanChange) -> None:
    """What is gone from the plan stays in the history; what it held back is free."""
    for gone in change.removed:
        planned = node_by_uid(tx.db, gone.uid)
        freed = freed_by(tx, [planned])
        number, _ = tx.record(planned, KIND, [Move(planned, Step.WITHDRAW), *freed], note="removed from the plan")
        final_review.withdrawn(tx, planned, number)
        if planned.node.archetype is Archetype.VERIFIER:
            withdraw_issues(tx, planned, number)


def place_nodes(tx: Docket, change: PlanChange, *, redo: bool) -> None:
    position = {node.uid: number for number, node in enumerate(change.nodes)}
    kept = [(position[k.now.uid], k.now) for k in change.kept]
    stored.describe_nodes(tx.db, kept)
    for uid in (k.now.uid for k in change.kept if k.was.status == Status.WITHDRAWN):
        planned = node_by_uid(tx.db, uid)
        tx.record(planned, KIND, [Move(planned, Step.RESTORE)], note="back in the plan")
    stored.insert_nodes(tx.db, (new_node(node, position[node.uid], redo=redo) for node in change.added))


def new_node(node: Node, position: int, *, redo: bool) -> PlannedNode:
    is_ticked = node.is_ticked and not redo
    return PlannedNode(node, first_standing(node.uid, is_ticked=is_ticked), position)


def again(tx: Docket, change: PlanChange) -> None:
    """Owners of what changed and the verifiers that must read again go back to pending, on new budgets."""
    for uid in change.pending:
        planned = node_by_uid(tx.db, uid)
        step = step_again(planned)
        if step is not None and not is_held(tx, planned):
            move = Move(planned, step)
            tx.record(planned, KIND, [move, *freed_by(tx, [planned])], note="the spec changed")
    for spec_name in {part.spec_name for part in (*change.parts_changed, *change.parts_removed)}:
        supersede(tx, change, spec_name)


def step_again(planned: PlannedNode) -> Step | None:
    if planned.standing.status not in {Status.COMPLETED, Status.BLOCKED}:
        return None
    if planned.node.archetype is not Archetype.VERIFIER:
        return Step.RESET
    return Step.REOPEN if planned.standing.status is Status.COMPLETED else None


def supersede(tx: Docket, change: PlanChange, spec_name: str) -> None:
    """Requirements whose text changed lose their verdicts, a FAIL too; the change is recorded."""
    about = next((node.uid for node in reversed(change.nodes) if node.spec_name == spec_name), None)
    gone = next((node.uid for node in change.removed if node.spec_name == spec_name), None)
    uid = about or gone
    assert uid is not None, f"{spec_name} has verdicts but no node"
    planned = node_by_uid(tx.db, uid)
    number, _ = tx.record(planned, KIND, (), note="requirements changed")
    changed = {p.id: p.version for p in change.parts_changed if p.spec_name == spec_name}
    removed = {p.id: p.version for p in change.parts_removed if p.spec_name == spec_name}
    for parts, is_removed in ((changed, False), (removed, True)):
        supersede_by_change(tx.db, spec_name, parts, is_removed=is_removed, decision_id=number, at=tx.at)
        remembering.withdraw(tx.db, tx.at, spec_name, parts, is_removed=is_removed)
    withdraw_parts(tx, planned, number, removed)


def save(tx: Docket, scope: Scope, change: PlanChange) -> None:
    uids = {node.id: node.uid for node in change.nodes}
    edges = (StoredEdge(uids[e.source], uids[e.target], e.kind) for e in scope.plan.edges)
    stored.replace_edges(tx.db, edges)
    stored.save_specs(tx.db, scope.plan.specs, scope.broken, scope.left_out, scope.unplanned, scope.places)
    of_broken = [p for p in stored.load_parts(tx.db) if p.spec_name in scope.broken]
    stored.save_parts(tx.db, [*parts_to_store(scope.plan), *of_broken])


def parts_to_store(plan: Plan) -> Iterable[StoredPart]:
    for spec in plan.specs:
        for requirement in spec.requirements:
            for part in requirement.parts:
                yield StoredPart(spec.name, part.id, requirement.id, part.text, text_version(part.text))


def launch_ticked(tx: Docket) -> None:
    """`--redo`: groups that are only ticked are launched at once."""
    for planned in stored.nodes_that_ended(tx.db, Archetype.CODER, Outcome.TICKED):
        tx.record(planned, KIND, [Move(planned, Step.RESET)], note="--redo")


def hold_verifiers(tx: Docket) -> None:
    """A verifier waits for every group that is to run, one before a group that is done already too."""
    specs: dict[str, list[PlannedNode]] = {}
    for planned in stored.nodes_of_begun_specs(tx.db):
        specs.setdefault(planned.node.spec_name, []).append(planned)
    known = set(stored.load_retry_edges(tx.db))
    for nodes in specs.values():
        hold_verifier(tx, nodes, known)


def hold_verifier(tx: Docket, nodes: list[PlannedNode], known: set[tuple[str, str]]) -> None:
    """The chain of groups holds the verifier only up to the first that is done; a round's own edges do the rest."""
    coders = [planned for planned in nodes if planned.node.archetype is Archetype.CODER]
    is_open = [planned.standing.status is Status.PENDING for planned in coders]
    verifier = next((planned for planned in nodes if planned.node.archetype is Archetype.VERIFIER), None)
    if verifier is None or verifier.standing.is_settled or is_open == sorted(is_open):
        return
    uids = tuple(planned.node.uid for planned, is_pending in zip(coders, is_open, strict=True) if is_pending)
    missing = [edge for edge in round_edges(uids, verifier.node.uid) if edge not in known]
    if missing:
        number, _ = tx.record(verifier, KIND, (), note="waits for every group that is to run")
        stored.add_retry_edges(tx.db, missing, number)
