"""What a run tells whoever watches it: plain values, handed over as they happen. Showing them is not here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from agent_fox.core.retry.standing import Step
from agent_fox.core.values import dataclass
from agent_fox.core.words import listed

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


MOVED = {
    Step.REOPEN: "verified again by the next run", Step.LIFT: "unblocked", Step.RESET: "starts anew with the next run",
    Step.RENEW: "attempts restored", Step.WAIVE: "waived", Step.ACCEPT: "proven", Step.BLOCK: "blocked",
    Step.ESCALATE: "stopped, not proven",
}  # fmt: skip
"""What a step did to a node, as a person says it; other steps stand by their names."""


def moves_in_words(handled: Iterable[Handled]) -> list[str]:
    """What became of which nodes, a line for all that fared alike: `unblocked: 02_top:1, 02_top:2`."""
    nodes: dict[str, list[str]] = {}
    for transition in (moved for each in handled for moved in each.transitions):
        nodes.setdefault(MOVED.get(transition.step, transition.step), []).append(transition.node_id)
    return [f"{words}: {listed(names)}" for words, names in nodes.items()]


def unwatched(event: RunEvent) -> None:
    """For runs that nobody watches."""
