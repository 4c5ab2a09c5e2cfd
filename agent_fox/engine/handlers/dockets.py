"""Makes what handlers work with: the docket of a transaction, with the waivers and the ceilings that count now."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.engine.handlers.waiving import lines_in_force
from agent_fox.engine.record.convergence import touched_by
from agent_fox.engine.record.docket import Docket
from agent_fox.evidence import waivers
from agent_fox.store import sessions

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.config import LimitSettings, Settings
    from agent_fox.core.policy import Policy
    from agent_fox.core.retry.arms import ByWorth
    from agent_fox.engine.record.docket import SpecShelf
    from agent_fox.evidence import remembering
    from agent_fox.evidence.waivers import Grounds
else:
    remembering = late_module("agent_fox.evidence.remembering")


@dataclass(frozen=True)
class DocketFactory:
    """Makes the docket of one transaction."""

    policy: Policy
    shelf: SpecShelf
    run_id: int
    settings: Settings
    grounds: Callable[[], Grounds]
    log_end: Callable[[str], str]
    by_worth: ByWorth | None = None

    def __call__(self, db: Database, at: str) -> Docket:
        def ceiling(spec_name: str, uid: str) -> str | None:
            return narrow_ceiling(db, self.run_id, self.settings.limits, spec_name, uid)

        def left(spec_name: str, uid: str) -> float | None:
            return narrow_left(db, self.run_id, self.settings.limits, spec_name, uid)

        tracker = self.settings.tracker
        tx = Docket(
            db, at, self.policy, self.shelf, self.run_id, ceiling=ceiling, sub_issues=tracker.sub_issues,
            max_new=tracker.max_new, log_end=self.log_end,
            touched=lambda base, landed: touched_by(self.grounds().root, base, landed),
            by_worth=self.by_worth, left_usd=left,
            memory=remembering.limits_of(self.settings),
        )  # fmt: skip
        return with_waivers(tx, self.grounds)


def with_waivers(tx: Docket, grounds: Callable[[], Grounds]) -> Docket:
    """The docket that knows the waivers of its specs, looked up anew for each question."""

    def waived(spec_name: str) -> frozenset[str]:
        return waivers.waived_now(tx.db, grounds(), tx.at, spec_name)

    def lines(spec_name: str) -> tuple[str, ...]:
        return tuple(lines_in_force(tx.db, grounds(), tx.at, spec_name))

    def before() -> tuple[str, ...]:
        return waivers.first_commands(grounds())

    return replace(tx, waived=waived, waiver_lines=lines, before_waiving=before)


def narrow_ceiling(db: Database, run_id: int, limits: LimitSettings, spec_name: str, uid: str) -> str | None:
    """Which ceiling of a spec or a node is reached, in words; None if none. The first try is always allowed."""
    spec, node, cost = limits.spec, limits.node, narrow_cost(db, run_id, limits, spec_name, uid)
    if cost is not None:
        return cost
    if spec.sessions is not None and sessions.count_sessions(db, run_id, "spec_name", spec_name) >= spec.sessions:
        return f"{spec_name} has had its {spec.sessions} sessions"
    if node.sessions is not None and sessions.count_sessions(db, run_id, "node_uid", uid) >= node.sessions:
        return f"{uid} has had its {node.sessions} sessions"
    return None


def narrow_left(db: Database, run_id: int, limits: LimitSettings, spec_name: str, uid: str) -> float | None:
    """Dollars that the tightest ceiling of run, spec and node leaves; None where there is none."""
    ceilings = (limits.cost_usd, limits.spec.cost_usd, limits.node.cost_usd)
    if ceilings == (None, None, None):
        return None
    spent = (
        sessions.run_cost(db, run_id), sessions.spec_cost(db, run_id, spec_name), sessions.node_cost(db, run_id, uid),
    )  # fmt: skip
    return min(max(0.0, most - so_far) for most, so_far in zip(ceilings, spent, strict=True) if most is not None)


def narrow_cost(db: Database, run_id: int, limits: LimitSettings, spec_name: str, uid: str) -> str | None:
    """Which ceiling in dollars of a spec or a node is reached, in words; None if none."""
    spec, node = limits.spec, limits.node
    if spec.cost_usd is not None and sessions.spec_cost(db, run_id, spec_name) >= spec.cost_usd:
        return f"{spec_name} has cost its ceiling of ${spec.cost_usd:.2f}"
    if node.cost_usd is not None and sessions.node_cost(db, run_id, uid) >= node.cost_usd:
        return f"{uid} has cost its ceiling of ${node.cost_usd:.2f}"
    return None
