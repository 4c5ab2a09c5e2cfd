"""When a session must be ended: its ceilings and its silence, looked at after every event and every second."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.session.infrastructure import HOPELESS

if TYPE_CHECKING:
    from agent_fox.session.agents.runner.tally import Tally
    from agent_fox.session.agents.task import Limits


LONGEST_LATE = 60.0
"""Seconds between two looks on a machine that is only busy."""


class Cause(StrEnum):
    """Why we end a session."""

    ASKED = "asked"
    WALL = "wall"
    SILENCE = "silence"
    TURNS = "turns"
    COST = "cost"
    RUN_COST = "run cost"
    HOPELESS = "hopeless"
    TOOLS = "tools"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Stop:
    """A decision to end a session, in words."""

    cause: Cause
    reason: str


@dataclass(slots=True)
class Watchdog:
    """Knows when the session began and when its last event came. `beats`: events must come while a tool runs, too."""

    limits: Limits
    beats: bool
    clock: Callable[[], float] = time.monotonic
    began: float = field(init=False)
    heard_at: float = field(init=False)
    looked_at: float = field(init=False)

    def __post_init__(self) -> None:
        self.began = self.heard_at = self.looked_at = self.clock()

    def hear(self) -> None:
        self.heard_at = self.clock()

    def look(self, tally: Tally, cost_usd: float | None) -> Stop | None:
        """Why it must end now, or None."""
        limits, now = self.limits, self.clock()
        late, self.looked_at = now - self.looked_at, now
        if late > LONGEST_LATE:  # time in which nothing ran here (a machine that slept, a clock that jumped)
            self.began, self.heard_at = self.began + late, min(now, self.heard_at + late)
        trouble = tally.trouble
        if trouble is not None and trouble.kind in HOPELESS:
            return Stop(Cause.HOPELESS, trouble.text)
        if tally.broken is not None:
            return Stop(Cause.BROKEN, tally.broken.text)
        if tally.unserved:
            return Stop(Cause.TOOLS, f"the verifier's tools cannot be reached: the program says {tally.unserved}")
        if now - self.began >= limits.wall:
            return Stop(Cause.WALL, f"did not end within {limits.wall:g} s")
        if now - self.heard_at >= limits.idle and (self.beats or not tally.open_calls):
            last = f", last: {trouble.text}" if trouble is not None else ""
            return Stop(Cause.SILENCE, f"nothing was heard for {limits.idle:g} s{last}")
        if limits.turns is not None and tally.turns > limits.turns:
            return Stop(Cause.TURNS, f"needed more than its {limits.turns} turns")
        if limits.cost_usd is not None and cost_usd is not None and cost_usd >= limits.cost_usd:
            return Stop(Cause.COST, f"cost ${cost_usd:.2f}, its ceiling is ${limits.cost_usd:.2f}")
        left = limits.left_usd  # of the run: what the session did is not held against it
        if left is not None and cost_usd is not None and cost_usd >= left:
            return Stop(Cause.RUN_COST, f"the run had ${left:.2f} left, and the session has cost ${cost_usd:.2f}")
        return None
