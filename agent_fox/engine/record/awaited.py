"""Row 1 of the decision table, for every archetype: an end that is not the awaited one changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.retry.decision import Awaited, Facts, Ignore, why_ignored
from agent_fox.engine.record.docket import Docket, Handled
from agent_fox.store.records import record_event

if TYPE_CHECKING:
    from agent_fox.core.ids import Ticket
    from agent_fox.store.plan import PlannedNode


def awaited_of(planned: PlannedNode, pinned: str | None) -> Awaited:
    """What the node waits for: its present ticket, about the commit pinned at its launch."""
    return Awaited(planned.standing.ticket, pinned, is_open=not planned.standing.is_settled)


def ignored(
    docket: Docket, planned: PlannedNode, ticket: Ticket, commit: str | None, pinned: str | None
) -> Handled | None:
    """What came of a late, doubled or foreign end: nothing but an event. None for the end that is awaited."""
    why = why_ignored(awaited_of(planned, pinned), Facts(ticket, commit))
    return None if why is None else ignore(docket, planned, ticket, why)


def ignore(docket: Docket, planned: PlannedNode, ticket: Ticket, why: str) -> Handled:
    """Note that an end was not counted, and why."""
    record_event(
        docket.db, docket.at, docket.run_id, "ignored", node_id=planned.node.id,
        spec_name=planned.node.spec_name, data={"ticket": str(ticket), "why": why},
    )  # fmt: skip
    return Handled(Ignore(why))
