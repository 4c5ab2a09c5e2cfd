"""Caches of build tools that stay between verifications of one checkout, by profile.

Only commands that run no code of the project write to the cache that stays. Commands that run tests get a copy, which
goes with them: what a test puts there is read by nobody else.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.system.files import remove_tree

if TYPE_CHECKING:
    from agent_fox.verifier.profiles.model import Profile

LARGEST = 2 * 1024**3  # bytes of one profile's caches; what is larger is emptied before the next command
FOLDER = "caches"


def cache_of(caches: Path, profile: Profile, copy_to: Path | None) -> tuple[Path, Mapping[str, str]] | None:
    """The folder that a command may write to, and the variables that lead there; None for a profile without caches.

    copy_to: a folder of the command alone, for one that runs tests.
    """
    if not profile.caches:
        return None
    folder = caches / profile.id
    if size_of(folder) > LARGEST:
        remove_tree(folder, ignore_errors=True)
    for name in profile.caches.values():
        (folder / name).mkdir(parents=True, exist_ok=True)
    if copy_to is not None:
        folder = Path(shutil.copytree(folder, copy_to / FOLDER))
    return folder, {variable: str(folder / name) for variable, name in profile.caches.items()}


def size_of(folder: Path) -> int:
    """Bytes of all files below a folder; 0 where it is not there."""
    return sum(path.lstat().st_size for path in folder.rglob("*") if not path.is_dir()) if folder.is_dir() else 0
