"""The end of a run: what it may claim. Standings and gates must both say so; what is read again first is elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.ledger.gates import Gate, is_enough
from agent_fox.core.retry.standing import Outcome, Status
from agent_fox.core.values import dataclass
from agent_fox.engine.handlers.final_review import is_final
from agent_fox.engine.record.ending import RunExit, Stop
from agent_fox.store.gates import gates_of
from agent_fox.store.plan import PlannedNode, load_parts

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.engine.record.board import Board, Place

SHOWN = 5


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A requirement of a verified spec whose gate is not what `[policy] required_state` asks for. `why`: what kept the
    formal lane from proving it, and what to do."""

    spec_name: str
    requirement_id: str
    state: Gate
    why: str = ""


def verifiers(board: Board) -> Iterator[Place]:
    return (place for place in board.places() if place.planned.node.archetype is Archetype.VERIFIER)


def verified_specs(board: Board) -> list[str]:
    """The specs in scope whose verifiers are all verified or waived."""
    open_specs = {planned.node.spec_name for planned in unproven(board)}
    names = dict.fromkeys(place.planned.node.spec_name for place in verifiers(board))
    return [name for name in names if name not in open_specs]


def shortfalls(
    db: Database, board: Board, required: Gate, why: Callable[[Database, str], Mapping[str, str]] = lambda db, name: {}
) -> tuple[Shortfall, ...]:
    """What is verified, or waived, and still not enough, in the order of the files."""
    return tuple(short for name in verified_specs(board) for short in short_of(db, name, required, why(db, name)))


def short_of(db: Database, spec_name: str, required: Gate, why: Mapping[str, str]) -> Iterator[Shortfall]:
    """What of one spec has not come to `required`, in the present version of its text."""
    gates = {row.requirement_id: row for row in gates_of(db, spec_name)}
    for part in load_parts(db, spec_name):
        row = gates[part.id]
        if not is_enough(required, row.state, was_proved=row.was_proved):
            yield Shortfall(spec_name, part.id, row.state, why.get(part.id, ""))


def claim(board: Board, broken: Iterable[str], short: Sequence[Shortfall] = (), required: Gate = Gate.TESTED) -> Stop:
    """What the run may claim now that nothing is left to do. `broken` names the specs that were left out."""
    waiting = stalled(board)
    if waiting:
        names = ", ".join(planned.node.id for planned in waiting[:SHOWN])
        return Stop(RunExit.CANNOT_GO_ON, f"stalled: nothing runs, but {len(waiting)} node(s) wait, such as {names}")
    lacking = dict.fromkeys(shortfall.spec_name for shortfall in short)
    open_specs = [*(planned.node.spec_name for planned in unproven(board)), *lacking, *broken]
    if open_specs or not has_verifiers(board):
        named = ", ".join(dict.fromkeys(open_specs)) or "nothing was verified"
        return Stop(RunExit.NOT_PROVEN, "; ".join([f"not proven: {named}", *describe(short, required)]))
    is_waived = any(place.standing.outcome is Outcome.WAIVED for place in verifiers(board))
    return Stop(RunExit.PROVEN, f"everything in scope is proven{' or waived' if is_waived else ''}")


def describe(short: Sequence[Shortfall], required: Gate) -> Iterator[str]:
    """How far the gates of verified specs have come, a sentence for each spec and state."""
    parts_by: dict[tuple[str, str], list[str]] = {}
    for shortfall in short:
        reason = f" ({shortfall.why})" if shortfall.why else ""
        parts_by.setdefault((shortfall.spec_name, shortfall.state), []).append(f"{shortfall.requirement_id}{reason}")
    for (spec_name, state), ids in parts_by.items():
        more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
        yield f"{spec_name} is {state}, not {required}, in {', '.join(ids[:SHOWN])}{more}"
    if short and required is Gate.PROVED:
        yield "correct the code or the contract, waive the requirement, or lower [policy] required_state"


def has_verifiers(board: Board) -> bool:
    """Whether anything in scope is verified at all: without a verifier nothing is ever proven."""
    return any(True for _ in verifiers(board))


def unproven(board: Board) -> list[PlannedNode]:
    """The verifiers in scope that are neither verified nor waived."""
    return [place.planned for place in verifiers(board) if not place.standing.is_proven]


def stalled(board: Board) -> list[PlannedNode]:
    """Nodes that are pending although nothing runs: nothing will ever make them ready.

    Not so a final review that was asked for after its spec had ended without proof: it waits as the spec does.
    """
    ended = {
        place.planned.node.spec_name
        for place in verifiers(board)
        if place.standing.status in (Status.COMPLETED, Status.BLOCKED) and not place.standing.is_proven
    }
    return [place.planned for place in board.places() if place.standing.status is Status.PENDING
            and not (is_final(place.planned) and place.planned.node.spec_name in ended)]  # fmt: skip
