"""Promotion gates: where a requirement's evidence stands, which changes are legal, and whose they are.

The table is the rule, and the database enforces the same table. What an event does to the gates of a spec is in
`promotion`. Source: ADR 0025.
"""

from __future__ import annotations

from enum import StrEnum

from agent_fox.core.values import dataclass


class Gate(StrEnum):
    """How far the evidence for a requirement has come, for one version of its text."""

    PROPOSED = "proposed"
    TESTED = "tested"
    REVIEWED = "reviewed"
    PROVED = "proved"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    WAIVED = "waived"


class Role(StrEnum):
    """Who moves a gate. A role is shown by a recorded decision or a signature, never by a name that somebody gives.

    `engine` moves what nobody judges: a gate enters, its text changed, a waiver ended.
    """

    BUILDER = "builder"
    EVALUATOR = "evaluator"
    REVIEWER = "reviewer"
    FORMAL = "formal"
    PERSON = "person"
    ENGINE = "engine"


G = Gate
R = Role

TRANSITIONS: dict[tuple[Gate, Gate], tuple[Role, ...]] = {
    (G.PROPOSED, G.TESTED): (R.EVALUATOR,),
    (G.TESTED, G.REVIEWED): (R.REVIEWER,),
    (G.TESTED, G.REJECTED): (R.EVALUATOR, R.REVIEWER),
    (G.REVIEWED, G.PROVED): (R.FORMAL,),
    (G.REVIEWED, G.ACCEPTED): (R.REVIEWER,),
    (G.REVIEWED, G.REJECTED): (R.EVALUATOR, R.REVIEWER),
    (G.PROVED, G.ACCEPTED): (R.FORMAL,),
    (G.PROVED, G.REJECTED): (R.EVALUATOR, R.REVIEWER),
    (G.ACCEPTED, G.PROVED): (R.FORMAL,),
    (G.ACCEPTED, G.REJECTED): (R.EVALUATOR, R.REVIEWER),
    (G.REJECTED, G.PROPOSED): (R.BUILDER, R.PERSON, R.ENGINE),
    (G.PROPOSED, G.WAIVED): (R.PERSON,),
    (G.TESTED, G.WAIVED): (R.PERSON,),
    (G.REVIEWED, G.WAIVED): (R.PERSON,),
    (G.PROVED, G.WAIVED): (R.PERSON,),
    (G.REJECTED, G.WAIVED): (R.PERSON,),
    (G.WAIVED, G.ACCEPTED): (R.ENGINE,),
    (G.WAIVED, G.PROPOSED): (R.ENGINE,),
    (G.ACCEPTED, G.PROPOSED): (R.ENGINE,),
    (G.ACCEPTED, G.REVIEWED): (R.FORMAL,),
}
"""From, to, and who may. A new version of the text begins again at `proposed`, whatever was before. What was accepted
without the proof that is required now, or whose proof no longer holds, is only reviewed: the formal lane says so."""

HIGHEST = {
    R.BUILDER: (G.PROPOSED,),
    R.EVALUATOR: (G.PROPOSED, G.TESTED, G.REJECTED),
}
"""What a role can never take a gate beyond, whatever the table says."""

ENOUGH: dict[Gate, frozenset[Gate]] = {
    G.TESTED: frozenset({G.TESTED, G.REVIEWED, G.PROVED, G.ACCEPTED, G.WAIVED}),
    G.REVIEWED: frozenset({G.REVIEWED, G.PROVED, G.ACCEPTED, G.WAIVED}),
    G.PROVED: frozenset({G.PROVED, G.ACCEPTED, G.WAIVED}),
}
"""`[policy] required_state` → the gates that satisfy it; see `is_enough` for `accepted` where a proof is required."""


class Forbidden(ValueError):
    """A change of a gate that the table does not have, or not for this role. Its text says which are possible."""


@dataclass(frozen=True, slots=True)
class Blocked:
    """A change that cannot be made now: where it would lead, whose it is, and why not."""

    finish: Gate
    roles: tuple[Role, ...]
    why: str


def step(start: Gate, finish: Gate, role: Role) -> Gate:
    """The gate after the change. Raises Forbidden."""
    roles = TRANSITIONS.get((start, finish))
    if roles is None:
        ways = ", ".join(end for begin, end in TRANSITIONS if begin is start)
        raise Forbidden(f"a gate cannot go from {start} to {finish}; from {start} it can go to {ways}")
    if role not in roles:
        raise Forbidden(f"{start} to {finish} is not for a {role}: {' or '.join(roles)} moves it")
    return finish


def is_enough(required: Gate, state: Gate, *, was_proved: bool) -> bool:
    """Whether a gate satisfies what is required. What was accepted when no proof was asked for is not proved."""
    if required is Gate.PROVED and state is Gate.ACCEPTED:
        return was_proved
    return state in ENOUGH[required]


def ways(start: Gate) -> dict[Gate, tuple[Role, ...]]:
    """Where a gate can go from here, and who moves it."""
    return {finish: roles for (begin, finish), roles in TRANSITIONS.items() if begin is start}
