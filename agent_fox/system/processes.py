"""Processes that cannot outlive us: started under the shim, known by pid and start time, ended with all
they started.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import adapter, late_module
from agent_fox.core.values import dataclass
from agent_fox.system import outside

if TYPE_CHECKING:
    import pydantic

    from agent_fox.system import programs
else:
    programs = late_module("agent_fox.system.programs")
    pydantic = late_module("pydantic")

SHIM = Path(__file__).with_name("shim.py")

FOR_THE_SHIM = ("PATH", "LANG", "LD_LIBRARY_PATH")
"""All that the shim sees of our environment: it lives as long as the session, and others may read it there."""

OUTPUT_LIMIT = 8 * 1024 * 1024
"""Bytes of each stream that are kept: the first and the last half."""

GRACE = 5.0
"""Seconds between asking a process to end and killing its tree."""

LOOKS, SILENT_LOOKS, BETWEEN_LOOKS = 4, 2, 0.02
"""How often marked processes are looked for at most, how often in vain until none is left, and the seconds between two
looks where there was one, or one that is just being started: it shows no environment yet.
"""

KERNEL_THREADS = 2
"""The process that all threads of the kernel come from, on Linux."""

LONGEST_KILLING = 5.0
"""Seconds that a leftover gets to die."""


@dataclass(frozen=True, slots=True)
class Command:
    """One process to run: `argv` in `cwd` with exactly `environment`. `folder` is the shim's own, made if
    missing.

    `time_limit` and `grace` in seconds, `output_limit` in bytes a stream. `lease`: seconds without `beat` after which
    it is killed as if we were gone; 0 for none.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    cwd: Path
    folder: Path
    time_limit: float
    output_limit: int = OUTPUT_LIMIT
    grace: float = GRACE
    lease: float = 0.0


@dataclass(frozen=True, slots=True)
class ProcessEnd:
    """How a process ended, as its shim wrote it down.

    Either `start_error` says why it never ran, or one of `exit_status` and `signal` is set. `ended_at` is in
    seconds since the epoch; `…_left_out` counts the bytes that were printed beyond the limit.
    """

    seconds: float
    ended_at: int
    exit_status: int | None = None
    signal: int | None = None
    timed_out: bool = False
    stopped: bool = False
    stdout_bytes: int = 0
    stderr_bytes: int = 0
    stdout_left_out: int = 0
    stderr_left_out: int = 0
    start_error: str = ""
    write_error: str = ""


_END = adapter(lambda: pydantic.TypeAdapter(ProcessEnd))


class Running:
    """A process under its shim. Nothing runs before `go`; closing, or our death, kills the tree."""

    def __init__(self, shim: programs.Process, control: int, folder: Path) -> None:
        self.pid = shim.pid
        self.start_time = start_time(shim.pid) or ""
        self._shim, self._control, self._folder = shim, control, folder

    def go(self) -> None:
        self._say(b"g")

    def stop(self) -> None:
        """Ask it to end (TERM, then KILL after the grace). Returns at once, never raises; `wait` tells the
        end.
        """
        self._say(b"s")

    def beat(self) -> None:
        """It is still wanted: see the lease of its command. Never raises, from any thread."""
        self._say(b"b")

    def wait(self) -> ProcessEnd | None:
        """Block until the whole tree is gone; None where the shim was killed before it could write the
        end.
        """
        self._shim.wait()
        return read_end(self._folder)

    def close(self) -> None:
        """Kill whatever still runs, and wait for that."""
        os.close(self._control)
        self._shim.wait()

    def _say(self, word: bytes) -> None:
        with contextlib.suppress(BrokenPipeError, BlockingIOError):
            os.write(self._control, word)


@contextlib.contextmanager
def started(command: Command) -> Iterator[Running]:
    """The command under a shim, waiting for `go`; killed with its tree when the block is left."""
    _write_launch(command)
    mouth, control = os.pipe()
    try:
        running = Running(_start_shim(command.folder, mouth), control, command.folder)
    except OSError:
        os.close(control)
        raise
    finally:
        os.close(mouth)
    try:
        yield running
    finally:
        running.close()


