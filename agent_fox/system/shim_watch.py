"""Part of the shim: watching one process from its start to its end, and keeping what it prints within bounds."""

from __future__ import annotations

import os
import select
import time

from agent_fox.system.shim_tree import Child, Ignoring, Tree

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable, Mapping
else:
    import _signal as signal  # see `shim_tree`

CONTROL = 0
CHUNK = 1 << 16
LOOK_EVERY = 0.1
"""Seconds between two looks at what a process with bounds takes."""
CLOCK = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
"""What a lease is measured by: it goes on while the machine sleeps."""
LONGEST_LATE = 5.0
"""Seconds that we may be late on a machine that is only busy."""
LONGEST_DRAINING = 1.0
"""Seconds that are waited for output after the last process of the tree is dead."""


class Capture:
    """One stream in a file: the first and the last half of `limit` bytes; what lies between is only counted."""

    def __init__(self, path: str, limit: int) -> None:
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

    def close(self) -> None:
        if self.left_out:
            self.write(b"\n[... %d bytes left out ...]\n" % self.left_out)
        self.write(bytes(self.tail[-self.tail_limit :]))
        with Ignoring(OSError):
            os.fsync(self.descriptor)
        os.close(self.descriptor)


class Supervision:
    """One process from its start to its end."""

    def __init__(
        self, child: Child, time_limit: float, grace: float, woken: int, bounds: Mapping[str, int], lease: float = 0.0
    ) -> None:
        self.tree = Tree(child)
        self.grace = grace
        self.bounds = bounds
        self.deadline: float = time.monotonic() + time_limit
        self.kill_at: float | None = None
        self.lease = lease
        self.leased_until = time.clock_gettime(CLOCK) + lease
        self.why = ""
        self.is_lost = self.is_killed_for_loss = False
        self.poll = select.poll()
        self.heard: dict[int, Callable[[], object]] = {}
        self.watch(CONTROL, self.hear)
        self.watch(woken, lambda: os.read(woken, CHUNK))

    def watch_output(self, stream: int, capture: Capture) -> None:
        def read() -> None:
            data = os.read(stream, CHUNK)
            capture.feed(data)
            if not data:
                self.forget(stream)

        self.watch(stream, read)

    def watch(self, descriptor: int, on_data: Callable[[], object]) -> None:
        self.heard[descriptor] = on_data
        self.poll.register(descriptor, select.POLLIN)

    def forget(self, descriptor: int) -> None:
        del self.heard[descriptor]
        self.poll.unregister(descriptor)

    def listen(self, longest: float) -> None:
        """Wait for a word on any of the watched files, at most so many seconds, and let it be heard."""
        for descriptor, _ in self.poll.poll(longest * 1000):
            self.heard[descriptor]()

    def hear(self) -> None:
        """A word from the orchestrator, or its silence for ever. `b` says that it is still ours."""
        words = os.read(CONTROL, CHUNK)
        if not self.is_lease_over():  # who was frozen comes too late, with all that it says
            self.leased_until = time.clock_gettime(CLOCK) + self.lease
        if words.strip(b"b"):
            self.end_politely("stopped")
        elif words:
            return
        else:
            self.is_lost = True
            self.forget(CONTROL)

    def is_lease_over(self) -> bool:
        return bool(self.lease) and time.clock_gettime(CLOCK) >= self.leased_until

    def end_politely(self, why: str) -> None:
        if not self.why:
            self.why, self.kill_at = why, time.monotonic() + self.grace
            self.tree.terminate()

    def run(self) -> None:
        """Return when the child has ended, whoever ended it."""
        while not self.tree.has_child_ended():
            asked, before = self.patience(), time.monotonic()
            self.listen(asked)
            self.forgive(asked, time.monotonic() - before)
            if not self.tree.has_child_ended():
                self.press()

    def forgive(self, asked: float, waited: float) -> None:
        """Time in which nothing ran here (a machine that slept, a clock that jumped) is not the process's."""
        if waited > asked + LONGEST_LATE:
            self.deadline += waited

    def patience(self) -> float:
        until = self.deadline if self.kill_at is None else self.kill_at
        longest = LOOK_EVERY if self.bounds else 60.0
        longest = min(longest, max(0.0, self.leased_until - time.clock_gettime(CLOCK))) if self.lease else longest
        return 0.05 if self.is_lost else max(0.0, min(until - time.monotonic(), longest))

    def press(self) -> None:
        now = time.monotonic()
        if self.is_lease_over():
            self.is_lost = True
        if self.is_lost:
            self.is_killed_for_loss = True
            self.tree.kill()
        elif self.kill_at is not None and now >= self.kill_at:
            self.tree.kill()
            self.kill_at = now + 0.05
        elif now >= self.deadline:
            self.end_politely("timed out")
        elif self.bounds and (exceeded := self.tree.exceeded(self.bounds)):
            self.why, self.kill_at = exceeded, now
            self.tree.kill()

    def drain(self, descriptors: set[int]) -> None:
        """Take what is still in the pipes; whoever else holds them open is not waited for long."""
        give_up = time.monotonic() + LONGEST_DRAINING
        for descriptor in self.heard.keys() - descriptors:
            self.forget(descriptor)
        while time.monotonic() < give_up and self.heard:
            self.listen(0.05)


def wakened_by_signals() -> int:
    """The reading end of a pipe that every signal writes to."""
    woken, wakes = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(wakes, False)
    signal.set_wakeup_fd(wakes, warn_on_full_buffer=False)
    return woken
