"""The exit codes, with what each tells a script. Which error leads to which is in `errors`."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What a command's end means. `meaning` is for people."""

    DONE = 0
    INPUT = 1
    UNPROVEN = 2
    CEILING = 3
    STUCK = 4
    INTERRUPTED = 130

    @property
    def meaning(self) -> str:
        return _MEANINGS[self]


_MEANINGS = {
    Exit.DONE: "everything in scope is proven or waived, or the command did what was asked",
    Exit.INPUT: "usage, configuration or input error",
    Exit.UNPROVEN: "finished, but something is not proven",
    Exit.CEILING: "stopped at a ceiling",
    Exit.STUCK: "cannot go on: stalled, or another run holds the lock",
    Exit.INTERRUPTED: "interrupted",
}
