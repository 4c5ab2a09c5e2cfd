"""Files in a session's home: those that an adapter lays there, and those of the program that are read on as they grow.

An earlier session may have left anything there, links too.
"""

from __future__ import annotations

import math
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from agent_fox.system.files import open_regular, remove_tree


def keep_folder(path: Path) -> None:
    """A folder that only its owner reads. What it holds stays; anything else there, a link to a folder too, is removed.

    Raises OSError where that cannot be.
    """
    if path.is_symlink() or not path.is_dir():
        remove_tree(path)
    path.mkdir(parents=True, exist_ok=True, mode=0o700)


def clear(path: Path, kept: Collection[str]) -> None:
    """Remove what is there, but of a folder what fits one of the patterns; a link is never kept."""
    if not kept or path.is_symlink() or not path.is_dir():
        return remove_tree(path)
    for left in path.iterdir():
        if left.is_symlink() or not any(left.match(pattern) for pattern in kept):
            remove_tree(left)
    return None


def write_new(path: Path, text: str) -> None:
    """A new file that only its owner reads, with the folders above it. What UTF-8 cannot encode becomes `?`.

    Raises FileExistsError where anything is there, a link that leads nowhere too.
    """
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8", errors="replace") as file:
        file.write(text)


@dataclass(slots=True)
class Growing:
    """What a file of the agent's own holds, read on as it grows: only a regular file, and never waited for.

    `at_once` bytes are read at most at one time, `most` in all.
    """

    at_once: int
    most: float = math.inf
    read: int = 0
    rest: bytes = b""

    def lines(self, path: Path) -> list[bytes]:
        """The lines that have come to their end since the last look."""
        try:
            with open_regular(path) as file:
                file.seek(self.read)
                more = file.read(int(max(0, min(self.at_once, self.most - self.read))))
        except OSError:
            more = b""
        self.read += len(more)
        *lines, self.rest = (self.rest + more).split(b"\n")
        return lines
