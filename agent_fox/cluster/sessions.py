"""Launches of runs on other hosts, held on this one: each in a repository of its own, from its parcel to its delivery.

How they come here and go back (an engine, a line of ssh) is in `worker` and `ssh_host`.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.cluster.deliveries import packed, statement_of
from agent_fox.cluster.messages import Handed, written
from agent_fox.cluster.packs import Unusable
from agent_fox.cluster.parcels import Bench, opened
from agent_fox.cluster.remotes import RemoteAway
from agent_fox.evidence.signing import workers
from agent_fox.session.endings import infrastructure_end
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.session.local_runner import unheeded
from agent_fox.session.order import EndKind, StopSignal
from agent_fox.session.session_lifecycle import Lease, end_leftovers, run_session, trouble_of
from agent_fox.system import git
from agent_fox.system.files import remove_tree
from agent_fox.system.processes import is_running, processors, start_time

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from agent_fox.cluster.packs import Content
    from agent_fox.cluster.parcels import Parcel
    from agent_fox.session.backends import Backend
    from agent_fox.session.order import LaunchOrder, SessionEnd

OWNER = ".owner"
"""After the name of a delivery's folder: the file that names the process whose it is."""


@dataclass(slots=True)
class Leave:
    """What ends a session here: asked for by the run (`is_asked`), or because the launch is another worker's now."""

    lease: Lease
    stop: StopSignal = field(default_factory=StopSignal)
    is_asked: bool = False
    is_lost: bool = False

    def end(self, *, is_asked: bool = False, is_lost: bool = False) -> None:
        self.is_asked, self.is_lost = self.is_asked or is_asked, self.is_lost or is_lost
        if self.is_asked and not self.stop.is_set():
            self.stop.set()
        self.lease.end()


@dataclass(frozen=True)
class Sessions:
    """`folder` holds the repositories of launches that run. `key` signs deliveries, `identity` says whose they are."""

    folder: Path
    version: str
    backends: Mapping[str, Backend]
    identity: str = ""
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    key: Ed25519PrivateKey | None = None
    remote: str = ""
    """The worker's own address of the remote that orders name."""
    opening: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(processors()))
    """Held while a parcel is laid out: many at once would keep the worker from saying that it lives."""

    def held(
        self, parcel: Parcel, launch: str, number: int, get: Callable[[Content], bytes],
        put: Callable[[bytes], Content], leave: Leave,
    ) -> Handed | None:  # fmt: skip
        """Hold the session of a parcel; what is handed in. None where it was taken from us before it ended by itself:
        what it had done is another's to do, and nothing is left of it. Raises what `get` and `put` raise.
        """
        bench = self.bench(launch, number)
        owner = bench.folder.with_name(f"{bench.folder.name}{OWNER}")
        parcel = replace(parcel, remote=parcel.remote and (self.remote or parcel.remote))
        try:
            owner.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            owner.write_text(f"{os.getpid()} {start_time(os.getpid())}", encoding="utf-8")
            with self.opening:
                order = opened(parcel, bench, number, get)
            end = self.ended(order, leave)
            if end is None:
                return None
            delivery = packed(end, order, bench, number, self.identity, self.version, put, parcel.remote, launch)
            if self.key is not None:
                delivery = replace(delivery, signed=workers.signed(statement_of(delivery, order, launch), self.key))
            return Handed(number, self.identity, put(written(delivery)))
        except (Unusable, RemoteAway, git.GitError, OSError) as error:
            return self.refused(number, error)
        finally:
            remove_tree(bench.folder)
            owner.unlink(missing_ok=True)

    def refused(self, number: int, error: Exception) -> Handed:
        match error:
            case OSError():
                kind = trouble_of(error)
            case RemoteAway():
                kind = Infrastructure.NETWORK
            case _:
                kind = Infrastructure.WORKSPACE
        return Handed(number, self.identity, refused=str(error) or type(error).__name__, kind=kind)

    def other_version(self, number: int, version: str) -> Handed | None:
        """The refusal of a launch of a run of another version; None where it is this one."""
        if version == self.version:
            return None
        why = f"it is agent-fox {self.version}, and the run {version}; install the same on both"
        return Handed(number, self.identity, refused=why)

    def ended(self, order: LaunchOrder, leave: Leave) -> SessionEnd | None:
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

    def bench(self, launch: str, number: int) -> Bench:
        return Bench(self.folder / "launches" / f"{launch}.d{number}", self.folder / "histories")

    def sweep(self) -> None:
        """Remove what was left by a process that was killed; its sessions ended with it, and are looked for all the
        same.
        """
        (self.folder / "histories").mkdir(parents=True, exist_ok=True, mode=0o700)
        launches = self.folder / "launches"
        for owner in launches.glob(f"*{OWNER}"):
            pid, _, began = owner.read_text(encoding="utf-8").partition(" ")
            if not (pid.isdecimal() and is_running(int(pid), began)):
                launch = owner.name.removesuffix(OWNER)
                end_leftovers(launch)
                remove_tree(launches / launch, ignore_errors=True)
                owner.unlink(missing_ok=True)
