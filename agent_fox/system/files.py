"""Files that others may have touched: one that may have become anything is read, one that others read is replaced."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import BinaryIO

CHUNK = 1 << 20

LONGEST_NAME = 50
"""Letters of a file's name that the name of its unfinished successor begins with: both have room in 255 bytes."""


@contextmanager
def replacing(path: Path, mode: int | None = None, *, is_durable: bool = True) -> Iterator[BinaryIO]:
    """A new file, which takes the place of what is there when the block ends, whole or, where it raises, not at all;
    the folder is made if missing.

    A link is replaced, not followed. `mode`: exactly these permissions, else what the umask leaves. Not `is_durable`:
    after the machine went down it may be empty. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name[:LONGEST_NAME]}.{os.getpid()}-{threading.get_native_id()}.part")
    part.unlink(missing_ok=True)
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666 if mode is None else mode)
        with os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            if is_durable:
                os.fsync(descriptor)
            if mode is not None:
                os.fchmod(descriptor, mode)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def replace_file(path: Path, content: bytes | str, mode: int | None = None, *, is_durable: bool = True) -> None:
    """Put `content` (text as UTF-8) in the place of what is there, as `replacing` does."""
    with replacing(path, mode, is_durable=is_durable) as file:
        file.write(content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content)


class NotRegular(OSError):
    """It is no regular file: a folder, a pipe, a socket or a device."""


def open_regular(path: Path) -> BinaryIO:
    """A regular file, to be read; a link is not followed, a pipe not waited for. Raises NotRegular, another OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise NotRegular(errno.EINVAL, "it is no regular file", str(path))
    return os.fdopen(descriptor, "rb")


def read_regular(path: Path, limit: int) -> bytes | None:
    """The first `limit` bytes of a regular file; None where there is none. A link is not followed, a pipe
    not waited for.
    """
    return b"".join(pieces(path, limit)) if _is_regular(path) else None


def pieces(path: Path, limit: int) -> Iterator[bytes]:
    """The same, a piece at a time; nothing where there is no regular file."""
    if not _is_regular(path):
        return
    with open_regular(path) as file:
        while limit > 0 and (piece := file.read(min(CHUNK, limit))):
            limit -= len(piece)
            yield piece


def content_in(root: Path, path: str) -> bytes | None:
    """All of a file below `root`, links followed as long as they stay there; None where there is none to be read. For a
    tree that others made: a link that leads out of it would show what they could not read.
    """
    with suppress(OSError, RuntimeError):  # a link may lead to itself
        place = (root / path).resolve()
        if place.is_relative_to(root.resolve()):
            with open_regular(place) as file:
                return file.read()
    return None


def remove_tree(path: Path, *, ignore_errors: bool = False) -> None:
    """Remove a folder with all that is in it, however deep it goes and whatever was made unwritable; of a link, the
    link. One that is not there is no error. Raises OSError, unless what cannot be removed may stay.
    """
    with suppress(OSError) if ignore_errors else nullcontext():
        if path.is_symlink() or not path.is_dir():
            path.unlink(missing_ok=True)
            return
        try:
            shutil.rmtree(path)
        except (OSError, RecursionError):
            mark, count, waiting = os.urandom(8).hex(), 0, [path]
            while waiting:  # folders are brought up to the top before they are looked into: no path grows too long
                folder = waiting.pop()
                folder.chmod(stat.S_IRWXU)
                for held in list(folder.iterdir()):
                    if held.is_symlink() or not held.is_dir():
                        held.unlink()
                        continue
                    held.chmod(stat.S_IRWXU)
                    count += 1
                    waiting.append(held.rename(path / f"{mark}-{count}"))
                if folder != path:
                    folder.rmdir()
            path.rmdir()


def last_lines(path: Path, count: int, window: int = 64 * 1024) -> list[str]:
    """The last non-empty lines within the last `window` bytes of a file; none where it cannot be read."""
    if not _is_regular(path):
        return []
    with open_regular(path) as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - window))
        text = file.read(window).decode("utf-8", "replace")
    return [line for line in text.splitlines() if line.strip()][-count:]


def _is_regular(path: Path) -> bool:
    try:
        return stat.S_ISREG(path.lstat().st_mode)
    except OSError:
        return False
