"""What is kept of a command's output: its first and its last part, exact secrets masked, in bounded memory.

Where it is kept, and masking by rules, is the sink's affair.
"""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from agent_fox.system.redaction.forms import forms_of
from agent_fox.system.redaction.masking import MASK

LONGEST_LINE = 8 * 1024
"""A gap begins and ends where a line ends, unless the line is longer than this: half a secret is hard to recognise."""

LONGEST_BEGINNING = 4 * 1024


class Sink(Protocol):
    def write(self, data: bytes, /) -> object: ...


LIVE_LIMIT = 8 * 1024 * 1024
LIVE_END = b"\n[... more than can be followed: `agent-fox logs` has it when the session has ended ...]\n"


class Live:
    """Adds what is printed to a file while it is printed, for a person who follows it, up to LIVE_LIMIT bytes of all.

    Trouble with the file is no trouble of the command's: then nothing is to be followed.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def write(self, data: bytes, /) -> None:
        with suppress(OSError), self._path.open("ab") as file:
            room = LIVE_LIMIT - file.tell()
            file.write(data[: max(room, 0)])
            if 0 <= room < len(data):
                file.write(LIVE_END)


class ExactMask:
    """Masks given values in a stream of bytes, across the borders of its pieces."""

    def __init__(self, values: tuple[str, ...]) -> None:
        known = forms_of(values)
        self._pattern = re.compile(b"|".join(map(re.escape, known))) if known else None
        self._held_back = len(known[0]) - 1 if known else 0
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """What is certain so far."""
        if self._pattern is None:
            return data
        masked = self._pattern.sub(MASK.encode(), self._held + data)
        sure = max(0, len(masked) - self._held_back)
        self._held = masked[sure:]
        return masked[:sure]

    def close(self) -> bytes:
        rest, self._held = self._held, b""
        return rest


class BoundedLog:
    """Hands the first half of `limit` bytes to the sink as they come and the last half at the end.

    bytes: how much was printed. left_out: how much of it lies between the halves; known when closed.
    """

    def __init__(self, sink: Sink, limit: int, secrets: tuple[str, ...] = ()) -> None:
        self._sink, self._mask = sink, ExactMask(secrets)
        self._head_left, self._tail_limit = limit // 2, limit - limit // 2
        self._is_head_full = False
        self._tail = bytearray()
        self.beginning = b""
        self.bytes = self.left_out = 0

    def add(self, data: bytes) -> None:
        self.bytes += len(data)
        self._keep(self._mask.feed(data))

    def close(self) -> None:
        """Hand over the last part, after a line that says how much lies before it."""
        self._keep(self._mask.close())
        surplus = len(self._tail) - self._tail_limit
        if surplus > 0 or self.left_out:
            self._forget(_next_line(self._tail, max(surplus, 0)))
            self._sink.write(b"\n[... %d bytes left out ...]\n" % self.left_out)
        if self._tail:
            self._sink.write(bytes(self._tail))

    def _keep(self, data: bytes) -> None:
        if not self._is_head_full:
            data = self._keep_in_head(data)
        self._tail += data
        if len(self._tail) > 2 * self._tail_limit:
            self._forget(len(self._tail) - self._tail_limit)

    def _keep_in_head(self, data: bytes) -> bytes:
        """Hand over what still belongs to the first part; what is left of `data` comes back."""
        self.beginning += data[: LONGEST_BEGINNING - len(self.beginning)]
        self._is_head_full = len(data) > self._head_left
        cut = _last_line(data, self._head_left) if self._is_head_full else len(data)
        self._head_left -= cut
        if cut:
            self._sink.write(data[:cut])
        return data[cut:]

    def _forget(self, size: int) -> None:
        del self._tail[:size]
        self.left_out += size


def _last_line(data: bytes, limit: int) -> int:
    """Where the last whole line within `limit` ends."""
    end = data.rfind(b"\n", max(0, limit - LONGEST_LINE), limit)
    return limit if end < 0 else end + 1


def _next_line(data: bytearray, start: int) -> int:
    """Where the first whole line from `start` begins."""
    end = data.find(b"\n", start, start + LONGEST_LINE)
    return start if end < 0 else end + 1
