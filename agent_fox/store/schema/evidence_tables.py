"""The tables of the ledger, the gates, the waivers, the specification library, the review and regression memory,
with their triggers.

What may happen to a gate comes from `core.gates`; hashes are checked by `evidence.verify`, since SQL cannot.
"""

from __future__ import annotations

from agent_fox.core.ledger.evidence import GENESIS
from agent_fox.core.ledger.gates import TRANSITIONS
from agent_fox.store.schema.guards import Key, no_delete, no_replace, no_update, trigger

LEDGER = """
CREATE TABLE ledger (
    position INTEGER PRIMARY KEY CHECK (position > 0),
    record_id TEXT NOT NULL UNIQUE,
    identity TEXT NOT NULL UNIQUE,
    previous TEXT NOT NULL,
    head TEXT NOT NULL,
    kind TEXT NOT NULL,
    spec_name TEXT,
    address TEXT NOT NULL DEFAULT '',
    version TEXT NOT NULL DEFAULT '',
    status TEXT NOT NULL DEFAULT '',
    tree TEXT NOT NULL DEFAULT '',
    decision_id INTEGER,
    session_id INTEGER,
    at TEXT NOT NULL,
    content TEXT NOT NULL CHECK (json_valid(content))
) STRICT;
CREATE INDEX ledger_address ON ledger (address);
CREATE INDEX ledger_spec ON ledger (spec_name);
CREATE INDEX ledger_decision ON ledger (decision_id) WHERE decision_id IS NOT NULL;
CREATE INDEX ledger_session ON ledger (session_id) WHERE session_id IS NOT NULL;

ALTER TABLE runs ADD COLUMN ledger_begin TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN ledger_head TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN required_state TEXT NOT NULL DEFAULT 'tested';
ALTER TABLE sessions ADD COLUMN environment TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN verifier TEXT NOT NULL DEFAULT '';
"""
"""`runs.ledger_begin` and `ledger_head`: the head of the chain when a run was opened, and when it last ended.
`runs.required_state`: the gate that its requirements had to come to, when it last went on.
`sessions.environment` and `verifier`: what the verdicts of a session count for, besides their tree and their text."""

GATES = """
CREATE TABLE gate_transitions (
    start TEXT NOT NULL,
    finish TEXT NOT NULL,
    role TEXT NOT NULL,
    PRIMARY KEY (start, finish, role)
) WITHOUT ROWID, STRICT;

CREATE TABLE gate_history (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    at TEXT NOT NULL,
    spec_name TEXT NOT NULL,
    requirement_id TEXT NOT NULL,
    version TEXT NOT NULL,
    start TEXT,
    finish TEXT NOT NULL,
    role TEXT NOT NULL,
    decision_id INTEGER REFERENCES decisions (id),
    waiver_id TEXT REFERENCES waivers (id),
    tree TEXT NOT NULL DEFAULT '',
    commit_id TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX gate_history_part ON gate_history (spec_name, requirement_id, id);

CREATE VIEW gates AS
SELECT p.spec_name, p.id AS requirement_id, p.version, coalesce(h.finish, 'proposed') AS state,
    coalesce(h.role, 'engine') AS role, h.decision_id, h.waiver_id, coalesce(h.tree, '') AS tree,
    coalesce(h.commit_id, '') AS commit_id, coalesce(h.reason, 'planned') AS reason, coalesce(h.at, '') AS at,
    h.id AS history_id, EXISTS (
        SELECT 1 FROM gate_history AS f WHERE f.spec_name = p.spec_name AND f.requirement_id = p.id
            AND f.finish = 'proved' AND f.id > coalesce((
                SELECT max(id) FROM gate_history
                WHERE spec_name = p.spec_name AND requirement_id = p.id AND finish IN ('proposed', 'rejected')
            ), 0)
    ) AS was_proved
FROM plan_parts AS p
LEFT JOIN gate_history AS h ON h.version = p.version AND h.id = (
    SELECT max(id) FROM gate_history WHERE spec_name = p.spec_name AND requirement_id = p.id
);
"""
"""A gate is its last row of history, and proposed where it has none for the present text: there is no second place that
could say otherwise."""

