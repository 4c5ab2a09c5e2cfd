"""The paths that a change touches, as git names them, and where its links lead. Nothing is checked out or judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ledger.close_out_scope import Touched
from agent_fox.system import git_objects

if TYPE_CHECKING:
    from agent_fox.system.git_objects import Change, Store

LINK = "120000"
LONGEST_TARGET = 4096
"""Bytes of a link's target."""


def touched_between(repo: Path, old: str, new: str) -> tuple[Touched, ...]:
    """What differs from `old` to `new` (commits or trees): contents, modes, removals, submodules. Raises GitError."""
    with git_objects.store(repo) as store:
        return tuple(_touched(store, store.changes(old, new)))


def _touched(store: Store, changes: Iterable[Change]) -> Iterator[Touched]:
    for change in changes:
        target = _target(store, change.new.id) if change.new.mode == LINK else ""
        yield Touched(shown(change.path), target)


def _target(store: Store, blob: str) -> str:
    """Where a link leads. What is too long for a path of any system leads nowhere in the repository."""
    size = store.size(blob)
    if size > LONGEST_TARGET:
        return f"/({size} bytes)"
    return store.blob(blob).decode("utf-8", "backslashreplace")


def shown(path: str) -> str:
    """A path as text that can be kept everywhere: bytes that are no UTF-8 are spelled out."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
