"""One thread at a time, on a clock that is not the world's: at every hand-over a seed says who goes on, and who dies.

Threads are real, and all but one of them wait. Whoever waits is woken by what it waits for, or by the clock, which
jumps to the next moment at which anybody has something to do. A kill ends all of them where they stand: whatever
they do afterwards in the name of tidiness comes to nothing, since the stage lets nobody touch the world any more.
"""

from __future__ import annotations

import queue
import random
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

EPOCH = datetime(2026, 1, 1, tzinfo=UTC)
MOST_STEPS = 30_000
"""Steps of one part of a run, beyond which it is said to go round in circles."""


class Killed(BaseException):
    """The orchestrator is dead."""


class Stuck(AssertionError):
    """Everybody waits for somebody else, or nobody ever comes to an end."""


@dataclass(eq=False)
class Actor:
    """A thread of the orchestrator."""

    name: str
    turn: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    holds: Callable[[], bool] | None = None
    """What it waits for; None where it waits for nothing."""
    until: float | None = None
    is_over: bool = False
    thread: threading.Thread | None = None

    def is_ready(self, now: float) -> bool:
        return self.holds is None or self.holds() or (self.until is not None and self.until <= now)


@dataclass(eq=False)
class Stage:
    """The threads of one orchestrator and their clock. `dies_at`: the step at which it is killed; None: never.

    `calm`: nothing goes wrong, and nobody is held up.
    """

    chance: random.Random
    dies_at: int | None = None
    calm: bool = False
    monotonic: float = 1000.0
    drift: float = 0.0
    """Seconds by which the wall clock has jumped."""
    ids: int = 0
    steps: int = 0
    is_dead: bool = False
    trace: list[str] = field(default_factory=list)
    actors: list[Actor] = field(default_factory=list)
    broken: list[BaseException] = field(default_factory=list)
    """What threads raised and nobody caught, and claims that did not hold."""
    now_playing: Actor | None = None
    after_step: Callable[[str], None] = lambda what: None

    @contextmanager
    def play(self) -> Iterator[None]:
        """The thread that calls is the first actor; at the end, or after a kill, nobody else is left."""
        self.now_playing = main = Actor("main")
        self.actors = [main]
        try:
            yield
        finally:
            self.is_dead = True
            self._bury(main)
            self.now_playing = None

    def _bury(self, main: Actor) -> None:
        for actor in [actor for actor in self.actors if actor is not main and not actor.is_over]:
            self.now_playing = actor
            actor.turn.release()
            main.turn.acquire()
        for actor in self.actors:
            if actor.thread is not None:
                actor.thread.join()

    # What happens

    def step(self, what: str) -> None:
        """A moment at which another may go on, or all may end. Raises Killed."""
        if self.now_playing is None:
            return
        self.refuse_dead()
        self.trace.append(f"{self.now_playing.name}: {what}")
        self._count()
        if self.dies_at is not None and self.steps >= self.dies_at:
            self.trace.append("killed")
            self.is_dead = True
            raise Killed
        try:
            self.after_step(what)
        except AssertionError as error:
            self.broken.append(error)  # whoever plays may take it for a defect of its own, and go on
            raise
        if not self.calm and self.chance.random() < 0.2:
            self._hand_over()

    def _count(self) -> None:
        self.steps += 1
        if self.steps > MOST_STEPS:
            raise Stuck(f"no end after {MOST_STEPS} steps; the last: {self.trace[-8:]}")

    def refuse_dead(self) -> None:
        if self.is_dead:
            raise Killed

    def wait(self, holds: Callable[[], bool], seconds: float | None) -> bool:
        """Wait until it holds, or for so long; whether it holds. Raises Killed."""
        self.refuse_dead()
        self._count()
        actor = self._playing()
        if not holds() and (seconds is None or seconds > 0):
            actor.holds, actor.until = holds, None if seconds is None else self.monotonic + seconds
            self._hand_over()
            actor.holds = actor.until = None
        return holds()

    def sleep(self, seconds: float) -> None:
        self.wait(lambda: False, seconds)

    def _playing(self) -> Actor:
        assert self.now_playing is not None
        return self.now_playing

    def _hand_over(self) -> None:
        mine = self._playing()
        following = self._next()
        if following is not mine:
            self.now_playing = following
            following.turn.release()
            mine.turn.acquire()
        self.refuse_dead()

    def _next(self) -> Actor:
        """Who goes on: one of those that can, else whoever is the first to be woken by the clock."""
        playing = [actor for actor in self.actors if not actor.is_over]
        ready = [actor for actor in playing if actor.is_ready(self.monotonic)]
        if not ready:
            moments = [actor.until for actor in playing if actor.until is not None]
            if not moments:
                raise Stuck(f"{', '.join(actor.name for actor in playing)} wait for each other")
            self.monotonic = max(self.monotonic, min(moments))
            ready = [actor for actor in playing if actor.is_ready(self.monotonic)]
        return ready[0] if self.calm else self.chance.choice(ready)

    # Who plays

    def begin(self, name: str, work: Callable[[], object]) -> Actor:
        """Another thread of the orchestrator."""
        self.refuse_dead()
        actor = Actor(name)

        def live() -> None:
            actor.turn.acquire()
            try:
                if not self.is_dead:
                    work()
            except Killed:
                pass
            except BaseException as error:  # noqa: BLE001 - told by the first actor, which is the one that is heard
                self.broken.append(error)
            finally:
                actor.is_over = True
                self._leave()

        actor.thread = threading.Thread(target=live, name=name, daemon=True)
        self.actors.append(actor)
        actor.thread.start()
        return actor

    def _leave(self) -> None:
        """The actor that plays is over; in a dead house the first one goes on, which buries the others."""
        following = self.actors[0] if self.is_dead else self._next()
        self.now_playing = following
        following.turn.release()

    # The clock

    def now(self) -> str:
        moment = EPOCH + timedelta(seconds=self.monotonic + self.drift)
        return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def time(self) -> float:
        return self.monotonic

    def new_id(self) -> str:
        self.ids += 1
        return f"{int(self.monotonic * 1000):012x}{self.ids:08x}"


