"""Promotion gates in the state file: the history of each, and where it stands. What is legal is in `core.gates`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agent_fox.core.ledger.gates import Gate, Role
from agent_fox.core.values import dataclass
from agent_fox.store.ledger import evidence
from agent_fox.store.values import insert_many

if TYPE_CHECKING:
    from sqlite_utils import Database


@dataclass(frozen=True, slots=True)
class GateMove:
    """One change of one gate, about to be recorded. `start` None: it begins again, for this version of the text."""

    requirement_id: str
    version: str
    start: Gate | None
    finish: Gate
    role: Role
    waiver_id: str | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class GateRow:
    """Where a gate stands, and what moved it there last."""

    spec_name: str
    requirement_id: str
    version: str
    state: Gate
    role: Role
    decision_id: int | None
    waiver_id: str | None
    tree: str
    commit: str
    reason: str
    at: str
    was_proved: bool
    """Whether it was proved on its way to where it stands."""


COLUMNS = (
    "at, spec_name, requirement_id, version, start, finish, role, decision_id, waiver_id, tree, commit_id, reason, id"
)


def gates_of(db: Database, spec_name: str | None = None, state: Gate | None = None) -> list[GateRow]:
    """The gates of a spec, or of all: one for each requirement of the plan. Where a state is named, those in it."""
    sql = (
        "SELECT spec_name, requirement_id, version, state, role, decision_id, waiver_id, tree, commit_id, reason, at, "
        "was_proved FROM gates"
    )
    wanted = {"spec_name": spec_name, "state": state}
    where = " AND ".join(f"{column} = :{column}" for column, value in wanted.items() if value is not None) or "1"
    return [gate_row(row) for row in db.execute(f"{sql} WHERE {where} ORDER BY history_id", wanted)]


def gate_row(row: Sequence[object]) -> GateRow:
    spec, part, version, state, role, decision, waiver, tree, commit, reason, at, proved = row
    assert decision is None or isinstance(decision, int)
    return GateRow(
        str(spec), str(part), str(version), Gate(str(state)), Role(str(role)), decision,
        None if waiver is None else str(waiver), str(tree), str(commit), str(reason), str(at),
        bool(proved),
    )  # fmt: skip


def record_moves(
    db: Database, at: str, spec_name: str, moves: Sequence[GateMove], *, decision_id: int | None = None, tree: str = "",
    commit: str = "",
) -> None:  # fmt: skip
    """Write changes of gates, to the ledger too, in the open transaction.

    The schema refuses what is not legal (sqlite3.IntegrityError).
    """
    (last,) = db.execute("SELECT coalesce(max(id), 0) FROM gate_history").fetchone()
    rows = (
        (
            at, spec_name, m.requirement_id, m.version, m.start, m.finish, m.role, decision_id, m.waiver_id, tree,
            commit, m.reason, number,
        )
        for number, m in enumerate(moves, last + 1)
    )  # fmt: skip
    insert_many(db, "gate_history", COLUMNS, rows)
    evidence.record_gates(db, last + 1)


AGAIN = (
    "SELECT p.spec_name, p.id, p.version, h.version FROM plan_parts AS p JOIN gate_history AS h ON h.id = ("
    "SELECT max(id) FROM gate_history WHERE spec_name = p.spec_name AND requirement_id = p.id) "
    "WHERE h.version IS NOT p.version OR (h.finish NOT IN ('proposed', 'rejected', 'waived') AND NOT EXISTS "
    "(SELECT 1 FROM verification_results AS v WHERE v.spec_name = p.spec_name AND v.requirement_id = p.id "
    "AND v.superseded_by IS NULL)) ORDER BY p.spec_name, p.position"
)


def beginning_again(db: Database) -> dict[str, list[GateMove]]:
    """By spec: the gates whose text is another now, or whose requirement left the plan and came back unproven."""
    moves_of: dict[str, list[GateMove]] = {}
    for spec_name, part, version, before in db.execute(AGAIN):
        why = "its text changed" if version != before else "it is back in the plan"
        move = GateMove(part, version, None, Gate.PROPOSED, Role.ENGINE, reason=why)
        moves_of.setdefault(spec_name, []).append(move)
    return moves_of
