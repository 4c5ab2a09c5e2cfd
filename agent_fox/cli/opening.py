"""The state file as a command opens it for reading. Imports little: these commands must be there at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.cli.place import OWN
from agent_fox.store.state import read_state
from agent_fox.store.waivers import has_waivers

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.engine.account.account import WaiverNote


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


def signed_in(root: Path, db: Database) -> Callable[[str, str], bool]:
    """Whether a waiver of a requirement, by spec and id, counts now."""
    signed = {(waiver.spec, waiver.address) for waiver in waivers_of(root, db)()} if has_waivers(db) else frozenset()
    return lambda spec, part: (spec, part) in signed


def waivers_of(root: Path, db: Database) -> Callable[[], tuple[WaiverNote, ...]]:
    """Looks up the waivers that count now: only where there are any, for it takes the whole of the settings."""

    def in_force() -> tuple[WaiverNote, ...]:
        from agent_fox.config import load  # noqa: PLC0415 - heavy, and rarely needed
        from agent_fox.engine.handlers.waiving import notes_in_force  # noqa: PLC0415 - heavy: checks signatures
        from agent_fox.evidence.waivers import grounds_of  # noqa: PLC0415 - the same
        from agent_fox.system.clock import now  # noqa: PLC0415 - with them

        return notes_in_force(db, grounds_of(root, load(root, os.environ), os.environ), now())

    return in_force


def can_sign(root: Path) -> bool:
    """Whether somebody is trusted to sign a waiver here. The settings, which take long to load, are loaded only where
    there is a list of signers; settings that are wrong are not this question's to tell."""
    home = Path(os.environ.get("XDG_CONFIG_HOME") or Path(os.environ.get("HOME", "")) / ".config") / "agent-fox"
    if not os.path.lexists(Path(os.environ.get("AGENT_FOX_KEYS") or home) / "allowed_signers"):
        return False
    from agent_fox.config import ConfigError  # noqa: PLC0415 - heavy, and rarely needed
    from agent_fox.evidence.signing.keys import KeyTrouble  # noqa: PLC0415 - with it

    try:
        return not before_waiving(root)
    except (ConfigError, KeyTrouble):
        return False


def before_waiving(root: Path) -> tuple[str, ...]:
    """Commands without which nobody could sign a waiver here; nothing where somebody is trusted to. Rarely asked."""
    from agent_fox.config import load  # noqa: PLC0415 - heavy, and rarely needed
    from agent_fox.evidence.waivers import first_commands, grounds_of  # noqa: PLC0415 - the same

    return first_commands(grounds_of(root, load(root, os.environ), os.environ))