WAIVERS = """
CREATE TABLE waivers (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL CHECK (kind IN ('requirement', 'finding')),
    spec_name TEXT NOT NULL DEFAULT '',
    address TEXT NOT NULL,
    version TEXT NOT NULL DEFAULT '',
    check_name TEXT NOT NULL DEFAULT '',
    detail_hash TEXT NOT NULL DEFAULT '',
    reason TEXT NOT NULL CHECK (reason <> ''),
    signer TEXT NOT NULL,
    granted_at TEXT NOT NULL,
    expires_at TEXT NOT NULL,
    envelope TEXT NOT NULL CHECK (json_valid(envelope))
) WITHOUT ROWID, STRICT;
CREATE INDEX waivers_address ON waivers (spec_name, address);

CREATE TABLE waiver_events (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    at TEXT NOT NULL,
    waiver_id TEXT REFERENCES waivers (id),
    kind TEXT NOT NULL CHECK (kind IN ('asked', 'granted', 'used', 'expired', 'revoked', 'over')),
    subject TEXT NOT NULL DEFAULT '',
    decision_id INTEGER REFERENCES decisions (id),
    note TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX waiver_events_waiver ON waiver_events (waiver_id);
CREATE UNIQUE INDEX waiver_granted_once ON waiver_events (waiver_id) WHERE kind = 'granted';
CREATE UNIQUE INDEX waiver_over_once ON waiver_events (waiver_id) WHERE kind IN ('expired', 'revoked', 'over');
"""

LIBRARY = """
CREATE TABLE specifications (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    address TEXT NOT NULL,
    version TEXT NOT NULL,
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('proposed', 'adopted', 'withdrawn')),
    added_by TEXT NOT NULL,
    spec_name TEXT NOT NULL DEFAULT '',
    requirements TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(requirements)),
    lane TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(lane)),
    note TEXT NOT NULL DEFAULT '',
    envelope TEXT NOT NULL DEFAULT '' CHECK (envelope = '' OR json_valid(envelope)),
    at TEXT NOT NULL,
    CHECK (state = 'proposed' OR added_by = 'spec:' || spec_name OR envelope <> '')
) STRICT;
CREATE INDEX specifications_address ON specifications (address, id);
CREATE INDEX specifications_spec ON specifications (spec_name, id);
"""
"""Append-only: a change of state or text is a new row. What is proposed does not take the place of what was adopted.
Only a spec, for what lies under its name, and a person who signs make a specification count, or take it back."""

REVIEWS = """
CREATE TABLE review_tasks (
    id TEXT PRIMARY KEY,
    at TEXT NOT NULL,
    description TEXT NOT NULL,
    repositories TEXT NOT NULL CHECK (json_valid(repositories)),
    client TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID, STRICT;

CREATE TABLE review_events (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    at TEXT NOT NULL,
    task_id TEXT NOT NULL REFERENCES review_tasks (id),
    kind TEXT NOT NULL CHECK (kind IN ('registered', 'verified', 'rejected', 'failed', 'cleared')),
    data TEXT NOT NULL DEFAULT '{}' CHECK (json_valid(data))
) STRICT;
CREATE INDEX review_events_task ON review_events (task_id);
"""
"""A task stands where its last event left it. `repositories`: a JSON list of objects with `path` and `base`."""

ID = Key(("id",))
APPEND_ONLY: dict[str, tuple[Key, ...]] = {
    "ledger": (Key(("position",)), Key(("record_id",)), Key(("identity",))),
    "gate_history": (ID,),
    "gate_transitions": (Key(("start", "finish", "role")),),
    "waivers": (ID,),
    "waiver_events": (
        ID,
        Key(("waiver_id",), "{row}.kind = 'granted'"),
        Key(("waiver_id",), "{row}.kind IN ('expired', 'revoked', 'over')"),
    ),
    "specifications": (ID,),
    "review_tasks": (ID,),
    "review_events": (ID,),
}
"""Nothing in these tables is ever changed, removed or replaced."""

