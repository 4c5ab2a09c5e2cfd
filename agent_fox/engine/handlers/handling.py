"""What a result handler is, and what it is handed. The built-in handlers, and what follows, are in `results`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.core.ids import Archetype, Ticket
    from agent_fox.core.verdicts.verdict import Report
    from agent_fox.engine.record.best_tree import WayBack
    from agent_fox.engine.record.docket import Docket, Handled
    from agent_fox.engine.record.review_persistence import Judge


@dataclass(frozen=True, slots=True)
class EndedSession:
    """A session's end as a handler sees it. `failure` is empty where it ended well; `landed` is a coder's commit.

    `report` is what a verifier's `judges` said, where it was read before the transaction. `facts` are recorded with
    what is decided about a coder's. `way_back` leads from a verifier's tree to a better one.
    """

    ticket: Ticket
    pinned: str | None
    tree: str | None = None
    judges: tuple[Judge, ...] = ()
    failure: str = ""
    landed: str | None = None
    session_id: int | None = None
    report: Report | None = None
    facts: Mapping[str, object] = field(default_factory=dict)
    way_back: WayBack | None = None

    @property
    def output(self) -> str:
        """What the session printed, where one agent alone was asked."""
        return self.judges[0].output if self.judges else ""


@runtime_checkable
class ResultHandler(Protocol):
    """Decides what follows from the end of a session of its archetype, inside the open transaction."""

    @property
    def archetype(self) -> Archetype: ...

    def handle_session(self, docket: Docket, ended: EndedSession) -> Handled: ...
