"""Processes seen from outside."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path


def children_of(pid: int) -> list[int]:
    """The processes that `pid` started and that still run."""
    return [int(file.parent.name) for file in Path("/proc").glob("[0-9]*/stat") if _parent(file) == pid]


def _parent(stat: Path) -> int | None:
    try:
        state, parent = stat.read_text().rpartition(")")[2].split()[:2]
    except OSError:  # it has ended while we looked
        return None
    return None if state == "Z" else int(parent)


def until(holds: Callable[[], bool], seconds: float = 15.0) -> None:
    """Wait until it holds; fails if it does not come to."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it did not come to hold"
        time.sleep(0.05)
