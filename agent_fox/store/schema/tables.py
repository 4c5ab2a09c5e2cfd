"""The tables of the state file, as SQL. What may happen to their rows is in `guards`; nothing here runs.

STRICT: a value of the wrong type is refused. Tables with a key of text have no hidden row id that could clash.
"""

from __future__ import annotations

TABLES = """
CREATE TABLE runs (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    started_at TEXT NOT NULL,
    ended_at TEXT,
    status TEXT NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'ended', 'paused', 'interrupted')),
    exit_code INTEGER,
    reason TEXT NOT NULL DEFAULT '',
    head_commit TEXT,
    tip_commit TEXT,
    seconds REAL NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE plan_specs (
    name TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    dialect TEXT NOT NULL,
    path TEXT NOT NULL,
    title TEXT NOT NULL DEFAULT '',
    snapshot TEXT NOT NULL,
    is_withdrawn INTEGER NOT NULL DEFAULT 0 CHECK (is_withdrawn IN (0, 1)),
    verified_commit TEXT,
    problem TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID, STRICT;

CREATE TABLE plan_nodes (
    uid TEXT PRIMARY KEY,
    id TEXT NOT NULL,
    spec_name TEXT NOT NULL,
    group_number INTEGER NOT NULL,
    archetype TEXT NOT NULL CHECK (archetype IN ('coder', 'reviewer', 'verifier')),
    mode TEXT,
    title TEXT NOT NULL DEFAULT '',
    position INTEGER NOT NULL,
    is_optional INTEGER NOT NULL DEFAULT 0 CHECK (is_optional IN (0, 1)),
    is_ticked INTEGER NOT NULL DEFAULT 0 CHECK (is_ticked IN (0, 1)),
    retry_predecessor INTEGER NOT NULL DEFAULT 1 CHECK (retry_predecessor IN (0, 1)),
    status TEXT NOT NULL CHECK (status IN ('pending', 'running', 'completed', 'blocked', 'withdrawn')),
    outcome TEXT CHECK (
        outcome IN ('verified', 'escalated', 'waived', 'landed', 'unchanged', 'ticked', 'reviewed')
    ),
    attempt INTEGER NOT NULL CHECK (attempt >= 0),
    reading INTEGER NOT NULL CHECK (reading >= 1),
    attempt_base INTEGER NOT NULL DEFAULT 0,
    reading_base INTEGER NOT NULL DEFAULT 0,
    rung INTEGER NOT NULL DEFAULT 0,
    decision_id INTEGER REFERENCES decisions (id),
    CHECK ((status = 'completed') = (outcome IS NOT NULL))
) WITHOUT ROWID, STRICT;
CREATE UNIQUE INDEX plan_nodes_id ON plan_nodes (id) WHERE status <> 'withdrawn';
CREATE INDEX plan_nodes_spec ON plan_nodes (spec_name);

CREATE TABLE plan_edges (
    source TEXT NOT NULL REFERENCES plan_nodes (uid),
    target TEXT NOT NULL REFERENCES plan_nodes (uid),
    kind TEXT NOT NULL CHECK (kind IN ('chain', 'dependency', 'gate')),
    PRIMARY KEY (source, target, kind)
) WITHOUT ROWID, STRICT;

CREATE TABLE retry_edges (
    source TEXT NOT NULL REFERENCES plan_nodes (uid),
    target TEXT NOT NULL REFERENCES plan_nodes (uid),
    decision_id INTEGER NOT NULL REFERENCES decisions (id),
    PRIMARY KEY (source, target)
) WITHOUT ROWID, STRICT;

CREATE TABLE plan_parts (
    spec_name TEXT NOT NULL,
    id TEXT NOT NULL,
    requirement_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    text TEXT NOT NULL,
    version TEXT NOT NULL,
    PRIMARY KEY (spec_name, id)
) WITHOUT ROWID, STRICT;

CREATE TABLE sessions (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    run_id INTEGER NOT NULL REFERENCES runs (id),
    node_id TEXT NOT NULL,
    node_uid TEXT NOT NULL REFERENCES plan_nodes (uid),
    spec_name TEXT NOT NULL,
    archetype TEXT NOT NULL,
    mode TEXT,
    attempt INTEGER NOT NULL CHECK (attempt >= 1),
    reading INTEGER NOT NULL CHECK (reading >= 1),
    status TEXT NOT NULL CHECK (status IN ('running', 'waiting', 'completed', 'failed', 'withdrawn')),
    end_kind TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT '',
    backend TEXT NOT NULL DEFAULT '',
    rung INTEGER NOT NULL DEFAULT 0,
    pinned_commit TEXT,
    tree TEXT,
    base_commit TEXT,
    landed_commit TEXT,
    is_landed INTEGER NOT NULL DEFAULT 0 CHECK (is_landed IN (0, 1)),
    exit_status INTEGER,
    cost_usd REAL,
    assumed_cost_usd REAL NOT NULL DEFAULT 0,
    input_tokens INTEGER,
    output_tokens INTEGER,
    seconds REAL,
    summary TEXT NOT NULL DEFAULT '',
    log TEXT NOT NULL DEFAULT '',
    started_at TEXT NOT NULL,
    ended_at TEXT,
    UNIQUE (node_uid, attempt, reading)
) STRICT;
CREATE INDEX sessions_run ON sessions (run_id);
CREATE INDEX sessions_spec ON sessions (spec_name);
CREATE INDEX sessions_unlanded ON sessions (id) WHERE landed_commit IS NOT NULL AND is_landed = 0;

CREATE TABLE launches (
    id TEXT PRIMARY KEY,
    session_id INTEGER NOT NULL REFERENCES sessions (id),
    run_id INTEGER NOT NULL REFERENCES runs (id),
    number INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('running', 'ended', 'lost', 'infrastructure', 'interrupted')),
    pinned_commit TEXT NOT NULL,
    folder TEXT NOT NULL,
    pid INTEGER,
    pid_start TEXT,
    reason TEXT NOT NULL DEFAULT '',
    cost_usd REAL,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    UNIQUE (session_id, number)
) WITHOUT ROWID, STRICT;
CREATE INDEX launches_open ON launches (status) WHERE status = 'running';
CREATE UNIQUE INDEX launches_ended ON launches (session_id) WHERE status = 'ended';

CREATE TABLE decisions (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    at TEXT NOT NULL,
    run_id INTEGER REFERENCES runs (id),
    node_uid TEXT NOT NULL REFERENCES plan_nodes (uid),
    node_id TEXT NOT NULL,
    spec_name TEXT NOT NULL,
    kind TEXT NOT NULL,
    cause TEXT,
    attempt INTEGER NOT NULL,
    reading INTEGER NOT NULL,
    session_id INTEGER REFERENCES sessions (id),
    commit_id TEXT,
    steps TEXT NOT NULL,
    facts TEXT NOT NULL,
    note TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX decisions_node ON decisions (node_uid);
CREATE INDEX decisions_spec ON decisions (spec_name);

CREATE TABLE verification_results (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    spec_name TEXT NOT NULL,
    requirement_id TEXT NOT NULL,
    verdict TEXT NOT NULL CHECK (verdict IN ('PASS', 'FAIL', 'UNKNOWN')),
    read_as TEXT NOT NULL CHECK (read_as IN ('PASS', 'FAIL', 'UNKNOWN')),
    said TEXT NOT NULL DEFAULT '',
    evidence TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
    command TEXT,
    first_error TEXT,
    failing_tests INTEGER,
    disposition TEXT,
    text_version TEXT NOT NULL DEFAULT '',
    node_uid TEXT REFERENCES plan_nodes (uid),
    session_id INTEGER REFERENCES sessions (id),
    decision_id INTEGER REFERENCES decisions (id),
    attempt INTEGER,
    reading INTEGER,
    commit_id TEXT,
    tree TEXT,
    at TEXT NOT NULL,
    superseded_by INTEGER REFERENCES verification_results (id) DEFERRABLE INITIALLY DEFERRED
) STRICT;
CREATE UNIQUE INDEX verification_results_current
    ON verification_results (spec_name, requirement_id) WHERE superseded_by IS NULL;
CREATE INDEX verification_results_tree ON verification_results (spec_name, tree);
CREATE INDEX verification_results_session ON verification_results (session_id);
CREATE INDEX verification_results_superseded
    ON verification_results (superseded_by) WHERE superseded_by IS NOT NULL;

CREATE TABLE blocking_history (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    at TEXT NOT NULL,
    run_id INTEGER REFERENCES runs (id),
    decision_id INTEGER NOT NULL REFERENCES decisions (id),
    archetype TEXT NOT NULL,
    node_id TEXT NOT NULL,
    node_uid TEXT NOT NULL REFERENCES plan_nodes (uid),
    spec_name TEXT NOT NULL,
    cause TEXT NOT NULL,
    reason TEXT NOT NULL,
    root_node TEXT NOT NULL,
    requirements TEXT NOT NULL DEFAULT '[]'
) STRICT;
CREATE INDEX blocking_history_node ON blocking_history (node_uid);

CREATE TABLE outbox (
    position INTEGER PRIMARY KEY CHECK (position > 0),
    id TEXT NOT NULL UNIQUE,
    decision_id INTEGER NOT NULL REFERENCES decisions (id),
    kind TEXT NOT NULL CHECK (kind IN ('file', 'comment', 'close', 'reopen')),
    fingerprint TEXT NOT NULL,
    spec_name TEXT NOT NULL,
    payload TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'pending'
        CHECK (state IN ('pending', 'inflight', 'unknown', 'done', 'held', 'moot')),
    tries INTEGER NOT NULL DEFAULT 0,
    witness TEXT,
    note TEXT NOT NULL DEFAULT '',
    not_before TEXT,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    UNIQUE (decision_id, kind, fingerprint)
) STRICT;
CREATE INDEX outbox_open ON outbox (state) WHERE state NOT IN ('done', 'moot');

CREATE TABLE issues (
    fingerprint TEXT PRIMARY KEY,
    number TEXT,
    url TEXT NOT NULL DEFAULT '',
    title TEXT NOT NULL,
    cause TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'closed')),
    updated_at TEXT NOT NULL
) WITHOUT ROWID, STRICT;

CREATE TABLE issue_members (
    fingerprint TEXT NOT NULL REFERENCES issues (fingerprint),
    spec_name TEXT NOT NULL,
    requirement_id TEXT NOT NULL,
    is_open INTEGER NOT NULL CHECK (is_open IN (0, 1)),
    PRIMARY KEY (fingerprint, spec_name, requirement_id)
) WITHOUT ROWID, STRICT;

CREATE TABLE events (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    at TEXT NOT NULL,
    run_id INTEGER REFERENCES runs (id),
    kind TEXT NOT NULL,
    node_id TEXT,
    spec_name TEXT,
    data TEXT NOT NULL DEFAULT '{}'
) STRICT;

CREATE TABLE legal_transitions (
    start TEXT NOT NULL,
    finish TEXT NOT NULL,
    needs_decision INTEGER NOT NULL,
    PRIMARY KEY (start, finish)
) WITHOUT ROWID, STRICT;
"""
