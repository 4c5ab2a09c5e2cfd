"""The schema of the state file, as a list of migrations. What each holds is in `tables`, `guards`,
`evidence_tables` and `known_tables`; what delivery to a tracker keeps stands here."""

from __future__ import annotations

from agent_fox.store.schema.evidence_tables import EVIDENCE, MEMORY
from agent_fox.store.schema.guards import (
    Key,
    fixed,
    guards,
    no_delete,
    no_replace,
    no_update,
    transitions,
    trigger,
)
from agent_fox.store.schema.known_tables import COLUMN, VIEW
from agent_fox.store.schema.tables import TABLES

WHO_WORKED = f"""
ALTER TABLE sessions ADD COLUMN agents TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(agents));
{trigger("who_worked", "UPDATE OF agents", "sessions", "OLD.status NOT IN ('running', 'waiting')", "it has ended")}
"""
"""A JSON list: one object for each agent of a session, with its backend, model, and where its cost comes from."""

DELIVERY = """
ALTER TABLE outbox ADD COLUMN readings INTEGER NOT NULL DEFAULT 0;
ALTER TABLE outbox ADD COLUMN sent_at TEXT;
ALTER TABLE outbox ADD COLUMN is_in_doubt INTEGER NOT NULL DEFAULT 0 CHECK (is_in_doubt IN (0, 1));
UPDATE outbox SET is_in_doubt = 1, sent_at = updated_at WHERE state IN ('inflight', 'unknown');
ALTER TABLE issues ADD COLUMN remote TEXT NOT NULL DEFAULT '';
ALTER TABLE issues ADD COLUMN episode INTEGER NOT NULL DEFAULT 1;
ALTER TABLE issues ADD COLUMN parent TEXT NOT NULL DEFAULT '';
ALTER TABLE issues ADD COLUMN flaps INTEGER NOT NULL DEFAULT 0;
ALTER TABLE issues ADD COLUMN proofs INTEGER NOT NULL DEFAULT 0;
ALTER TABLE issues ADD COLUMN seen_at TEXT NOT NULL DEFAULT '';

CREATE TABLE issue_episodes (
    fingerprint TEXT NOT NULL REFERENCES issues (fingerprint),
    episode INTEGER NOT NULL CHECK (episode > 0),
    number TEXT NOT NULL,
    url TEXT NOT NULL DEFAULT '',
    ended_at TEXT NOT NULL,
    PRIMARY KEY (fingerprint, episode)
) WITHOUT ROWID, STRICT;

CREATE TABLE tracker_memory (
    place TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (place, name)
) WITHOUT ROWID, STRICT;

CREATE TABLE tracker_writes (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    place TEXT NOT NULL,
    at REAL NOT NULL
) STRICT;
CREATE INDEX tracker_writes_place ON tracker_writes (place, at);

CREATE TABLE tracker_leases (
    place TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until REAL NOT NULL
) WITHOUT ROWID, STRICT;
"""
"""`outbox.sent_at`: when it was sent first; `is_in_doubt`: it may be out already; `readings`: how many readings since
then should have shown it and did not.
`issues.remote`: how the tracker was left or last seen; `episode`: which issue of this cause it is, earlier ones are in
`issue_episodes`; `parent`: the fingerprint of the issue that it is a part of; `flaps`: how often it failed again after
it was closed with proof; `proofs`: proving reports in a row since it failed last.
`tracker_writes`: the time (seconds since 1970) of every write of the last hour; `place` names a repository."""

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

ONCE = "NEW.id IS NOT OLD.id OR NEW.only IS NOT OLD.only OR OLD.root <> ''"
WHOSE = f"""
CREATE TABLE ledger_repository (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    id TEXT NOT NULL CHECK (length(id) = 32),
    root TEXT NOT NULL DEFAULT ''
) STRICT;
{no_delete("ledger_repository")}
{no_replace("ledger_repository", [Key(("only",))])}
{trigger("once", "UPDATE", "ledger_repository", ONCE, "whose ledger it is never changes")}
"""
"""`id` is random; `root` is the first commit of the repository's work, empty until it is known."""

