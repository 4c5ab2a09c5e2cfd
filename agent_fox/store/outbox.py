"""The outbox and the issues it is about: effects on the outside world, written with the decision that wants them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlite_utils import Database

from agent_fox.store.values import change, insert, storable, to_json


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """One effect to be carried out. `payload` is what the tracker is handed."""

    id: str
    kind: str
    fingerprint: str
    spec_name: str
    payload: Mapping[str, object]
    state: str
    tries: int
    note: str
    witness: str | None
    number: str | None


def effect_id(decision_id: int, kind: str, fingerprint: str) -> str:
    """The id that the tracker knows an effect by: a decision wants the same effect only once."""
    return hashlib.sha256(f"{decision_id}\0{kind}\0{fingerprint}".encode()).hexdigest()[:24]


def put(
    db: Database,
    decision_id: int,
    kind: str,
    fingerprint: str,
    spec_name: str,
    payload: Mapping[str, object],
    at: str,
) -> str:
    number = effect_id(decision_id, kind, fingerprint)
    row = {"id": number, "decision_id": decision_id, "kind": kind, "fingerprint": fingerprint}
    more = {"spec_name": spec_name, "payload": to_json(payload), "created_at": at, "updated_at": at}
    insert(db, "outbox", {**row, **more})
    return number


SELECT = (
    "SELECT outbox.id, kind, outbox.fingerprint, spec_name, payload, outbox.state, tries, note, witness, issues.number "
    "FROM outbox LEFT JOIN issues USING (fingerprint)"
)


def undelivered(db: Database, at: str) -> list[OutboxRow]:
    """What is to be sent at the time `at`, in the order in which it was decided."""
    sql = (
        f"{SELECT} WHERE outbox.state IN ('pending', 'inflight', 'unknown') "
        "AND coalesce(not_before, '') <= ? ORDER BY decision_id, position"
    )
    return [_row(row) for row in db.execute(sql, [at])]


def held(db: Database) -> list[OutboxRow]:
    """What waits for a person: nothing is dropped."""
    return [_row(row) for row in db.execute(f"{SELECT} WHERE outbox.state = 'held' ORDER BY position")]


def waiting(db: Database) -> int:
    """How many effects have not been delivered yet, those that wait for a person too."""
    return int(db.execute("SELECT count(*) FROM outbox WHERE state NOT IN ('done', 'moot')").fetchone()[0])


def _row(row: tuple[Any, ...]) -> OutboxRow:
    number, kind, fingerprint, spec_name, payload, *rest = row
    return OutboxRow(number, kind, fingerprint, spec_name, json.loads(payload), *rest)


def set_outbox(db: Database, number: str, state: str, at: str, note: str = "", not_before: str | None = None) -> None:
    """Note what came of sending it. `not_before` (ISO 8601, UTC): when to try again at the earliest."""
    change(db, "outbox", number, {"state": state, "note": note, "updated_at": at, "not_before": not_before})


def send_outbox(db: Database, number: str, witness: str, at: str) -> None:
    """Note that it is being sent; the first witness stays, since an earlier try may be out already."""
    db.execute(
        "UPDATE outbox SET state = 'inflight', tries = tries + 1, updated_at = ?, "
        "witness = coalesce(witness, ?) WHERE id = ?",
        [at, witness, number],
    )


def release_held(db: Database, at: str) -> int:
    """A person has acted: what was held is tried again."""
    found = db.execute("UPDATE outbox SET state = 'pending', updated_at = ? WHERE state = 'held'", [at])
    return int(found.rowcount)


def issue_state(db: Database, fingerprint: str) -> str | None:
    row = db.execute("SELECT state FROM issues WHERE fingerprint = ?", [fingerprint]).fetchone()
    return str(row[0]) if row else None


def open_issue(
    db: Database, fingerprint: str, title: str, cause: str, spec_name: str, members: Iterable[str], at: str
) -> None:
    """Note the issue as open, with what it is about. An empty member stands for the spec as a whole."""
    db.execute(
        "INSERT INTO issues (fingerprint, title, cause, state, updated_at) VALUES (?, ?, ?, 'open', ?) "
        "ON CONFLICT (fingerprint) DO UPDATE SET state = 'open', cause = excluded.cause, "
        "updated_at = excluded.updated_at",
        [fingerprint, storable(title), cause, at],
    )
    db.conn.executemany(
        "INSERT INTO issue_members (fingerprint, spec_name, requirement_id, is_open) VALUES (?, ?, ?, 1) "
        "ON CONFLICT (fingerprint, spec_name, requirement_id) DO UPDATE SET is_open = 1",
        [(fingerprint, spec_name, member) for member in members],
    )


def issues_of_spec(db: Database, spec_name: str) -> list[str]:
    """Fingerprints of open issues that a spec has an open part in."""
    sql = (
        "SELECT DISTINCT issues.fingerprint FROM issues JOIN issue_members USING (fingerprint) "
        "WHERE issues.state = 'open' AND issue_members.is_open = 1 AND spec_name = ? ORDER BY 1"
    )
    return [str(row[0]) for row in db.execute(sql, [spec_name])]


def settle_members(db: Database, fingerprint: str, spec_name: str) -> int:
    """The spec is proven: its part in the issue is done. Gives how many other parts are still open."""
    db.execute(
        "UPDATE issue_members SET is_open = 0 WHERE fingerprint = ? AND spec_name = ?",
        [fingerprint, spec_name],
    )
    sql = "SELECT count(*) FROM issue_members WHERE fingerprint = ? AND is_open = 1"
    return int(db.execute(sql, [fingerprint]).fetchone()[0])


def close_issue(db: Database, fingerprint: str, at: str) -> None:
    db.execute("UPDATE issues SET state = 'closed', updated_at = ? WHERE fingerprint = ?", [at, fingerprint])


def name_issue(db: Database, fingerprint: str, number: str, url: str) -> None:
    db.execute("UPDATE issues SET number = ?, url = ? WHERE fingerprint = ?", [number, url, fingerprint])


def list_issues(db: Database) -> list[dict[str, object]]:
    sql = (
        "SELECT fingerprint, number, url, title, cause, state, updated_at FROM issues ORDER BY updated_at, fingerprint"
    )
    names = ("fingerprint", "number", "url", "title", "cause", "state", "updated_at")
    return [dict(zip(names, row, strict=True)) for row in db.execute(sql)]
