"""The schema of the state file, as a list of migrations. What each holds is in `tables` and `guards`."""

from __future__ import annotations

from agent_fox.store.guards import guards, transitions
from agent_fox.store.tables import TABLES

MIGRATIONS: tuple[str, ...] = ("\n".join((TABLES, transitions(), guards())),)
"""Applied in order; the number applied is kept in `PRAGMA user_version`. Never edit one that was released."""
