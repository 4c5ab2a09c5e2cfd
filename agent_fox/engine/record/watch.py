"""What a run tells whoever watches it: plain values, handed over as they happen. Showing them is not here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.engine.record.docket import Handled
    from agent_fox.store.plan import PlannedNode
    from agent_fox.store.sessions import SessionRow


@dataclass(frozen=True, slots=True)
class RunEvent:
    """`kind`: started, note, launched, decided, landed, reopened, infrastructure, lost, issue, stopping, ..."""

    kind: str
    planned: PlannedNode | None = None
    text: str = ""
    session: SessionRow | None = None
    handled: Handled | None = None


Watch = Callable[[RunEvent], None]


def moves_in_words(handled: Iterable[Handled]) -> list[str]:
    """Which nodes were moved, and where they stand now, a line each."""
    moved = (transition for each in handled for transition in each.transitions)
    return [f"{each.node_id}: {each.step}, now {each.standing.outcome or each.standing.status}" for each in moved]


def unwatched(event: RunEvent) -> None:
    """For runs that nobody watches."""
