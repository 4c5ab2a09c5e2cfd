"""Verdicts as they stood after an earlier decision, and earlier readings that count again. Judges nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.verdict import Word
from agent_fox.store.ledger import evidence
from agent_fox.store.records import VERDICT_COLUMNS, current_verdicts, next_verdict_id, supersede

if TYPE_CHECKING:
    from sqlite_utils import Database

NOTE = "read before: the branch stands at that tree again"


@dataclass(frozen=True, slots=True)
class Stood:
    """One row that was the current one of its requirement."""

    id: int
    part: str
    word: Word
    read: Word
    said: str
    evidence: str
    note: str
    command: str | None
    first_error: str | None
    failing_tests: int | None
    disposition: str | None
    version: str


def stood_after(db: Database, spec_name: str, decision: int) -> dict[str, Stood]:
    """The rows of a spec that were current once this decision was recorded, by requirement.

    A row that was written as superseded already (an UNKNOWN beside a FAIL) never was.
    """
    where = "spec_name = ? AND decision_id <= ? AND (superseded_by IS NULL OR superseded_by > id)"
    return _stood(db, where, [spec_name, decision])


def set_aside(db: Database, spec_name: str, decision: int) -> dict[str, Stood]:
    """The rows that readings which were restored with this decision took the place of, by requirement."""
    restoring = "SELECT id FROM verification_results WHERE decision_id = ? AND restores IS NOT NULL"
    return _stood(db, f"spec_name = ? AND superseded_by IN ({restoring})", [spec_name, decision])


def _stood(db: Database, where: str, values: list[object]) -> dict[str, Stood]:
    sql = (
        "SELECT id, requirement_id, verdict, read_as, said, evidence, note, command, first_error, failing_tests, "
        f"disposition, text_version FROM verification_results WHERE {where} ORDER BY id"
    )
    rows = db.execute(sql, values)
    return {part: Stood(number, part, Word(word), Word(read), *rest) for number, part, word, read, *rest in rows}


_OWN = frozenset({"id", "superseded_by", "note", "decision_id", "at"})
_COPIED = ", ".join(column for column in VERDICT_COLUMNS.split(", ") if column not in _OWN)
_COPY = (
    f"INSERT INTO verification_results (id, {_COPIED}, note, decision_id, at, restores) "
    f"SELECT :new, {_COPIED}, :note, :decision, :at, id FROM verification_results WHERE id = :old"
)


def restore(db: Database, spec_name: str, rows: Iterable[Stood], decision_id: int, at: str) -> None:
    """Make these readings the current ones again: new rows, each naming the old one. In the open transaction.

    What is current already stays as it is.
    """
    current, first = current_verdicts(db, spec_name), next_verdict_id(db)
    number = first
    for row in rows:
        now = current.get(row.part)
        if now is not None and now[0] == row.id:
            continue
        if now is not None:
            supersede(db, now[0], number)
        note = f"{NOTE}; {row.note}" if row.note else NOTE
        db.execute(_COPY, {"new": number, "note": note, "decision": decision_id, "at": at, "old": row.id})
        number += 1
    evidence.record_verdicts(db, first)
