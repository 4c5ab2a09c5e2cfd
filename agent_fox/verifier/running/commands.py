"""One command of the `checks` judge: run by the guarded runner, its log kept in a file and an excerpt in memory."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.system.sandbox.bubblewrap import Mode, SandboxMissing, SandboxMode
from agent_fox.verifier.running.guarded import CommandOrder, OutsideWorkspace, run_command
from agent_fox.verifier.running.limits import Limits

if TYPE_CHECKING:
    from agent_fox.verifier.ground.order import CheckOrder
    from agent_fox.verifier.running.output import Live, Sink

OUTPUT_LIMIT = 256 * 1024  # bytes kept of what a command prints: half from its beginning, half from its end
LOG_LIMIT = 64 * 1024 * 1024  # bytes of it kept in a log file


@dataclass(frozen=True, slots=True)
class Bounds:
    """What commands are kept within. `readable`: folders that they may read beside the workspace.

    kept: what they may not change, in a sandbox; emptied: folders that they see empty there, and write for themselves.
    """

    sandbox: Mode = SandboxMode.OFF
    network: bool = False
    memory: int | None = None
    processes: int | None = None
    readable: tuple[Path, ...] = ()
    kept: tuple[Path, ...] = ()
    emptied: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. `exit_code` is None if it never started or was stopped; negative for a signal, or in the
    sandbox 128 and its number. `isolation`: in words, what it was kept within.
    """

    exit_code: int | None
    output: str
    seconds: float
    is_timed_out: bool = False
    not_started: str = ""
    isolation: str = ""


class Excerpt:
    """The beginning and the end of a stream, in bounded memory, and all of it in each of `logs`."""

    def __init__(self, limit: int, *logs: Sink) -> None:
        self._logs = logs
        self._half = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def write(self, data: bytes, /) -> None:
        for log in self._logs:
            log.write(data)
        room = self._half - len(self._head)
        self._head += data[:room]
        self._tail += data[room:]
        surplus = len(self._tail) - self._half
        if surplus > 0:
            del self._tail[:surplus]
            self._dropped += surplus

    def text(self) -> str:
        """What was kept, with a line that says how much was not. Bytes that are not UTF-8 are replaced."""
        gap = f"\n[... {self._dropped} bytes left out ...]\n".encode() if self._dropped else b""
        return (bytes(self._head) + gap + bytes(self._tail)).decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a command runs: in the workspace, with a folder of its own for HOME, TMPDIR and its log.

    live: who is told too what it prints, as it prints it.
    """

    workspace: Path
    private: Path
    live: Live | None = None

    @property
    def log(self) -> Path:
        return self.private / "log"


def run_logged(
    argv: tuple[str, ...],
    place: Place,
    variables: Mapping[str, str],
    timeout: float,
    bounds: Bounds,
    stop: threading.Event | None = None,
    descriptors: tuple[int, ...] = (),
) -> Ended:
    """Run argv until it ends, `timeout` seconds have passed or `stop` is set; all that it started ends with it.

    descriptors: open files of ours that it gets.
    """
    limits = Limits(timeout, LOG_LIMIT, bounds.memory, bounds.processes)
    order = CommandOrder(
        argv=argv,
        cwd=place.workspace,
        root=place.workspace,
        private=place.private,
        environment=variables,
        limits=limits,
        network=bounds.network,
        readable=bounds.readable,
        kept=bounds.kept,
        emptied=bounds.emptied,
        descriptors=descriptors,
    )
    with place.log.open("wb", buffering=0) as file:
        kept = Excerpt(OUTPUT_LIMIT, file, *([place.live] if place.live else []))
        try:
            end = run_command(order, kept, bounds.sandbox, stop or threading.Event())
        except (SandboxMissing, OutsideWorkspace) as error:
            return Ended(None, "", 0.0, not_started=str(error))
    return Ended(end.exit_code, kept.text(), end.seconds, end.timed_out, end.start_error, end.isolation)


Launch = Callable[[tuple[str, ...], Place, Mapping[str, str], float, Bounds, threading.Event | None], Ended]
"""Runs words in a place, with variables, for so many seconds, within bounds, until it is stopped."""


@dataclass(frozen=True, slots=True)
class Ground:
    """Where commands run: the order's workspace or another tree, and a folder for what is theirs alone.

    `also`: what else may be read. `stop`: where it is set, what runs here is ended. `was_there`: the files of the
    workspace before anything ran in it; None where nobody looked; `stamps`: of those that are test side, by which it is
    seen whether they were written since. `launch`: how a command is started here.
    """

    order: CheckOrder
    workspace: Path
    private: Path
    also: tuple[Path, ...] = ()
    stop: threading.Event | None = None
    was_there: frozenset[str] | None = None
    stamps: Mapping[str, tuple[int, int, int]] = field(default_factory=dict)
    launch: Launch = run_logged

    def folder(self, name: str) -> Path:
        """What one run may write beside its workspace, in the sandbox too. `name` is unique among the runs."""
        folder = self.private / name
        folder.mkdir(parents=True, exist_ok=True)
        return folder
