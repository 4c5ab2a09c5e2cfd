"""The triggers of the state file: what is history stays as it was written, and nodes move only as the table allows.

They hold for any connection, also one with `recursive_triggers` and `foreign_keys` off. Rules about verdicts are not
here; the table of legal transitions comes from `core.standing`.
"""

from __future__ import annotations

from collections.abc import Iterable

from agent_fox.core.retry.standing import FREE, LEGAL
from agent_fox.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Key:
    """Columns that are unique together, among the rows for which `where` holds (written with `{row}.`)."""

    columns: tuple[str, ...]
    where: str = ""

    def clash(self) -> str:
        """The condition under which the row `other` and the NEW row have the same key."""
        same = [f"other.{column} = NEW.{column}" for column in self.columns]
        both = [self.where.format(row=row) for row in ("other", "NEW")] if self.where else []
        return " AND ".join((*same, *both))


ID = Key(("id",))
LAUNCH_ENDED = Key(("session_id",), "{row}.status = 'ended'")
NODE_ID = Key(("id",), "{row}.status <> 'withdrawn'")

APPEND_ONLY: dict[str, tuple[Key, ...]] = {
    "decisions": (ID,),
    "blocking_history": (ID,),
    "events": (ID,),
    "verification_results": (ID, Key(("spec_name", "requirement_id"), "{row}.superseded_by IS NULL")),
    "sessions": (ID, Key(("node_uid", "attempt", "reading"))),
    "launches": (ID, Key(("session_id", "number")), LAUNCH_ENDED),
    "runs": (ID,),
    "outbox": (Key(("position",)), ID, Key(("decision_id", "kind", "fingerprint"))),
    "plan_nodes": (Key(("uid",)), NODE_ID),
    "legal_transitions": (Key(("start", "finish")),),
}
"""Tables whose rows are never removed, with everything that is unique in them: REPLACE removes the row that stands in
its way without firing a DELETE trigger, so what would clash is refused before it does."""

FROZEN = ("decisions", "blocking_history", "events", "legal_transitions")
"""Tables whose rows never change at all."""

FIXED: dict[str, tuple[str, ...]] = {
    "verification_results": (
        *("id", "spec_name", "requirement_id", "verdict", "read_as", "said", "evidence", "note", "command"),
        *("first_error", "failing_tests", "disposition", "text_version", "node_uid", "session_id"),
        *("decision_id", "attempt", "reading", "commit_id", "tree", "at"),
    ),
    "sessions": (
        *("id", "run_id", "node_id", "node_uid", "spec_name", "archetype", "mode", "attempt", "reading"),
        "started_at",
    ),
    "launches": ("id", "session_id", "run_id", "number", "pinned_commit", "folder", "started_at"),
    "runs": ("id", "started_at", "head_commit"),
    "outbox": (*("position", "id", "decision_id", "kind", "fingerprint", "spec_name", "payload", "created_at"),),
    "plan_nodes": ("uid", "spec_name", "archetype", "mode"),
}
"""Columns that keep the value they were written with; the others tell what came of the row."""

SESSION_END = (
    *("status", "end_kind", "reason", "backend", "rung", "pinned_commit", "tree", "exit_status", "cost_usd"),
    *("assumed_cost_usd", "input_tokens", "output_tokens", "seconds", "summary", "log", "ended_at"),
)
"""What a session cannot change any more once it ended: everything but where its work landed."""

NODE_ACCOUNT = ("outcome", "attempt", "reading", "attempt_base", "reading_base", "rung")
"""What only a decision may change about a node: budgets are read from these."""


def trigger(name: str, event: str, table: str, when: str, reason: str) -> str:
    condition = f" WHEN {when}" if when else ""
    return (
        f"CREATE TRIGGER {table}_{name} BEFORE {event} ON {table}{condition}\n"
        f"BEGIN SELECT RAISE(ABORT, '{table}: {reason}'); END;"
    )


def no_delete(table: str) -> str:
    return trigger("no_delete", "DELETE", table, "", "this is history, rows cannot be deleted")


def no_update(table: str) -> str:
    return trigger("no_update", "UPDATE", table, "", "this is history, rows cannot be changed")


def no_replace(table: str, keys: Iterable[Key]) -> str:
    clashes = " OR ".join(f"EXISTS (SELECT 1 FROM {table} AS other WHERE {key.clash()})" for key in keys)
    return trigger("no_replace", "INSERT", table, clashes, "this is history, a row cannot be replaced")


