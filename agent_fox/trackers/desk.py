"""Where a tracker that is far away works: what it may write now, and what must be remembered from one delivery to the
next. All of it is in the state file, each step in a transaction of its own."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from agent_fox.store import desk, outbox
from agent_fox.store.desk import Rates
from agent_fox.store.state import transaction
from agent_fox.system import clock, processes

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.trackers.protocol import Tracker

LEASE_SECONDS = 120.0
PATIENCE = 2.0
"""Seconds that a delivery waits for its next write; what must wait longer is sent later."""

TICK = 0.001
"""Times are told in milliseconds: what is due within one must not be asked for again and again."""

NEWEST = "newest number"


class LeaseLost(Exception):
    """Somebody else delivers to this place now: nothing more may be sent."""


class TooSoon(Exception):
    """The rate is used up: nothing may be written before `until` (ISO 8601, UTC)."""

    def __init__(self, until: str) -> None:
        super().__init__("as much was written as the settings allow for now")
        self.until = until


@dataclass(frozen=True)
class Desk:
    """The memory of one place (`github.com/OWNER/NAME`), held by `holder` under a lease.

    `now` gives ISO 8601 in UTC, `pause` waits for seconds.
    """

    db: Database
    place: str
    holder: str = field(default_factory=lambda: own_name())
    rates: Rates = field(default_factory=Rates)
    now: Callable[[], str] = clock.now
    pause: Callable[[float], None] = time.sleep

    def hold(self) -> bool:
        """Take or renew the lease; False where somebody else delivers. That of a process that has ended is over."""
        with transaction(self.db):
            other = desk.holder_of(self.db, self.place)
            if is_ended(other):
                desk.give_lease_back(self.db, self.place, other)
            return desk.take_lease(self.db, self.place, self.holder, seconds_of(self.now()), LEASE_SECONDS)

    def keep(self) -> None:
        """Renew the lease in the middle of something. Raises LeaseLost where somebody else had it meanwhile, even if it
        was given back: what was read before may not be so any more."""
        with transaction(self.db):
            is_kept = desk.renew_lease(self.db, self.place, self.holder, seconds_of(self.now()), LEASE_SECONDS)
        if not is_kept:
            raise LeaseLost(f"another process delivers to {self.place}")

    def leave(self) -> None:
        with transaction(self.db):
            desk.give_lease_back(self.db, self.place, self.holder)

    def write(self) -> None:
        """Called before every single write to the tracker: renews the lease (see `keep`) and keeps the rate.

        Waits up to PATIENCE seconds. Raises LeaseLost, and TooSoon where it would have to wait longer.
        """
        while True:
            self.keep()
            with transaction(self.db):
                wait = desk.take_write(self.db, self.place, seconds_of(self.now()), self.rates)
            if wait <= 0.0:
                return
            if wait > PATIENCE:
                raise TooSoon(clock.later(self.now(), wait))
            self.pause(wait + TICK)

    def newest(self) -> int:
        """The highest number that was ever seen here; 0 where none was."""
        return int(desk.recall(self.db, self.place, NEWEST) or 0)

    def note_newest(self, number: int) -> None:
        if number > self.newest():
            with transaction(self.db):
                desk.remember(self.db, self.place, NEWEST, str(number))

    def recall(self, name: str) -> str:
        return desk.recall(self.db, self.place, name)

    def remember(self, name: str, value: str) -> None:
        with transaction(self.db):
            desk.remember(self.db, self.place, name, value)

    def logins(self) -> tuple[str, ...]:
        """Who has filed here, by this state."""
        noted = (name for name, _ in desk.all_remembered(self.db, self.place, "login "))
        return tuple(dict.fromkeys(filter(None, (self.recall("login"), *noted))))

    def has_filed(self, number: str) -> bool:
        """Whether a number is that of a cause here: one from another tracker, or from a file, is somebody else's."""
        return desk.is_remembered(self.db, self.place, "filed ", number)

    def ours(self) -> tuple[int, ...]:
        """Numbers of issues that we know to be there, the newest first."""
        return outbox.known_numbers(self.db)


def own_name() -> str:
    """A new holder of leases: an id, and the machine and process that it is in."""
    pid = os.getpid()
    return f"{clock.new_id()} {platform.node()} {pid} {processes.start_time(pid) or ''}"


def is_ended(holder: str) -> bool:
    """Whether the process of a holder has surely ended: unknown for one on another machine."""
    _, _, where = holder.partition(" ")
    machine, _, process = where.partition(" ")
    pid, _, start = process.partition(" ")
    is_here = machine == platform.node() and pid.isdecimal() and bool(start)
    return is_here and not processes.is_running(int(pid), start)


@runtime_checkable
class WorksAtADesk(Protocol):
    """A tracker that needs a desk. `place` names what it writes to."""

    @property
    def place(self) -> str: ...

    def at(self, desk: Desk) -> Tracker:
        """The same tracker with this desk."""


def seconds_of(at: str) -> float:
    """Seconds since 1970 of a time as ISO 8601."""
    return datetime.fromisoformat(at).timestamp()
