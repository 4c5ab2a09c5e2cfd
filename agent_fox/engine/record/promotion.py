"""The gates of a spec move with a recorded decision, in its transaction. What moves is `core.promotion`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.core.ledger import promotion
from agent_fox.core.ledger.gates import Gate, Role
from agent_fox.core.verdicts.verdict import Word
from agent_fox.store.gates import GateMove, beginning_again, gates_of, record_moves
from agent_fox.store.plan import load_parts

if TYPE_CHECKING:
    from agent_fox.core.ledger.promotion import Promotion
    from agent_fox.core.verdicts.judgement import Judged
    from agent_fox.engine.record.docket import Docket


def gates(tx: Docket, spec_name: str, state: Gate | None = None) -> dict[str, Gate]:
    """Where the gates of a spec stand, by requirement; where a state is named, those in it."""
    return {row.requirement_id: row.state for row in gates_of(tx.db, spec_name, state)}


def begin_again(tx: Docket) -> None:
    """After a change of the plan: gates of changed texts, and of what came back unproven, are proposed."""
    for spec_name, moves in beginning_again(tx.db).items():
        record_moves(tx.db, tx.at, spec_name, moves)


def sound(tx: Docket, spec_name: str, judged: Judged, decision_id: int, commit: str, tree: str) -> None:
    """A SOUND report was accepted."""
    passed = [part for part, counted in judged.counted.items() if counted.word is Word.PASS]
    standing = gates(tx, spec_name)
    moves = promotion.proven(standing, (part for part in passed if part in standing), tx.policy.required_state)
    write(tx, spec_name, moves, decision_id=decision_id, commit=commit, tree=tree)


def faulty(tx: Docket, spec_name: str, judged: Judged, decision_id: int, commit: str, tree: str) -> None:
    """A FAULTY report sent work back, or stopped it."""
    standing = gates(tx, spec_name)
    moves = promotion.failed(standing, (part for part in judged.failing if part in standing), "a reading says FAIL")
    write(tx, spec_name, moves, decision_id=decision_id, commit=commit, tree=tree)


def landed(tx: Docket, spec_name: str, decision_id: int, commit: str) -> None:
    """A coder's session ended well: what was rejected is proposed again."""
    moves = promotion.resubmitted(gates(tx, spec_name, Gate.REJECTED), Role.BUILDER, "work was handed in again")
    write(tx, spec_name, moves, decision_id=decision_id, commit=commit)


def reset(tx: Docket, spec_name: str, decision_id: int) -> None:
    """A person's reset: what was rejected is proposed again."""
    moves = promotion.resubmitted(gates(tx, spec_name), Role.PERSON, "reset by a person")
    write(tx, spec_name, moves, decision_id=decision_id)


def reviewed(tx: Docket, spec_name: str, decision_id: int, commit: str, tree: str, *, needs_proof: bool) -> None:
    """The final reviewer accepted the spec."""
    moves = promotion.reviewed(gates(tx, spec_name), needs_proof=needs_proof)
    write(tx, spec_name, moves, decision_id=decision_id, commit=commit, tree=tree)


def changes_requested(tx: Docket, spec_name: str, named: Iterable[str], decision_id: int, reason: str) -> None:
    """The final reviewer has critical findings about these requirements."""
    moves = promotion.changes_requested(gates(tx, spec_name), named, reason)
    write(tx, spec_name, moves, decision_id=decision_id)


def proved(
    tx: Docket, spec_name: str, parts: Iterable[str], decision_id: int, commit: str, tree: str, reason: str
) -> None:
    """The formal lane proved these requirements; the decision `Prove` says by what."""
    moves = promotion.proved(gates(tx, spec_name), parts, reason)
    write(tx, spec_name, moves, decision_id=decision_id, commit=commit, tree=tree)


def write(
    tx: Docket, spec_name: str, moves: Iterable[Promotion], *, decision_id: int | None = None, commit: str = "",
    tree: str = "",
) -> None:  # fmt: skip
    """Record changes of gates, each for the version of the text that it is about."""
    moves = tuple(moves)
    if not moves:
        return
    known = {part.id: part.version for part in load_parts(tx.db, spec_name)}
    rows = [
        GateMove(m.requirement_id, known[m.requirement_id], m.start, m.finish, m.role, reason=m.reason) for m in moves
    ]
    record_moves(tx.db, tx.at, spec_name, rows, decision_id=decision_id, tree=tree, commit=commit)
