"""Where a command works: the root of the repository it was started in, and the names of what lies there."""

from __future__ import annotations

import time
from pathlib import Path

OWN = ".agent-fox"
MARKS = (OWN, ".git")


def find_root(start: Path) -> Path:
    """The nearest folder from `start` upwards that holds `.agent-fox` or `.git`; else `start`."""
    return next((folder for folder in (start, *start.parents) if _is_marked(folder)), start)


def _is_marked(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in MARKS)


def here() -> Path:
    """The root for the folder this process works in."""
    return find_root(Path.cwd())


def near(root: Path, text: str) -> str:
    """`text` with addresses of files below `root` as paths from there: what a person can type."""
    return text.replace(f"{root.resolve().as_uri()}/", "")


def held_for(root: Path) -> float:
    """Seconds since the process that holds the run lock took it: what of the run's time is not in the state yet."""
    try:
        return max(0.0, time.time() - (root / OWN / "run.lock").stat().st_mtime)
    except OSError:
        return 0.0
