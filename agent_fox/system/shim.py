"""The shim that one session's process runs under. A script of its own, standard library only: it imports
nothing of ours.

Started as `python -I -S -B shim.py FOLDER` with a pipe as standard input whose other end the orchestrator
holds:

- `g` on the pipe: go (nothing runs before); `s`: stop it politely (TERM, grace, KILL), and write its end
  down;
- the pipe closes: the orchestrator is gone, the whole process tree is killed at once, and no end is written.

FOLDER/launch.json says what to run; it is read once and removed, for its environment may hold secrets.
FOLDER/exit.json is written, whole or not at all, when the process has ended by itself, by the time limit or
by `s`.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CONTROL = 0
CHUNK = 1 << 16
PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
LONGEST_KILLING = 5.0
"""Seconds after which a tree that does not die (a process stuck in the kernel) is left alone."""
LONGEST_DRAINING = 1.0
"""Seconds that are waited for output after the last process of the tree is dead."""


class Capture:
    """One stream in a file: the first and the last half of `limit` bytes; what lies between is only
    counted.
    """

    def __init__(self, path: Path, limit: int) -> None:
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC
        self.descriptor = os.open(path, flags, 0o600)
        self.head_left, self.tail_limit = limit // 2, limit - limit // 2
        self.tail = bytearray()
        self.bytes = 0
        self.after_head = 0
        self.error = ""

    def feed(self, data: bytes) -> None:
        self.bytes += len(data)
        head, rest = data[: self.head_left], data[self.head_left :]
        self.head_left -= len(head)
        self.write(head)
        self.after_head += len(rest)
        self.tail += rest
        if len(self.tail) > 2 * self.tail_limit:
            del self.tail[: -self.tail_limit]

    def write(self, data: bytes) -> None:
        try:
            while data:
                data = data[os.write(self.descriptor, data) :]
        except OSError as error:  # a full disk must not end the session's supervision
            self.error = str(error)

    @property
    def left_out(self) -> int:
        return max(0, self.after_head - self.tail_limit)

    def close(self) -> dict[str, Any]:
        if self.left_out:
            self.write(b"\n[... %d bytes left out ...]\n" % self.left_out)
        self.write(bytes(self.tail[-self.tail_limit :]))
        with contextlib.suppress(OSError):
            os.fsync(self.descriptor)
        os.close(self.descriptor)
        return {"bytes": self.bytes, "left_out": self.left_out, "error": self.error}


class Tree:
    """The processes below this one. Orphans come back to it (subreaper), so a daemon cannot slip away on
    Linux.
    """

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        self.child = child

    def members(self) -> list[int]:
        """All live descendants; where there is no /proc, the group of the child is all that can be
        reached.
        """
        parents = dict(_parents())
        found: list[int] = []
        wanted = {os.getpid()}
        while wanted:
            wanted = {pid for pid, parent in parents.items() if parent in wanted}
            found += wanted
        return found

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
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.child.pid, signal.SIGTERM)

    def kill(self) -> None:
        """Kill the child's group and every descendant once."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.child.pid, signal.SIGKILL)
        for pid in self.members():
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)

    def bury(self) -> None:
        """Kill until nothing is left. The child itself has been reaped before."""
        give_up = time.monotonic() + LONGEST_KILLING
        while True:
            self.kill()
            with contextlib.suppress(ChildProcessError):
                while os.waitpid(-1, os.WNOHANG)[0]:
                    pass
            if not self.members() or time.monotonic() > give_up:
                return
            time.sleep(0.01)


def _parents() -> Iterator[tuple[int, int]]:
    """(pid, parent) of every process that is not a zombie."""
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            state, parent = (place / "stat").read_bytes().rpartition(b")")[2].split()[:2]
            if state not in (b"Z", b"X"):
                yield int(place.name), int(parent)


