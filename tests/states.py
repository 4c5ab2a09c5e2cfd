"""State files for tests: a copy of one that was made once, since making one costs more than most tests."""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path

from sqlite_utils import Database

from agent_fox.store.state import open_state


def fresh_state(path: Path) -> Database:
    """Like `open_state`, which makes a file where there is none: here it is laid down ready-made, and opened."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_empty())
    return open_state(path)


@cache
def _empty() -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state.db"
        open_state(path).close()
        return path.read_bytes()
