"""A process under the shim whose output comes to us as it is printed, and nothing of it is written to disk on the way.

What is done with the output, and what a run means, is the caller's affair.
"""

from __future__ import annotations

import contextlib
import fcntl
import marshal
import os
import select
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.values import dataclass
from agent_fox.system.adapters import adapter
from agent_fox.system.processes import SHIM

if TYPE_CHECKING:
    import pydantic

    from agent_fox.system import programs
else:
    programs = late_module("agent_fox.system.programs")
    pydantic = late_module("pydantic")

CHUNK = 1 << 18
"""Bytes of output that are taken at once, where the system lets a pipe hold them."""

TICK = 0.05
"""Seconds after which a silent process yields an empty piece, so that its reader can look at other things."""

LONGEST_DRAINING = 1.0
"""Seconds that output is waited for after the shim has gone: whoever holds the pipe then cannot be killed."""


@dataclass(frozen=True, slots=True)
class Relayed:
    """One process to run: `argv` in `cwd` with exactly `environment`; `time_limit` and `grace` in seconds.

    descriptors: open files of ours that it gets under the same numbers. groups: folders of control groups that it
    joins. rlimits: `resource` names and values, soft and hard. bounds: `memory` (bytes) and `processes` (threads count)
    that all of it together may take; it is looked at ten times a second, and killed when it takes more.
    """

    argv: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str]
    time_limit: float
    grace: float
    descriptors: tuple[int, ...] = ()
    groups: tuple[Path, ...] = ()
    rlimits: Mapping[str, int] = field(default_factory=dict)
    bounds: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RelayEnd:
    """How it ended: `start_error` says why it never ran, else one of `exit_status` and `signal` is set.

    exceeded: which of its bounds it was killed for. leftovers: processes that were still alive when it had ended, all
    killed.
    """

    seconds: float
    exit_status: int | None = None
    signal: int | None = None
    timed_out: bool = False
    stopped: bool = False
    exceeded: str = ""
    start_error: str = ""
    leftovers: int = 0


_END = adapter(lambda: pydantic.TypeAdapter(RelayEnd))


class Relay:
    """A running process. Closing, or our death, kills it with all it started."""

    def __init__(self, shim: programs.Process, control: int, output: int, report: int) -> None:
        self._shim, self._control, self._output, self._report = shim, control, output, report
        self._is_stopped = False

    def chunks(self) -> Iterator[bytes]:
        """What it prints, both streams in their order, until nothing of it is left; b"" for every quiet tick."""
        gone_since: float | None = None
        while True:
            if select.select([self._output], [], [], TICK)[0]:
                data = os.read(self._output, CHUNK)
                if not data:
                    return
                yield data
            elif self._shim.poll() is None:
                yield b""
            elif gone_since is None:
                gone_since = time.monotonic()
            elif time.monotonic() - gone_since > LONGEST_DRAINING:
                return

    def stop(self) -> None:
        """Ask it to end (TERM, then KILL after the grace); saying it twice changes nothing."""
        if not self._is_stopped:
            self._is_stopped = True
            self._say(b"s")

    def end(self) -> RelayEnd | None:
        """Wait for its end; None where the shim was killed before it could tell it."""
        self._shim.wait()
        try:
            return _END.validate_python(marshal.loads(os.read(self._report, CHUNK)))
        except (EOFError, pydantic.ValidationError):
            return None

    def close(self) -> None:
        """Kill whatever still runs, and wait for that."""
        os.close(self._control)
        os.close(self._output)
        self._shim.wait()
        os.close(self._report)

    def go(self, document: bytes) -> None:
        self._say(b"g%010d" % len(document) + document)

    def _say(self, words: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):
            while words:
                words = words[os.write(self._control, words) :]


@contextlib.contextmanager
def relayed(command: Relayed) -> Iterator[Relay]:
    """The command, running; killed with its tree when the block is left."""
    relay = _start(command.descriptors)
    try:
        relay.go(_document(command))
        yield relay
    finally:
        relay.close()


def _start(descriptors: tuple[int, ...]) -> Relay:
    with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
        mouth, control = _pipe(theirs, ours)
        output, printed = _pipe(ours, theirs)
        report, written = _pipe(ours, theirs)
        with contextlib.suppress(OSError):  # a wider pipe only spares turns
            fcntl.fcntl(output, fcntl.F_SETPIPE_SZ, CHUNK)
        argv = [sys.executable, "-I", "-S", str(SHIM), "--relay", str(written)]
        pipes = (written, *descriptors)
        shim = programs.start(argv, None, "/", stdin=mouth, stdout=printed, stderr=printed, descriptors=pipes)
        ours.pop_all()
        return Relay(shim, control, output, report)


def _pipe(closes_reading: contextlib.ExitStack, closes_writing: contextlib.ExitStack) -> tuple[int, int]:
    reading, writing = os.pipe()
    closes_reading.callback(os.close, reading)
    closes_writing.callback(os.close, writing)
    return reading, writing


def _document(command: Relayed) -> bytes:
    return marshal.dumps(
        {
            "argv": list(command.argv),
            "environment": dict(command.environment),
            "cwd": str(command.cwd),
            "time_limit": command.time_limit,
            "grace": command.grace,
            "descriptors": command.descriptors,
            "groups": tuple(map(str, command.groups)),
            "rlimits": dict(command.rlimits),
            "bounds": dict(command.bounds),
        }
    )
