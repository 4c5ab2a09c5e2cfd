"""A worker: takes launches from the queues that it serves, runs each as this machine would, and hands in its end.

A session is leased: it is the worker's as long as the engine answers its signs of life, and is killed where it does
not, before another worker may begin it. What a worker hands in, it leaves beforehand where a late one is found.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from temporalio import activity
from temporalio.client import AsyncActivityCancelledError
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError
from temporalio.worker import Worker as Server

from agent_fox.cluster.connection import GONE, Connection, EngineAway, PartMissing
from agent_fox.cluster.deliveries import packed, statement_of
from agent_fox.cluster.messages import ACTIVITY, Envelope, Handed, read_envelope, read_parcel, written
from agent_fox.cluster.packs import Unusable
from agent_fox.cluster.parcels import Bench, opened
from agent_fox.cluster.places import queue_of
from agent_fox.cluster.runner import parked_id
from agent_fox.evidence.signing import workers
from agent_fox.session.endings import infrastructure_end
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.session.local_runner import unheeded
from agent_fox.session.order import EndKind, StopSignal
from agent_fox.session.session_lifecycle import Lease, run_session, trouble_of
from agent_fox.session.workspaces.workspace import remove
from agent_fox.system import git
from agent_fox.system.processes import is_running, kill_marked, start_time

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from agent_fox.cluster.deliveries import Delivery
    from agent_fox.session.backends import Backend
    from agent_fox.session.order import LaunchOrder, SessionEnd

LONGEST_DRAIN = timedelta(days=7)
OWNER = "worker"
"""The file of a delivery's folder that names the process whose it is."""


@dataclass(slots=True)
class Leave:
    """What ends a session here: asked for by the run (`is_asked`), or because the launch is another worker's now."""

    lease: Lease
    stop: StopSignal = field(default_factory=StopSignal)
    is_asked: bool = False
    is_lost: bool = False


@dataclass
class Worker:
    """`serves`: how many sessions at the same time, by tag. `folder` holds the repositories of launches that run."""

    connection: Connection
    serves: Mapping[str, int]
    folder: Path
    version: str
    backends: Mapping[str, Backend]
    tell: Callable[[str], None]
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    key: Ed25519PrivateKey | None = None
    """What it signs its deliveries with."""
    under_way: list[Leave] = field(default_factory=list)
    pool: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        self.pool = ThreadPoolExecutor(sum(self.serves.values()), "session")

    @property
    def identity(self) -> str:
        return self.connection.identity

    async def serve(self, stopped: asyncio.Event) -> None:
        """Until `stopped`; then nothing more is taken, and what runs is waited for."""
        self.sweep()

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
            self.end(leave)

    async def session(self, data: bytes) -> bytes:
        """One launch, from its envelope to what is handed in."""
        info = activity.info()
        try:
            envelope = read_envelope(data)
        except Unusable as error:
            return written(Handed(info.attempt, self.identity, refused=str(error)))
        if envelope.version != self.version:
            why = f"it is agent-fox {self.version}, and the run {envelope.version}; install the same on both"
            return written(Handed(info.attempt, self.identity, refused=why))
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
            with suppress(asyncio.CancelledError):
                activity.heartbeat()
                await asyncio.wait([work], timeout=envelope.heartbeat)
            if work.done():
                return
            asked = time.monotonic()
            try:
                await asyncio.wait_for(handle.heartbeat(), envelope.heartbeat * 2)
            except AsyncActivityCancelledError:
                self.end(leave, is_asked=True)
                answered = asked
            except RPCError as error:
                if error.status in GONE:
                    self.end(leave, is_lost=True)
            except (TimeoutError, asyncio.CancelledError):
                pass
            else:
                answered = asked
                if not leave.is_lost:
                    leave.lease.renew()
            if time.monotonic() - answered > envelope.lease:
                self.end(leave, is_lost=True)

    def end(self, leave: Leave, *, is_asked: bool = False, is_lost: bool = False) -> None:
        leave.is_asked, leave.is_lost = leave.is_asked or is_asked, leave.is_lost or is_lost
        if leave.is_asked and not leave.stop.is_set():
            leave.stop.set()
        leave.lease.end()

    def work(self, envelope: Envelope, id: str, number: int, leave: Leave) -> bytes | None:
        """In a thread of its own: what is handed in; None where the launch is another's, and nothing is left of it."""
        try:
            return self.worked(envelope, id, number, leave)
        except (EngineAway, RPCError, PartMissing) as error:
            self.tell(f"{envelope.node}: {error}")
            return None
        except (Unusable, git.GitError, OSError) as error:
            why = str(error) or type(error).__name__
            kind = trouble_of(error) if isinstance(error, OSError) else Infrastructure.WORKSPACE
            return written(Handed(number, self.identity, refused=why, kind=kind))

    def worked(self, envelope: Envelope, id: str, number: int, leave: Leave) -> bytes | None:
        parcel = read_parcel(self.connection.get(envelope.parcel))
        bench = self.bench(id, number)
        try:
            order = opened(parcel, bench, number, self.connection.get)
            (bench.folder / OWNER).write_text(
                f"{os.getpid()} {start_time(os.getpid())} {order.launch}", encoding="utf-8"
            )
            end = self.ended(order, leave)
            if end is None:
                return None
            delivery = packed(end, order, bench, number, self.identity, self.version, self.connection.put)
            delivery = self.signed(delivery, order, id.rpartition("/")[2])
            handed = written(Handed(number, self.identity, self.connection.put(written(delivery))))
            self.connection.call(self.connection.put_at(parked_id(id, number), handed))
            return None if leave.is_lost else handed
        finally:
            remove(bench.folder)

    def signed(self, delivery: Delivery, order: LaunchOrder, launch: str) -> Delivery:
        if self.key is None:
            return delivery
        return replace(delivery, signed=workers.signed(statement_of(delivery, order, launch), self.key))

    def ended(self, order: LaunchOrder, leave: Leave) -> SessionEnd | None:
        """None where the launch was taken from us before it ended by itself: what it had done is another's to do."""
        missing = self.missing(order)
        if missing:
            return infrastructure_end(order, Infrastructure.MISSING_BINARY, f"{self.identity}: {missing}", self.environ)
        end = run_session(order, unheeded, leave.stop, self.backends, leave.lease)
        was_cut = end.kind is EndKind.INTERRUPTED or end.infrastructure is Infrastructure.LOST
        return None if was_cut and not leave.is_asked else end

    def missing(self, order: LaunchOrder) -> str | None:
        backend = self.backends.get(order.agent.backend)
        if backend is None:
            return f"there is no backend {order.agent.backend!r} here"
        return backend.missing(order.agent, order.repo)

    def bench(self, id: str, number: int) -> Bench:
        launch = id.rpartition("/")[2]
        return Bench(self.folder / "launches" / f"{launch}.d{number}", self.folder / "histories")

    def sweep(self) -> None:
        """Remove what a worker left that was killed; its processes ended with it, and are looked for all the same."""
        (self.folder / "histories").mkdir(parents=True, exist_ok=True, mode=0o700)
        launches = self.folder / "launches"
        for folder in launches.iterdir() if launches.is_dir() else ():
            owner = (folder / OWNER).read_text(encoding="utf-8").split() if (folder / OWNER).is_file() else []
            if len(owner) == 3 and is_running(int(owner[0]), owner[1]):
                continue
            if len(owner) == 3:
                kill_marked("AGENT_FOX_LAUNCH", owner[2])
            shutil.rmtree(folder, ignore_errors=True)
