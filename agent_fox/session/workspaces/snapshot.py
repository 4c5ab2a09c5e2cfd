"""What a session left in its workspace: a coder's work as a commit, or the tracked files a reader must not
have changed.

Only files are looked at, with an index and a git folder of our own. Nothing in the workspace's `.git` is read
or run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.session.order import LaunchOrder, Paths, Work
from agent_fox.session.workspaces.landed_text import look_at
from agent_fox.session.workspaces.leavings import left_in
from agent_fox.session.workspaces.sizes import too_large
from agent_fox.session.workspaces.unfinished_merge import unresolved
from agent_fox.session.workspaces.workspace import Preparation, launch_ref
from agent_fox.system import git, git_objects
from agent_fox.system.git_objects import ABSENT, GITLINK, Change, Store

STATE_FOLDER = ".agent-fox"
"""The person's folder of ours in the repository: nothing that a session changes in it is ever landed."""

_BOX = regex(rb"^(\s*(?:[-*+]|\d+[.)])\s+)\[[ xX~-]\]")


@dataclass(frozen=True, slots=True)
class Refused:
    """Work that may not be taken: why, and which paths."""

    reason: str


def take_work(order: LaunchOrder, preparation: Preparation, at: int) -> Work | Refused:
    """The workspace's files as one commit on the pinned one, kept alive by the launch's reference.

    `at` (seconds since the epoch) dates the commit, so that taking the same work twice makes the same commit.
    Left out: what .gitignore hides, what copy and link brought in, what setup did, and changes of specs other
    than ticked boxes. Work that finishes a merge has the merged commit as second parent.
    """
    workspace = Paths(order.state).workspace
    if workspace.is_symlink() or not workspace.is_dir():
        return Refused("the session removed its workspace")
    try:
        taken = _tree_of_work(order, preparation, workspace)
    except git.GitError as error:
        return Refused(f"its files cannot be taken as a commit: {error}")
    if isinstance(taken, Refused):
        return taken
    tree, notes = taken
    if tree == git.tree_of(order.repo, order.pinned):
        return Work(order.pinned, tree, is_unchanged=True, notes=notes)
    message = order.message or f"{order.node_id}, attempt {order.attempt}"
    parents = [order.pinned, *([order.unmerged.work] if order.unmerged else [])]
    commit = git_objects.commit_tree(order.repo, tree, parents, message, git.identity(order.repo), at)
    git.set_ref(order.repo, launch_ref(order.launch), commit)
    return Work(commit, tree, is_unchanged=False, notes=notes)


def changed_source(order: LaunchOrder, preparation: Preparation) -> tuple[str, ...]:
    """Tracked files that are gone or hold something else than before the session."""
    workspace = Paths(order.state).workspace
    if workspace.is_symlink() or not workspace.is_dir():
        return (".",)
    with git_objects.store(order.repo, workspace) as store:
        tracked = {file.path for file in store.files(order.pinned)}
        store.read_tree(preparation.baseline)
        return tuple(path for path in store.changed_files() if path in tracked and not preparation.has_brought(path))


def _tree_of_work(
    order: LaunchOrder, preparation: Preparation, workspace: Path
) -> tuple[str, tuple[str, ...]] | Refused:
    """The tree, and what there is to say about it."""
    with git_objects.store(order.repo, workspace) as store:
        store.read_tree(order.pinned)
        tracked, untracked = [file.path for file in store.files(order.pinned)], store.untracked()
        left = left_in(store, [path for path in untracked if not preparation.has_brought(path)], tracked)
        new = [path for path in untracked if not preparation.has_brought(path) and not left.hides(path)]
        foreign = repositories_inside(workspace, tracked, new)
        if foreign:
            return Refused(f"repositories inside the work tree: {', '.join(foreign)}")
        read = [*new, *(path for path in tracked if not preparation.has_brought(path))]
        excess = too_large(workspace, read, store.sizes(preparation.baseline), order.sizes)
        if excess:  # before anything of the files is read
            return Refused(excess)
        store.add_all(leaving_out=(*preparation.brought, *left.paths))
        tree = restore(store, order, preparation)
        changes = store.changes(order.pinned, tree)
        secrets = look_at(order, store, workspace, changes)
    links = [change.path for change in changes if change.new.mode == GITLINK]
    if links:
        return Refused(f"submodules added or moved: {', '.join(links)}")
    unsolved = unresolved(order, order.unmerged, tree) if order.unmerged else ()
    if unsolved:
        return Refused(f"conflict markers are left in {', '.join(unsolved)}")
    return Refused("; ".join(secrets.refused)) if secrets.refused else (tree, (*left.notes, *secrets.named))


def repositories_inside(workspace: Path, tracked: Sequence[str], new: Sequence[str]) -> list[str]:
    """New paths that are, or pretend to be, repositories: `DIR/` as git lists them, and anything named `.git`."""
    named = [path for path in new if path.endswith("/") or ".git" in map(str.lower, PurePosixPath(path).parts)]
    folders = {folder for path in (*tracked, *new) for folder in PurePosixPath(path).parents}
    hidden = [str(folder / ".git") for folder in folders if folder.parts and (workspace / folder / ".git").exists()]
    return sorted({*named, *hidden})


def restore(store: Store, order: LaunchOrder, preparation: Preparation) -> str:
    """The index as a tree, in which what is not the coder's to change was put back."""
    tree = store.write_tree()
    dropped = [change.old for change in _kept_folders(store, order, tree) if not _ticks_only(store, change)]
    since = {change.path for change in store.changes(preparation.baseline, tree)}
    by_setup = store.changes(order.pinned, preparation.baseline)
    dropped += [change.old for change in by_setup if change.path not in since]
    if not dropped:
        return tree
    store.put(dropped)
    return store.write_tree()


def _kept_folders(store: Store, order: LaunchOrder, tree: str) -> Iterable[Change]:
    return store.changes(order.pinned, tree, STATE_FOLDER, *order.spec_places)


def _ticks_only(store: Store, change: Change) -> bool:
    """Whether a spec's document in Markdown differs in boxes alone, line by line."""
    is_file = change.old.mode == change.new.mode and change.new.mode not in (ABSENT, GITLINK)
    if PurePosixPath(change.path).suffix != ".md" or not is_file:
        return False
    old, new = (_without_boxes(store.blob(entry.id)) for entry in (change.old, change.new))
    return old == new


def _without_boxes(text: bytes) -> list[bytes]:
    return [_BOX.sub(rb"\1[ ]", line) for line in text.split(b"\n")]
