"""What a run tells whoever watches it: plain values, handed over as they happen. Showing them is not here."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agent_fox.engine.docket import Handled
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


def unwatched(event: RunEvent) -> None:
    """For runs that nobody watches."""
