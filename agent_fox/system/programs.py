"""The one place that starts programs: to their end, to be followed while they run, or to stay and answer questions.

What must outlive us or end with us whatever happens is started by `processes` and `relay`, under the shim; what runs
in a sandbox is wrapped by `sandbox.bubblewrap` first.
"""

from __future__ import annotations

import contextlib
import functools
import os
import selectors
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, TypeVar

from agent_fox.core.values import dataclass

T = TypeVar("T")

Process = subprocess.Popen[bytes]
PIPE, NOTHING = subprocess.PIPE, subprocess.DEVNULL
Stream = int | IO[bytes]
"""`PIPE`, `NOTHING`, a descriptor or an open file."""

LONGEST_END = 5.0
"""Seconds that a resident program gets to end after its input was closed."""

CHUNK = 1 << 20
BETWEEN_LOOKS = 0.2
"""Seconds until it is looked whether a program has ended whose output somebody else still holds open."""


@dataclass(frozen=True, slots=True)
class Finished:
    """How a program ended: its exit status (negative: a signal), and what it printed. `is_cut`: it printed more than
    was asked for, and was killed.
    """

    status: int
    out: bytes
    err: bytes
    is_cut: bool = False


def machine_path(*workspaces: Path, among: str | None = None) -> str:
    """PATH (or `among`) for programs that run outside of a sandbox: without what commands of a project could have put
    there. Left out are relative entries, and those inside of the checkout that we stand in, or of one of `workspaces`.
    """
    among = os.environ.get("PATH", os.defpath) if among is None else among
    with contextlib.suppress(FileNotFoundError):  # somebody may have removed the folder that we stand in
        workspaces = (Path.cwd(), *workspaces)
    return _outside(among, Path(os.path.expanduser("~")), workspaces)  # noqa: PTH111 - Path.home() raises without one


def of_the_machine(name: str, *workspaces: Path, among: str | None = None) -> str | None:
    """Where a program lies that we start outside of a sandbox: on `machine_path`, or not at all."""
    return shutil.which(name, path=machine_path(*workspaces, among=among))


@functools.lru_cache
def _outside(search_path: str, home: Path, places: tuple[Path, ...]) -> str:
    real = [place.resolve() for place in places]
    tops = (next((top for top in (place, *place.parents) if (top / ".git").exists()), place) for place in real)
    roots = {*tops} - {home, *home.parents}

    def is_outside(entry: str) -> bool:
        return entry.startswith("/") and not any(name.is_relative_to(root) for name in _names(entry) for root in roots)

    return os.pathsep.join(filter(is_outside, search_path.split(os.pathsep))) or os.defpath


@functools.lru_cache
def _names(entry: str) -> tuple[Path, Path]:
    """A folder as it is written, and where it lies: a link to it may be in somebody's hands, too."""
    return Path(os.path.normpath(entry)), Path(entry).resolve()


def start(
    argv: Sequence[str], environment: Mapping[str, str] | None, cwd: str | Path, *,
    stdin: Stream = PIPE, stdout: Stream = PIPE, stderr: Stream = PIPE, descriptors: Sequence[int] = (),
) -> Process:  # fmt: skip
    """A program in a session of its own, out of reach of a Ctrl-C at our terminal; whoever starts it ends it.

    `environment`: exactly these variables, None: ours. Raises OSError where it cannot be started.
    """
    return subprocess.Popen(
        argv, env=environment, cwd=cwd, stdin=stdin, stdout=stdout, stderr=stderr, pass_fds=descriptors,
        start_new_session=True,
    )  # fmt: skip


