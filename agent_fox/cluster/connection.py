"""The connection to Temporal: one event loop in a thread of its own, calls from any thread, and bytes of any size.

An activity's input may hold some two megabytes. What is larger stands at the server in parts: activities that no worker
serves, each with its piece as input, named by the digest of the whole. They end by themselves after KEPT.
"""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cache
from typing import Any, TypeVar

from temporalio.api.workflowservice.v1 import DeleteActivityExecutionRequest, DescribeActivityExecutionRequest
from temporalio.client import Client
from temporalio.common import ActivityIDConflictPolicy, ActivityIDReusePolicy
from temporalio.exceptions import ActivityAlreadyStartedError
from temporalio.runtime import Runtime, TelemetryConfig
from temporalio.service import RPCError, RPCStatusCode, TLSConfig

from agent_fox.cluster.engine import Engine, EngineError
from agent_fox.cluster.packs import LARGEST, Content, PartMissing, Unusable, checked, held_in, inlined

T = TypeVar("T")

INLINE = 64 * 1024
"""Bytes up to which a content travels with whoever names it."""

PART = 400 * 1024
"""Bytes of one part; servers warn from 512 KiB on."""

PARTS_QUEUE = "agent-fox-parts"
"""A queue that nobody serves."""

KEPT = timedelta(days=7)
CONNECT_SECONDS, CALL_SECONDS = 10.0, 30.0
GONE = frozenset({RPCStatusCode.NOT_FOUND})
AWAY = frozenset(
    {
        *(RPCStatusCode.UNAVAILABLE, RPCStatusCode.DEADLINE_EXCEEDED, RPCStatusCode.CANCELLED, RPCStatusCode.ABORTED),
        *(RPCStatusCode.RESOURCE_EXHAUSTED, RPCStatusCode.INTERNAL, RPCStatusCode.UNKNOWN),
    }
)
"""What passes: the server is away, restarts, or has too much to do."""


class EngineAway(Exception):
    """The engine did not answer. It may later."""


@dataclass
class Connection:
    """`call` runs a coroutine from any thread. The connection is made by the first call, and kept."""

    engine: Engine
    identity: str = ""
    _client: Client | None = None
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.new_event_loop)
    _thread: threading.Thread | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def call(self, work: Coroutine[Any, Any, T], seconds: float = CALL_SECONDS) -> T:
        """Raises EngineAway where there is no answer in so many seconds, RPCError for an answer that is an error."""
        future = self.begin(work)
        try:
            return future.result(seconds)
        except TimeoutError as error:
            future.cancel()
            raise EngineAway(f"{self.engine.name} did not answer within {seconds:g} s") from error

    def begin(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """The same without waiting."""
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self.loop.run_forever, name="engine", daemon=True)
                self._thread.start()
        return asyncio.run_coroutine_threadsafe(self.answer_to(work), self.loop)

    async def answer_to(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return await work
        except RPCError as error:
            if error.status in AWAY:
                raise EngineAway(f"{self.engine.name}: {error.message}") from error
            raise
        except asyncio.CancelledError as error:
            raise EngineAway(f"{self.engine.name} ended the call") from error

    async def client(self) -> Client:
        if self._client is None:
            self._client = await connected(self.engine, self.identity)
        return self._client

    def put(self, data: bytes) -> Content:
        """Have the bytes kept at the engine; those that are there already are not sent again."""
        digest = hashlib.sha256(data).hexdigest()
        if len(data) <= INLINE:
            return inlined(data)
        pieces = [data[start : start + PART] for start in range(0, len(data), PART)]
        for number, piece in enumerate(pieces):
            self.call(self.put_at(part_id(digest, number), piece))
        return Content(digest, len(data), len(pieces))

    async def put_at(self, id: str, piece: bytes) -> None:
        """Have a few bytes kept by a name; those that are there first stay."""
        client = await self.client()
        try:
            await client.start_activity(
                "agent_fox.part", piece, id=id, task_queue=PARTS_QUEUE, schedule_to_close_timeout=KEPT,
                id_conflict_policy=ActivityIDConflictPolicy.USE_EXISTING,
                id_reuse_policy=ActivityIDReusePolicy.REJECT_DUPLICATE,
            )  # fmt: skip
        except ActivityAlreadyStartedError:
            return  # it ended, and its input is kept as long as the server keeps what has ended

    def get(self, content: Content) -> bytes:
        """Raises PartMissing for bytes that are not all there, or are others, Unusable for too many."""
        if not content.parts:
            return held_in(content)
        if content.size > LARGEST:
            raise Unusable(f"{content.sha256[:12]} has {content.size} bytes, and at most {LARGEST} travel at once")
        if content.parts != -(-content.size // PART):
            raise PartMissing(f"{content.sha256[:12]}: {content.size} bytes do not come in {content.parts} parts")
        data = b"".join(self.call(self.part_at(part_id(content.sha256, n))) for n in range(content.parts))
        return checked(data, content)

    async def part_at(self, id: str) -> bytes:
        try:
            return await self.input_of(id)
        except RPCError as error:
            if error.status in GONE:
                raise PartMissing(f"{id} is not at the engine any more") from error
            raise

    async def input_of(self, id: str) -> bytes:
        """What an activity was started with. Raises RPCError, one of GONE where there is none."""
        client = await self.client()
        asked = DescribeActivityExecutionRequest(namespace=client.namespace, activity_id=id, include_input=True)
        answer = await client.workflow_service.describe_activity_execution(asked)
        return bytes(answer.input.payloads[0].data)

    def forget(self, content: Content) -> None:
        """Remove its parts; what cannot be removed ends by itself. Raises EngineAway."""
        for number in range(content.parts):
            self.call(self.forget_at(part_id(content.sha256, number)))

    async def forget_at(self, id: str) -> None:
        client = await self.client()
        try:
            await client.workflow_service.delete_activity_execution(
                DeleteActivityExecutionRequest(namespace=client.namespace, activity_id=id)
            )
        except RPCError as error:
            if error.status not in GONE | {RPCStatusCode.UNIMPLEMENTED, RPCStatusCode.PERMISSION_DENIED}:
                raise


def part_id(digest: str, number: int) -> str:
    return f"agent-fox-part/{digest}/{number}"


async def connected(engine: Engine, identity: str = "") -> Client:
    """Raises EngineAway, EngineError."""
    tls = engine.tls
    try:
        return await asyncio.wait_for(
            Client.connect(
                engine.target, namespace=engine.namespace, api_key=engine.api_key, identity=identity or None,
                tls=TLSConfig(tls.ca, tls.server_name, tls.certificate, tls.key) if tls else False,
                runtime=quiet_runtime(),
            ),
            CONNECT_SECONDS,
        )  # fmt: skip
    except (RuntimeError, TimeoutError, OSError) as error:
        raise EngineAway(f"{engine.name} does not answer: {in_a_line(error)}{tls_hint(engine)}") from error
    except ValueError as error:
        raise EngineError(f"{engine.name}: {error}") from error


@cache
def quiet_runtime() -> Runtime:
    """One for the process, whose warnings about sizes are not for people."""
    return Runtime(telemetry=TelemetryConfig(logging=None))


def in_a_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


def tls_hint(engine: Engine) -> str:
    if engine.tls is None:
        return ""
    return "; it is asked encrypted, so its certificate must be known: see [cluster] ca, or insecure = true"
