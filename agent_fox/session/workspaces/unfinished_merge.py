"""A conflict as a session's task: the unfinished merge is laid into its workspace, and its work must have no marker
left.

The files are written with a git folder of our own, as everything in a workspace is after setup has run in it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.system import git, git_objects
from agent_fox.system.git_objects import OURS, THEIRS, Conflict

if TYPE_CHECKING:
    from agent_fox.session.order import LaunchOrder, Unmerged

MARKERS = (b"<<<<<<<", b"|||||||", b"=======", b">>>>>>>")
"""What stands at the beginning of a line between the two sides of a conflict."""


def name_sides(order: LaunchOrder, unmerged: Unmerged, workspace: Path) -> None:
    """Give both sides a branch in a workspace that nobody has run anything in: the names that the markers have."""
    for name, commit in ((OURS, order.pinned), (THEIRS, unmerged.work)):
        git.set_ref(workspace, f"refs/heads/{name}", commit)


def lay(order: LaunchOrder, unmerged: Unmerged, workspace: Path) -> None:
    """Write what the merge changes over the checkout of the pinned commit, with markers where it conflicts."""
    lay_tree(order, git_objects.merge(order.repo, order.pinned, unmerged.work).tree, workspace)


def lay_tree(order: LaunchOrder, tree: str, workspace: Path) -> None:
    """Write what differs between the pinned commit and `tree` over the checkout, with a git folder of our own."""
    with git_objects.store(order.repo, workspace) as store:
        store.read_tree(order.pinned)
        store.bring_out(tree, [change.path for change in store.changes(order.pinned, tree)])


def unresolved(order: LaunchOrder, unmerged: Unmerged, tree: str) -> tuple[str, ...]:
    """The files in conflict that hold more lines like markers, in `tree`, than the two sides account for."""
    merged = git_objects.merge(order.repo, order.pinned, unmerged.work)
    now = merged.files if isinstance(merged, Conflict) else ()
    files = dict.fromkeys((*unmerged.files, *now))
    return tuple(path for path in files if _has_markers(order, unmerged, tree, path))


def _has_markers(order: LaunchOrder, unmerged: Unmerged, tree: str, path: str) -> bool:
    base = git.merge_base(order.repo, order.pinned, unmerged.work)
    markers, ours, theirs, before = (
        _markers(order.repo, name, path) for name in (tree, order.pinned, unmerged.work, base)
    )  # fmt: skip
    allowed = (max(o, t, o + t - b) for o, t, b in zip(ours, theirs, before, strict=True))
    return any(count > most for count, most in zip(markers, allowed, strict=True))


def _markers(repo: Path, name: str | None, path: str) -> tuple[int, ...]:
    """How often each marker begins a line of a file; none in a file that is not there."""
    text = (git.show(repo, name, path) if name else None) or b""
    lines = text.splitlines()
    return tuple(sum(is_marker(line, marker) for line in lines) for marker in MARKERS)


def is_marker(line: bytes, marker: bytes) -> bool:
    return line == marker or line.startswith(marker + b" ")
