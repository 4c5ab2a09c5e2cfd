"""Waivers in the state file: their rows, what happened to them, who asked for one. Nothing here believes a row.

Whether a waiver counts is said by `evidence.waivers`, from the signed envelope.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.ledger.waivers import Columns, asks_for_waiver
from agent_fox.core.values import dataclass
from agent_fox.store.values import insert

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core import words
else:
    words = late_module("agent_fox.core.words")


@dataclass(frozen=True, slots=True)
class WaiverRow:
    """A waiver as it is kept. `envelope` is the signed statement, one line of JSON."""

    id: str
    columns: Columns
    envelope: str


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a waiver, or an asking for one (`waiver_id` None)."""

    at: str
    waiver_id: str | None
    kind: str
    subject: str
    note: str


@dataclass(frozen=True, slots=True)
class Asked:
    """How often a waiver was asked for: `petitions` on the command line, `sessions` that said so at their end.

    `requirement_id` is empty where a session named none.
    """

    spec_name: str
    requirement_id: str
    petitions: int
    sessions: int

    @property
    def line(self) -> str:
        """`waiver asked for: 01_a/01-REQ-1.1: 2 petitions, 0 sessions`."""
        about = f"{self.spec_name}/{self.requirement_id}" if self.requirement_id else self.spec_name
        counts = f"{words.counted(self.petitions, 'petition')}, {words.counted(self.sessions, 'session')}"
        return f"waiver asked for: {about}: {counts}"


COLUMNS = (
    "kind, spec_name, address, version, check_name, detail_hash, reason, signer, granted_at, expires_at, id, envelope"
)
ENDINGS = ("expired", "revoked", "over")


def insert_waiver(db: Database, row: WaiverRow) -> None:
    """Keep a waiver; one with this id is refused (sqlite3.IntegrityError)."""
    insert(db, "waivers", {**asdict(row.columns), "id": row.id, "envelope": row.envelope})


def waivers_of(db: Database, kind: str | None = None, spec_name: str | None = None) -> list[WaiverRow]:
    """Every waiver of a kind and a spec, or all, in the order in which they were granted."""
    sql = (
        f"SELECT {COLUMNS} FROM waivers WHERE (:kind IS NULL OR kind = :kind) "
        "AND (:spec IS NULL OR spec_name = :spec) ORDER BY granted_at, id"
    )
    rows = db.execute(sql, {"kind": kind, "spec": spec_name})
    return [WaiverRow(number, Columns(*columns), envelope) for *columns, number, envelope in rows]


def has_waivers(db: Database) -> bool:
    """Whether any was ever granted: looking up which count costs time."""
    return db.execute("SELECT 1 FROM waivers LIMIT 1").fetchone() is not None


def waiver_by_prefix(db: Database, prefix: str) -> list[WaiverRow]:
    """The waivers whose id begins so."""
    return [row for row in waivers_of(db) if row.id.startswith(prefix)]


def record_waiver_event(
    db: Database, at: str, kind: str, waiver_id: str | None, *, subject: str = "", decision_id: int | None = None,
    note: str = "",
) -> int:  # fmt: skip
    """One more event; gives its number. The schema lets a waiver be granted once, and end once."""
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM waiver_events").fetchone()
    row = {"at": at, "waiver_id": waiver_id, "kind": kind, "subject": subject, "decision_id": decision_id}
    return insert(db, "waiver_events", {"id": last + 1, **row, "note": note})


def events_of(db: Database, waiver_id: str) -> list[Event]:
    """What happened to a waiver, oldest first."""
    sql = "SELECT at, waiver_id, kind, subject, note FROM waiver_events WHERE waiver_id = ? ORDER BY id"
    return [Event(*row) for row in db.execute(sql, [waiver_id])]


def identity(waiver_id: str, kind: str) -> str:
    """The identity of the ledger's record about an event of a waiver."""
    return f"waiver:{waiver_id}:{kind}"


def over(db: Database, waiver_id: str) -> str:
    """How a waiver ended, in words; empty while it did not. An ending in the ledger alone is one too.

    A gate that has left `waived` has used its waiver up, whatever was noted.
    """
    for event in events_of(db, waiver_id):
        if event.kind in ENDINGS:
            return f"it was {event.kind} at {event.at}" + (f": {event.note}" if event.note else "")
    marks = [identity(waiver_id, kind) for kind in ENDINGS]
    row = db.execute("SELECT status, at FROM ledger WHERE identity IN (?, ?, ?)", marks).fetchone()
    if row is not None:
        return f"the ledger says that it was {row[0]} at {row[1]}"
    return "its requirement's gate has left `waived` since" if _has_left(db, waiver_id) else ""


def is_ended(db: Database, waiver_id: str) -> bool:
    """Whether its end was noted as an event."""
    return any(event.kind in ENDINGS for event in events_of(db, waiver_id))


def _has_left(db: Database, waiver_id: str) -> bool:
    sql = (
        "SELECT 1 FROM gate_history AS w JOIN gate_history AS g ON g.spec_name = w.spec_name AND "
        "g.requirement_id = w.requirement_id AND g.id > w.id AND g.finish NOT IN ('waived', 'accepted') "
        "WHERE w.waiver_id = ? AND w.finish = 'waived' LIMIT 1"
    )
    return db.execute(sql, [waiver_id]).fetchone() is not None


def waiver_behind(db: Database, spec_name: str, requirement_id: str) -> str:
    """The id of the waiver that last moved a gate to `waived`, empty where none did."""
    sql = (
        "SELECT waiver_id FROM gate_history WHERE spec_name = ? AND requirement_id = ? AND finish = 'waived' "
        "ORDER BY id DESC LIMIT 1"
    )
    row = db.execute(sql, [spec_name, requirement_id]).fetchone()
    return str(row[0]) if row and row[0] else ""


def is_recorded(db: Database, row: WaiverRow) -> bool:
    """Whether the ledger has the grant of exactly this envelope."""
    sql = "SELECT content FROM ledger WHERE identity = ? AND kind = 'waiver'"
    row_of_grant = db.execute(sql, [identity(row.id, "granted")]).fetchone()
    return row_of_grant is not None and json.loads(row_of_grant[0]).get("body", {}).get("envelope") == row.envelope


def asked(db: Database) -> list[Asked]:
    """How often a waiver was asked for, by spec and requirement."""
    counts: dict[tuple[str, str], list[int]] = {}
    for place, (spec, part) in _askings(db):
        counts.setdefault((spec, part), [0, 0])[place] += 1
    return [Asked(spec, part, *counts[spec, part]) for spec, part in sorted(counts)]


def _askings(db: Database) -> Iterator[tuple[int, tuple[str, str]]]:
    """Each asking: 0 for a petition and 1 for a session, with the spec and the requirement it is about."""
    for (subject,) in db.execute("SELECT subject FROM waiver_events WHERE kind = 'asked' ORDER BY id").fetchall():
        spec, _, part = str(subject).partition("/")
        yield 0, (spec, part)
    sql = "SELECT spec_name, summary FROM sessions WHERE summary LIKE '%waiv%' ORDER BY id"
    for spec, summary in db.execute(sql).fetchall():
        if asks_for_waiver(summary):
            yield from ((1, (spec, part)) for part in _named(db, spec, summary) or [""])


def _named(db: Database, spec_name: str, text: str) -> list[str]:
    parts = db.execute("SELECT id FROM plan_parts WHERE spec_name = ? ORDER BY position", [spec_name]).fetchall()
    return [str(part) for (part,) in parts if re.search(rf"(?<![\w.-]){re.escape(part)}(?![\w-]|\.\w)", text)]
