"""One process of an agent's program: its lines as they come, and its end, polite first."""

from __future__ import annotations

import contextlib
import os
import queue
import signal
import threading
import time
from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import IO

from agent_fox.core.values import dataclass
from agent_fox.system import programs

LONGEST_LINE = 32 * 1024 * 1024
"""Bytes of one line; the rest of a longer one is the next line."""

LONGEST_CHAIN = 8
"""Processes between the one that was started and the program itself: a sandbox, an interpreter's wrapper."""

WRAPPERS = ("bwrap",)


class Stream(StrEnum):
    OUTPUT = "output"
    COMPLAINTS = "complaints"
    END = "end"


@dataclass(frozen=True, slots=True)
class StreamLine:
    """A line of one of its streams, or, with `END`, that the stream has ended."""

    stream: Stream
    text: str = ""


class Child:
    """A running process in a session of its own. Threads give its lines to `deliver`."""

    def __init__(
        self,
        argv: tuple[str, ...],
        environment: Mapping[str, str],
        cwd: Path,
        stdin: str,
        deliver: Callable[[StreamLine], None],
        descriptors: tuple[int, ...] = (),
        *,
        is_spoken_with: bool = False,
    ) -> None:
        """`stdin` is written; then its input is closed, unless it `is_spoken_with`.

        Raises OSError where the program cannot be started.
        """
        self._process = programs.start(argv, environment, cwd, descriptors=descriptors)
        self._deliver = deliver
        self._unsaid: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._unsaid.put(stdin)
        if not is_spoken_with:
            self.close_input()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        assert self._process.stderr is not None
        self._threads = [
            threading.Thread(target=_write, args=(self._process.stdin, self._unsaid), daemon=True),
            threading.Thread(target=self._pump, args=(self._process.stdout, Stream.OUTPUT), daemon=True),
            threading.Thread(target=self._pump, args=(self._process.stderr, Stream.COMPLAINTS), daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def _pump(self, source: IO[bytes], stream: Stream) -> None:
        with contextlib.suppress(ValueError):  # closed under us when the process is given up
            while line := source.readline(LONGEST_LINE):
                self._deliver(StreamLine(stream, line.decode("utf-8", "replace").rstrip("\r\n")))
        self._deliver(StreamLine(Stream.END, stream))

    @property
    def exit_status(self) -> int | None:
        """None while it runs; negative for a signal."""
        return self._process.poll()

    def wait(self, seconds: float) -> int | None:
        return programs.wait(self._process, seconds)

    @property
    def unsaid(self) -> int:
        """Lines that it has not read yet."""
        return self._unsaid.qsize()

    def say(self, line: str) -> None:
        """Write a line to its input, as soon as it reads on; never waits."""
        self._unsaid.put(f"{line}\n")

    def close_input(self) -> None:
        self._unsaid.put(None)

    def interrupt(self) -> None:
        """Ask the program itself to end (INT): it still reports its cost then."""
        _send(program_below(self._process.pid), signal.SIGINT)

    def terminate(self) -> None:
        _send(program_below(self._process.pid), signal.SIGTERM)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGTERM)

    def kill(self) -> None:
        """Kill it and all that descends from it; what has left its family is the shim's to end."""
        self.close_input()
        family = descendants(self._process.pid)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        for pid in family:
            _send(pid, signal.SIGKILL)

    def drain(self, seconds: float) -> None:
        """Wait for its last lines; whoever else holds its streams open is not waited for longer."""
        give_up = time.monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, give_up - time.monotonic()))


def _write(sink: IO[bytes], texts: queue.SimpleQueue[str | None]) -> None:
    """Until None comes. Closing can fail like writing."""
    with contextlib.suppress(OSError), sink:  # it need not read all of it
        for text in iter(texts.get, None):
            sink.write(text.encode("utf-8", "surrogateescape"))
            sink.flush()


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.kill(pid, number)


def program_below(pid: int) -> int:
    """The program that a sandbox runs, or the process itself where it is no wrapper."""
    for _ in range(LONGEST_CHAIN):
        below = _children(pid)
        if _name(pid) not in WRAPPERS or not below:
            return pid
        pid = below[0]
    return pid


def descendants(pid: int) -> list[int]:
    processes = _children(pid)
    for process in processes:  # grows while it is walked
        processes += _children(process)
    return processes


def _children(pid: int) -> list[int]:
    try:
        return [
            int(word)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for word in (task / "children").read_text(encoding="ascii").split()
        ]
    except OSError:
        return []


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return ""
