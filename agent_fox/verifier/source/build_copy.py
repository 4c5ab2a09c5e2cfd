"""A copy of a checkout that builds may write to, for tools that leave what they make beside the sources.

The copy stays for one verifier, so that the next command builds what changed alone; it is brought up to date before
each, and goes with the verifier.
"""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

from agent_fox.system.files import remove_tree
from agent_fox.system.own_folders import made_folder
from agent_fox.verifier.source.git import GIT

LARGEST = 2 * 1024**3  # bytes of a checkout
LEFT_OUT = frozenset({"build/verifier"})
"""Our own build folder of a checkout that was built in place: it would name the place where it was made."""

_OF_GIT = ("HEAD", "index", "config", "packed-refs", "refs", "info", "shallow")


class TooLarge(ValueError):
    """A checkout that is not copied: the message says how large one may be."""


class BuildCopy:
    """The copy, in a folder that goes with this object. Not for several threads at once."""

    def __init__(self) -> None:
        self._made = made_folder("copy")
        self._known: set[str] = set()
        self._bytes = 0

    @property
    def folder(self) -> Path:
        return Path(self._made.name).resolve() / "tree"

    def refresh(self, root: Path) -> None:
        """Bring it up to date: what differs is copied, with its times; what is gone goes; what builds made stays.

        Raises TooLarge, and OSError for what can't be read.
        """
        self._bytes, known = 0, set[str]()
        self.folder.mkdir(exist_ok=True)
        self._bring(root, "", known)
        for path in sorted(self._known - known, reverse=True):
            remove_tree(self.folder / path, ignore_errors=True)
        self._known = known
        _bring_git(root / GIT, self.folder / GIT)

    def _bring(self, root: Path, below: str, known: set[str]) -> None:
        for entry in os.scandir(root / below):
            path = f"{below}{entry.name}"
            if path in LEFT_OUT or path == GIT:
                continue
            target, there = self.folder / path, entry.stat(follow_symlinks=False)
            if entry.is_symlink():
                _link(Path(entry.path), target)
            elif entry.is_dir():
                _make_folder(target)
                self._bring(root, f"{path}/", known)
            elif stat.S_ISREG(there.st_mode):
                self._count(there.st_size)
                _copy(Path(entry.path), there, target)
            known.add(path)

    def _count(self, size: int) -> None:
        self._bytes += size
        if self._bytes > LARGEST:
            raise TooLarge(f"the checkout holds more than {LARGEST // 1024**2} MiB, so it was built where it lies")


def _make_folder(target: Path) -> None:
    if target.is_symlink() or (target.exists() and not target.is_dir()):
        target.unlink()
    target.mkdir(exist_ok=True)


def _link(source: Path, target: Path) -> None:
    if target.is_symlink() and target.readlink() == source.readlink():
        return
    remove_tree(target, ignore_errors=True)
    target.symlink_to(source.readlink())


def _copy(source: Path, there: os.stat_result, target: Path) -> None:
    try:
        here = target.lstat()
        if (here.st_size, here.st_mtime_ns, here.st_mode) == (there.st_size, there.st_mtime_ns, there.st_mode):
            return
    except FileNotFoundError:
        pass
    remove_tree(target, ignore_errors=True)
    shutil.copy2(source, target)


def _bring_git(source: Path, target: Path) -> None:
    """What tells which files are tracked, over the objects of the checkout; nothing that git runs."""
    remove_tree(target, ignore_errors=True)
    if source.is_file():
        shutil.copy2(source, target)
    elif source.is_dir():
        for name in (name for name in _OF_GIT if (source / name).exists()):
            target.mkdir(exist_ok=True)
            copy = shutil.copytree if (source / name).is_dir() else shutil.copy2
            copy(source / name, target / name)
        (target / "objects/info").mkdir(parents=True)
        (target / "objects/info/alternates").write_text(f"{(source / 'objects').resolve()}\n", encoding="utf-8")
