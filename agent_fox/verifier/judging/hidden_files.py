"""The folder of hidden checks: which of its files count, and the hash that names them all. Loads nothing heavy."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from pathlib import Path

PROPOSED = ".proposed"
"""The folder, in that of the hidden checks, of those that nobody has accepted yet: they do not count."""

LARGEST_READ = 2 * 1024**2
"""Bytes of a file whose text is read for what it is about: `sources.LARGEST_SOURCE`, which is too heavy to load."""

WRITING, READING = "session.log", "reading.log"
"""The logs, in the folder of proposed checks, of who wrote them and of who read them."""

LEFT_OUT = frozenset({PROPOSED, WRITING, READING, "__pycache__", ".pytest_cache", ".git", "node_modules"})


def hidden_files(folder: Path) -> tuple[str, ...]:
    """The files of hidden checks that count, relative to their folder, in order."""
    return tuple(name for name, path in _named(folder) if path.is_file() and not path.is_symlink())


def unread(folder: Path) -> dict[str, str]:
    """The paths that cannot count, and why: symbolic links, which may lead anywhere, and files that are too large to be
    read, so that it is not known what they are about.
    """
    reasons = ((name, _why_unread(path)) for name, path in _named(folder))
    return {name: why for name, why in reasons if why}


def _named(folder: Path) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder)
        if LEFT_OUT.isdisjoint(name.parts):
            yield name.as_posix(), path


def _why_unread(path: Path) -> str:
    if path.is_symlink():
        return "a symbolic link"
    if path.is_file() and path.stat().st_size > LARGEST_READ:
        return f"larger than {LARGEST_READ // 1024**2} MB"
    return ""


def digest_of(folder: Path) -> str:
    """SHA-256 of all hidden checks that count, with their paths; in hex. Empty where there are none."""
    whole, names = hashlib.sha256(), hidden_files(folder)
    for name in names:
        part = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        whole.update(f"{part} {name}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest() if names else ""
