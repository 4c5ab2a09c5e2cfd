"""The runner of this machine: each session in a thread, under the shim of this process."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.session.built_in.registry import BACKENDS
from agent_fox.session.order import StopSignal
from agent_fox.session.runners import HERE
from agent_fox.session.session_lifecycle import clean_up, harvest, run_session

if TYPE_CHECKING:
    from agent_fox.session.backends import Backend
    from agent_fox.session.order import LaunchOrder, SessionEnd
    from agent_fox.session.runners import Job


@dataclass(slots=True)
class LocalJob:
    """A session in a thread of this process. `broken` is what a plugin's or our own defect raised."""

    order: LaunchOrder
    stop: StopSignal = field(default_factory=StopSignal)
    ended: threading.Event = field(default_factory=threading.Event)
    end: SessionEnd | None = None
    broken: BaseException | None = None


@dataclass(slots=True)
class LocalRunner:
    """Sessions under the shim of this process: they end with it."""

    backends: Mapping[str, Backend] = field(default_factory=lambda: BACKENDS)
    name: str = HERE
    outlives: bool = False
    _jobs: dict[str, LocalJob] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def start(self, order: LaunchOrder) -> LocalJob:
        with self._lock:
            job = self._jobs.get(order.launch)
            if job is None:
                job = self._jobs[order.launch] = LocalJob(order)
                threading.Thread(target=self.run, args=(job,), name=f"session {order.launch}", daemon=True).start()
        return job

    def run(self, job: LocalJob) -> None:
        try:
            job.end = self.had(job.order, job.stop)
        except BaseException as error:  # noqa: BLE001 - raised again by `collect`, in the thread that waits
            job.broken = error
        finally:
            job.ended.set()

    def had(self, order: LaunchOrder, stop: StopSignal) -> SessionEnd:
        """Have the session, in the thread that calls; its end."""
        return run_session(order, unheeded, stop, self.backends)

    def left(self, order: LaunchOrder) -> SessionEnd | None:
        """The end of a launch whose orchestrator is gone; None where it has none, and nothing of it runs."""
        return harvest(order)

    def found(self, order: LaunchOrder) -> LocalJob | None:
        end = self.left(order)
        if end is None:
            return None
        job = LocalJob(order, end=end)
        job.ended.set()
        return job

    def poll(self, job: Job, seconds: float) -> bool:
        return mine(job).ended.wait(seconds)

    def cancel(self, job: Job) -> None:
        mine(job).stop.set()

    def collect(self, job: Job) -> SessionEnd:
        own = mine(job)
        own.ended.wait()
        if own.broken is not None:
            raise own.broken
        assert own.end is not None
        return own.end

    def clean_up(self, order: LaunchOrder) -> None:
        with self._lock:
            self._jobs.pop(order.launch, None)
        clean_up(order)

    def close(self) -> None:
        """Nothing of a session of this machine comes late."""


def mine(job: Job) -> LocalJob:
    if not isinstance(job, LocalJob):
        raise TypeError(f"{job!r} was started by another runner")
    return job


def unheeded(pid: int, start_time: str) -> None:
    """The session writes its process down itself, in the launch's folder; a later orchestrator reads it there."""