class Supervision:
    """One process from its start to its end."""

    def __init__(self, order: dict[str, Any], child: subprocess.Popen[bytes]) -> None:
        self.tree = Tree(child)
        self.grace: float = order["grace"]
        self.deadline: float = time.monotonic() + order["time_limit"]
        self.kill_at: float | None = None
        self.why = ""
        self.is_lost = self.is_killed_for_loss = False
        self.selector = selectors.DefaultSelector()

    def watch_output(self, stream: Any, capture: Capture) -> None:  # noqa: ANN401 - a pipe's file object
        def read() -> None:
            data = os.read(stream.fileno(), CHUNK)
            capture.feed(data)
            if not data:
                self.selector.unregister(stream)

        self.selector.register(stream, selectors.EVENT_READ, read)

    def watch(self, descriptor: int, on_data: Any) -> None:  # noqa: ANN401 - a bound method
        self.selector.register(descriptor, selectors.EVENT_READ, on_data)

    def hear(self) -> None:
        """A word from the orchestrator, or its silence for ever."""
        if os.read(CONTROL, CHUNK):
            self.end_politely("stopped")
        else:
            self.is_lost = True
            self.selector.unregister(CONTROL)

    def end_politely(self, why: str) -> None:
        if not self.why:
            self.why, self.kill_at = why, time.monotonic() + self.grace
            self.tree.terminate()

    def run(self) -> None:
        """Return when the child has ended, whoever ended it."""
        while not self.tree.has_child_ended():
            for key, _ in self.selector.select(self.patience()):
                key.data()
            if not self.tree.has_child_ended():
                self.press()

    def patience(self) -> float:
        until = self.deadline if self.kill_at is None else self.kill_at
        return 0.05 if self.is_lost else max(0.0, min(until - time.monotonic(), 60.0))

    def press(self) -> None:
        now = time.monotonic()
        if self.is_lost:
            self.is_killed_for_loss = True
            self.tree.kill()
        elif self.kill_at is not None and now >= self.kill_at:
            self.tree.kill()
            self.kill_at = now + 0.05
        elif now >= self.deadline:
            self.end_politely("timed out")

    def drain(self, descriptors: set[int]) -> None:
        """Take what is still in the pipes; whoever else holds them open is not waited for long."""
        give_up = time.monotonic() + LONGEST_DRAINING
        while time.monotonic() < give_up and descriptors & set(self.selector.get_map()):
            for key, _ in self.selector.select(0.05):
                if key.fd in descriptors:
                    key.data()


def supervise(order: dict[str, Any], folder: Path) -> dict[str, Any] | None:
    """Run it; its end as a record, or None where the orchestrator was gone first."""
    began = time.monotonic()
    woken, wakes = socket.socketpair()
    wakes.setblocking(False)
    woken.setblocking(False)
    signal.set_wakeup_fd(wakes.fileno(), warn_on_full_buffer=False)
    try:
        child = start(order)
    except OSError as error:
        return {
            "start_error": f"{error.strerror}: {error.filename}",
            "seconds": 0.0,
            "ended_at": int(time.time()),
        }
    captures = [Capture(folder / name, order["output_limit"]) for name in ("stdout", "stderr")]
    watch = Supervision(order, child)
    for stream, capture in zip((child.stdout, child.stderr), captures, strict=True):
        watch.watch_output(stream, capture)
    watch.watch(CONTROL, watch.hear)
    watch.watch(woken.fileno(), lambda: woken.recv(CHUNK))
    watch.run()
    seconds = time.monotonic() - began
    status = child.wait()
    watch.tree.bury()
    watch.drain({stream.fileno() for stream in (child.stdout, child.stderr) if stream})
    printed = [capture.close() for capture in captures]
    if watch.is_killed_for_loss:
        return None
    return record(status, watch.why, seconds, *printed)


def record(status: int, why: str, seconds: float, stdout: dict[str, Any], stderr: dict[str, Any]) -> dict[str, Any]:
    return {
        "exit_status": status if status >= 0 else None,
        "signal": -status if status < 0 else None,
        "timed_out": why == "timed out",
        "stopped": why == "stopped",
        "seconds": round(seconds, 3),
        "ended_at": int(time.time()),
        "stdout_bytes": stdout["bytes"],
        "stderr_bytes": stderr["bytes"],
        "stdout_left_out": stdout["left_out"],
        "stderr_left_out": stderr["left_out"],
        "write_error": stdout["error"] or stderr["error"],
    }


def start(order: dict[str, Any]) -> subprocess.Popen[bytes]:
    libc = prctl()

    def die_with_the_shim() -> None:
        if libc is not None:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)

    return subprocess.Popen(
        order["argv"],
        cwd=order["cwd"],
        env=order["environment"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        start_new_session=True,
        preexec_fn=die_with_the_shim,
    )


def prctl() -> ctypes.CDLL | None:
    """The C library if it knows prctl (Linux)."""
    libc = ctypes.CDLL(None, use_errno=True)
    return libc if hasattr(libc, "prctl") else None


def write_whole(path: Path, document: dict[str, Any]) -> None:
    """The file is there complete or not at all, after a power cut too."""
    temporary = path.with_suffix(".tmp")
    with temporary.open("w", encoding="utf-8") as file:
        json.dump(document, file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    directory = os.open(path.parent, os.O_RDONLY)
    os.fsync(directory)
    os.close(directory)


def main(folder: Path) -> None:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)  # only the pipe ends a session; a handler is not inherited by exec
    libc = prctl()
    if libc is not None:
        libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    if os.read(CONTROL, 1) != b"g":
        return
    launch = folder / "launch.json"
    order = json.loads(launch.read_bytes())
    launch.unlink()
    end = supervise(order, folder)
    if end is not None:
        write_whole(folder / "exit.json", end)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