INTO_A_NODE = """
CREATE INDEX plan_edges_target ON plan_edges (target);
CREATE INDEX retry_edges_target ON retry_edges (target);
CREATE INDEX plan_nodes_running ON plan_nodes (uid) WHERE status = 'running';
"""
"""What a node waits for, and what is under way, are found without reading the plan."""

TRACES = f"""
CREATE TABLE traces (
    session_id INTEGER PRIMARY KEY CHECK (session_id > 0) REFERENCES sessions (id),
    digest TEXT NOT NULL CHECK (length(digest) = 64),
    counts TEXT NOT NULL CHECK (json_valid(counts)),
    commit_id TEXT NOT NULL DEFAULT '',
    ref TEXT NOT NULL DEFAULT '',
    until TEXT NOT NULL DEFAULT '',
    at TEXT NOT NULL,
    document TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE TABLE onsets (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    session_id INTEGER NOT NULL REFERENCES sessions (id),
    spec_name TEXT NOT NULL,
    requirement_id TEXT NOT NULL,
    test TEXT NOT NULL,
    word TEXT NOT NULL,
    coder_session INTEGER REFERENCES sessions (id),
    step INTEGER CHECK (step IS NULL OR step > 0),
    finding TEXT NOT NULL CHECK (json_valid(finding)),
    at TEXT NOT NULL
) STRICT;
CREATE INDEX onsets_session ON onsets (session_id);
{"".join(no_delete(table) + no_update(table) for table in ("traces", "onsets"))}
{no_replace("traces", [Key(("session_id",))])}
{no_replace("onsets", [Key(("id",))])}
"""
"""`traces.document` is `core.trace.Trace` as JSON, `digest` its SHA-256; `ref` keeps the trees of its states until the
day `until`. `onsets.session_id` is the reading that found it, `coder_session` and `step` where the test began to
fail."""

NEVER_CHANGED = ("id", "run_id", "session_id", "kind", "reason", "began_at", "until")
WAITS = f"""
CREATE TABLE waits (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    run_id INTEGER NOT NULL REFERENCES runs (id),
    session_id INTEGER REFERENCES sessions (id),
    kind TEXT NOT NULL,
    reason TEXT NOT NULL,
    began_at TEXT NOT NULL,
    until TEXT,
    ended_at TEXT
) STRICT;
CREATE INDEX waits_open ON waits (run_id) WHERE ended_at IS NULL;
{no_delete("waits")}
{no_replace("waits", [Key(("id",))])}
{fixed("waits", NEVER_CHANGED)}
{trigger("settled", "UPDATE", "waits", "OLD.ended_at IS NOT NULL", "a wait that ended cannot change")}
"""
"""Times in which nothing was launched: of one session between two launches of it, or of the whole run (no session).
`kind` is a kind of infrastructure, or how a run was paused; `until` when a session was to be launched again."""

WHERE = f"""
ALTER TABLE launches ADD COLUMN runner TEXT NOT NULL DEFAULT '';
{trigger("runner", "UPDATE OF runner", "launches", "NEW.runner IS NOT OLD.runner", "where a launch runs never changes")}
"""
"""The name of the runner that has the launch, written before it is asked to; empty: this machine."""

MIGRATIONS: tuple[str, ...] = (
    "\n".join((TABLES, transitions(), guards())),
    *(
        WHO_WORKED,
        EVIDENCE,
        DELIVERY,
        READ_BEFORE,
        EXPECTATIONS,
        KNOWN,
        WHOSE,
        INTO_A_NODE,
        TRACES,
        MEMORY,
        WAITS,
        WHERE,
    ),
)
"""Applied in order; the number applied is kept in `PRAGMA user_version`. Never edit one that was released."""