def _write_launch(command: Command) -> None:
    command.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    (command.folder / "exit.json").unlink(missing_ok=True)
    document = {
        "argv": list(command.argv),
        "environment": dict(command.environment),
        "cwd": str(command.cwd),
        "time_limit": command.time_limit,
        "output_limit": command.output_limit,
        "grace": command.grace,
        "lease": command.lease,
    }
    launch = command.folder / "launch.json"
    launch.unlink(missing_ok=True)
    with os.fdopen(os.open(launch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as file:
        json.dump(document, file)


def _start_shim(folder: Path, mouth: int) -> programs.Process:
    with (folder / "shim.err").open("wb") as complaints:
        return programs.start(
            [sys.executable, "-I", "-S", "-B", str(SHIM), str(folder)],
            {name: os.environ[name] for name in FOR_THE_SHIM if name in os.environ},
            "/",
            stdin=mouth,
            stdout=programs.NOTHING,
            stderr=complaints,
        )


def read_end(folder: Path) -> ProcessEnd | None:
    """The end that the shim of `folder` wrote down, or None."""
    try:
        return _END.validate_json((folder / "exit.json").read_bytes())
    except (FileNotFoundError, pydantic.ValidationError):
        return None


def start_time(pid: int) -> str | None:
    """What tells this process from another that gets the same pid later: boot id and clock ticks since boot.

    None where it is not running, or where the system has no /proc (then a pid alone is never trusted). Raises OSError
    where nobody can tell: what may run must not be taken for dead.
    """
    stat, boot = _of_process(pid, "stat"), _of_process("sys", "kernel/random/boot_id")
    if stat is None or boot is None:
        return None
    after_name = stat.rpartition(b")")[2].split()
    return None if after_name[0] in (b"Z", b"X") else f"{boot.decode().strip()}:{int(after_name[19])}"


def _of_process(pid: int | str, name: str) -> bytes | None:
    """A file of a process, None where the process is gone or another user's. Raises OSError where it cannot be read."""
    try:
        return outside.asked_again(lambda: _content(f"/proc/{pid}/{name}"))
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None


def _content(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - twice as fast, and every process is looked at
        return file.read()


def is_running(pid: int, start: str) -> bool:
    """Whether the very process that was started as `pid` at `start` still runs. Raises OSError: nobody can tell."""
    return bool(start) and start_time(pid) == start


def kill_leftover(pid: int, start: str) -> bool:
    """End what is left of a process and all below it; False where there was nothing, or the pid is
    another's now. Raises OSError where nobody can tell.
    """
    if not is_running(pid, start):
        return False
    _send(pid, signal.SIGSTOP)  # a shim must not write these deaths down as the session's own end
    give_up = time.monotonic() + LONGEST_KILLING
    while time.monotonic() < give_up:
        below = _descendants(pid)
        for victim in below or [pid]:  # the subreaper last: orphans come back to it as long as it lives
            _send(victim, signal.SIGKILL)
        if not below and not is_running(pid, start):
            return True
        time.sleep(0.01)
    return True


def kill_marked(variable: str, value: str) -> int:
    """End every process of ours that was started with `variable=value` in its environment; how many there
    were.

    For what outlived a shim that was itself killed. Finds nothing where there is no /proc. Raises OSError where nobody
    can tell which processes there are.
    """
    mark = f"{variable}={value}".encode()
    killed: set[int] = set()
    silent = 0
    for _ in range(LOOKS):
        seen = {pid: _environment(pid) for pid in _pids() if pid != os.getpid()}
        marked = {pid for pid, environment in seen.items() if mark in environment}
        for pid in marked:
            _send(pid, signal.SIGKILL)
        killed |= marked
        if marked or any(_is_being_started(pid, environment) for pid, environment in seen.items()):
            silent = 0
            time.sleep(BETWEEN_LOOKS)
            continue
        silent += 1
        if silent == SILENT_LOOKS:
            break
    return len(killed)


def _is_being_started(pid: int, environment: list[bytes]) -> bool:
    """Whether a process shows no environment yet. A thread of the kernel, or one that is dead, never does."""
    return environment == [b""] and pid != KERNEL_THREADS and _parent(pid) not in (None, KERNEL_THREADS)


def _descendants(root: int) -> list[int]:
    parents = {pid: parent for pid in _pids() if (parent := _parent(pid)) is not None}
    below: list[int] = []
    wanted = {root}
    while wanted:
        wanted = {pid for pid, parent in parents.items() if parent in wanted}
        below += wanted
    return below


def _pids() -> list[int]:
    try:
        names = outside.asked_again(lambda: os.listdir("/proc"))  # noqa: PTH208 - a fifth of the time, see `_content`
    except FileNotFoundError:
        return []
    return [int(name) for name in names if name.isdecimal()]


def _parent(pid: int) -> int | None:
    stat = _of_process(pid, "stat")
    if stat is None:
        return None
    state, parent = stat.rpartition(b")")[2].split()[:2]
    return None if state in (b"Z", b"X") else int(parent)


def _environment(pid: int) -> list[bytes]:
    environment = _of_process(pid, "environ")
    return [] if environment is None else environment.split(b"\0")


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def processors() -> int:
    """How many of them this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
