"""A broken world is waited for: backoff for each ticket, and the point at which the whole run pauses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tenacity import RetryCallState, Retrying, wait_exponential

from agent_fox.session.infrastructure import Infrastructure
from agent_fox.session.workspaces.workspace import SETUP_FAILED

if TYPE_CHECKING:
    from agent_fox.config import InfrastructureSettings
    from agent_fox.session.order import SessionEnd

AT_ONCE: dict[Infrastructure, str] = {
    Infrastructure.AUTHENTICATION: "the agent's login or key is not accepted; "
    "log in, or correct what the reason names, then run again",
    Infrastructure.NO_CREDIT: "the account of the agent's model has no credit or quota left; "
    "add some, or name another agent, then run again",
    Infrastructure.UNKNOWN_MODEL: "the agent's model or its address does not exist, or is not open to this account; "
    "correct `model` or the address, then run again",
    Infrastructure.MISSING_BINARY: "the agent's program has gone missing; install it (see `agent-fox doctor`)",
    Infrastructure.BROKEN_PROGRAM: "the agent's program ended before it asked its model anything; put right what it "
    "says (`agent-fox doctor --try` tries it), then run again",
}


def is_setup(end: SessionEnd) -> bool:
    """Whether a setup command failed: it would fail again, in every workspace."""
    return end.infrastructure is Infrastructure.WORKSPACE and end.reason.startswith(SETUP_FAILED)


def usual_wait(settings: InfrastructureSettings, losses: int) -> float:
    """Seconds before the next launch, by the library's exponential rule."""
    state = RetryCallState(Retrying(), None, (), {})
    state.attempt_number = losses
    return wait_exponential(multiplier=settings.first_wait, max=settings.longest_wait)(state)


@dataclass(slots=True)
class Backoff:
    """When a ticket that was lost to infrastructure may be launched again. `clock` gives seconds."""

    settings: InfrastructureSettings
    clock: Callable[[], float]
    not_before: dict[str, float] = field(default_factory=dict)
    waited: dict[str, float] = field(default_factory=dict)
    """Seconds that each ticket was waited for of our own accord since this process began: a person who runs again has
    it wait again, and what the model's side asked for spends none of our patience."""

    def lost(self, uid: str, losses: int, end: SessionEnd) -> str | None:
        """Note a loss, the `losses`-th of its ticket in this run. Gives the reason where the run must pause."""
        known = AT_ONCE.get(end.infrastructure) if end.infrastructure else None
        if known is not None:
            return f"{known} ({end.reason})"
        if is_setup(end):
            return f"{end.reason}; correct the command or what it needs, then run again"
        asked = min(end.retry_after or 0.0, self.settings.longest_asked)
        wait, waited = usual_wait(self.settings, losses), self.waited.get(uid, 0.0)
        most = self.settings.attempts
        if waited + wait > self.settings.patience or (most is not None and losses >= most):
            times = f"lost {losses} times to infrastructure, waited for {waited:,.0f} s of our own accord"
            return f"{times}, last: {end.reason}; run again when it works, or raise [infrastructure] patience"
        self.waited[uid] = waited + wait
        self.not_before[uid] = self.clock() + max(wait, asked)
        return None

    def is_ready(self, uid: str) -> bool:
        if self.not_before.get(uid, 0.0) > self.clock():
            return False
        self.not_before.pop(uid, None)
        return True

    def left(self, uid: str) -> float:
        """Seconds until a ticket may be launched again; 0 for one that may be now."""
        return max(0.0, self.not_before.get(uid, 0.0) - self.clock())

    @property
    def is_waiting(self) -> bool:
        return bool(self.not_before)

    def shortest(self, seconds: float) -> float:
        """How long to wait for news: at most `seconds`, and not past the next ticket that becomes ready.

        One that is ready and still here waits for a free place, of which there will be news.
        """
        now = self.clock()
        return max(0.01, min([seconds, *(at - now for at in self.not_before.values() if at > now)]))
