"""What an event does to the promotion gates of one spec: a pure fold over recorded decisions.

Which single change is legal is in `gates`. Gates and standings move by the same decisions, so that they never differ.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from agent_fox.core.ledger.gates import Gate, Role, step
from agent_fox.core.values import dataclass

PASSED_TESTS = frozenset({Gate.TESTED, Gate.REVIEWED, Gate.PROVED, Gate.ACCEPTED})
"""Gates that rest on passing tests: a failing reading takes them back."""


@dataclass(frozen=True, slots=True)
class Promotion:
    """One change of one gate."""

    requirement_id: str
    start: Gate
    finish: Gate
    role: Role
    reason: str


Gates = Mapping[str, Gate]
"""Where the gates of a spec stand, by requirement id."""


def proven(gates: Gates, passed: Iterable[str], required: Gate = Gate.TESTED) -> tuple[Promotion, ...]:
    """A SOUND report: what passed is tested.

    What was waived and passes needs no waiver any more, unless more than tests is required: it may be waived for that.
    """
    kept = frozenset[Gate]() if required is Gate.TESTED else frozenset({Gate.WAIVED})
    return tuple(move for part in passed if gates[part] not in kept for move in _tested(part, gates[part]))


AGAIN = {
    Gate.WAIVED: "it passes, so that its waiver is over",
    Gate.REJECTED: "it was read again, and passes",
}


def _tested(part: str, at: Gate) -> Iterable[Promotion]:
    if at in AGAIN:
        yield promote(part, at, Gate.PROPOSED, Role.ENGINE, AGAIN[at])
        at = Gate.PROPOSED
    if at is Gate.PROPOSED:
        yield promote(part, at, Gate.TESTED, Role.EVALUATOR, "everything that its spec expects passed or is waived")


def failed(gates: Gates, failing: Iterable[str], reason: str) -> tuple[Promotion, ...]:
    """A FAULTY report: what had been tested, and fails now, is rejected; what was proposed stays so."""
    states = ((part, gates[part]) for part in failing)
    return tuple(promote(part, at, Gate.REJECTED, Role.EVALUATOR, reason) for part, at in states if at in PASSED_TESTS)


def resubmitted(gates: Gates, role: Role, reason: str) -> tuple[Promotion, ...]:
    """New work, or a new start by a person: what was rejected is proposed again, with its history."""
    return tuple(promote(part, at, Gate.PROPOSED, role, reason) for part, at in gates.items() if at is Gate.REJECTED)


def reviewed(gates: Gates, *, needs_proof: bool) -> tuple[Promotion, ...]:
    """The final reviewer found nothing critical: tested is reviewed, and accepted where no proof is required."""
    return tuple(move for part, at in gates.items() for move in _reviewed(part, at, needs_proof))


def _reviewed(part: str, at: Gate, needs_proof: bool) -> Iterable[Promotion]:
    if at is Gate.TESTED:
        yield promote(part, at, Gate.REVIEWED, Role.REVIEWER, "the final reviewer found nothing critical")
        at = Gate.REVIEWED
    if at is Gate.WAIVED and not needs_proof:
        yield promote(part, at, Gate.ACCEPTED, Role.ENGINE, "its spec was accepted, with its waiver")
    if at is Gate.REVIEWED and not needs_proof:
        yield promote(part, at, Gate.ACCEPTED, Role.REVIEWER, "no proof is required")


def changes_requested(gates: Gates, named: Iterable[str], reason: str) -> tuple[Promotion, ...]:
    """Critical findings of the final reviewer: what they name is rejected."""
    states = ((part, gates[part]) for part in named if part in gates)
    return tuple(promote(part, at, Gate.REJECTED, Role.REVIEWER, reason) for part, at in states if at in PASSED_TESTS)


def proved(gates: Gates, parts: Iterable[str], reason: str) -> tuple[Promotion, ...]:
    """The formal lane proved these: what was reviewed is proved, and with that accepted."""
    return tuple(
        move
        for part in parts
        if gates[part] in {Gate.REVIEWED, Gate.ACCEPTED}
        for move in (
            promote(part, gates[part], Gate.PROVED, Role.FORMAL, reason),
            promote(part, Gate.PROVED, Gate.ACCEPTED, Role.FORMAL, "what was required is proved"),
        )
    )


def promote(part: str, start: Gate, finish: Gate, role: Role, reason: str) -> Promotion:
    """A change of one gate. Raises Forbidden where the table does not have it."""
    return Promotion(part, start, step(start, finish, role), role, reason)
