"""What one file of a workspace holds right now, without being fooled by its times. Which files matter is elsewhere."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
import time
from typing import NamedTuple

CLOCK_GRAIN = 40_000_000
"""Nanoseconds within which two changes of a file may bear the same ctime: kernels stamp at the ticks of a timer."""

TRIES = 5
"""How often a file that changes while it is read is read again."""

_PIECE = 1 << 20
_TURNED_INTO_SOMETHING_ELSE = (errno.ELOOP, errno.ENXIO, errno.EINVAL)
"""What opening a link or a socket, and reading what is no link, fail with."""

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC

LARGEST = 1 << 30
"""Bytes of a file whose content is still read. A larger one (it may be a hole of terabytes) is known by its stamp."""

Stamp = tuple[int, int, int, int]
"""Mode, inode, size and ctime in nanoseconds. Whoever writes to a file can set its mtime, but not its ctime."""


class Seen(NamedTuple):
    """A file as it was read. `content` is a SHA-256 of bytes, or a link's target, or empty for pipes and the like.

    The content need not be read again while the stamp stays the same; None says that the stamp is too young to tell.
    """

    stamp: Stamp | None
    mode: int
    content: bytes

    def is_like(self, other: Seen) -> bool:
        return self.mode == other.mode and self.content == other.content


def stamp_of(found: os.stat_result) -> Stamp:
    return found.st_mode, found.st_ino, found.st_size, found.st_ctime_ns


def look(name: str, folder: int | None = None, stamp: Stamp | None = None, known: Seen | None = None) -> Seen | None:
    """Read one path, relative to an open folder. None where nothing is there.

    `stamp` saves asking for it; `known`, with the same stamp, saves reading the content. A file that never holds still
    is told with what was last read of it, and no stamp.
    """
    seen = None
    for _ in range(TRIES):
        try:
            stamp = stamp or stamp_of(os.stat(name, dir_fd=folder, follow_symlinks=False))
            if known is not None and known.stamp == stamp:
                return known
            seen = _look_once(name, folder, stamp)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno not in _TURNED_INTO_SOMETHING_ELSE:
                return _unreadable(stamp)
        if seen is not None and (seen.stamp is not None or (stamp is not None and _is_young(stamp[3]))):
            return seen
        stamp = None
    return seen or _unreadable(stamp)


def _look_once(name: str, folder: int | None, stamp: Stamp) -> Seen:
    mode = stamp[0]
    if stat.S_ISREG(mode):
        return _hashed(name, folder, stamp)
    content = os.fsencode(os.readlink(name, dir_fd=folder)) if stat.S_ISLNK(mode) else b""
    return Seen(stamp, mode, content)


def _hashed(name: str, folder: int | None, stamp: Stamp) -> Seen:
    """The content, and a stamp if it was the same before and after and is old enough to be believed."""
    if stamp[2] > LARGEST:
        return Seen(stamp, stamp[0], f"not read {stamp}".encode())
    is_young = _is_young(stamp[3])
    descriptor = os.open(name, _OPEN, dir_fd=folder)
    try:
        digest = hashlib.sha256()
        remaining = stamp[2]
        while remaining > 0 and (piece := os.read(descriptor, min(remaining, _PIECE))):
            digest.update(piece)
            remaining -= len(piece)
        after = stamp_of(os.fstat(descriptor))
    finally:
        os.close(descriptor)
    return Seen(stamp if after == stamp and not is_young else None, after[0], digest.digest())


def _is_young(ctime: int) -> bool:
    return ctime > time.time_ns() - CLOCK_GRAIN


def _unreadable(stamp: Stamp | None) -> Seen:
    """Its stamp stands in for the content, which may not be read."""
    return Seen(stamp, stamp[0] if stamp else 0, f"unreadable {stamp}".encode())