class Queue:
    """A `queue.SimpleQueue` on the stage."""

    stage: Stage

    def __init__(self) -> None:
        self.items: deque[Any] = deque()

    def put(self, item: object) -> None:
        self.stage.step("put")
        self.items.append(item)

    def get(self, timeout: float | None = None) -> Any:  # noqa: ANN401 - as in the standard library
        if not self.stage.wait(lambda: bool(self.items), timeout):
            raise queue.Empty
        return self.items.popleft()

    def get_nowait(self) -> Any:  # noqa: ANN401
        if not self.items:
            raise queue.Empty
        return self.items.popleft()


class Event:
    """A `threading.Event` on the stage."""

    stage: Stage

    def __init__(self) -> None:
        self.flag = False

    def set(self) -> None:
        self.flag = True

    def clear(self) -> None:
        self.flag = False

    def is_set(self) -> bool:
        return self.flag

    def wait(self, timeout: float | None = None) -> bool:
        return self.stage.wait(lambda: self.flag, timeout)


@dataclass
class Thread:
    """What the courier asks of its thread."""

    stage: Stage
    actor: Actor

    def is_alive(self) -> bool:
        return not self.actor.is_over

    def join(self, seconds: float | None = None) -> None:
        self.stage.wait(lambda: self.actor.is_over, seconds)


class Crew:
    """A `ThreadPoolExecutor` on the stage: whoever is submitted begins at once, and all are waited for."""

    stage: Stage

    def __init__(self, workers: int, thread_name_prefix: str = "worker") -> None:
        self.name, self.members = thread_name_prefix, list[Actor]()

    def __enter__(self) -> Crew:
        return self

    def submit(self, work: Callable[..., object], *given: object) -> None:
        self.members.append(self.stage.begin(f"{self.name} {len(self.members) + 1}", lambda: work(*given)))

    def __exit__(self, *_: object) -> None:
        if not self.stage.is_dead:
            self.stage.wait(lambda: all(member.is_over for member in self.members), None)
