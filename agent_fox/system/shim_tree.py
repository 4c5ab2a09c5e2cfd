"""Part of the shim: the process that it runs, and the tree of processes below it. Standard library only, and little of
it, for it is loaded before every command.
"""
# pathlib takes longer to load than Python to start
# ruff: noqa: PTH106, PTH112, PTH123, PTH208

from __future__ import annotations

import ctypes
import os
import resource
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Iterator, Mapping
    from types import TracebackType
else:
    import _signal as signal  # without the enums of `signal`, whose making takes a quarter of our start

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LONGEST_KILLING = 5.0
"""Seconds after which a tree that does not die (a process stuck in the kernel) is left alone."""
LONGEST_REMOVING = 1.0
"""Seconds that a control group gets to become empty."""
NO_BOUND = 1 << 62
RESET_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ)
"""Python ignores them, and what is ignored is inherited."""

_libc = ctypes.CDLL(None, use_errno=True)


class Ignoring:
    """`contextlib.suppress`, whose module takes long to load."""

    def __init__(self, *errors: type[OSError]) -> None:
        self.errors = errors

    def __enter__(self) -> None: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        return isinstance(error, self.errors)


class NotStarted(Exception):
    """The process never came to be; the message says why."""


class Child:
    """A process of ours, and the reading ends of its two streams (none where they go where ours go)."""

    def __init__(self, pid: int, streams: tuple[int, ...]) -> None:
        self.pid, self.streams = pid, streams
        self._status: int | None = None

    def poll(self) -> int | None:
        """Its exit status, negative for a signal; None while it runs."""
        return self._reap(os.WNOHANG)

    def wait(self) -> int:
        status = self._reap(0)
        assert status is not None
        return status

    def _reap(self, options: int) -> int | None:
        if self._status is None:
            pid, status = os.waitpid(self.pid, options)
            self._status = os.waitstatus_to_exitcode(status) if pid else None
        return self._status


def start(
    argv: list[str],
    cwd: str,
    environment: Mapping[str, str],
    is_relayed: bool,
    descriptors: tuple[int, ...] = (),
    groups: tuple[str, ...] = (),
    rlimits: Mapping[str, int] | None = None,
) -> Child:
    """Run it in a session of its own, without input, with no file of ours open but `descriptors`."""
    complaint, complain = os.pipe()
    pipes = [] if is_relayed else [os.pipe(), os.pipe()]
    outputs = [writing for _, writing in pipes] or [1, 1]
    pid = os.fork()
    if pid == 0:
        try:
            os.setsid()
            _bind_to_us(groups, rlimits or {})
            _arrange(cwd, outputs, descriptors)
            os.execvpe(argv[0], argv, environment)
        except (OSError, ValueError) as error:
            why = f"{error.strerror}: {argv[0]}" if isinstance(error, OSError) else str(error)
            os.write(complain, why.encode("utf-8", "replace"))
        finally:
            os._exit(127)  # whatever happens, the child does not go on as a second shim
    for descriptor in (complain, *(writing for _, writing in pipes), *descriptors):
        os.close(descriptor)
    with open(complaint, "rb") as file:
        why = file.read().decode("utf-8", "replace")
    if why:
        os.waitpid(pid, 0)
        raise NotStarted(why)
    return Child(pid, tuple(reading for reading, _ in pipes))


def _bind_to_us(groups: tuple[str, ...], rlimits: Mapping[str, int]) -> None:
    prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    for group in groups:
        with open(f"{group}/cgroup.procs", "wb", buffering=0) as file:
            file.write(b"0")
    for name, value in rlimits.items():
        which = getattr(resource, name)
        hard = resource.getrlimit(which)[1]
        most = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(which, (most, most))


def _arrange(cwd: str, outputs: list[int], descriptors: tuple[int, ...]) -> None:
    os.chdir(cwd)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number, output in enumerate(outputs, 1):
        os.dup2(output, number)
    for descriptor in descriptors:
        os.set_inheritable(descriptor, True)
    for number in RESET_SIGNALS:
        signal.signal(number, signal.SIG_DFL)


