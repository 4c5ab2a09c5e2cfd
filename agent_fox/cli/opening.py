"""The state file as a command opens it for reading. Imports little: these commands must be there at once."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sqlite_utils import Database

from agent_fox.cli.place import OWN
from agent_fox.store.state import read_state


def state_file(root: Path) -> Path:
    return root / OWN / "state.db"


@contextmanager
def reading(root: Path) -> Iterator[Database]:
    """The state, for reading only, while a run may go on. Raises StateError."""
    db = read_state(state_file(root))
    try:
        yield db
    finally:
        db.close()
