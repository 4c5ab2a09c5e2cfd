"""What a run of tests may not change: installed dependencies, and the settings of tests. See `docs/proof.md`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from agent_fox.verifier.proof.sides import NOT_COPIED, has_test_settings
from agent_fox.verifier.source.base_tree import BORROWED

_PACKAGES = "node_modules"
CACHES = (".cache", ".vite", ".vite-temp", ".vitest")
"""Folders that test tools make below `node_modules`: shown empty to each command, and gone with it."""


def held(workspace: Path) -> tuple[Path, ...]:
    """The folders of dependencies that lie in the workspace itself, and each file that has settings of tests."""
    folders = (workspace / name for name in BORROWED)
    own = (folder for folder in folders if folder.is_dir() and not folder.is_symlink())
    return (*own, *_settings(workspace))


def _settings(workspace: Path) -> Iterator[Path]:
    for folder, folders, files in os.walk(workspace):
        folders[:] = [name for name in folders if name not in NOT_COPIED and name not in ("target", ".git")]
        paths = (Path(folder, name) for name in files if has_test_settings(name))
        yield from (path for path in paths if not path.is_symlink())


def emptied(folders: Iterable[Path]) -> tuple[Path, ...]:
    """The folders of caches below those of packages. They are made where they are missing, as the tools would do it:
    nothing can be shown in the place of what is not there. Where that is not allowed, the tool has no cache.
    """
    made = []
    for folder in folders:
        for name in CACHES if folder.name == _PACKAGES and folder.is_dir() else ():
            with suppress(OSError):
                (folder / name).mkdir(exist_ok=True)
                made.append(folder / name)
    return tuple(made)
