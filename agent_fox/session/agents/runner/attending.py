"""One process of a session from its start to its end: its lines are read, and it is ended when it must be."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from agent_fox.session.agents.command_line import Dialogue, Reader
from agent_fox.session.agents.events import Broken
from agent_fox.session.agents.runner.child import Child, Stream, StreamLine
from agent_fox.session.agents.runner.listening import FromProxy, Hearing, log
from agent_fox.session.agents.runner.watchdog import Cause, Stop

TICK = 0.25
"""Seconds between two looks at the clock where nothing is heard."""

INTERRUPTED, TERMINATED = 2.5, 1.0
"""Seconds that a program gets after INT, and then after TERM: together less than the grace of the shim above us."""

CANCELLED, PARTING = 1.5, 3.0
"""Seconds that a program which is spoken with gets: after it was asked to end what it does (of `INTERRUPTED`), and
after the last word, until it has ended by itself."""

MOST_UNSAID = 1000
"""Lines that may wait for a program to read them."""

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
    """Where the lines of one process go in. A program that prints faster than we read has to wait, and fills no memory.

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


@dataclass(slots=True)
class Orders:
    """Whether we were asked to end the session; set by a signal's handler."""

    is_asked: bool = False

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
    _began: float = field(default_factory=time.monotonic)
    _has_parted: bool = False
    _ended_at: float | None = None
    _next_look: float = 0.0

    def go(self) -> Stop | None:
        """Until its streams are at their end, or it is dead; why we ended it, where we did."""
        self._reply()
        while self._open and not self._is_over():
            self._hear_next()
            self._reply()
            self._look()
            self.write()
        return self.stop

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
            case StreamLine(text=text):  # an event, or else words that may tell why the program ended
                if events := tuple(self.reader.complaint(text)):
                    self.hearing.hear_line(text, events)
                else:
                    self.hearing.complain(text, is_life=self.reader.works_by_complaints)

    def _reply(self) -> None:
        """Where the program is spoken with: what it is to hear now. After the last word it has a while to end."""
        if not isinstance(self.reader, Dialogue) or self._has_parted:
            return
        for event in self.reader.overdue(time.monotonic() - self._began):
            self.hearing.take(event)
        for line in self.reader.replies():
            self.child.say(line)
        if self.child.unsaid > MOST_UNSAID and self.hearing.tally.broken is None:
            self.hearing.take(Broken("it does not read what it is told"))
        if self.reader.is_over:
            self._has_parted = True
            self.child.close_input()
            self._end_after(PARTING)

    def _look(self) -> None:
        if self.stop is None and not self._has_parted:
            asked = Stop(Cause.ASKED, "stopped by us") if self.orders.is_asked else None
            self.stop = asked or self._why_end()
            if self.stop is not None:
                self._end(self.stop)
        while self._steps and time.monotonic() >= self._steps[0][0]:
            self._steps.pop(0)[1]()

    def _why_end(self) -> Stop | None:
        """What ends it by its ceilings. A look takes longer the more was printed, and must not keep us from reading."""
        began = time.monotonic()
        if began < self._next_look:
            return None
        why = self.hearing.why_end()
        now = time.monotonic()
        self._next_look = now + max(LOOKING, LISTENING * (now - began))
        return why

    def _end(self, stop: Stop) -> None:
        """Ask first, for a program that is asked reports its cost; then kill it."""
        log(f"we end the session: {stop.reason}")
        is_asked = isinstance(self.reader, Dialogue) and self.reader.cancel()
        self._reply()
        self._end_after(CANCELLED if is_asked else 0.0)

    def _end_after(self, wait: float) -> None:
        """Interrupt it when so many seconds are over, then terminate and kill it."""
        now = time.monotonic()
        later = max(wait, INTERRUPTED)
        self._steps = [
            (now + wait, self.child.interrupt),
            (now + later, self.child.terminate),
            (now + later + TERMINATED, self.child.kill),
        ]

    def _is_over(self) -> bool:
        """Whether the process has ended and what it left has had its time."""
        if self.child.exit_status is None:
            return False
        self._ended_at = self._ended_at or time.monotonic()
        return time.monotonic() - self._ended_at > LINGERING
