"""The files of a coder's workspace after each of its steps, as trees in a git folder of ours outside of it.

Only files are looked at, by their sizes and times first; nothing in the workspace's `.git` is read or run. What this
may cost is bounded, and what is not looked at is counted with the reason. At the harvest the trees become a chain of
commits in the person's object store.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core import values
from agent_fox.session.order import LaunchOrder, Paths
from agent_fox.session.workspaces.leavings import CACHES
from agent_fox.system import git, git_objects
from agent_fox.system.git_objects import ABSENT, Entry

if TYPE_CHECKING:
    from agent_fox.session.workspaces.workspace import Preparation
    from agent_fox.system.git_objects import Store

MOST_STEPS = 200
"""States of one session that are kept."""

MOST_FILES = 20_000
"""A workspace with more files than these is not looked at: a look would take seconds."""

LARGEST = 5 * 1024**2
"""Bytes of a file; a larger one that is new or changed is not taken into a state."""

LEAST_SECONDS, SHARE = 5.0, 0.05
"""All looks of one session together may take this many seconds, or this share of its time, whichever is more."""


MOST_TROUBLES = 3
"""Failed looks after which none is tried any more."""


@values.dataclass(frozen=True, slots=True)
class Beginning:
    """What a session began with: the tree, the paths that were brought in, and the folder of its states."""

    repo: Path
    tree: str
    folder: Path
    brought: tuple[str, ...] = ()


@dataclass(slots=True)
class Steps:
    """Takes the state of a workspace when it is asked. Trouble ends the taking, never the session.

    `unseen` counts steps without a state by the reason why, `large` the files that were too large for one.
    """

    beginning: Beginning
    workspace: Path
    clock: Callable[[], float] = time.monotonic
    unseen: Counter[str] = field(default_factory=Counter)
    large: set[str] = field(default_factory=set)
    taken: int = 0
    spent: float = 0.0
    _began: float = field(init=False)
    _store: Store | None = None
    _tree: str = ""
    _why_never: str = ""
    _troubles: int = 0

    def __post_init__(self) -> None:
        self._began = self.clock()

    def take(self) -> str:
        """The tree as it is now, also where it is the one before; empty where it was not looked at."""
        why = self._why_never or self.why_not_now()
        start = self.clock()
        try:
            tree = "" if why else self.look()
        except (git.GitError, OSError) as error:
            tree, why, self._troubles = "", f"the files cannot be taken: {type(error).__name__}", self._troubles + 1
            self._why_never = why if self._troubles >= MOST_TROUBLES else ""
        self.spent += max(0.0, self.clock() - start)
        if not tree:
            self.unseen[why or self._why_never] += 1
        return tree

    def why_not_now(self) -> str:
        if self.taken >= MOST_STEPS:
            return f"more than {MOST_STEPS} states"
        allowed = max(LEAST_SECONDS, SHARE * (self.clock() - self._began))
        return "looking would have taken too long" if self.spent > allowed else ""

    def look(self) -> str:
        store = self._store or self.open_store()
        if store is None:
            return ""
        changed = store.call("ls-files", "-z", "--others", "--modified", "--exclude-standard").records
        paths = [path for path in dict.fromkeys(changed) if self.is_taken(path)]
        if paths:
            beyond = [path for path in paths if self.is_beyond_a_link(path)]
            store.put([Entry(path, ABSENT, "0" * len(self._tree)) for path in beyond])
            data = "".join(f"{path}\0" for path in paths if path not in beyond).encode("utf-8", "surrogateescape")
            store.call("update-index", "--add", "--remove", "--replace", "-z", "--stdin", data=data)
            before, self._tree = self._tree, store.write_tree()
            self.taken += self._tree != before
        return self._tree

    def is_taken(self, path: str) -> bool:
        """Whether it is a file that fits; `DIR/` is a repository of its own."""
        file = self.workspace / path
        if path.endswith("/") or any((folder / ".git").exists() for folder in self.folders_of(file)):
            return False
        if file.is_file() and not file.is_symlink() and file.stat().st_size > LARGEST:
            self.large.add(path)
            return False
        return not file.is_dir() or file.is_symlink()

    def is_beyond_a_link(self, path: str) -> bool:
        """Whether a link stands in the place of a folder of a file that was there: the file is gone."""
        return any(folder.is_symlink() for folder in self.folders_of(self.workspace / path))

    def folders_of(self, file: Path) -> Sequence[Path]:
        return [folder for folder in file.parents if folder.is_relative_to(self.workspace) and folder != self.workspace]

    def open_store(self) -> Store | None:
        """The store with the first state in its index; None where there are too many files."""
        own = self.beginning
        with git.serving(own.repo):
            if len(git_objects.files_under(own.repo, own.tree)) > MOST_FILES:
                self._why_never = f"the project has more than {MOST_FILES} files"
                return None
            store = git_objects.lasting_store(own.folder, own.repo, self.workspace, hidden_of(own.brought))
            store.read_tree(own.tree)
        store.call("update-index", "-q", "--refresh", allowed=(0, 1))
        self._store, self._tree = store, own.tree
        return store


def hidden_of(brought: Sequence[str]) -> tuple[str, ...]:
    """What no state holds, as patterns: what tools leave, and what was brought into the workspace."""
    escaped = ("".join(f"\\{char}" if char in "\\*?[!# " else char for char in path) for path in brought)
    return (*CACHES, *(f"/{path}" for path in escaped))


def beginning_of(order: LaunchOrder, preparation: Preparation) -> Beginning:
    """What setup made of the pinned commit, or the work that was laid over it."""
    tree = git.tree_of(order.repo, order.resume) if order.resume else preparation.baseline
    return Beginning(order.repo, tree, Paths(order.state).steps, preparation.brought)


def brought_home(folder: Path, repo: Path, pinned: str, states: Sequence[tuple[str, str]], at: int) -> str:
    """The states, each a tree with its name, as a chain of commits on `pinned` in the objects of `repo`; no reference
    points to it. The last commit; empty where there are no states. Raises GitError.

    `at` (seconds since the epoch) dates them, so that bringing the same states twice makes the same commits.
    """
    if not states:
        return ""
    store = git_objects.lasting_store(folder, repo, folder)
    who = git.identity(repo)
    named = {"NAME": who.name, "EMAIL": who.email, "DATE": f"@{at} +0000"}
    variables = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in named.items()}
    last = pinned
    for tree, name in states:
        arguments = ("commit-tree", tree, "-p", last)
        made = git.call(
            folder, *arguments, extra={**store.variables, **variables}, data=name.encode("utf-8", "replace")
        )
        last = made.text
    wanted = f"{last}\n^{pinned}\n".encode()
    pack = store.call("pack-objects", "--revs", "--stdout", "-q", data=wanted).out
    git.call(repo, "unpack-objects", "-q", data=pack)
    return last
