"""The courier: a thread that delivers what the outbox holds, so that no run ever waits for a tracker.

It has a connection of its own. What it tells is kept until the run asks for it; what it cannot deliver stays where it
is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from dataclasses import field
from datetime import datetime
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from agent_fox.core.markdown import one_line
from agent_fox.core.values import dataclass
from agent_fox.engine.issues.effects import Delivering, Passed, note_limit
from agent_fox.engine.issues.kept_commands import keep_new
from agent_fox.engine.issues.upkeep import look_and_sweep
from agent_fox.engine.record.watch import RunEvent
from agent_fox.store import outbox
from agent_fox.store.desk import LAST_KIND, Rates, remember
from agent_fox.store.state import StateError, open_state, transaction
from agent_fox.system import clock
from agent_fox.system.redaction.masking import redact
from agent_fox.trackers.desk import Desk, WorksAtADesk

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.config import TrackerSettings
    from agent_fox.trackers.protocol import Tracker

LONGEST_NAP = 60.0
BETWEEN_READINGS = 30.0
"""Seconds between two readings of comments, at least."""
SHORT_LOOK = 0.2
LONGEST_DEFECT = 500
INTERRUPTED_SECONDS = 3.0
"""How long a person who interrupted a run waits for what can be delivered at once."""


def desk_of(db: Database, tracker: Tracker, settings: TrackerSettings) -> Desk | None:
    """The desk of a tracker that works at one."""
    if not isinstance(tracker, WorksAtADesk):
        return None
    rates = Rates(per_minute=settings.writes_per_minute, per_hour=settings.writes_per_hour)
    return Desk(db, tracker.place, rates=rates)


@dataclass
class Courier:
    """Delivers while a run goes on. `wake` says that there may be something new."""

    path: Path
    tracker: Tracker
    settings: TrackerSettings
    bell: threading.Event = field(default_factory=threading.Event)
    closing: threading.Event = field(default_factory=threading.Event)
    leaving: threading.Event = field(default_factory=threading.Event)
    events: SimpleQueue[RunEvent] = field(default_factory=SimpleQueue)
    asked: threading.Event = field(default_factory=threading.Event)
    """Somebody asks for something in a comment, and the run has not done it yet."""

    has_read: threading.Event = field(default_factory=threading.Event)
    """Comments were read, or cannot be read now."""

    thread: threading.Thread | None = None
    told_stops: set[str] = field(default_factory=set)

    def start(self) -> None:
        """A daemon: a tracker that hangs must not keep the program from ending; what it was about stays in doubt."""
        self.thread = threading.Thread(target=self.work, name="courier", daemon=True)
        self.thread.start()

    def wake(self) -> None:
        self.bell.set()

    def drain(self) -> Iterator[RunEvent]:
        """What happened since it was asked last."""
        while True:
            try:
                yield self.events.get_nowait()
            except Empty:
                return

    def await_reading(self, seconds: float, is_hurried: Callable[[], bool]) -> None:
        """Wait until comments were read once, so long at most, or until a person asks to stop."""
        end = clock.monotonic() + seconds
        while self.thread is not None and self.thread.is_alive() and not is_hurried():
            left = end - clock.monotonic()
            if left <= 0 or self.has_read.wait(min(left, SHORT_LOOK)):
                return

    def finish(self, seconds: float, is_hurried: Callable[[], bool] = lambda: False) -> None:
        """Wait for what can be delivered now, so long at most, or until a person asks to stop; then leave the rest
        where it is."""
        self.closing.set()
        self.wake()
        if self.thread is None:
            return
        end = clock.monotonic() + seconds
        while self.thread.is_alive() and not is_hurried() and (left := end - clock.monotonic()) > 0:
            self.thread.join(min(left, SHORT_LOOK))
        self.leaving.set()

    def work(self) -> None:
        """Runs in the thread. A defect here must not end the run: it is told, and nothing is lost."""
        try:
            with closing(open_state(self.path)) as db:
                self.rounds(db)
        except BaseException as error:  # noqa: BLE001 - told by the run, which goes on
            why = one_line(redact(repr(error)), LONGEST_DEFECT)
            text = f"delivering issues has failed: {why}; what is to be filed waits for `agent-fox issues sync`"
            self.events.put(RunEvent("note", text=text))

    def rounds(self, db: Database) -> None:
        desk, has_begun = desk_of(db, self.tracker, self.settings), False
        next_reading = 0.0
        try:
            while not self.leaving.is_set():
                self.bell.clear()  # before anything is looked at: what comes after rings again
                is_last = self.closing.is_set()
                has_begun = has_begun or self.begin(db, desk)
                passed = self.deliver(db, desk)
                self.tell_stop(passed)
                if is_last:
                    return
                if clock.monotonic() >= next_reading and not passed.why_stopped:
                    self.read_commands(db, desk)
                    next_reading = clock.monotonic() + BETWEEN_READINGS
                self.has_read.set()
                self.bell.wait(nap(db))
        finally:
            if desk is not None:
                with suppress(StateError):  # a lease ends by itself
                    desk.leave()

    def begin(self, db: Database, desk: Desk | None) -> bool:
        """What was held is tried again, and what people did is looked at; False where the state file is busy."""
        try:
            with transaction(db):
                remember(db, *LAST_KIND, self.settings.kind)
                outbox.wake(db, clock.now())
            self.look(db, desk)
        except StateError as error:
            self.tell_stop(Passed(why_stopped=str(error)))
            return False
        return True

    def look(self, db: Database, desk: Desk | None) -> None:
        """What people did to the issues, and what was filed twice. What cannot be seen now is seen by the next run."""
        is_closed = bool(Delivering(db, self.tracker, self.events.put, desk=desk).why_closed())
        if desk is not None and isinstance(self.tracker, WorksAtADesk) and not is_closed:
            look_and_sweep(db, self.tracker.at(desk), self.events.put, clock.now(), desk)

    def read_commands(self, db: Database, desk: Desk | None) -> None:
        """What people ask for in comments is kept, and the run is told that there is something to do."""
        if desk is None or not isinstance(self.tracker, WorksAtADesk):
            return
        try:
            count, trouble = keep_new(db, desk.place, self.tracker.at(desk))
        except StateError as error:
            self.tell_stop(Passed(why_stopped=str(error)))
            return
        note_limit(desk, trouble)
        if count:
            self.asked.set()

    def deliver(self, db: Database, desk: Desk | None) -> Passed:
        """One pass. A state file that is busy, or a disk that is full, is met again by the run itself."""
        try:
            passed = Delivering(db, self.tracker, self.events.put, desk=desk, is_over=self.leaving.is_set).go()
            if passed.found:
                self.look(db, desk)
            return passed
        except StateError as error:
            return Passed(why_stopped=str(error))

    def tell_stop(self, passed: Passed) -> None:
        """What keeps everything from being delivered is told once in a run, not with every effect."""
        if passed.why_stopped and passed.why_stopped not in self.told_stops:
            self.told_stops.add(passed.why_stopped)
            self.events.put(RunEvent("note", text=f"issues wait: {passed.why_stopped}"))


def nap(db: Database) -> float:
    """Seconds until something may be due, or until it is time to look again."""
    when = outbox.next_time(db)
    if when is None:
        return LONGEST_NAP
    left = (datetime.fromisoformat(when) - datetime.fromisoformat(clock.now())).total_seconds()
    return min(LONGEST_NAP, max(0.5, left))


@dataclass(frozen=True, slots=True)
class Synced:
    """What a synchronisation came to: effects delivered, effects that still wait, and why nothing more was sent."""

    delivered: int
    waiting: int
    why_stopped: str
