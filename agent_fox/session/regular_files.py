"""Reading files that an agent may have replaced by anything: a pipe, a link, a device, gigabytes."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

CHUNK = 1 << 20


def read_regular(path: Path, limit: int) -> bytes | None:
    """The first `limit` bytes of a regular file; None where there is none. A link is not followed, a pipe
    not waited for.
    """
    return b"".join(pieces(path, limit)) if _is_regular(path) else None


def pieces(path: Path, limit: int) -> Iterator[bytes]:
    """The same, a piece at a time; nothing where there is no regular file."""
    if not _is_regular(path):
        return
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        while limit > 0 and (piece := file.read(min(CHUNK, limit))):
            limit -= len(piece)
            yield piece


def last_lines(path: Path, count: int, window: int = 64 * 1024) -> list[str]:
    """The last non-empty lines within the last `window` bytes of a file; none where it cannot be read."""
    if not _is_regular(path):
        return []
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - window))
        text = file.read(window).decode("utf-8", "replace")
    return [line for line in text.splitlines() if line.strip()][-count:]


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
