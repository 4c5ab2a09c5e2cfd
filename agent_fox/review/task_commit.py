"""Whether a commit holds what a reviewer said OK to: the files that were reviewed, whole, and nothing beside them.

What is compared is what a review sees, so that an ignored file or a moved submodule in the commit is found too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.review.changes import Limits, shown
from agent_fox.review.looking import look
from agent_fox.review.snapshot import Changed, Snapshot, changes, snapshot
from agent_fox.review.unshown import Unshown, Why
from agent_fox.system import git
from agent_fox.system.git_objects import ABSENT, GITLINK

if TYPE_CHECKING:
    from agent_fox.review.repositories import Registered

REGULAR = "100"
"""How the modes of files begin."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The files of a repository as a review sees them, beside a commit: its entries (path to mode and object id), and
    where the files hold something else (`old` is the commit's side).
    """

    root: Path
    files: Snapshot
    commit: Mapping[str, tuple[str, str]]
    differing: tuple[Changed, ...]


def apart(repos: Mapping[str, Registered], path: str, commit: str, limits: Limits) -> tuple[str, ...]:
    """Paths at which the reviewed files of the repository at `path` are not as `commit` has them, submodules included.

    Raises GitError and OSError where it cannot be told.
    """
    repo = repos[path]
    seen = _seen(repo, commit, limits)
    paths = [*_differing(seen, repo.nested), *_not_committed(seen)]
    for nested in repo.nested:
        mode, link = seen.commit.get(nested, ("", ""))
        below = str(seen.root / nested)
        if mode == GITLINK and below in repos and nested not in paths:
            moved = git.head(Path(below)) != link
            paths += [nested] if moved else [f"{nested}/{inner}" for inner in apart(repos, below, link, limits)]
    return tuple(dict.fromkeys(shown(inner) for inner in paths))


def _seen(repo: Registered, commit: str, limits: Limits) -> Seen:
    root = Path(repo.path)
    tree = git.tree_of(root, commit)
    with look(root) as our_look:
        files = snapshot(our_look, repo.base, limits.new_file, frozenset(repo.nested))
        differing = tuple(changes(our_look, tree, files.tree))
    records = (record.split("\t", 1) for record in git.call(root, "ls-tree", "-r", "-z", "--full-tree", tree).records)
    entries = {path: (facts.split(" ")[0], facts.split(" ")[2]) for facts, path in records}
    return Seen(root, files, entries, differing)


def _differing(seen: Seen, nested: Collection[str]) -> Iterator[str]:
    aside = {file.path.rstrip("/"): file for file in seen.files.unshown}
    for file in seen.differing:
        if not _is_explained(seen, file, aside.get(file.path), file.path in nested):
            yield file.path


def _is_explained(seen: Seen, one: Changed, aside: Unshown | None, is_nested: bool) -> bool:
    """Whether only a review's way to look differs: submodules stay as they were in it, some files are set aside."""
    if one.old_mode == GITLINK:
        return (is_nested or aside is not None) and _head(seen.root / one.path) == one.old_id
    if one.new_mode == GITLINK:
        return one.old_mode == ABSENT and not (seen.root / one.path / ".git").exists()
    if aside is None or one.new_mode != ABSENT or not one.old_mode.startswith(REGULAR):
        return False
    return hashlib.sha256(git.call(seen.root, "cat-file", "blob", one.old_id).out).hexdigest() == aside.mark


def _not_committed(seen: Seen) -> Iterator[str]:
    """What was set aside and is not in the commit, or is there as another commit of a submodule."""
    for file in seen.files.unshown:
        path = file.path.rstrip("/")
        if path not in seen.commit or (file.why is Why.REPOSITORY and seen.commit[path] != (GITLINK, file.mark)):
            yield path


def _head(folder: Path) -> str | None:
    """The commit that is checked out in a submodule; None where none is there."""
    is_there = not folder.is_symlink() and (folder / ".git").exists()
    return git.head(folder) if is_there else None
