"""A worker: takes launches from the queues that it serves, runs each as this machine would, and hands in its end.

A session is leased: it is the worker's as long as the engine answers its signs of life, and is killed where it does
not, before another worker may begin it. What a worker hands in, it leaves beforehand where a late one is found.
"""

from __future__ import annotations

import asyncio
import os
import sys
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta

from temporalio import activity
from temporalio.client import AsyncActivityCancelledError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError
from temporalio.worker import Worker as Server

from agent_fox.cluster.connection import GONE, Connection, EngineAway
from agent_fox.cluster.engine import pause_between
from agent_fox.cluster.messages import ACTIVITY, Envelope, Handed, read_envelope, read_parcel, written
from agent_fox.cluster.packs import PartMissing, Unusable
from agent_fox.cluster.places import queue_of
from agent_fox.cluster.runner import parked_id
from agent_fox.cluster.sessions import Leave, Sessions
from agent_fox.session.session_lifecycle import Lease

LONGEST_DRAIN = timedelta(days=7)
NICER = 5 if sys.platform == "linux" else 0
"""How much sessions give way to the thread that says that they live; elsewhere nice(2) is for a whole process."""


@dataclass
class Worker:
    """`serves`: how many sessions at the same time, by tag."""

    connection: Connection
    serves: Mapping[str, int]
    sessions: Sessions
    tell: Callable[[str], None]
    under_way: list[Leave] = field(default_factory=list)
    pool: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        self.pool = ThreadPoolExecutor(sum(self.serves.values()), "session", os.nice, (NICER,))

    @property
    def identity(self) -> str:
        return self.sessions.identity

    async def serve(self, stopped: asyncio.Event) -> None:
        """Until `stopped`; then nothing more is taken, and what runs is waited for."""
        self.sessions.sweep()

        @activity.defn(name=ACTIVITY)
        async def launched(data: bytes) -> bytes:
            return await self.session(data)

        client = await self.connection.client()
        beat = timedelta(seconds=self.connection.engine.heartbeat)
        servers = [
            Server(
                client, task_queue=queue_of(tag), activities=[launched],
                activity_executor=self.pool, max_concurrent_activities=slots, identity=self.identity,
                graceful_shutdown_timeout=LONGEST_DRAIN, max_heartbeat_throttle_interval=beat,
                default_heartbeat_throttle_interval=beat,
            )
            for tag, slots in self.serves.items()
        ]  # fmt: skip
        running = [asyncio.ensure_future(server.run()) for server in servers]
        waiting = asyncio.ensure_future(stopped.wait())
        await asyncio.wait([waiting, *running], return_when=asyncio.FIRST_COMPLETED)
        for ended in (future for future in running if future.done()):
            ended.result()
        self.tell("no more sessions are taken; those that run are waited for")
        await asyncio.gather(*(server.shutdown() for server in servers), *running)

    def leave_all(self) -> None:
        """End what runs: other workers begin it anew."""
        for leave in tuple(self.under_way):
            leave.end()

    async def session(self, data: bytes) -> bytes:
        """One launch, from its envelope to what is handed in."""
        info = activity.info()
        try:
            envelope = read_envelope(data)
        except Unusable as error:
            return written(Handed(info.attempt, self.identity, refused=str(error)))
        refused = self.sessions.other_version(info.attempt, envelope.version)
        if refused is not None:
            return written(refused)
        leave = Leave(Lease(envelope.lease))
        self.tell(f"{envelope.node}: begins (delivery {info.attempt})")
        work = asyncio.get_running_loop().run_in_executor(
            self.pool, self.work, envelope, info.activity_id, info.attempt, leave
        )
        self.under_way.append(leave)
        try:
            await self.keep(work, info.task_token, envelope, leave)
        finally:
            self.under_way.remove(leave)
        handed = work.result()
        if handed is None:
            raise ApplicationError(f"{self.identity} left {envelope.node}")
        self.tell(f"{envelope.node}: handed in")
        return handed

    async def keep(self, work: asyncio.Future[bytes | None], token: bytes, envelope: Envelope, leave: Leave) -> None:
        """Tell the engine that the session lives until it has ended; end it where the engine says so, or nothing."""
        client = await self.connection.client()
        handle = client.get_async_activity_handle(task_token=token)
        answered = time.monotonic()
        while not work.done():
            pause = pause_between(envelope.heartbeat, envelope.lease, len(self.under_way))
            with suppress(asyncio.CancelledError):
                await asyncio.wait([work], timeout=pause)
            if work.done():
                return
            asked = time.monotonic()
            left = max(envelope.heartbeat, answered + envelope.lease - asked)
            try:
                await asyncio.wait_for(handle.heartbeat(), min(pause * 2, left))
            except AsyncActivityCancelledError:
                leave.end(is_asked=True)
                answered = asked
            except RPCError as error:
                if error.status in GONE:
                    self.lose(envelope, leave, "the engine waits for it no more")
            except (TimeoutError, asyncio.CancelledError):
                pass
            else:
                answered = asked
                if not leave.is_lost:
                    leave.lease.renew()
            if time.monotonic() - answered > envelope.lease:
                self.lose(envelope, leave, f"the engine has not answered for {envelope.lease:g} seconds")

    def lose(self, envelope: Envelope, leave: Leave, why: str) -> None:
        if not leave.is_lost:
            self.tell(f"{envelope.node}: is ended and left to another worker: {why}")
        leave.end(is_lost=True)

    def work(self, envelope: Envelope, id: str, number: int, leave: Leave) -> bytes | None:
        """In a thread of its own: what is handed in; None where the launch is another's, and nothing is left of it."""
        connection = self.connection
        try:
            parcel = read_parcel(connection.get(envelope.parcel))
            handed = self.sessions.held(parcel, id.rpartition("/")[2], number, connection.get, connection.put, leave)
            if handed is None or handed.delivery is None:
                return None if handed is None else written(handed)
            connection.call(connection.put_at(parked_id(id, number), written(handed)))
            return None if leave.is_lost else written(handed)
        except (EngineAway, RPCError, PartMissing) as error:
            self.tell(f"{envelope.node}: {error}")
            return None
        except Unusable as error:
            return written(self.sessions.refused(number, error))
