"""Files that others may have touched: one that may have become anything is read, one that others read is replaced."""

from __future__ import annotations

import os
import stat
import threading
from collections.abc import Iterator
from pathlib import Path

CHUNK = 1 << 20


def replace_file(path: Path, content: bytes | str, mode: int | None = None, *, is_durable: bool = True) -> None:
    """Put `content` (text as UTF-8) in the place of what is there, whole or not at all; the folder is made if missing.

    A link is replaced, not followed. `mode`: exactly these permissions, else what the umask leaves. Not `is_durable`:
    after the machine went down it may be empty. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}-{threading.get_native_id()}.part")
    part.unlink(missing_ok=True)
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666 if mode is None else mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)
            file.flush()
            if is_durable:
                os.fsync(descriptor)
            if mode is not None:
                os.fchmod(descriptor, mode)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


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
