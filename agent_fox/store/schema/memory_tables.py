"""The tables of regression memory, with their triggers. Whose word an item or a move rests on is asked elsewhere."""

from __future__ import annotations

from agent_fox.store.schema.guards import Key, no_delete, no_replace, no_update, trigger

TABLES = """
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

APPEND_ONLY: dict[str, tuple[Key, ...]] = {"memory_items": (Key(("id",)),), "memory_moves": (Key(("id",)),)}
"""Nothing in these tables is ever changed, removed or replaced."""

LAST = "(SELECT step FROM memory_moves WHERE item = NEW.item AND step IN ('accepted', 'forgotten', 'withdrawn'))"
RULES = (
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
    ("over", "INSERT", "memory_moves", f"{LAST} IS NOT NULL", "what is over does not move"),
)

MEMORY = "\n".join(
    (
        TABLES,
        *(make(table) for table in APPEND_ONLY for make in (no_delete, no_update)),
        *(no_replace(table, keys) for table, keys in APPEND_ONLY.items()),
        *(trigger(*rule) for rule in RULES),
    )
)
