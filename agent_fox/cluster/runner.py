"""The runner that hands launches to workers by Temporal. A launch is one activity, by an id that follows from it.

What is asked twice is attached to. Only the delivery that the engine accepted is taken; the launch goes on when this
process dies, and is found again by its id.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from temporalio.client import ActivityFailureError
from temporalio.common import ActivityIDConflictPolicy, ActivityIDReusePolicy, Priority, RetryPolicy
from temporalio.exceptions import ActivityAlreadyStartedError, CancelledError, FailureError
from temporalio.service import RPCError

from agent_fox.cluster import deliveries, messages, parcels, remotes
from agent_fox.cluster.connection import GONE, Connection, EngineAway, in_a_line
from agent_fox.cluster.engine import is_loopback
from agent_fox.cluster.looking import workers_of
from agent_fox.cluster.packs import PartMissing, Unusable, pack
from agent_fox.cluster.places import URGENCY, queue_of
from agent_fox.cluster.remotes import RemoteAway
from agent_fox.core.ids import Archetype
from agent_fox.evidence.signing import keys, trust
from agent_fox.evidence.signing.keys import KeyTrouble
from agent_fox.session.endings import infrastructure_end, interrupted_end
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.session.runners import Unreachable
from agent_fox.session.session_lifecycle import clean_up
from agent_fox.system import git

if TYPE_CHECKING:
    from temporalio.client import ActivityHandle

    from agent_fox.cluster.deliveries import Delivery
    from agent_fox.cluster.engine import Engine
    from agent_fox.cluster.messages import Handed
    from agent_fox.cluster.packs import Content
    from agent_fox.cluster.parcels import Parcel
    from agent_fox.evidence.signing.keys import Signer
    from agent_fox.session.order import LaunchOrder, SessionEnd
    from agent_fox.session.runners import Job

T = TypeVar("T")

HOSTS = 4
"""How many workers may have a launch, one after the other, when those before are lost."""

LONGEST_SESSION = timedelta(days=7)
UNSERVED_SECONDS = 20.0
"""Seconds that a launch may lie in a queue before it is looked whether anybody serves it; and between two looks."""

AGAIN_SECONDS = 1.0


@dataclass(slots=True)
class RemoteJob:
    """A launch at the engine. `waiting` is the answer that is waited for; `away_since` when the engine fell silent."""

    order: LaunchOrder
    id: str
    tag: str
    waiting: Future[bytes] | None = None
    away_since: float | None = None
    looked_at: float = 0.0
    is_served: bool = False
    is_cancelled: bool = False
    end: SessionEnd | None = None


@dataclass
class TemporalRunner:
    """`patience`: seconds that an engine is waited for which does not answer. `tell` is given what a person should know
    meanwhile.
    """

    engine: Engine
    version: str
    patience: float
    environ: Mapping[str, str]
    artifacts: Path | None = None
    tell: Callable[[str], None] = lambda text: None
    remote: str = ""
    """Where the history goes, and work comes back; empty: in parts by the engine."""
    outlives: bool = True
    connection: Connection = field(init=False)
    bases: dict[str, Content] = field(default_factory=dict)
    hosts: dict[str, list[str]] = field(default_factory=dict)
    """By tag, what the hosts of its workers are."""
    may_be_late: dict[str, tuple[RemoteJob, set[int]]] = field(default_factory=dict)
    """Launches that more than one worker had, by id, with the deliveries that were taken or kept."""

    def __post_init__(self) -> None:
        self.connection = Connection(self.engine)

    @property
    def name(self) -> str:
        return self.engine.name

    def start(self, order: LaunchOrder) -> RemoteJob:
        job = self.job(order)
        try:
            self.patiently(lambda: self.submit(job))
        except parcels.KeyInOrder as error:
            job.end = infrastructure_end(order, Infrastructure.WORKSPACE, str(error), self.environ)
        except (git.GitError, Unusable) as error:
            job.end = infrastructure_end(order, Infrastructure.WORKSPACE, f"sending the order: {error}", self.environ)
        return job

    def job(self, order: LaunchOrder) -> RemoteJob:
        id = f"{order.run}/{order.node_id}/a{order.attempt}.{order.reading}/{order.launch}"
        return RemoteJob(order, id, order.place or order.archetype.value, looked_at=time.monotonic())

    def submit(self, job: RemoteJob) -> None:
        if self.described(job) is not None:
            return
        parcel = parcels.made(
            job.order, self.version, self.connection.put, self.base(job.order.repo), self.environ, self.remote
        )
        content = self.connection.put(messages.written(parcel))
        engine = self.engine
        envelope = messages.Envelope(self.version, job.order.node_id, content, engine.heartbeat, engine.lease)
        with suppress(ActivityAlreadyStartedError):
            self.connection.call(self.started(job, messages.written(envelope)))

    async def started(self, job: RemoteJob, envelope: bytes) -> None:
        client = await self.connection.client()
        await client.start_activity(
            messages.ACTIVITY, envelope, id=job.id, task_queue=queue_of(job.tag),
            start_to_close_timeout=LONGEST_SESSION, heartbeat_timeout=timedelta(seconds=self.engine.timeout),
            id_conflict_policy=ActivityIDConflictPolicy.USE_EXISTING,
            id_reuse_policy=ActivityIDReusePolicy.REJECT_DUPLICATE,
            retry_policy=RetryPolicy(maximum_attempts=HOSTS, initial_interval=timedelta(seconds=AGAIN_SECONDS)),
            priority=Priority(priority_key=URGENCY[Archetype(job.order.archetype)], fairness_key=job.order.spec_name),
            summary=f"{job.order.node_id} attempt {job.order.attempt}",
        )  # fmt: skip

    def base(self, repo: Path) -> Callable[[str], Content]:
        def sent(head: str) -> Content:
            if head not in self.bases:
                self.bases[head] = self.connection.put(pack(repo, [head]))
            return self.bases[head]

        return sent

    def described(self, job: RemoteJob) -> bytes | None:
        """The envelope of the launch at the engine, None where it never came there, or is forgotten."""
        try:
            return self.connection.call(self.connection.input_of(job.id))
        except RPCError as error:
            if error.status in GONE:
                return None
            raise

    def found(self, order: LaunchOrder) -> RemoteJob | None:
        job = self.job(order)
        return job if self.patiently(lambda: self.described(job)) is not None else None

    def patiently(self, ask: Callable[[], T]) -> T:
        """Ask again while the engine or the remote is away. Raises Unreachable."""
        since, is_told = time.monotonic(), False
        while True:
            try:
                return ask()
            except (EngineAway, RemoteAway) as error:
                if not is_told and isinstance(error, RemoteAway):
                    self.tell(f"{error}; waiting for it")
                    is_told = True
                if time.monotonic() - since > self.patience:
                    raise self.unreachable(error) from error
                time.sleep(AGAIN_SECONDS)

    def unreachable(self, error: EngineAway | RemoteAway) -> Unreachable:
        who = "remote" if isinstance(error, RemoteAway) else "engine"
        return Unreachable(f"{error}; run again when the {who} answers, or raise [infrastructure] patience")

    def poll(self, job: Job, seconds: float) -> bool:
        own = mine(job)
        if own.end is not None:
            return True
        if own.waiting is None:
            own.waiting = self.connection.begin(self.result_of(own.id))
        try:
            own.waiting.result(seconds)
        except NotYet:
            self.look_for_workers(own)
            return False
        except EngineAway as error:
            return self.away(own, error)
        except (ActivityFailureError, RPCError):
            return True
        own.away_since = None
        return True

    def away(self, job: RemoteJob, error: EngineAway) -> bool:
        now = time.monotonic()
        job.waiting = None
        if job.away_since is None:
            job.away_since = now
            self.tell(f"{job.order.node_id}: {error}; waiting for it")
        if now - job.away_since > self.patience:
            raise self.unreachable(error)
        time.sleep(AGAIN_SECONDS)
        return False

    async def result_of(self, id: str) -> bytes:
        client = await self.connection.client()
        handle: ActivityHandle[bytes] = client.get_activity_handle(id, result_type=bytes)
        return await handle.result()

    def look_for_workers(self, job: RemoteJob) -> None:
        """Say that nobody serves the launch's queue, by its tag, within a minute."""
        now = time.monotonic()
        if job.is_served or now - job.looked_at < UNSERVED_SECONDS:
            return
        job.looked_at = now
        with suppress(EngineAway, RPCError):
            job.is_served = bool(self.connection.call(workers_of(self.connection, job.tag)))
            if not job.is_served:
                serve = f"agent-fox worker --engine {self.name} --serve {job.tag}=1"
                self.tell(f"{job.order.node_id} waits: nobody serves {job.tag!r} at {self.name}; start `{serve}`")

    def cancel(self, job: Job) -> None:
        own = mine(job)
        own.is_cancelled = True
        self.connection.begin(self.cancelled(own.id))

    async def cancelled(self, id: str) -> None:
        client = await self.connection.client()
        with suppress(RPCError):
            await client.get_activity_handle(id).cancel()

    def collect(self, job: Job) -> SessionEnd:
        own = mine(job)
        while not self.poll(own, AGAIN_SECONDS):
            pass
        if own.end is None:
            own.end = self.patiently(lambda: self.end_of(own))
        return own.end

    def end_of(self, job: RemoteJob) -> SessionEnd:
        assert job.waiting is not None
        try:
            handed = messages.read_handed(job.waiting.result(0))
            end = self.accepted(job, handed)
        except ActivityFailureError as error:
            end = self.failed(job, error)
        except (deliveries.Untrusted, KeyTrouble) as error:
            raise Unreachable(str(error)) from error  # the launch stays open: what is right may be said about it yet
        except (RPCError, Unusable, PartMissing) as error:
            end = self.trouble(job, in_a_line(error))
        except (git.GitError, OSError) as error:
            end = self.trouble(job, f"taking what came back: {error}", Infrastructure.WORKSPACE)
        return end

    def accepted(self, job: RemoteJob, handed: Handed) -> SessionEnd:
        if handed.delivery is None:
            return self.trouble(job, f"{handed.worker} refused it: {handed.refused}", handed.kind)
        delivery = messages.read_delivery(self.connection.get(handed.delivery))
        if delivery.number != handed.number:
            raise Unusable(f"{handed.worker} handed in delivery {delivery.number} as {handed.number}")
        signer = deliveries.signer_of(delivery, job.order, self.signers())
        if not signer and self.is_signature_wanted():
            raise deliveries.Untrusted(
                f"what {handed.worker} handed in is signed by nobody; make a key there (`agent-fox keys new worker "
                "--no-passphrase`), trust it here (`agent-fox keys trust worker.pub --for worker`), then run again"
            )
        remote = self.remote_of(job) if delivery.is_pushed else ""
        end = deliveries.taken(delivery, job.order, self.artifacts, self.connection.get, signer, remote)
        if delivery.not_pushed:
            self.tell(f"{job.order.node_id}: {delivery.worker} handed its work in by the engine: {delivery.not_pushed}")
        self.compare(job.tag, delivery)
        if handed.number > 1:
            self.may_be_late[job.id] = (job, {handed.number})
            self.look_for_late(job)
        return end

    def compare(self, tag: str, delivery: Delivery) -> None:
        """Say once of each pair of hosts that workers of one class, whose verdicts count alike, are not alike."""
        known = self.hosts.setdefault(tag, [])
        if known and delivery.host not in known:
            self.tell(
                f"workers of {tag!r} differ: {known[0]}, and {delivery.host} ({delivery.worker}); "
                "give them places of their own where that changes what tests come to"
            )
        if delivery.host not in known:
            known.append(delivery.host)

    def signers(self) -> tuple[Signer, ...]:
        """Whom the person trusts, read anew for each delivery."""
        return trust.signers(self.environ, ())

    def is_signature_wanted(self) -> bool:
        """Off this machine always; on it, once a key is trusted for workers."""
        return not is_loopback(self.engine.host) or any(keys.WORKERS in signer.namespaces for signer in self.signers())

    def look_for_late(self, job: RemoteJob) -> None:
        """What workers that were taken for lost handed in all the same: kept, told, never merged."""
        known = self.may_be_late[job.id][1]
        for number in set(range(1, HOSTS + 1)) - known:
            handed = self.late(job, number)
            if handed is not None and handed.delivery is not None:
                known.add(number)
                self.keep_late(job, handed.delivery)

    def keep_late(self, job: RemoteJob, content: Content) -> None:
        try:
            delivery = messages.read_delivery(self.connection.get(content))
            remote = self.remote_of(job) if delivery.is_pushed else ""
            kept = deliveries.keep_late(delivery, job.order, self.connection.get, remote)
        except (Unusable, PartMissing, RemoteAway, git.GitError) as error:
            kept = f"a delivery that came too late could not be kept: {in_a_line(error)}"
        self.tell(f"{job.order.node_id}: {kept}")

    def close(self) -> None:
        for job, _ in self.may_be_late.values():
            with suppress(EngineAway, RPCError):
                self.look_for_late(job)
            if self.remote:
                self.remove(job.order, self.remote)

    def remote_of(self, job: RemoteJob) -> str:
        """The remote of a launch: as it is set now, else as the launch was sent."""
        return self.remote or self.parcel_of(job)[1].remote

    def parcel_of(self, job: RemoteJob) -> tuple[Content, Parcel]:
        """Raises PartMissing, Unusable; what the engine raises."""
        envelope = self.described(job)
        if envelope is None:
            raise PartMissing(f"{job.id} is not at the engine any more")
        content = messages.read_envelope(envelope).parcel
        return content, messages.read_parcel(self.connection.get(content))

    def remove(self, order: LaunchOrder, remote: str) -> None:
        """What a launch has at the remote; where that fails, it is told what stays there."""
        try:
            remotes.remove(order.repo, remote, order.launch)
        except (RemoteAway, Unusable, git.GitError) as error:
            self.tell(f"{remotes.BELOW}{order.launch}/ may stay at the remote: {error}")

    def late(self, job: RemoteJob, number: int) -> Handed | None:
        try:
            return messages.read_handed(self.connection.call(self.connection.input_of(parked_id(job.id, number))))
        except RPCError as error:
            if error.status in GONE:
                return None
            raise
        except Unusable:
            return None

    def failed(self, job: RemoteJob, error: ActivityFailureError) -> SessionEnd:
        cause = error.cause
        if isinstance(cause, CancelledError):
            return interrupted_end(job.order)
        why = cause.message if isinstance(cause, FailureError) else in_a_line(cause or error)
        return self.trouble(job, f"every worker that had it was lost, {HOSTS} at most: {why}")

    def trouble(self, job: RemoteJob, why: str, kind: Infrastructure = Infrastructure.LOST) -> SessionEnd:
        return infrastructure_end(job.order, kind, f"{self.name}: {why}", self.environ)

    def clean_up(self, order: LaunchOrder) -> None:
        """The engine keeps nothing of it but the launch itself, which says that it has been; the remote nothing."""
        job, remote = self.job(order), self.remote
        with suppress(EngineAway, RPCError, Unusable, PartMissing):
            if job.id in self.may_be_late:
                self.look_for_late(job)
            content, parcel = self.parcel_of(job)
            remote = remote or parcel.remote
            for each in (parcel.delta, parcel.files, content):
                self.connection.forget(each)
        if remote:
            self.remove(order, remote)
        clean_up(order)


def parked_id(id: str, number: int) -> str:
    """Where a worker leaves its delivery before it hands it in: the engine refuses one that is late, and it stays."""
    return f"{id}/d{number}"


def mine(job: Job) -> RemoteJob:
    if not isinstance(job, RemoteJob):
        raise TypeError(f"{job!r} was started by another runner")
    return job
