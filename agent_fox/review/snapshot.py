"""What the files of a repository hold at one moment, beside its base commit: staged, committed, untracked, all of it.

How two moments are compared and shown is in `changes`.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.values import dataclass
from agent_fox.review.unshown import Unshown, unshown
from agent_fox.system import git, git_ignores
from agent_fox.system.git_ignores import OWN_STATE
from agent_fox.system.git_objects import GITLINK

if TYPE_CHECKING:
    from agent_fox.review.looking import Look

MOST_UNSHOWN = 1000


@dataclass(frozen=True, slots=True)
class Changed:
    """A path that differs from the base: modes (octal text, ABSENT where it is not there) and object ids."""

    path: str
    old_mode: str
    new_mode: str
    old_id: str
    new_id: str

    @property
    def state(self) -> str:
        """What the files hold there now, as one word that can be compared."""
        return f"{self.new_mode} {self.new_id}"


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The work tree: as a git tree, with what is not in that tree, and the difference from the base.

    `ignored`: a hash of the rules beside .gitignore by which files are left out. `beside`: files of the tree that git
    hides by rules which the base has not; `cached`: how many such files of tools are not even in the tree.
    """

    base_tree: str
    tree: str
    unshown: tuple[Unshown, ...]
    changed: tuple[Changed, ...]
    ignored: str
    beside: frozenset[str] = frozenset()
    cached: int = 0

    @property
    def fingerprint(self) -> str:
        """The same only where every file holds the same: 64 hex digits."""
        document = [self.tree, [[file.path, file.why.value, file.size, file.mark] for file in self.unshown]]
        return digest_of(json.dumps(document))


def snapshot(look: Look, base: str, largest: int, nested: frozenset[str] = frozenset()) -> Snapshot:
    """The files against the commit `base` (empty: nothing). `nested`: submodules that are looked at by themselves.

    A new file of more than `largest` bytes is named only. Raises GitError where the files cannot be read whole.
    """
    base_tree = look.line("rev-parse", "--verify", f"{base}^{{tree}}") if base else look.line("mktree")
    look.ask("read-tree", base_tree)
    of_base = _entries(look)
    out_of_sight = git_ignores.hidden(lambda words, data: look.ask(*words, data=data), base_tree, look.folder)
    out_of_sight = frozenset(path for path in out_of_sight if not OWN_STATE.fullmatch(path))
    beside = frozenset(path for path in out_of_sight if not git_ignores.is_of_tools(path))
    new = sorted({*_new_files(look, {path for path, mode in of_base.items() if mode != GITLINK}), *beside})
    links = [f"{path}/" for path, mode in of_base.items() if mode == GITLINK and _is_repository(look.files / path)]
    aside = _aside(look.files, [*new, *links], largest, nested)
    left = {file.path for file in aside}
    _take_in(look, base_tree, of_base, [path for path in new if path not in left and not path.endswith("/")])
    tree = look.line("write-tree")
    ignored = hashlib.sha256((look.folder / "info/exclude").read_bytes()).hexdigest()
    cached = len(out_of_sight) - len(beside)
    return Snapshot(base_tree, tree, aside, tuple(changes(look, base_tree, tree)), ignored, beside, cached)


def changes(look: Look, old: str, new: str) -> Iterator[Changed]:
    """What differs between two trees."""
    fields = look.fields("diff-tree", "-r", "-z", "--no-renames", old, new)
    for facts, path in zip(fields[::2], fields[1::2], strict=True):
        old_mode, new_mode, old_id, new_id, _ = facts.lstrip(":").split(" ")
        yield Changed(path, old_mode, new_mode, old_id, new_id)


def _entries(look: Look) -> dict[str, str]:
    """Path and mode of everything in the index."""
    records = (record.split("\t", 1) for record in look.fields("ls-files", "--stage", "-z"))
    return {path: facts.split(" ")[0] for facts, path in records}


def _new_files(look: Look, of_base: set[str]) -> Iterator[str]:
    """Files that the base has not: not ignored, or tracked by the person's own index although they are."""
    untracked = look.fields("ls-files", "--others", "--exclude-standard", "-z")
    yield from (path for path in untracked if not OWN_STATE.fullmatch(path))
    tracked, files = git.call(look.files, "ls-files", "--stage", "-z").records, _Files(look.files)
    for facts, _, path in (record.partition("\t") for record in tracked):
        is_new = path not in of_base and not facts.startswith(GITLINK) and not OWN_STATE.fullmatch(path)
        if is_new and files.has(path):
            yield path


def _is_repository(folder: Path) -> bool:
    return not folder.is_symlink() and (folder / ".git").exists()


def _aside(root: Path, paths: Iterable[str], largest: int, nested: frozenset[str]) -> tuple[Unshown, ...]:
    try:
        files = [unshown(root, path, largest) for path in dict.fromkeys(paths) if path.rstrip("/") not in nested]
    except OSError as error:
        raise git.GitError(f"{error.filename}: {error.strerror}; the files changed while they were read") from error
    aside = tuple(file for file in files if file)
    if len(aside) > MOST_UNSHOWN:
        raise git.GitError(
            f"{root}: {len(aside):,} new files are secret by their names, or too large to be shown; "
            "put what is no work of the task into .gitignore"
        )
    return aside


def _take_in(look: Look, base_tree: str, of_base: Mapping[str, str], new: Iterable[str]) -> None:
    """Put what the files hold into the index. Submodules stay as they are in the base: git would run inside of them."""
    tracked = [path for path, mode in of_base.items() if mode != GITLINK and not OWN_STATE.fullmatch(path)]
    files = _Files(look.files)
    there = [path for path in (*tracked, *new) if files.has(path)]
    gone = sorted({*tracked, *new} - set(there))
    removals = "".join(f"0 {'0' * len(base_tree)}\t{path}\0" for path in gone)
    look.ask("update-index", "-z", "--index-info", data=removals.encode("utf-8", "surrogateescape"))
    look.ask("update-index", "--add", "--remove", "--replace", "-z", "--stdin", data=_lines(there))


class _Files:
    """Which paths below a root are files or links, with no link among the folders on the way."""

    def __init__(self, root: Path) -> None:
        self._root = str(root)
        self._folders: dict[str, bool] = {"": True}

    def has(self, path: str) -> bool:
        folder, _, _ = path.rpartition("/")
        mode = _mode(f"{self._root}/{path}") if self._is_folder(folder) else 0
        return stat.S_ISREG(mode) or stat.S_ISLNK(mode)

    def _is_folder(self, path: str) -> bool:
        if path not in self._folders:
            outer, _, _ = path.rpartition("/")
            self._folders[path] = self._is_folder(outer) and stat.S_ISDIR(_mode(f"{self._root}/{path}"))
        return self._folders[path]


def _mode(path: str) -> int:
    """What lies there; 0 where nothing does."""
    try:
        return os.lstat(path).st_mode
    except OSError:
        return 0


def _lines(paths: Iterable[str]) -> bytes:
    return b"".join(path.encode("utf-8", "surrogateescape") + b"\0" for path in paths)