def prctl(option: int, value: int) -> None:
    """Tell the kernel something about this process, where there is such a call (Linux)."""
    if hasattr(_libc, "prctl"):
        _libc.prctl(option, value, 0, 0, 0)


class Tree:
    """The processes below this one. Orphans come back to it (subreaper), so a daemon cannot slip away on Linux."""

    def __init__(self, child: Child) -> None:
        self.child = child

    def members(self) -> list[int]:
        """All live descendants; where there is no /proc, the group of the child is all that can be reached."""
        parents = dict(_parents())
        members: list[int] = []
        wanted = {os.getpid()}
        while wanted:
            wanted = {pid for pid, parent in parents.items() if parent in wanted}
            members += wanted
        return members

    def exceeded(self, bounds: Mapping[str, int]) -> str:
        """The first of the bounds (`processes`: threads count too; `memory`: bytes) that all of it together breaks."""
        members = self.members()
        if sum(map(_threads, members)) > bounds.get("processes", NO_BOUND):
            return "processes"
        most = bounds.get("memory", NO_BOUND)
        if sum(map(_resident, members)) > most and sum(map(_proportional, members)) > most:
            return "memory"
        return ""

    def has_child_ended(self) -> bool:
        """Whether the child is dead; other dead orphans are buried on the way."""
        while hasattr(os, "waitid"):
            dead = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if dead is None or dead.si_pid == 0:
                return False
            if dead.si_pid == self.child.pid:
                return True
            os.waitpid(dead.si_pid, 0)
        return self.child.poll() is not None

    def terminate(self) -> None:
        with Ignoring(ProcessLookupError, PermissionError):
            os.killpg(self.child.pid, signal.SIGTERM)

    def kill(self) -> int:
        """Kill the child's group and every descendant once; how many descendants there were."""
        self.kill_group()
        members = self.members()
        for pid in members:
            with Ignoring(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        return len(members)

    def kill_group(self) -> None:
        with Ignoring(ProcessLookupError, PermissionError):
            os.killpg(self.child.pid, signal.SIGKILL)

    def bury(self) -> int:
        """Kill until nothing is left; how many there were. The child itself has been reaped before."""
        give_up = time.monotonic() + LONGEST_KILLING
        most = 0
        self.kill_group()
        while self.has_children() and time.monotonic() < give_up:
            most = max(most, self.kill())
            time.sleep(0.002)
        return most

    def has_children(self) -> bool:
        """Whether anything lives below this process: orphans come back to it. The dead are buried on the way."""
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return False
        return True


def _parents() -> Iterator[tuple[int, int]]:
    """(pid, parent) of every process that is not a zombie."""
    with Ignoring(FileNotFoundError):
        for name in filter(str.isdigit, os.listdir("/proc")):
            with Ignoring(OSError), open(f"/proc/{name}/stat", "rb") as file:
                state, parent = file.read().rpartition(b")")[2].split()[:2]
                if state not in (b"Z", b"X"):
                    yield int(name), int(parent)


def _threads(pid: int) -> int:
    with Ignoring(OSError):
        return len(os.listdir(f"/proc/{pid}/task"))
    return 0


def _resident(pid: int) -> int:
    """Bytes in memory; what is shared with others counts whole, so that the sum over a tree is too much."""
    with Ignoring(OSError), open(f"/proc/{pid}/statm", "rb") as file:
        return int(file.read().split()[1]) * resource.getpagesize()
    return 0


def _proportional(pid: int) -> int:
    """Bytes in memory; what is shared with others counts in part. Slower to ask for."""
    with Ignoring(OSError), open(f"/proc/{pid}/smaps_rollup", "rb") as file:
        return sum(int(line.split()[1]) << 10 for line in file if line.startswith(b"Pss:"))
    return 0


def remove_groups(folders: tuple[str, ...]) -> None:
    """Remove control groups whose processes have just been killed."""
    give_up = time.monotonic() + LONGEST_REMOVING
    for folder in folders:
        while os.path.isdir(folder) and time.monotonic() < give_up:
            with Ignoring(OSError):
                os.rmdir(folder)
            time.sleep(0.01)
