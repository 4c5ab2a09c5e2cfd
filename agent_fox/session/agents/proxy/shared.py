"""What the requests of one metering proxy share: what is allowed, where the model is, what opens it, who listens."""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.session.agents.events import Beat, Event

if TYPE_CHECKING:
    from agent_fox.session.agents.proxy.gate import Gate
    from agent_fox.session.agents.proxy.model_side import Access, Upstream

MOST_NOTES = 20

_BEAT_EVERY = 1.0


@dataclass(frozen=True, slots=True)
class ProxyLimits:
    """Seconds: to `connect`, of silence of the model's server (`idle`), of the program within a request (`request`).

    `largest` bytes of a request's body, `most` requests at once: further ones wait.
    """

    connect: float = 30.0
    idle: float = 300.0
    request: float = 60.0
    largest: int = 64 * 1024 * 1024
    most: int = 32


class Telling:
    """Passes events on, from one thread at a time."""

    def __init__(self, hear: Callable[[Event], None], note: Callable[[str], None]) -> None:
        self._hear = hear
        self._note = note
        self._noted: set[str] = set()
        self._lock = threading.Lock()
        self._last_beat = 0.0

    def events(self, events: Iterable[Event]) -> None:
        with self._lock:
            for event in events:
                self._hear(event)

    def beat(self) -> None:
        """Bytes flow: reported at most once a second."""
        with self._lock:
            if (now := time.monotonic()) - self._last_beat >= _BEAT_EVERY:
                self._last_beat = now
                self._hear(Beat())

    def note(self, sentence: str) -> None:
        """Each sentence once, and not endlessly many."""
        with self._lock:
            if sentence and sentence not in self._noted and len(self._noted) < MOST_NOTES:
                self._noted.add(sentence)
                self._note(sentence)


class Sockets:
    """The open ones, so that closing the proxy ends whoever waits in them."""

    def __init__(self) -> None:
        self.are_closing = threading.Event()
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def held(self, connection: socket.socket) -> Iterator[None]:
        with self._lock:
            self._open.add(connection)
        try:
            if self.are_closing.is_set():
                _cut(connection)
            yield
        finally:
            with self._lock:
                self._open.discard(connection)

    def close(self) -> None:
        self.are_closing.set()
        with self._lock:
            for connection in self._open:
                _cut(connection)


@dataclass(frozen=True, slots=True)
class Shared:
    """One proxy's belongings. What opens the model's side leaves it in a request's headers and nowhere else."""

    gate: Gate
    upstream: Upstream
    access: Access = field(repr=False)
    tell: Telling
    why_not: Callable[[], str | None]
    limits: ProxyLimits
    sockets: Sockets = field(default_factory=Sockets)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))


def _cut(connection: socket.socket) -> None:
    """Ends both directions below TLS, so that a thread which waits in it wakes up."""
    with contextlib.suppress(OSError):
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
