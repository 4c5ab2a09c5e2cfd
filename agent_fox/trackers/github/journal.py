"""What is noted of each single write, before it goes out and when it is known to stand. Nothing is sent from here.

The notes are committed one by one, so that a crash leaves in doubt exactly what may be out: an operation without a
note was never sent.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from agent_fox.core.values import dataclass
from agent_fox.trackers.desk import Desk, LeaseLost, TooSoon
from agent_fox.trackers.github.trouble import DoorTrouble
from agent_fox.trackers.protocol import Unsure

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Sent:
    """It may be out: the newest number known before, when it was sent last, and the readings since that lack it."""

    before: int
    at: str
    readings: int = 0

    def as_text(self) -> str:
        return f"sent {self.before} {self.at} {self.readings}"


@dataclass(frozen=True)
class Journal:
    """The notes at a desk. An operation (`op`) is one write that is made once: an issue, or a comment."""

    desk: Desk

    def stands(self, op: str) -> int | None:
        """What it made: an issue's number, or a comment's; None where it is not known to stand."""
        word, _, rest = self.desk.recall(_name(op)).partition(" ")
        return int(rest) if word == "done" else None

    def sent(self, op: str) -> Sent | None:
        """The note of an operation that may be out and is not known to stand."""
        word, _, rest = self.desk.recall(_name(op)).partition(" ")
        if word != "sent":
            return None
        before, at, readings = rest.split(" ")
        return Sent(int(before), at, int(readings))

    def note_made(self, op: str, made: int) -> None:
        self.desk.remember(_name(op), f"done {made}")

    def note_reading(self, op: str) -> Sent | None:
        """One more reading should have shown it and did not. A time in the future was noted before the clock went
        back, and is corrected."""
        sent = self.sent(op)
        if sent is None:
            return None
        counted = replace(sent, at=min(sent.at, self.desk.now()), readings=sent.readings + 1)
        self.desk.remember(_name(op), counted.as_text())
        return counted

    def once(self, op: str, before: int, send: Callable[[], Value], made: Callable[[Value], int]) -> Value:
        """Send, noted before and after. What was surely refused leaves no doubt but that of an earlier sending.

        Raises LeaseLost before anything is noted where another process may have done it meanwhile.
        """
        self.desk.keep()
        sent = self.sent(op)
        now = Sent(min(before, sent.before) if sent else before, self.desk.now())
        self.desk.remember(_name(op), now.as_text())
        try:
            value = send()
        except (LeaseLost, TooSoon):
            self._take_back(op, sent)
            raise
        except DoorTrouble as trouble:
            if not isinstance(trouble.delivery, Unsure):
                self._take_back(op, sent)
            raise
        self.note_made(op, made(value))
        return value

    def _take_back(self, op: str, previous: Sent | None) -> None:
        self.desk.remember(_name(op), previous.as_text() if previous else "")


def _name(op: str) -> str:
    return f"write {op}"