def run(
    argv: Sequence[str], seconds: float | None = None, *, data: bytes = b"", cwd: str | Path | None = None,
    environment: Mapping[str, str] | None = None, descriptors: Sequence[int] = (), stdout: int = PIPE,
    is_apart: bool = False,
) -> Finished:  # fmt: skip
    """Run a program to its end with `data` as its input. It may ask at our terminal, unless it `is_apart`.

    Raises TimeoutError where it took longer than `seconds` and was killed, another OSError where it cannot be started.
    """
    try:
        done = subprocess.run(
            argv, input=data, stdout=stdout, stderr=PIPE, env=environment, cwd=cwd, pass_fds=descriptors,
            timeout=seconds, start_new_session=is_apart, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise TimeoutError(f"it took longer than {seconds:g} seconds") from error
    return Finished(done.returncode, done.stdout or b"", done.stderr)


def hand_over(argv: Sequence[str], environment: Mapping[str, str], cwd: Path, descriptors: Sequence[int] = ()) -> int:
    """Run a program at our own input and output, for as long as it takes: its exit status."""
    return subprocess.run(argv, env=environment, cwd=cwd, pass_fds=descriptors, check=False).returncode


def run_bounded(
    argv: Sequence[str], seconds: float, limit: int, *,
    environment: Mapping[str, str], cwd: Path, stdin: Stream = NOTHING,
) -> Finished:  # fmt: skip
    """Run a program that is not trusted to end, apart from our terminal: at most `limit` bytes of each stream are kept.
    Whatever it started in its session is killed; nobody who holds its streams open is waited for.

    Raises TimeoutError where it took longer than `seconds`, another OSError where it cannot be started.
    """
    process = start(argv, environment, cwd, stdin=stdin)
    assert process.stdout is not None
    assert process.stderr is not None
    with process.stdout as out, process.stderr as err:
        printed = {out.fileno(): bytearray(), err.fileno(): bytearray()}
        give_up = time.monotonic() + seconds
        try:
            _read(process, printed, give_up, limit)
            is_cut = any(len(text) > limit for text in printed.values())
            if not is_cut and wait(process, max(0.0, give_up - time.monotonic())) is None:
                raise TimeoutError(f"it took longer than {seconds:g} seconds")
        finally:
            kill_group(process)
    kept_out, kept_err = (bytes(text[:limit]) for text in printed.values())
    return Finished(process.returncode, kept_out, kept_err, is_cut)


def _read(process: Process, printed: Mapping[int, bytearray], give_up: float, limit: int) -> None:
    """What it prints until it has ended, until `give_up`, or until a stream is beyond the limit."""
    with selectors.DefaultSelector() as selector:
        for descriptor in printed:
            selector.register(descriptor, selectors.EVENT_READ)
        while selector.get_map() and (left := give_up - time.monotonic()) > 0:
            has_ended = process.poll() is not None  # asked before what is left is read
            ready = selector.select(0 if has_ended else min(BETWEEN_LOOKS, left))
            if has_ended and not ready:
                return
            for key, _ in ready:
                chunk = os.read(key.fd, CHUNK)
                printed[key.fd] += chunk
                if not chunk:
                    selector.unregister(key.fd)
                if len(printed[key.fd]) > limit:
                    return


def wait(process: Process, seconds: float) -> int | None:
    """Its exit status; None where it still runs after `seconds`."""
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(seconds)
    return None


def kill_group(process: Process) -> None:
    """Kill a program that `start` started, and what is left of its session."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


class NoAnswer(Exception):
    """The program could not be started, or ended before it had answered. The next question starts another."""


class Resident:
    """A program that answers one question after another, started at the first. It ends with its input: when this is
    closed, or when we die.
    """

    def __init__(self, start: Callable[[], Process]) -> None:
        self._start, self._lock = start, threading.Lock()
        self._process: Process | None = None

    def ask(self, request: bytes, read: Callable[[IO[bytes]], T]) -> T:
        """What `read` makes of the answer; it raises EOFError where that is cut short. Raises NoAnswer."""
        with self._lock:
            try:
                process = self._process = self._process or self._start()
                assert process.stdin is not None
                assert process.stdout is not None
                process.stdin.write(request)
                process.stdin.flush()
                return read(process.stdout)
            except (OSError, EOFError) as error:
                self._end()
                raise NoAnswer(str(error)) from error
            except BaseException:
                self._end()  # what is left of this answer must not be taken for the next one
                raise

    def close(self) -> None:
        with self._lock:
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(OSError):
                if stream is not None:
                    stream.close()
        if wait(process, LONGEST_END) is None:
            process.kill()
            process.wait()
