"""A coder's end: its work lands, or it is tried again with the reason, or it is blocked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from agent_fox.core.ids import Archetype, Ticket
from agent_fox.core.retry.decision import (
    Block,
    Cause,
    Land,
    Retry,
    decide_coder_failed,
)
from agent_fox.core.retry.standing import Step
from agent_fox.core.values import dataclass
from agent_fox.engine.issues.escalation import file_node_issue
from agent_fox.engine.record import blocking_history, promotion
from agent_fox.engine.record.docket import Docket, Handled, Move, ignored
from agent_fox.store.plan import PlannedNode, drop_retry_edges, node_by_uid
from agent_fox.store.sessions import was_too_long

TOO_LONG = "too_long"
"""The fact that a session did not fit into its model's context."""

LARGER = (
    "its brief was short already: name a model with a larger context ([agents.coder] model, or one more of its rungs), "
    "or make a smaller group of it, then reset"
)


@dataclass(frozen=True, slots=True)
class CoderResult:
    """The end of a coder's session. `failure` is empty where it ended well; then `landed` is the commit to land.

    `landed` None means that the session changed nothing, which is not a failure. `facts` are recorded with what is
    decided: of a failure, a conflict that the next session has to merge; candidates that the work was chosen from.
    """

    ticket: Ticket
    commit: str | None
    failure: str = ""
    landed: str | None = None
    session_id: int | None = None
    facts: Mapping[str, object] = field(default_factory=dict)


class CoderHandler:
    """Handles the end of a coder's session. Holds no state."""

    archetype = Archetype.CODER

    def handle(self, tx: Docket, result: CoderResult, pinned: str | None) -> Handled:
        """Decide and record. Raises KeyError for a node that is not in the plan."""
        planned = node_by_uid(tx.db, result.ticket.node_uid)
        late = ignored(tx, planned, result.ticket, result.commit, pinned)
        if late is not None:
            return late
        return self.failed(tx, planned, result) if result.failure else self.ended(tx, planned, result)

    def ended(self, tx: Docket, planned: PlannedNode, result: CoderResult) -> Handled:
        decision = Land(is_unchanged=result.landed is None)
        step = Step.LAND_UNCHANGED if decision.is_unchanged else Step.LAND
        number, moved = tx.record(
            planned, "Land", [Move(planned, step)], session_id=result.session_id, commit=result.landed,
            facts=result.facts,
        )  # fmt: skip
        drop_retry_edges(tx.db, planned.node.uid)
        promotion.landed(tx, planned.node.spec_name, number, result.landed or result.commit or "")
        return Handled(decision, number, moved)

    def failed(self, tx: Docket, planned: PlannedNode, result: CoderResult) -> Handled:
        spec_name = planned.node.spec_name
        is_too_long = bool(result.facts.get(TOO_LONG))
        decision = decide_coder_failed(
            tx.suspect(planned), tx.ceiling(spec_name, planned.node.uid), is_too_long=is_too_long,
            was_short=is_too_long and was_short(tx, planned, result),
        )  # fmt: skip
        limits = {"attempts": tx.policy.attempts}
        facts: dict[str, object] = {"failure": result.failure, "limits": limits, **result.facts}
        match decision:
            case Retry(rung):
                number, moved = tx.record(
                    planned, "Retry", [Move(planned, Step.RETRY, rung)], session_id=result.session_id,
                    commit=result.commit, facts=facts, note=result.failure,
                )  # fmt: skip
                return Handled(decision, number, moved)
            case Block(cause):
                return self.block(tx, planned, result, cause, facts)

    def block(
        self,
        tx: Docket,
        planned: PlannedNode,
        result: CoderResult,
        cause: Cause,
        facts: dict[str, object],
    ) -> Handled:
        remedy = f"; {LARGER}" if cause is Cause.NEEDS_PERSON else ""
        reason = f"{cause}: {result.failure}{remedy}"
        number, moved = blocking_history.block(
            tx, planned, Step.BLOCK, cause, reason, session_id=result.session_id, commit=result.commit,
            facts=facts,
        )  # fmt: skip
        effects = file_node_issue(tx, planned, number, cause, reason, result.commit, moved)
        return Handled(Block(cause), number, moved, effects)


def was_short(tx: Docket, planned: PlannedNode, result: CoderResult) -> bool:
    """Whether the session that failed had a short brief: an earlier one did not fit either."""
    uid, base = planned.node.uid, planned.standing.attempt_base
    return result.session_id is not None and was_too_long(tx.db, uid, result.session_id, base)
