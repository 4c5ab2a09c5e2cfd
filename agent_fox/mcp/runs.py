"""How a call's blocking work runs beside the protocol: in a thread, followed, and stopped with its call.

Whoever cancels a call, leaves, or ends the server gets the same: the stop event is set, and the call does not end
before its thread has, so that no process is left behind.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from typing import TYPE_CHECKING, Protocol, TypeVar

import anyio
import anyio.to_thread

from agent_fox.mcp.answers import CallRefused

if TYPE_CHECKING:
    from agent_fox.verifier.profiles.context import Progress, Report

BEAT = 1.0
"""Seconds between two looks at a running call: progress is told, and whether the client is still there."""

MOST_CALLS = 64
"""Calls of one server that run or wait for their turn."""

T = TypeVar("T")


class Caller(Protocol):
    """Who waits for a call."""

    async def tell(self, seconds: float, output_bytes: int | None) -> None:
        """`output_bytes` is None as long as the call waits for its turn."""

    async def has_left(self) -> bool: ...


class Runs:
    """The calls of one server. Commands run one after another: of two in one tree, each would spoil the other's view.

    Reading calls (`in_turn` false) never wait.
    """

    def __init__(self) -> None:
        self._turn = anyio.Lock()
        self._stops: set[threading.Event] = set()
        self._is_closed = False

    async def follow(
        self, work: Callable[[threading.Event, Report], T], caller: Caller, *, in_turn: bool = True
    ) -> T | CallRefused:
        """What `work` gives. A CallRefused that it raises is given back: a task group would wrap it."""
        if len(self._stops) >= MOST_CALLS:
            return CallRefused("too_many_calls", f"{MOST_CALLS} calls run or wait already; call again after an answer")
        stop, seen = threading.Event(), _Seen()
        self._stops.add(stop)
        try:
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(_watch, caller, stop, seen)
                async with self._turn if in_turn else nullcontext():
                    outcome = await self._in_thread(work, stop, seen)
                tasks.cancel_scope.cancel()
            return outcome
        finally:
            self._stops.discard(stop)

    async def _in_thread(
        self, work: Callable[[threading.Event, Report], T], stop: threading.Event, seen: _Seen
    ) -> T | CallRefused:
        if self._is_closed or stop.is_set():
            return CallRefused("cancelled", "the call was cancelled before it began")

        def guarded() -> T | CallRefused:
            try:
                return work(stop, seen.note)
            except CallRefused as refused:
                return refused

        return await anyio.to_thread.run_sync(guarded)

    async def close(self, seconds: float) -> bool:
        """Stop everything, and wait until it has ended, at most so long; whether it has."""
        self._is_closed = True
        for stop in tuple(self._stops):
            stop.set()
        with anyio.move_on_after(seconds):
            while self._stops:
                await anyio.sleep(0.02)
        return not self._stops


class _Seen:
    """The latest progress, written by the thread and read by the watch."""

    def __init__(self) -> None:
        self.latest: Progress | None = None

    def note(self, progress: Progress) -> None:
        self.latest = progress


async def _watch(caller: Caller, stop: threading.Event, seen: _Seen) -> None:
    """Until the call ends, however it ends: then, or when its client has left, its work is to stop."""
    started = time.monotonic()
    try:
        while not await caller.has_left():
            await anyio.sleep(BEAT)
            latest = seen.latest
            await caller.tell(time.monotonic() - started, latest.bytes if latest else None)
    finally:
        stop.set()
