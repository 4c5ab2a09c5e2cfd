"""Whose ledger it is: a random id of the state, and the first commit of the repository's work. Written once."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.evidence import Repository
from agent_fox.core.late import late_module

if TYPE_CHECKING:
    import secrets

    from sqlite_utils import Database

    from agent_fox.system import git
else:
    git = late_module("agent_fox.system.git")
    secrets = late_module("secrets")

OWN = ".agent-fox"


def repository_of(db: Database) -> Repository | None:
    """None where nothing was recorded yet, or by version 0.1 alone."""
    row = db.execute("SELECT id, root FROM ledger_repository").fetchone()
    return Repository(*row) if row else None


def known(db: Database) -> Repository:
    """The identity that records get, made where there is none yet, in the open transaction."""
    found = repository_of(db)
    if found is None:
        found = Repository(secrets.token_hex(16), root_of(Path(db.execute("PRAGMA database_list").fetchone()[2])))
        db.execute("INSERT INTO ledger_repository (only, id, root) VALUES (1, ?, ?)", [found.id, found.root])
    return found


def root_of(path: Path) -> str:
    """The first commit of the repository that a state file lies in, empty where it cannot be known."""
    return git.first_commit(path.parent.parent) if path.parent.name == OWN else ""


def note_root(db: Database, root: Path) -> None:
    """Note the first commit of the repository at `root`, once there is one; it stays what it is. In the open
    transaction."""
    if not known(db).root:
        db.execute("UPDATE ledger_repository SET root = ? WHERE root = ''", [git.first_commit(root)])
