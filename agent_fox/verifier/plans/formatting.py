"""What a formatter did to source, as a unified diff. Running it is elsewhere."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

Contents = Mapping[str, bytes]
"""Path, relative to the workspace, to content."""

LARGEST_FILE = 1024 * 1024
MOST_BYTES = 64 * 1024 * 1024
_NEVER = frozenset({".git", "node_modules", ".venv", "venv", "target", "build", "__pycache__"})


def read_contents(root: Path) -> Contents:
    """Every regular file of up to `LARGEST_FILE` bytes outside of folders that formatters leave alone.

    At most `MOST_BYTES` in all: what comes later has no difference to show, and is named all the same.
    """
    contents, left = {}, MOST_BYTES
    for path in _files(root):
        content = _content(path)
        if content is not None and len(content) <= left:
            contents[path.relative_to(root).as_posix()] = content
            left -= len(content)
    return contents


def difference(root: Path, before: Contents, paths: Iterable[str]) -> str:
    """A unified diff of these paths; one line for each that cannot be shown."""
    return "".join(line for path in sorted(paths) for line in _difference(root / path, path, before.get(path)))


def _difference(place: Path, path: str, old: bytes | None) -> Iterator[str]:
    new = _content(place)
    if old is None or new is None:
        yield f"--- {path}: the difference is not shown\n"
        return
    was, now = (text.decode("utf-8", "replace").splitlines(keepends=True) for text in (old, new))
    for line in difflib.unified_diff(was, now, f"a/{path}", f"b/{path}"):
        yield line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n"


def _files(root: Path) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in _NEVER)
        yield from (Path(folder, name) for name in sorted(names))


def _content(path: Path) -> bytes | None:
    if path.is_symlink() or not path.is_file() or path.stat().st_size > LARGEST_FILE:
        return None
    return path.read_bytes()
