"""The files of a base commit in a folder of their own, lent the dependencies that git does not hold. Runs nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from agent_fox.core.values import dataclass
from agent_fox.system import git_objects
from agent_fox.system.own_folders import own_folder

BORROWED = ("node_modules", ".venv", "venv", "vendor")
"""Folders of dependencies that a checkout is lent from the workspace, if git does not hold them."""


@dataclass(frozen=True, slots=True)
class BaseTree:
    """A checkout without a git folder. `lent`: the folders that links in it lead to, which its commands must read."""

    folder: Path
    lent: tuple[Path, ...]


@contextmanager
def base_tree(repo: Path, commit: str, workspace: Path, also: Sequence[str] = ()) -> Iterator[BaseTree]:
    """The tree of a commit (full id), removed afterwards. `also`: more paths of the workspace to lend.

    Raises GitError where the commit is not there.
    """
    with own_folder("base") as made:
        folder = Path(made) / "tree"
        folder.mkdir()
        with git_objects.store(repo, folder) as store:
            store.read_tree(commit)
            store.call("checkout-index", "--all", "--force")
        yield BaseTree(folder, _lend(workspace, folder, (*BORROWED, *also)))


def _lend(workspace: Path, folder: Path, names: Sequence[str]) -> tuple[Path, ...]:
    """Link what the base commit lacks because git never held it; where the links lead."""
    missing = [name for name in dict.fromkeys(names) if (workspace / name).exists() and not (folder / name).exists()]
    for name in missing:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to((workspace / name).resolve())
    return tuple((workspace / name).resolve() for name in missing)
