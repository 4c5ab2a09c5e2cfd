"""Running one command: private home, no input, own group, limits on time and output. Judges nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

OUTPUT_LIMIT = 256 * 1024  # bytes kept of what a command prints: half from its beginning, half from its end
LOG_LIMIT = 64 * 1024 * 1024  # bytes of it kept in a log file
GRACE = 2.0  # seconds between asking a command to end and killing it
_CHUNK = 65_536


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended. `exit_code` is None if it never started or was stopped; negative for a signal."""

    exit_code: int | None
    output: str
    seconds: float
    is_timed_out: bool = False
    not_started: str = ""


class Excerpt:
    """The beginning and the end of a stream, in bounded memory; all of it, up to a limit, in `log` if there is one."""

    def __init__(self, limit: int, log: BinaryIO | None = None) -> None:
        self._log = log
        self._room = LOG_LIMIT
        self._half = limit // 2
        self._head = bytearray()
        self._tail = bytearray()
        self._dropped = 0

    def add(self, data: bytes) -> None:
        if self._log is not None and self._room > 0:
            self._log.write(data[: self._room])
            self._room -= len(data)
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


def private_environment(private: Path, wanted: Mapping[str, str]) -> dict[str, str]:
    """PATH, LANG, a HOME and a TMPDIR of its own below `private`, then what is `wanted`: nothing else."""
    home, temporary = private / "home", private / "tmp"
    home.mkdir(exist_ok=True)
    temporary.mkdir(exist_ok=True)
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LANG": os.environ.get("LANG", "C.UTF-8"),
        "HOME": str(home),
        "TMPDIR": str(temporary),
        **wanted,
    }


def run_logged(argv: tuple[str, ...], folder: Path, environment: Mapping[str, str], timeout: float, log: Path) -> Ended:
    """As `run_command`, with all that it prints in `log` too."""
    with log.open("wb", buffering=0) as file:
        return run_command(argv, folder, environment, timeout, file)


def run_command(
    argv: tuple[str, ...], folder: Path, environment: Mapping[str, str], timeout: float, log: BinaryIO | None = None
) -> Ended:
    """Run argv in `folder` until it ends or `timeout` seconds have passed; its group ends with it."""
    started = time.monotonic()
    try:
        process = _start(argv, folder, environment)
    except (OSError, ValueError) as error:
        return Ended(None, "", 0.0, not_started=f"{argv[0]}: {getattr(error, 'strerror', None) or error}")
    kept = Excerpt(OUTPUT_LIMIT, log)
    reader = threading.Thread(target=_read, args=(process.stdout, kept), daemon=True)
    reader.start()
    exit_code = _wait(process, timeout)
    reader.join(GRACE)
    return Ended(exit_code, kept.text(), time.monotonic() - started, is_timed_out=exit_code is None)


def _start(argv: tuple[str, ...], folder: Path, environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        argv,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )


def _wait(process: subprocess.Popen[bytes], timeout: float) -> int | None:
    try:
        return process.wait(timeout)
    except subprocess.TimeoutExpired:
        _signal_group(process, signal.SIGTERM)
        with suppress(subprocess.TimeoutExpired):
            process.wait(GRACE)
        return None
    finally:
        _signal_group(process, signal.SIGKILL)
        process.wait()


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, number)


def _read(stream: BinaryIO | None, kept: Excerpt) -> None:
    if stream is None:
        return
    while data := os.read(stream.fileno(), _CHUNK):
        kept.add(data)
