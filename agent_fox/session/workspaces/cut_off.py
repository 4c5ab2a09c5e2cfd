"""What a coder's session had done when it was cut off, as a commit that the next attempt can be shown.

More is taken here than would be landed: work that was refused is kept too. What cannot be taken is named.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from agent_fox.session.order import EndKind, Kept, LaunchOrder, Paths, SessionEnd
from agent_fox.session.workspaces.leavings import left_in
from agent_fox.session.workspaces.sizes import excess, in_mib
from agent_fox.session.workspaces.snapshot import repositories_inside, restore
from agent_fox.session.workspaces.workspace import Preparation, WorkspaceError, launch_ref, read_preparation
from agent_fox.system import git, git_objects
from agent_fox.system.git_objects import GITLINK, Store

CUT_OFF = frozenset(
    {EndKind.FAILED, EndKind.TIMED_OUT, EndKind.TOO_LOUD, EndKind.TOO_LONG, EndKind.REFUSED, EndKind.CEILING}
)
"""Ends after which the work is not taken, although there may be some: a limit, a crash, a refusal."""

MOST_NAMED = 10


def with_kept(order: LaunchOrder, end: SessionEnd, at: int) -> SessionEnd:
    """The end with what is kept of its work, where it was a coder's that was cut off. How it ended stays as it is.

    `at` (seconds since the epoch) dates the commit, so that keeping the same work twice makes the same commit.
    """
    if not order.writes or end.kind not in CUT_OFF:
        return end
    try:
        return replace(end, kept=kept_of(order, read_preparation(order), f"{end.kind}: {end.reason}", at))
    except (git.GitError, WorkspaceError, OSError) as error:
        return replace(end, kept=Kept(left_out=(f"its files, which could not be read: {error}",)))


def kept_of(order: LaunchOrder, preparation: Preparation, why: str, at: int) -> Kept:
    """The workspace's files as a commit on the pinned one, kept alive by the launch's reference; no commit where
    nothing was changed. Raises GitError, OSError.
    """
    workspace = Paths(order.state).workspace
    if workspace.is_symlink() or not workspace.is_dir():
        return Kept(left_out=("its files: the session removed its workspace",))
    tree, left_out = _tree_of(order, preparation, workspace)
    if tree == git.tree_of(order.repo, order.pinned):
        return Kept(left_out=left_out)
    message = f"{order.node_id}, attempt {order.attempt}, cut off\n\n{why}\n"
    commit = git_objects.commit_tree(order.repo, tree, [order.pinned], message, git.identity(order.repo), at)
    git.set_ref(order.repo, launch_ref(order.launch), commit)
    return Kept(commit, left_out)


def _tree_of(order: LaunchOrder, preparation: Preparation, workspace: Path) -> tuple[str, tuple[str, ...]]:
    with git_objects.store(order.repo, workspace) as store:
        store.read_tree(order.pinned)
        tracked = [file.path for file in store.files(order.pinned) if not preparation.has_brought(file.path)]
        untracked = [path for path in store.untracked() if not preparation.has_brought(path)]
        left = left_in(store, untracked, tracked)
        new = [path for path in untracked if not left.hides(path)]
        inside = _folders(repositories_inside(workspace, tracked, new))
        read = [path for path in (*tracked, *new) if not _is_below(path, inside)]
        large = excess(workspace, read, store.sizes(preparation.baseline), order.sizes)  # before git reads any of them
        store.add_all(leaving_out=(*preparation.brought, *left.paths, *inside, *large))
        tree, links = _without_submodules(store, order, restore(store, order, preparation))
        return tree, (*left.notes, *_named(inside, large, links))


def _folders(repositories: Iterable[str]) -> tuple[str, ...]:
    """The folder of each repository: `lib/` and `lib/.git` both mean `lib`."""
    return tuple(dict.fromkeys(path.rstrip("/").removesuffix("/.git") for path in repositories))


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(path.rstrip("/") == folder or path.startswith(f"{folder}/") for folder in folders)


def _without_submodules(store: Store, order: LaunchOrder, tree: str) -> tuple[str, tuple[str, ...]]:
    """The tree with submodules put back that were added or moved, and their paths."""
    links = [change for change in store.changes(order.pinned, tree) if change.new.mode == GITLINK]
    if not links:
        return tree, ()
    store.put([change.old for change in links])
    return store.write_tree(), tuple(change.path for change in links)


def _named(inside: Iterable[str], large: Mapping[str, int], links: Iterable[str]) -> Iterable[str]:
    """What is left out, each with the reason; the rest as a number."""
    why = [
        *(f"{path} ({in_mib(size)}, too large)" for path, size in large.items()),
        *(f"{path} (a repository of its own)" for path in inside),
        *(f"{path} (a submodule)" for path in links),
    ]
    return (*why[:MOST_NAMED], *([f"{len(why) - MOST_NAMED} more"] if len(why) > MOST_NAMED else []))
