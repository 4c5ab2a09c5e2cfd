"""One process of a session from its start to its end: its lines are heard, and it is ended when it must be."""

from __future__ import annotations

import contextlib
import queue
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.session.agents.runner.child import Child, Stream, StreamLine
from agent_fox.session.agents.runner.listening import FromProxy, Hearing, log
from agent_fox.session.agents.runner.watchdog import Cause, Stop

if TYPE_CHECKING:
    from agent_fox.session.agents.command_line import Reader

TICK = 0.25
"""Seconds between two looks at the clock where nothing is heard."""

INTERRUPTED, TERMINATED = 2.5, 1.0
"""Seconds that a program gets after INT, and then after TERM: together less than the grace of the shim above us."""

LINGERING = 2.0
"""Seconds that a program's streams may stay open when it has ended: something it left behind holds them."""

LOOKING, LISTENING = 0.02, 4.0
"""Seconds between two looks at the ceilings, and how many times as long as a look takes is listened after it."""

MOST_WAITING, LARGE = 64, 256 * 1024
"""Lines that may wait to be heard; a line of more than `LARGE` characters waits until no other does."""

FULL = 0.001
"""Seconds between two looks whether there is room for a further line."""

Inbox = queue.SimpleQueue[StreamLine | FromProxy]


@dataclass(slots=True)
class Lines:
    """Where the lines of one process go in. A program that says more than we can hear waits, and fills no memory.

    Closed, it takes nothing any more: what comes late is not heard as the words of the next process.
    """

    inbox: Inbox
    is_closed: bool = False

    def put(self, item: StreamLine) -> None:
        most = 1 if len(item.text) > LARGE else MOST_WAITING
        while not self.is_closed:
            if self.inbox.qsize() < most:
                self.inbox.put(item)
                return
            time.sleep(FULL)


class Orders:
    """Whether we were asked to end the session; set by a signal's handler."""

    def __init__(self) -> None:
        self.is_asked = False

    def ask(self) -> None:
        self.is_asked = True


@dataclass(slots=True)
class Attendance:
    """Hears one process. `stop` says why we ended it, where we did."""

    child: Child
    reader: Reader
    hearing: Hearing
    inbox: Inbox
    orders: Orders
    write: Callable[[], None]
    stop: Stop | None = None
    _open: int = 2
    _steps: list[tuple[float, Callable[[], None]]] = field(default_factory=list)
    _ended_at: float | None = None
    _next_look: float = 0.0

    def go(self) -> Stop | None:
        """Until its streams are at their end, or it is dead; why we ended it, where we did."""
        while self._open and not self._is_over():
            self._hear_next()
            self._look()
            self.write()
        return self.stop

    def settle(self) -> None:
        """What still waits when it is over: the proxy's counts are taken, the lines are nobody's any more."""
        with contextlib.suppress(queue.Empty):
            while True:
                item = self.inbox.get_nowait()
                if isinstance(item, FromProxy):
                    self.hearing.take_from_proxy(item.event)

    def _hear_next(self) -> None:
        try:
            item = self.inbox.get(timeout=TICK)
        except queue.Empty:
            return
        match item:
            case FromProxy(event=event):
                self.hearing.take_from_proxy(event)
            case StreamLine(stream=Stream.END):
                self._open -= 1
            case StreamLine(stream=Stream.OUTPUT, text=text):
                self.hearing.hear_line(text, self.reader.line(text))
            case StreamLine(text=text):
                self._hear_complaint(text)

    def _hear_complaint(self, text: str) -> None:
        """A line of the errors is an event, or else words that may tell why the program ended."""
        events = tuple(self.reader.complaint(text))
        if events:
            self.hearing.hear_line(text, events)
        else:
            self.hearing.complain(text)

    def _look(self) -> None:
        if self.stop is None:
            asked = Stop(Cause.ASKED, "stopped by us") if self.orders.is_asked else None
            self.stop = asked or self._why_end()
            if self.stop is not None:
                self._end()
        while self._steps and time.monotonic() >= self._steps[0][0]:
            self._steps.pop(0)[1]()

    def _why_end(self) -> Stop | None:
        """What ends it by its ceilings. A look takes longer the more was told, and may not keep us from hearing."""
        began = time.monotonic()
        if began < self._next_look:
            return None
        why = self.hearing.why_end()
        now = time.monotonic()
        self._next_look = now + max(LOOKING, LISTENING * (now - began))
        return why

    def _end(self) -> None:
        """Ask first, for a program that is asked tells its cost; then harder."""
        assert self.stop is not None
        log(f"we end the session: {self.stop.reason}")
        self.child.interrupt()
        now = time.monotonic()
        self._steps = [
            (now + INTERRUPTED, self.child.terminate),
            (now + INTERRUPTED + TERMINATED, self.child.kill),
        ]

    def _is_over(self) -> bool:
        """Whether the process has ended and what it left has had its time."""
        if self.child.exit_status is None:
            return False
        self._ended_at = self._ended_at or time.monotonic()
        return time.monotonic() - self._ended_at > LINGERING