NEXT = "NEW.{column} IS NOT (SELECT coalesce(max({column}), 0) + 1 FROM {table})"
PART = "spec_name = NEW.spec_name AND requirement_id = NEW.requirement_id"
LAST = f"SELECT max(id) FROM gate_history WHERE {PART}"
NOW = f"coalesce((SELECT finish FROM gate_history WHERE id = ({LAST})), 'proposed')"
VERSION = f"(SELECT version FROM gate_history WHERE id = ({LAST}))"
PLANNED = "(SELECT version FROM plan_parts WHERE spec_name = NEW.spec_name AND id = NEW.requirement_id)"
DECIDED = (
    "EXISTS (SELECT 1 FROM decisions AS d JOIN plan_nodes AS n ON n.uid = d.node_uid "
    "WHERE d.id = NEW.decision_id AND d.spec_name = NEW.spec_name AND {what})"
)
SIGNED = (
    "EXISTS (SELECT 1 FROM waivers AS w WHERE w.id = NEW.waiver_id AND w.kind = 'requirement' "
    "AND w.spec_name = NEW.spec_name AND w.address = NEW.requirement_id AND w.version = NEW.version AND NOT EXISTS "
    "(SELECT 1 FROM waiver_events AS e WHERE e.waiver_id = w.id AND e.kind IN ('expired', 'revoked', 'over')))"
)
UNUSED = "NOT EXISTS (SELECT 1 FROM gate_history AS g WHERE g.waiver_id = NEW.waiver_id AND g.finish = 'waived')"


VERDICT = (
    "SELECT 1 FROM verification_results AS v WHERE v.spec_name = NEW.spec_name "
    "AND v.requirement_id = NEW.requirement_id AND v.superseded_by IS NULL"
)
PASSED = f"EXISTS ({VERDICT} AND v.verdict = 'PASS' AND v.text_version = NEW.version)"
RESET = DECIDED.format(what="d.kind = 'Reset'")


def decided(archetype: str, *kinds: str, mode: str = "") -> str:
    """That a decision of one of these kinds is recorded, about a node of this archetype and mode in the gate's spec."""
    words = ", ".join(f"'{kind}'" for kind in kinds)
    of_mode = f" AND n.mode = '{mode}'" if mode else ""
    return DECIDED.format(what=f"n.archetype = '{archetype}'{of_mode} AND d.kind IN ({words})")


SHOWN = (
    f"NEW.role = 'builder' AND {decided('coder', 'Land')}",
    f"NEW.role = 'evaluator' AND NEW.finish = 'tested' AND {PASSED} AND {decided('verifier', 'Accept')}",
    f"NEW.role = 'evaluator' AND NEW.finish = 'rejected' AND {decided('verifier', 'Recode', 'Block')}",
    f"NEW.role = 'reviewer' AND NEW.finish <> 'rejected' AND {decided('reviewer', 'Accept', mode='final-review')}",
    f"NEW.role = 'reviewer' AND NEW.finish = 'rejected' AND {decided('reviewer', 'SendBack', 'Block')}",
    f"NEW.role = 'formal' AND {decided('verifier', 'Prove')}",
    f"NEW.role = 'person' AND NEW.finish = 'proposed' AND {RESET}",
    f"NEW.role = 'person' AND NEW.finish = 'waived' AND {SIGNED} AND {UNUSED}",
    "NEW.role = 'engine'",
)
"""What must be recorded for a role to have moved a gate: a name that somebody gives is worth nothing."""

LEGAL = "SELECT 1 FROM gate_transitions AS t WHERE t.start = NEW.start AND t.finish = NEW.finish AND t.role = NEW.role"
ENTERS = (
    f"NEW.start IS NULL AND NEW.finish = 'proposed' AND NEW.role = 'engine' AND {VERSION} IS NOT NULL "
    f"AND (NEW.version IS NOT {VERSION} OR NOT EXISTS ({VERDICT}))"
)
"""A gate begins again for a text that is new to it, or where no verdict stands: its requirement had left the plan."""

