"""The schema of the state file, as a list of migrations. What each holds is in `tables`, `guards`,
`evidence_tables`, `tracker_tables` and `known_tables`."""

from __future__ import annotations

from agent_fox.store.evidence_tables import EVIDENCE
from agent_fox.store.guards import guards, transitions, trigger
from agent_fox.store.known_tables import COLUMN, VIEW
from agent_fox.store.tables import TABLES
from agent_fox.store.tracker_tables import DELIVERY

WHO_WORKED = f"""
ALTER TABLE sessions ADD COLUMN agents TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(agents));
{trigger("who_worked", "UPDATE OF agents", "sessions", "OLD.status NOT IN ('running', 'waiting')", "it has ended")}
"""
"""A JSON list: one object for each agent of a session, with its backend, model, and where its cost comes from."""

KNOWN = f"""
{COLUMN}
{trigger("how", "UPDATE OF how", "verification_results", "NEW.how IS NOT OLD.how", "how it was known never changes")}
{VIEW}
"""

MIGRATIONS: tuple[str, ...] = ("\n".join((TABLES, transitions(), guards())), WHO_WORKED, EVIDENCE, DELIVERY, KNOWN)
"""Applied in order; the number applied is kept in `PRAGMA user_version`. Never edit one that was released."""
