"""What the files change about the stored plan, before anything is changed. What a run would do is in `forecast`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.plan.replan import PlanChange, StoredNode, describe, replan
from agent_fox.core.plan.replan import StoredPart as Version
from agent_fox.core.policy import Policy
from agent_fox.core.retry.standing import Outcome
from agent_fox.engine.planning.scope import scope_of
from agent_fox.engine.record.docket import Docket, SpecShelf
from agent_fox.store import plan as stored
from agent_fox.store.state import read_state
from agent_fox.system import clock
from agent_fox.system.state_folders import STATE

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.config import Settings
    from agent_fox.core.graph import Plan
    from agent_fox.engine.planning.scope import Scope
    from agent_fox.store.plan import PlannedNode


def changes_of(root: Path, plan: Plan, settings: Settings) -> tuple[str, ...]:
    """What the files change about the stored plan, in sentences; specs that cannot be read keep what they have.

    Raises StateError where there is no state.
    """
    with closing(read_state(root / STATE)) as db:
        return describe(change_of(docket_over(db), scope_of(plan, settings, skip_broken=True)))


def change_of(tx: Docket, scope: Scope) -> PlanChange:
    """What the files change about the stored plan. Broken specs keep what they have."""
    nodes = [as_stored(p) for p in stored.load_nodes(tx.db) if p.node.spec_name not in scope.broken]
    parts = [p for p in stored.load_parts(tx.db) if p.spec_name not in scope.broken]
    return replan(nodes, [Version(p.spec_name, p.id, p.version) for p in parts], scope.plan)


def as_stored(planned: PlannedNode) -> StoredNode:
    n, standing = planned.node, planned.standing
    is_proven = n.archetype is Archetype.VERIFIER and standing.outcome in (Outcome.VERIFIED, Outcome.WAIVED)
    return StoredNode(n.uid, n.id, n.spec_name, n.archetype, n.mode, n.group, n.title, standing.status, is_proven)


def docket_over(db: Database) -> Docket:
    return Docket(db, clock.now(), Policy(), SpecShelf())