SPENT = (
    f"SELECT 1 FROM gate_history AS g WHERE g.{PART.replace(' AND ', ' AND g.')} "
    "AND (g.decision_id > NEW.decision_id OR (g.decision_id = NEW.decision_id AND g.finish = NEW.finish))"
)

RULES: tuple[tuple[str, str, str, str, str], ...] = (
    (
        *("next", "INSERT", "ledger"),
        f"{NEXT.format(column='position', table='ledger')} OR NEW.previous IS NOT "
        f"coalesce((SELECT head FROM ledger ORDER BY position DESC LIMIT 1), '{GENESIS}')",
        "a record stands behind the last one",
    ),
    (
        *("clock", "INSERT", "ledger"),
        "NEW.at < (SELECT at FROM ledger ORDER BY position DESC LIMIT 1)",
        "time goes forward",
    ),
    ("next", "INSERT", "gate_history", NEXT.format(column="id", table="gate_history"), "history is written in order"),
    (
        *("legal", "INSERT", "gate_history"),
        f"NOT ({ENTERS}) AND (NEW.start IS NULL OR NEW.start IS NOT {NOW} "
        f"OR NEW.version IS NOT coalesce({VERSION}, {PLANNED}) "
        f"OR NOT EXISTS ({LEGAL}))",
        "this change of a gate is not legal",
    ),
    (
        *("spent", "INSERT", "gate_history"),
        f"NEW.decision_id IS NOT NULL AND EXISTS ({SPENT})",
        "a decision moves a gate once, and not after a later one did",
    ),
    (
        *("shown", "INSERT", "gate_history"),
        f"NOT ({' OR '.join(f'({one})' for one in SHOWN)})",
        "nothing that was recorded lets this role move the gate",
    ),
    ("next", "INSERT", "waiver_events", NEXT.format(column="id", table="waiver_events"), "events are written in order"),
    ("next", "INSERT", "specifications", NEXT.format(column="id", table="specifications"), "rows are written in order"),
    ("next", "INSERT", "review_events", NEXT.format(column="id", table="review_events"), "events are written in order"),
    ("begin", "UPDATE", "runs", "NEW.ledger_begin IS NOT OLD.ledger_begin", "where its records begin never changes"),
    (
        *("head", "UPDATE", "runs"),
        "NEW.ledger_head IS NOT OLD.ledger_head "
        "AND NEW.ledger_head IS NOT (SELECT head FROM ledger ORDER BY position DESC LIMIT 1)",
        "a run ends at the last record",
    ),
    (
        *("judged", "UPDATE", "sessions"),
        "OLD.status NOT IN ('running', 'waiting') "
        "AND (NEW.environment IS NOT OLD.environment OR NEW.verifier IS NOT OLD.verifier)",
        "a session that ended cannot change",
    ),
    ("no_insert", "INSERT", "gate_transitions", "", "the table of transitions is fixed"),
)


def transitions() -> str:
    rows = ", ".join(
        f"('{start}', '{finish}', '{role}')" for (start, finish), roles in TRANSITIONS.items() for role in roles
    )
    return f"INSERT INTO gate_transitions (start, finish, role) VALUES {rows};"


def evidence_guards() -> str:
    parts = [no_delete(table) for table in APPEND_ONLY]
    parts += [no_update(table) for table in APPEND_ONLY]
    parts += [no_replace(table, keys) for table, keys in APPEND_ONLY.items()]
    return "\n\n".join((*parts, *(trigger(*rule) for rule in RULES)))


EVIDENCE = "\n".join((LEDGER, WAIVERS, GATES, LIBRARY, REVIEWS, transitions(), evidence_guards()))

