"""What a run has spent, and which ceiling a launch would pass. Read from the state at the start, then kept along."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agent_fox.store import sessions

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.config import LimitSettings


@dataclass(slots=True)
class Spending:
    """Dollars and sessions of one run. Launches that have not reported count as assumed.

    `clock` gives seconds that never go back; `seconds_before` are those of the run's earlier parts.
    """

    limits: LimitSettings
    clock: Callable[[], float]
    cost_usd: float
    sessions: int
    seconds_before: float
    started: float

    @property
    def seconds(self) -> float:
        return self.seconds_before + self.clock() - self.started

    def passes(self, assumed: float, *, is_new_session: bool) -> str | None:
        """Which ceiling of the run the next launch would pass, in words; None if none."""
        limits = self.limits
        if limits.cost_usd is not None and self.cost_usd + assumed > limits.cost_usd + 1e-9:
            spent = f"${self.cost_usd:.2f} spent, the next session may cost ${assumed:.2f}"
            return f"cost: {spent}, ceiling ${limits.cost_usd:.2f}"
        if limits.sessions is not None and self.sessions + is_new_session > limits.sessions:
            return f"sessions: {self.sessions} made, ceiling {limits.sessions}"
        return self.time_over()

    @property
    def left_usd(self) -> float | None:
        """Dollars that the run may still spend, beside what launches under way count for; None: no ceiling."""
        ceiling = self.limits.cost_usd
        return None if ceiling is None else max(0.0, ceiling - self.cost_usd)

    def time_over(self) -> str | None:
        minutes = self.limits.wall_minutes
        if minutes is not None and self.seconds >= minutes * 60:
            return f"wall time: {self.seconds / 60:.1f} minutes, ceiling {minutes:g}"
        return None

    def launched(self, assumed: float, *, is_new_session: bool) -> None:
        self.cost_usd += assumed
        self.sessions += is_new_session

    def ended(self, assumed: float, counted: float) -> None:
        """The launch has reported: what it counts for takes the place of what was assumed."""
        self.cost_usd += counted - assumed


def read_spending(db: Database, run_id: int, limits: LimitSettings, clock: Callable[[], float]) -> Spending:
    return Spending(
        limits,
        clock,
        sessions.run_cost(db, run_id),
        sessions.session_counts(db, run_id),
        sessions.run_seconds(db, run_id),
        clock(),
    )
