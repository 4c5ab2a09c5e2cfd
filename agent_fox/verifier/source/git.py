"""Where git keeps what decides about a checkout, and what of it is watched. Git itself is never asked.

Watched are which commit is checked out, what git runs and what it overlooks; of the index what is staged and flagged,
not how fresh it is.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator
from pathlib import Path

from agent_fox.core.values import dataclass
from agent_fox.verifier.source.files import Seen, look

GIT = ".git"

_OWN = ("HEAD", "config.worktree")
_COMMON = ("config", "packed-refs", "objects/info/alternates")
_COMMON_FOLDERS = ("hooks", "info")
_REFS = ("refs", "reftable")

LONGEST_POINTER = 4096  # bytes


@dataclass(frozen=True, slots=True)
class Watched:
    """Files and folders of a repository by the name that they are told under, each with the place where it lies."""

    files: tuple[tuple[str, str], ...] = ()
    folders: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Staged:
    """An index as it was read. `said` is None for an index that cannot be understood."""

    raw: Seen
    said: GitIndex | None

    def as_seen(self) -> Seen:
        return Seen(None, 0, self.said.digest) if self.said else self.raw


def inside(label: str, place: str) -> Watched:
    """What is watched in a repository's own folder at `place`. The label ends without a slash, like the place."""
    return Watched(_within(label, place, _OWN + _COMMON), _within(label, place, _COMMON_FOLDERS + _REFS))


def beside(root: Path) -> Watched:
    """The same where `.git` is a file that leads elsewhere (a linked worktree, a submodule); else nothing.

    The branches of a linked worktree's repository are moved by its other worktrees too, and are not watched.
    """
    own = folder_of(root)
    if own is None or own == root / GIT:
        return Watched()
    pointer = _pointer(own / "commondir", "")
    if pointer is None:
        return inside(GIT, str(own))
    common = str(own / pointer)
    files = _within(GIT, str(own), _OWN) + _within(GIT, common, ("config", "objects/info/alternates"))
    return Watched(files, _within(GIT, common, _COMMON_FOLDERS))


def _within(label: str, place: str, names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((f"{label}/{name}", f"{place}/{name}") for name in names)


def folder_of(root: Path) -> Path | None:
    """The repository's own folder of the checkout at `root`; None where there is none."""
    own = root / GIT
    if own.is_symlink():
        return None
    if own.is_dir():
        return own
    pointer = _pointer(own, "gitdir:")
    led = root / pointer if pointer else None
    return led if led is not None and (led / "HEAD").is_file() else None


def _pointer(file: Path, mark: str) -> str | None:
    try:
        with file.open("rb") as opened:
            text = opened.read(LONGEST_POINTER).decode("utf-8", "surrogateescape").strip()
    except OSError:
        return None
    return text.removeprefix(mark).strip() if text.startswith(mark) and "\0" not in text else None


def staged(root: Path, before: Staged | None) -> Staged | None:
    """The index of the checkout at `root`; None where there is none. What kept its stamp is not read again."""
    folder = folder_of(root)
    if folder is None:
        return None
    file = folder / "index"
    raw = look(str(file), known=before.raw if before else None)
    if raw is None:
        return None
    if before is not None and raw.content == before.raw.content:
        return Staged(raw, before.said)
    try:
        return Staged(raw, read_index(file))
    except (IndexUnreadable, OSError):
        return Staged(raw, None)


LARGEST_INDEX = 512 * 1024 * 1024  # bytes

_HEADER = struct.Struct(">4sII")
_STATUS = 40
"""Bytes at the start of an entry that tell how its file lay on the disk; the mode is among them, at 24."""

_EXTENDED = 0x40


@dataclass(frozen=True, slots=True)
class GitIndex:
    """`paths`: of all tracked files. `digest`: of names, modes, objects and flags; refreshing the index keeps it."""

    paths: frozenset[str]
    digest: bytes


class IndexUnreadable(ValueError):
    """The bytes are no index that this module understands."""


def read_index(file: Path) -> GitIndex:
    """Raises IndexUnreadable where the file is no index, OSError where it can't be read."""
    raw = _bytes_of(file)
    try:
        paths, digest, end, size = _entries(raw)
    except (struct.error, IndexError, ValueError) as error:
        raise IndexUnreadable(f"not a git index: {error}") from error
    shared = _shared(raw, end, size)
    if shared is None:
        return GitIndex(paths, digest)
    base = read_index(file.with_name(f"sharedindex.{shared}"))
    return GitIndex(paths | base.paths, hashlib.sha256(digest + base.digest).digest())


def _bytes_of(file: Path) -> bytes:
    if file.is_symlink() or file.stat().st_size > LARGEST_INDEX:
        raise IndexUnreadable("a link or too large")
    return file.read_bytes()


def _entries(raw: bytes) -> tuple[frozenset[str], bytes, int, int]:
    signature, version, count = _HEADER.unpack_from(raw)
    if signature != b"DIRC" or version not in (2, 3, 4):
        raise ValueError(f"version {version}")
    size = 32 if hashlib.sha256(raw[:-32]).digest() == raw[-32:] else 20
    digest, names = hashlib.sha256(), []
    offset = _HEADER.size
    for facts, name, offset in _walk(raw, version, count, size):  # noqa: B007 - the last offset is where the entries end
        digest.update(b"%b %b\0" % (facts, name))
        names.append(name.decode("utf-8", "surrogateescape"))
    return frozenset(filter(None, names)), digest.digest(), offset, size


def _walk(raw: bytes, version: int, count: int, size: int) -> Iterator[tuple[bytes, bytes, int]]:
    """For each entry what is staged (mode, object, stage and flags), the name, and where the next one begins."""
    offset, name = _HEADER.size, b""
    for _ in range(count):
        flags_at = offset + _STATUS + size
        start = flags_at + (4 if raw[flags_at] & _EXTENDED else 2)
        flags = bytes([raw[flags_at] & ~0x0F]) + raw[flags_at + 2 : start]  # the rest is the length of the name
        if version == 4:
            cut, start = _varint(raw, start)
            end = raw.index(b"\0", start)
            name, following = name[: len(name) - cut] + raw[start:end], end + 1
        else:
            end = raw.index(b"\0", start)
            name, following = raw[start:end], offset + (end - offset + 8) // 8 * 8
        yield raw[offset + 24 : offset + 28] + raw[offset + _STATUS : flags_at] + flags, name, following
        offset = following


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    """Git's variable width number of offsets, and where it ends."""
    value = raw[at] & 0x7F
    while raw[at] & 0x80:
        at += 1
        value = (value + 1 << 7) | raw[at] & 0x7F
    return value, at + 1


def _shared(raw: bytes, offset: int, size: int) -> str | None:
    """The name of the index that this one is split from."""
    while offset + 8 <= len(raw) - size:
        signature, length = struct.unpack_from(">4sI", raw, offset)
        if signature == b"link":
            base = raw[offset + 8 : offset + 8 + size]
            return base.hex() if any(base) else None
        offset += 8 + length
    return None
