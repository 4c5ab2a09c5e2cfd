"""How a run can end, as values. Why it does is in `scheduler` and `finish`."""

from __future__ import annotations

from enum import IntEnum

from agent_fox.core.values import dataclass


class RunExit(IntEnum):
    """How a run ended, as its exit code."""

    PROVEN = 0
    NOT_PROVEN = 2
    CEILING = 3
    CANNOT_GO_ON = 4
    INTERRUPTED = 130


@dataclass(frozen=True, slots=True)
class Stop:
    """Why the run launches nothing more; what runs is waited for."""

    exit: RunExit
    reason: str