def no_eviction(table: str, primary: str, key: Key) -> str:
    """`UPDATE OR REPLACE` must not push another row out by taking its place in a partial index."""
    others = f"SELECT 1 FROM {table} AS other WHERE {key.clash()} AND other.{primary} <> OLD.{primary}"
    return trigger("no_eviction", "UPDATE", table, f"EXISTS ({others})", "another row has this place")


def changed(columns: Iterable[str]) -> str:
    return " OR ".join(f"NEW.{column} IS NOT OLD.{column}" for column in columns)


def fixed(table: str, columns: Iterable[str]) -> str:
    return trigger("fixed", "UPDATE", table, changed(columns), "what a row is about never changes")


IS_NEWLY_DECIDED = (
    "(NEW.decision_id > coalesce(OLD.decision_id, 0) AND EXISTS (SELECT 1 FROM decisions WHERE id = NEW.decision_id))"
)
TRANSITION = "SELECT 1 FROM legal_transitions WHERE start = OLD.status AND finish = NEW.status"

RULES: tuple[tuple[str, str, str, str, str], ...] = (
    (
        *("superseded_once", "UPDATE OF superseded_by", "verification_results"),
        "OLD.superseded_by IS NOT NULL OR NEW.superseded_by IS NOT (SELECT max(id) + 1 FROM verification_results)",
        "a verdict is superseded once, by the row that is written next",
    ),
    (
        *("settled", "UPDATE", "sessions"),
        f"OLD.status NOT IN ('running', 'waiting') AND ({changed(SESSION_END)})",
        "a session that ended cannot change",
    ),
    (
        *("landed", "UPDATE", "sessions"),
        f"OLD.is_landed = 1 AND ({changed(('is_landed', 'base_commit', 'landed_commit'))})",
        "work that landed stays landed",
    ),
    ("settled", "UPDATE", "launches", "OLD.status <> 'running'", "a launch that ended cannot change"),
    ("spent", "UPDATE", "runs", "NEW.seconds < OLD.seconds", "time that was spent stays spent"),
    (
        *("settled", "UPDATE", "outbox"),
        f"OLD.state IN ('done', 'moot') AND ({changed(('state',))})",
        "what was sent stays sent",
    ),
    (
        *("entry", "INSERT", "plan_nodes"),
        "NEW.status <> 'pending' AND NEW.outcome IS NOT 'ticked'",
        "a node enters the plan as pending, or as ticked",
    ),
    (
        *("transition", "UPDATE", "plan_nodes"),
        f"(NEW.status <> OLD.status AND NOT EXISTS ({TRANSITION})) "
        "OR (NEW.status = OLD.status AND NEW.outcome IS NOT OLD.outcome)",
        "this change of status is not legal",
    ),
    (
        *("decided", "UPDATE", "plan_nodes"),
        f"({changed(NODE_ACCOUNT)} OR EXISTS ({TRANSITION} AND needs_decision = 1)) AND NOT {IS_NEWLY_DECIDED}",
        "no decision was recorded for this change",
    ),
    (
        *("forward", "UPDATE", "plan_nodes"),
        "NEW.attempt < OLD.attempt OR (NEW.attempt = OLD.attempt AND NEW.reading < OLD.reading) "
        "OR coalesce(NEW.decision_id, 0) < OLD.decision_id",
        "attempts, readings and decisions never go back",
    ),
    ("no_insert", "INSERT", "legal_transitions", "", "the table of transitions is fixed"),
)


def guards() -> str:
    """Every trigger, to be made after the tables and the table of transitions."""
    parts = [no_delete(table) for table in APPEND_ONLY]
    parts += [no_replace(table, keys) for table, keys in APPEND_ONLY.items()]
    parts += [no_update(table) for table in FROZEN]
    parts += [fixed(table, columns) for table, columns in FIXED.items()]
    parts += [no_eviction("launches", "id", LAUNCH_ENDED), no_eviction("plan_nodes", "uid", NODE_ID)]
    parts += [trigger(*rule) for rule in RULES]
    return "\n\n".join(parts)


def transitions() -> str:
    """The legal changes of status, each with whether it needs a recorded decision."""
    rows = ", ".join(f"('{start}', '{end}', {int((start, end) not in FREE)})" for start, end in sorted(LEGAL))
    return f"INSERT INTO legal_transitions (start, finish, needs_decision) VALUES {rows};"
