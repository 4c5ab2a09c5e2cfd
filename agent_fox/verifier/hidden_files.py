"""The folder of hidden checks: which of its files count, and the hash that names them all. Loads nothing heavy."""

from __future__ import annotations

import hashlib
from pathlib import Path

PROPOSED = ".proposed"
"""The folder, in that of the hidden checks, of those that nobody has accepted yet: they do not count."""

LEFT_OUT = frozenset({PROPOSED, "__pycache__", ".pytest_cache", ".git", "node_modules"})


def hidden_files(folder: Path) -> tuple[str, ...]:
    """The files of hidden checks that count, relative to their folder, in order."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink())
    names = (path.relative_to(folder) for path in found)
    return tuple(name.as_posix() for name in names if LEFT_OUT.isdisjoint(name.parts))


def digest_of(folder: Path) -> str:
    """SHA-256 of all hidden checks that count, with their paths; in hex. Empty where there are none."""
    whole, names = hashlib.sha256(), hidden_files(folder)
    for name in names:
        part = hashlib.sha256((folder / name).read_bytes()).hexdigest()
        whole.update(f"{part} {name}\n".encode("utf-8", "surrogateescape"))
    return whole.hexdigest() if names else ""
