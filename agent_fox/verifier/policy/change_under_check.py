"""The change that is under check: what differs between its base commit and the files of a workspace, or two commits.
Commits are given by their full ids. The files are looked at with a git folder and an object store of our own: neither a
hook, a filter nor a setting of the workspace is run, and nothing is written to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.system import git, git_objects
from agent_fox.system.git_objects import ABSENT, GITLINK
from agent_fox.system.own_folders import own_folder
from agent_fox.verifier.policy.values import Change, FileChange

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_fox.system import git_ignores
    from agent_fox.system.git_objects import Entry, Store
else:
    git_ignores = late_module("agent_fox.system.git_ignores")

INSTALLED = ("node_modules", ".venv", "venv")
LARGEST_FILE = 8 * 1024 * 1024  # bytes


def changed_paths(root: Path, base: str, repo: Path | None = None) -> tuple[str, ...]:
    """Paths that differ between commit `base` and the files below `root`, also untracked, and in submodules. Of what
    git hides, what a `.gitignore` of `base` hides is left out, and what tools leave. repo: the one that holds the
    commit, where it is not in `root`: a copy of ours, in which git hides nothing that could land. Raises GitError.
    """
    with _looking_at(root, repo or root) as store:
        changes = _changes(store, base, root, sees_hidden=repo is None)
        inside = _repositories(store, root) if repo is None else {}
    return _paths(changes, inside, root)


def change_since(root: Path, base: str) -> Change:
    """The change with the contents of both sides; links to other repositories left out. Raises GitError."""
    return paths_and_change(root, base)[1]


def paths_and_change(root: Path, base: str) -> tuple[tuple[str, ...], Change]:
    """What `changed_paths` and `change_since` tell, by one look at the files. Raises GitError."""
    with _looking_at(root, root) as store:
        changes = _changes(store, base, root, sees_hidden=True)
        inside, change = _repositories(store, root), change_of(store, changes)
    return _paths(changes, inside, root), change


def _paths(changes: Sequence[git_objects.Change], inside: Mapping[str, str], root: Path) -> tuple[str, ...]:
    """The paths of the changes, and those of the repositories inside (by path, with the commit they are at)."""
    beside = (f"{at}/{path}" for at, tip in inside.items() for path in changed_paths(root / at, tip))
    return (*(change.path for change in changes), *beside)


def _changes(store: Store, base: str, root: Path, *, sees_hidden: bool) -> list[git_objects.Change]:
    """What differs, without the files of installed packages that were not committed. sees_hidden: with untracked files,
    and repositories, that git hides although no `.gitignore` of the base does, but for those of tools.
    """
    store.read_tree(base)
    there = [name for name in INSTALLED if (root / name).is_dir()]
    tracked = {file.path.partition("/")[0] for file in store.files(base)} if there else set()
    installed = [name for name in there if name not in tracked]
    store.add_all(leaving_out=installed)
    if sees_hidden:
        hidden = git_ignores.hidden(lambda words, data: store.call(*words, data=data).out, base, store.folder)
        beside = sorted(path.rstrip("/") for path in hidden if not git_ignores.is_of_tools(path))
        beside = [path for path in beside if path.partition("/")[0] not in installed]
        store.add((*beside, *_repositories(store, root)))
    return store.staged(base)


def _repositories(store: Store, root: Path) -> dict[str, str]:
    """The repositories inside that the index links to, submodules or not, by path, with the commit that they are at."""
    there = [path for path in store.links() if (root / path / ".git").exists()]
    return {path: tip for path in there if (tip := git.head(root / path))}


@contextmanager
def _looking_at(root: Path, repo: Path) -> Iterator[Store]:
    """A store whose new objects go to a folder that is thrown away: looking leaves nothing behind."""
    with git_objects.store(repo, root) as store, own_folder("objects") as objects:
        known = store.variables["GIT_OBJECT_DIRECTORY"]
        places = {"GIT_OBJECT_DIRECTORY": str(objects), "GIT_ALTERNATE_OBJECT_DIRECTORIES": known}
        apart = replace(store, variables={**store.variables, **places})
        with git.serving(repo, apart.places):
            yield apart


def change_between(repo: Path, old: str, new: str) -> Change:
    """What differs between commits or trees, without submodules; a file that only moved is renamed. Raises GitError."""
    with git_objects.store(repo) as objects:
        return change_of(objects, objects.changes(old, new))


def change_of(objects: Store, differences: Iterable[git_objects.Change]) -> Change:
    """The contents on both sides of what differs; submodules are left out."""
    entries = [entry for entry in differences if GITLINK not in (entry.old.mode, entry.new.mode)]
    gone = {entry.old.id: entry.path for entry in entries if entry.new.mode == ABSENT}
    is_new = (entry for entry in entries if entry.old.mode == ABSENT)
    moved = {entry.path: gone.pop(entry.new.id) for entry in is_new if entry.new.id in gone}
    sources, files = set(moved.values()), {}
    for entry in (entry for entry in entries if entry.path not in sources):
        after, renamed_from = _content(objects, entry.new), moved.get(entry.path)
        before = after if renamed_from is not None else _content(objects, entry.old)
        files[entry.path] = FileChange(before, after, renamed_from)
    return Change(files)


def _content(objects: Store, entry: Entry) -> bytes | None:
    """What a file held; a very large one is taken as empty: it is no source that a rule could read."""
    if entry.mode == ABSENT:
        return None
    return objects.blob(entry.id) if objects.size(entry.id) <= LARGEST_FILE else b""
