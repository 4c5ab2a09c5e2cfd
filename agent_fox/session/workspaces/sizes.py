"""Whether a coder's work is small enough to be taken: asked of the files' sizes, before git reads any of them."""

from __future__ import annotations

import stat
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_fox.session.order import Sizes

MIB = 1024**2
NAMED = 3


def too_large(workspace: Path, paths: Iterable[str], known: Mapping[str, int], allowed: Sizes) -> str:
    """Why the files cannot be taken; empty where they can. `known` are the sizes of files that were there before.

    A file that has its size from before adds nothing, as far as can be told without reading it.
    """
    added = _added(workspace, paths, known)
    largest = sorted(added, key=lambda path: -added[path])
    if any(size > allowed.file for size in added.values()):
        over = [path for path in largest if added[path] > allowed.file]
        return f"too large to be taken (a file may have {in_mib(allowed.file)}): {_named(over, added)}"
    if sum(added.values()) > allowed.change:
        whole = in_mib(sum(added.values()))
        return f"adds {whole}, where a change may add {in_mib(allowed.change)}; the largest: {_named(largest, added)}"
    return ""


def excess(workspace: Path, paths: Iterable[str], known: Mapping[str, int], allowed: Sizes) -> dict[str, int]:
    """Path → bytes of what has to be left out so that the rest can be taken, the largest first."""
    added = _added(workspace, paths, known)
    left, over = sum(added.values()), {}
    for path in sorted(added, key=lambda path: -added[path]):
        if added[path] <= allowed.file and left <= allowed.change:
            break
        over[path] = added[path]
        left -= added[path]
    return over


def _added(workspace: Path, paths: Iterable[str], known: Mapping[str, int]) -> dict[str, int]:
    """Path → bytes of the files that are new or have another size."""
    return {path: size for path in paths if (size := _size(workspace / path)) != known.get(path, 0)}


def _size(path: Path) -> int:
    """Bytes of a regular file; a link, and what is gone, has none."""
    try:
        state = path.lstat()
    except OSError:
        return 0
    return state.st_size if stat.S_ISREG(state.st_mode) else 0


def _named(paths: list[str], sizes: Mapping[str, int]) -> str:
    more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    return ", ".join(f"{path} ({in_mib(sizes[path])})" for path in paths[:NAMED]) + more


def in_mib(size: int) -> str:
    return f"{size / MIB:.1f} MiB"
