"""Running one command of a build: no shell, no input, guarded on every side, its whole tree ended with it.

Which command, and what its end means, is decided elsewhere; what it printed goes to a sink and is read by nobody here.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.values import dataclass
from agent_fox.system.processes import LONGEST_KILLING, kill_marked
from agent_fox.system.relay import TICK, Relayed, RelayEnd, relayed
from agent_fox.system.sandbox import bubblewrap, toolchains
from agent_fox.system.sandbox.bubblewrap import Container, Enclosed, Mode
from agent_fox.system.sandbox.view import View
from agent_fox.verifier.running.limits import RLIMITS, Confinement, Limits, confined
from agent_fox.verifier.running.output import BoundedLog, Sink

if TYPE_CHECKING:
    from agent_fox.system.sandbox import containers
else:
    containers = late_module("agent_fox.system.sandbox.containers")

GRACE = 2.0
"""Seconds between asking a command to end and killing it. In the sandbox it is killed at once."""

PROGRESS_EVERY = 1.0
"""Seconds between two words of progress."""

MARK = "AGENT_FOX_COMMAND"
"""The variable by which processes of a command are known whose watcher was killed."""

LOST = "the command ended the process that watched it"

Progress = Callable[[float, int], None]
"""Told seconds since the start and bytes printed."""


class OutsideWorkspace(ValueError):
    """A folder that a command was to run in, or to change, does not lie in its workspace."""


@dataclass(frozen=True, slots=True)
class CommandOrder:
    """One command: `argv` in `cwd` inside the workspace `root`.

    private: an empty folder of this command alone, for its HOME and TMPDIR. environment: added to the minimal one.
    writable: the only folders it may change (made if missing; those outside the workspace must exist), None for the
    whole workspace. readable: further folders that it sees. secrets: exact values that are masked in its output.
    own_caches: it sees none of the machine's caches of packages, and makes its own. kept: what it may not change,
    in a sandbox; emptied: folders that it sees empty there, and whose content is gone with it. stand_in: a copy of
    `root` that it runs in; in the sandbox it lies where `root` does, elsewhere beside it. descriptors: open files of
    ours that it gets under the same numbers.
    """

    argv: tuple[str, ...]
    cwd: Path
    root: Path
    private: Path
    environment: Mapping[str, str] = field(repr=False)
    limits: Limits
    network: bool = False
    writable: tuple[Path, ...] | None = None
    readable: tuple[Path, ...] = ()
    secrets: tuple[str, ...] = field(default=(), repr=False)
    own_caches: bool = False
    kept: tuple[Path, ...] = ()
    emptied: tuple[Path, ...] = ()
    stand_in: Path | None = None
    descriptors: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CommandEnd:
    """How a command ended.

    exit_code: negative for a signal; None where it never ran, was stopped, or could not be watched to its end, and
    then `start_error` says why, if neither time nor a person ended it. In the sandbox a signal shows as 128 + its
    number, as in a shell; `signal` knows both. Times are ISO 8601, UTC.
    leftovers: processes that were alive after its end, all killed; in the sandbox the kernel does that and counts none.
    """

    exit_code: int | None
    seconds: float
    started_at: str
    completed_at: str
    timed_out: bool = False
    cancelled: bool = False
    start_error: str = ""
    out_of_memory: bool = False
    process_limit_hit: bool = False
    output_bytes: int = 0
    left_out: int = 0
    isolation: str = ""
    leftovers: int = 0

    @property
    def signal(self) -> int | None:
        """The signal that ended it, if one did."""
        if self.exit_code is None or 0 <= self.exit_code <= 128:
            return None
        return -self.exit_code if self.exit_code < 0 else self.exit_code - 128


class Slots:
    """At most `count` commands at once in this process."""

    def __init__(self, count: int) -> None:
        self._free = threading.BoundedSemaphore(count)

    @contextlib.contextmanager
    def one(self, stop: threading.Event) -> Iterator[bool]:
        """Wait for a slot and hold it for the block; False where `stop` was set first."""
        is_held = self._free.acquire(blocking=False)
        while not is_held and not stop.is_set():
            is_held = self._free.acquire(timeout=TICK)
        try:
            yield is_held
        finally:
            if is_held:
                self._free.release()


def environment_of(private: Path, added: Mapping[str, str]) -> dict[str, str]:
    """What a command gets to know of ours, which is next to nothing, and what is `added`."""
    entries = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return {
        "PATH": os.pathsep.join(entry for entry in entries if Path(entry).is_absolute()),
        "LANG": "C.UTF-8",
        "LC_ALL": "C.UTF-8",
        "HOME": str(private / "home"),
        "TMPDIR": str(private / "tmp"),
        "TERM": "dumb",
        "CI": "true",
        **{name: os.environ[name] for name in toolchains.VARIABLES if name in os.environ},
        **added,
    }


def run_command(
    order: CommandOrder, log: Sink, mode: Mode, stop: threading.Event, progress: Progress | None = None
) -> CommandEnd:
    """Run it to its end and leave nothing behind; blocks the calling thread. `log` gets what is kept of its output.

    OutsideWorkspace and SandboxMissing are raised before anything runs; an error of `log` ends the command.
    """
    isolation, started_at = bubblewrap.in_words(mode, order.network), _now()
    order = resolved(order)
    environment = environment_of(order.private, order.environment) | {MARK: secrets.token_hex(16)}
    refusal = _why_not(order, None if isinstance(mode, Container) else environment["PATH"])
    if refusal or stop.is_set():
        return CommandEnd(None, 0.0, started_at, _now(), False, not refusal, refusal, isolation=isolation)
    _make_folders(order, is_linked=not bubblewrap.is_used(mode))
    kept = BoundedLog(log, order.limits.output_bytes, order.secrets)
    with confined(order.limits) as bounds, _wrapped(order, environment, mode) as wrapped:
        end = _followed(_command(order, environment, bounds, wrapped), kept, stop, progress)
        _kill_what_is_left(environment[MARK], bounds, is_lost=end is None)
        kept.close()
        return _end(end, wrapped, bounds, kept, started_at, isolation)


def resolved(order: CommandOrder) -> CommandOrder:
    """The order with all links followed; OutsideWorkspace where one leads out of the workspace."""
    root = order.root.resolve()
    return replace(
        order,
        root=root,
        cwd=_inside(root, order.cwd),
        private=order.private.resolve(),
        writable=None
        if order.writable is None
        else tuple(_writable(order.root, root, each) for each in order.writable),
        readable=tuple(folder.resolve() for folder in order.readable if folder.exists()),
        kept=tuple(path.resolve() for path in order.kept if path.exists()),
        emptied=tuple(folder.resolve() for folder in order.emptied if folder.is_dir()),
    )


def _inside(root: Path, folder: Path) -> Path:
    place = (root / folder).resolve()
    if not place.is_relative_to(root):
        raise OutsideWorkspace(f"{folder}: not inside the workspace")
    return place


def _writable(named: Path, root: Path, folder: Path) -> Path:
    if not folder.is_absolute() or folder.is_relative_to(named) or folder.is_relative_to(root):
        return _inside(root, folder)
    if not folder.is_dir():
        raise OutsideWorkspace(f"{folder}: neither inside the workspace nor a folder")
    return folder.resolve()


def _why_not(order: CommandOrder, search_path: str | None) -> str:
    """Why it cannot be started at all; empty where it can be tried. Without a search path nobody knows."""
    if not order.cwd.is_dir():
        return f"{order.cwd.relative_to(order.root)}: no such folder in the workspace"
    if not order.argv or any("\0" in word for word in order.argv):
        return "the command is empty, or holds a NUL byte"
    if search_path is not None and toolchains.executable(order.argv[0], order.cwd, search_path) is None:
        return f"{order.argv[0]}: not found, or not executable"
    return ""


def _make_folders(order: CommandOrder, is_linked: bool) -> None:
    """Its own folders; without a sandbox, which shows them itself, caches of packages are linked into its home."""
    for folder in (order.private / "home", order.private / "tmp", *(order.writable or ())):
        folder.mkdir(parents=True, exist_ok=True)
    for name, place in toolchains.caches(os.environ) if is_linked and not order.own_caches else ():
        link = order.private / "home" / name
        link.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileExistsError):
            link.symlink_to(place)


@contextlib.contextmanager
def _wrapped(order: CommandOrder, environment: Mapping[str, str], mode: Mode) -> Iterator[Enclosed]:
    if not bubblewrap.is_used(mode):
        yield Enclosed(order.argv)
        return
    is_contained = isinstance(mode, Container)
    tools = () if is_contained else toolchains.folders(order.argv[0], order.cwd, environment)
    readable = (*order.readable, *(folder for folder in tools if not folder.is_relative_to(order.root)))
    home = order.private / "home"
    in_memory = () if order.own_caches else (home, order.private / "tmp")  # bounded, as /tmp is
    view = View(
        order.root, order.cwd, order.private, home, order.writable, readable, order.network, order.own_caches,
        kept=order.kept, emptied=(*order.emptied, *in_memory), stand_in=order.stand_in,
    )  # fmt: skip
    limits = containers.limits_of(order.limits.memory_bytes, order.limits.processes) if is_contained else ()
    with bubblewrap.kept_apart(order.argv, view, mode, environment, limits=limits) as wrapped:
        yield wrapped


def _standing(order: CommandOrder) -> Path:
    """Where a command without a sandbox runs: in the copy of its workspace, where there is one."""
    return order.stand_in / order.cwd.relative_to(order.root) if order.stand_in else order.cwd


def _command(order: CommandOrder, environment: Mapping[str, str], bounds: Confinement, wrapped: Enclosed) -> Relayed:
    return Relayed(
        argv=wrapped.argv,
        cwd=order.cwd if wrapped.is_apart else _standing(order),
        environment=environment,
        time_limit=order.limits.seconds,
        grace=GRACE,
        descriptors=(*wrapped.descriptors, *order.descriptors),
        groups=bounds.group.folders,
        rlimits=RLIMITS,
        bounds=bounds.watched,
    )


def _followed(command: Relayed, kept: BoundedLog, stop: threading.Event, progress: Progress | None) -> RelayEnd | None:
    began = reported = time.monotonic()
    with relayed(command) as relay:
        for piece in relay.chunks():
            kept.add(piece)
            if stop.is_set():
                relay.stop()
            now = time.monotonic()
            if progress is not None and now - reported >= PROGRESS_EVERY:
                reported = now
                progress(now - began, kept.bytes)
        return relay.end()


def _kill_what_is_left(mark: str, bounds: Confinement, is_lost: bool) -> None:
    """Where the watcher was killed: by control group, and by the mark that every process of the command inherits."""
    give_up = time.monotonic() + LONGEST_KILLING
    while is_lost and time.monotonic() < give_up:
        bounds.group.kill()
        is_lost = kill_marked(MARK, mark) > 0


def _end(
    end: RelayEnd | None, wrapped: Enclosed, bounds: Confinement, kept: BoundedLog, started_at: str, isolation: str
) -> CommandEnd:
    end = RelayEnd(0.0, start_error=LOST) if end is None else end
    is_ended_by_us = end.timed_out or end.stopped
    error = end.start_error
    if not (error or is_ended_by_us or end.exceeded or wrapped.is_command_started()):
        error = kept.beginning.decode("utf-8", "replace").strip() or "the sandbox could not start it"
    return CommandEnd(
        exit_code=None if error or is_ended_by_us else _exit_code(end),
        seconds=end.seconds,
        started_at=started_at,
        completed_at=_now(),
        timed_out=end.timed_out,
        cancelled=end.stopped,
        start_error=error,
        out_of_memory=bounds.group.is_out_of_memory() or end.exceeded == "memory",
        process_limit_hit=bounds.group.is_process_limit_hit() or end.exceeded == "processes",
        output_bytes=kept.bytes,
        left_out=kept.left_out,
        isolation="; ".join(filter(None, (isolation, bounds.words))),
        leftovers=0 if wrapped.is_apart else end.leftovers,
    )


def _exit_code(end: RelayEnd) -> int | None:
    return end.exit_status if end.signal is None else -end.signal


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
