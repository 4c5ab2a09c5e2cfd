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

RESTORES = (
    *("read_before", "UPDATE OF restores", "verification_results"),
    *("NEW.restores IS NOT OLD.restores", "which reading a row restores never changes"),
)
READ_BEFORE = f"""
ALTER TABLE verification_results ADD COLUMN restores INTEGER REFERENCES verification_results (id);
{trigger(*RESTORES)}
"""
"""The earlier row whose reading counts again by this one; none for a reading of its own."""


EXPECTATIONS = f"""
ALTER TABLE verification_results ADD COLUMN expectation TEXT CHECK (expectation IS NULL OR json_valid(expectation));
{trigger("expectation", "UPDATE OF expectation", "verification_results", "", "what was read never changes")}
"""
"""A JSON object about the committed test that fails although the tests of the tree pass; see `core.expectations`."""

KNOWN = f"""
{COLUMN}
{trigger("how", "UPDATE OF how", "verification_results", "NEW.how IS NOT OLD.how", "how it was known never changes")}
{VIEW}
"""

INTO_A_NODE = """
CREATE INDEX plan_edges_target ON plan_edges (target);
CREATE INDEX retry_edges_target ON retry_edges (target);
CREATE INDEX plan_nodes_running ON plan_nodes (uid) WHERE status = 'running';
"""
"""What a node waits for, and what is under way, are found without reading the plan."""

MIGRATIONS: tuple[str, ...] = (
    "\n".join((TABLES, transitions(), guards())),
    *(WHO_WORKED, EVIDENCE, DELIVERY, READ_BEFORE, EXPECTATIONS, KNOWN, INTO_A_NODE),
)
"""Applied in order; the number applied is kept in `PRAGMA user_version`. Never edit one that was released."""
