"""The tables of delivery to a tracker: what is known of each issue there, the rate, the lease, what was seen."""

from __future__ import annotations

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