MEMORY_TABLES = """
CREATE TABLE memory_items (
    id TEXT PRIMARY KEY CHECK (length(id) = 16),
    at TEXT NOT NULL,
    spec_name TEXT NOT NULL,
    requirement_id TEXT NOT NULL,
    version TEXT NOT NULL,
    line TEXT NOT NULL CHECK (line <> ''),
    file TEXT NOT NULL DEFAULT '',
    classes TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(classes)),
    name TEXT NOT NULL CHECK (name <> ''),
    test TEXT NOT NULL,
    born TEXT NOT NULL CHECK (born IN ('regression', 'repair', 'counterexample', 'person')),
    files TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(files)),
    counterexample TEXT NOT NULL DEFAULT '',
    first_error TEXT NOT NULL DEFAULT '',
    cause TEXT NOT NULL DEFAULT '',
    joins TEXT REFERENCES memory_items (id),
    note TEXT NOT NULL DEFAULT '',
    envelope TEXT NOT NULL DEFAULT '' CHECK (envelope = '' OR json_valid(envelope)),
    CHECK (born <> 'person' OR envelope <> '')
) WITHOUT ROWID, STRICT;
CREATE INDEX memory_items_part ON memory_items (spec_name, requirement_id);
CREATE INDEX memory_items_cause ON memory_items (cause) WHERE cause <> '';

CREATE TABLE memory_moves (
    id INTEGER PRIMARY KEY CHECK (id > 0),
    item TEXT NOT NULL REFERENCES memory_items (id),
    at TEXT NOT NULL,
    step TEXT NOT NULL CHECK (step IN
        ('born', 'failed', 'passed', 'not read', 'lost', 'demoted', 'accepted', 'forgotten', 'withdrawn')),
    file TEXT NOT NULL DEFAULT '',
    is_touched INTEGER NOT NULL DEFAULT 0 CHECK (is_touched IN (0, 1)),
    commit_id TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT '',
    envelope TEXT NOT NULL DEFAULT '' CHECK (envelope = '' OR json_valid(envelope)),
    session_id INTEGER REFERENCES sessions (id),
    decision_id INTEGER REFERENCES decisions (id),
    status TEXT NOT NULL,
    watch TEXT NOT NULL CHECK (watch IN ('every reading', 'on touch', 'never')),
    life TEXT NOT NULL CHECK (json_valid(life)),
    CHECK (step NOT IN ('accepted', 'forgotten') OR envelope <> '')
) STRICT;
CREATE INDEX memory_moves_item ON memory_moves (item, id);
"""
"""`memory_items.test`: the test's id in the way of pytest; `joins`: an older item of the same cause.
`memory_moves.status`, `watch`, `life`: where the item stands after the move, as `core.memory` works it out."""

MEMORY_APPEND_ONLY: dict[str, tuple[Key, ...]] = {"memory_items": (Key(("id",)),), "memory_moves": (Key(("id",)),)}
"""Nothing in these tables is ever changed, removed or replaced."""

ENDED = "(SELECT step FROM memory_moves WHERE item = NEW.item AND step IN ('accepted', 'forgotten', 'withdrawn'))"
MEMORY_RULES = (
    (
        *("next", "INSERT", "memory_moves"),
        "NEW.id IS NOT (SELECT coalesce(max(id), 0) + 1 FROM memory_moves)",
        "moves are written in order",
    ),
    (
        *("born", "INSERT", "memory_moves"),
        "(NEW.step = 'born') IS (EXISTS (SELECT 1 FROM memory_moves WHERE item = NEW.item))",
        "an item is born once, and moves after that",
    ),
    ("over", "INSERT", "memory_moves", f"{ENDED} IS NOT NULL", "what is over does not move"),
)

MEMORY = "\n".join(
    (
        MEMORY_TABLES,
        *(make(table) for table in MEMORY_APPEND_ONLY for make in (no_delete, no_update)),
        *(no_replace(table, keys) for table, keys in MEMORY_APPEND_ONLY.items()),
        *(trigger(*rule) for rule in MEMORY_RULES),
    )
)
