"""Where a node stands: the fold of the decisions about it, and the table of legal transitions.

The store enforces the same table; a node's row there is a projection that a test holds against this fold.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING

from agent_fox.core.ids import Ticket
from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from typing import Self


class Cause(StrEnum):
    """Why a node is held back; the words stand in the blocking history and in issues.

    `row` is the row of the decision table that blocks for it (None: no row does), `remedy` what a person does about it.
    """

    row: int | None
    remedy: str

    NEEDS_PERSON = (
        "needs a person", 2, "do what the findings ask (often a change of the spec), then: agent-fox reset",
    )  # fmt: skip
    SPEC_FAULT = "spec fault", 2, "correct the spec: the next `agent-fox run` reads it again by itself"
    RETRY_DISABLED = "retry disabled", 4, "allow retries ([retry] retry_predecessor = true), then: agent-fox reset"
    CEILING = "ceiling", 5, "raise the ceiling in [limits], then: agent-fox reset"
    ATTEMPTS_SPENT = (
        "attempts spent", 6, "clarify the spec or set a stronger agent, then: agent-fox reset",
    )  # fmt: skip
    NO_PROGRESS = (
        "no progress",
        7,
        "set a stronger agent ([[agents.coder.rungs]]) or help by hand, then: agent-fox reset",
    )
    NOTHING_TO_PROVE = (
        "nothing to prove", 9, "write requirements with ids into the spec: it is then planned again by itself",
    )  # fmt: skip
    NO_CLEAR_VERDICT = (
        "no clear verdict",
        11,
        "see in its log why the verifier gave no clear answer, then: agent-fox reset",
    )
    CASCADE = "depends on a blocked node"

    def __new__(cls, words: str, row: int | None = None, remedy: str = "") -> Self:
        member = str.__new__(cls, words)
        member._value_, member.row, member.remedy = words, row, remedy
        return member


class Status(StrEnum):
    PENDING = "pending"
    RUNNING = "running"
    COMPLETED = "completed"
    BLOCKED = "blocked"
    WITHDRAWN = "withdrawn"


class Outcome(StrEnum):
    """How a completed node ended. Verifiers: verified, escalated, waived. Coders: landed, unchanged, ticked."""

    VERIFIED = "verified"
    ESCALATED = "escalated"
    WAIVED = "waived"
    LANDED = "landed"
    UNCHANGED = "unchanged"
    TICKED = "ticked"
    REVIEWED = "reviewed"


class Step(StrEnum):
    """What a decision does to one node."""

    LAND = "land"
    LAND_UNCHANGED = "land unchanged"
    REVIEW = "review"
    ACCEPT = "accept"
    WAIVE = "waive"
    ESCALATE = "escalate"
    RECODE = "recode"
    SEND_BACK = "send back"
    RETRY = "retry"
    REREAD = "reread"
    BLOCK = "block"
    REOPEN = "reopen"
    RESET = "reset"
    LIFT = "lift"
    WITHDRAW = "withdraw"
    RESTORE = "restore"
    RENEW = "renew"


S = Status
_OPEN = (S.PENDING, S.RUNNING)
_ANY = (S.PENDING, S.RUNNING, S.COMPLETED, S.BLOCKED)

TRANSITIONS: dict[Step, tuple[tuple[Status, ...], Status, Outcome | None]] = {
    Step.LAND: (_OPEN, S.COMPLETED, Outcome.LANDED),
    Step.LAND_UNCHANGED: (_OPEN, S.COMPLETED, Outcome.UNCHANGED),
    Step.REVIEW: (_OPEN, S.COMPLETED, Outcome.REVIEWED),
    Step.ACCEPT: (_OPEN, S.COMPLETED, Outcome.VERIFIED),
    Step.WAIVE: (_OPEN, S.COMPLETED, Outcome.WAIVED),
    Step.ESCALATE: (_OPEN, S.COMPLETED, Outcome.ESCALATED),
    Step.RECODE: (_ANY, S.PENDING, None),
    Step.SEND_BACK: (_ANY, S.PENDING, None),
    Step.RETRY: (_OPEN, S.PENDING, None),
    Step.REREAD: (_OPEN, S.PENDING, None),
    Step.BLOCK: (_OPEN, S.BLOCKED, None),
    Step.REOPEN: ((S.COMPLETED, S.PENDING, S.RUNNING), S.PENDING, None),
    Step.RESET: (_ANY, S.PENDING, None),
    Step.LIFT: ((S.BLOCKED,), S.PENDING, None),
    Step.WITHDRAW: (_ANY, S.WITHDRAWN, None),
    Step.RESTORE: ((S.WITHDRAWN,), S.PENDING, None),
}
"""Step → where it may start, where it leads, and the outcome it leaves. RENEW moves nothing but the budget."""

LEGAL = frozenset(
    {(start, end) for starts, end, _ in TRANSITIONS.values() for start in starts if start is not end}
    | {(S.PENDING, S.RUNNING), (S.RUNNING, S.PENDING)}
)
"""Every change of status that may happen at all; the second set is a launch, and a launch that was lost."""

FREE = frozenset({(S.PENDING, S.RUNNING), (S.RUNNING, S.PENDING)})
"""Changes that need no recorded decision."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A node's standing. Attempts and readings never go back; `attempt_base` and `reading_base` mark the last reset."""

    uid: str
    status: Status = Status.PENDING
    outcome: Outcome | None = None
    attempt: int = 1
    reading: int = 1
    attempt_base: int = 0
    reading_base: int = 0
    rung: int = 0

    @property
    def ticket(self) -> Ticket:
        return Ticket(self.uid, self.attempt, self.reading)

    @property
    def attempts_spent(self) -> int:
        return self.attempt - self.attempt_base

    @property
    def readings_spent(self) -> int:
        return self.reading - self.reading_base

    @property
    def is_settled(self) -> bool:
        return self.status in {Status.COMPLETED, Status.BLOCKED, Status.WITHDRAWN}

    @property
    def is_proven(self) -> bool:
        return self.outcome in {Outcome.VERIFIED, Outcome.WAIVED}


class IllegalTransition(ValueError):
    """A step that the table does not allow from where the node stands: a defect of ours, never of a session."""


def first_standing(uid: str, *, is_ticked: bool = False) -> Standing:
    """Where a node stands when it enters the plan. A ticked group has tried nothing yet: attempt 0."""
    if is_ticked:
        return Standing(uid, Status.COMPLETED, Outcome.TICKED, attempt=0)
    return Standing(uid)


def evolve(standing: Standing, step: Step, rung: int | None = None) -> Standing:
    """One step further. Raises IllegalTransition where the table does not allow it."""
    if step is Step.RENEW:
        return replace(standing, attempt_base=standing.attempt)
    starts, end, outcome = TRANSITIONS[step]
    if standing.status not in starts:
        raise IllegalTransition(f"{standing.uid}: {step} is not possible while {standing.status}")
    moved = replace(standing, status=end, outcome=outcome)
    return _counted(moved, step, standing.rung if rung is None else rung)


def _counted(moved: Standing, step: Step, rung: int) -> Standing:
    match step:
        case Step.RECODE | Step.RETRY:
            return replace(moved, attempt=moved.attempt + 1, reading=1, reading_base=0, rung=rung)
        case Step.SEND_BACK:  # a reviewer's budget pays for it, not the coder's
            base = moved.attempt_base + 1
            return replace(moved, attempt=moved.attempt + 1, attempt_base=base, reading=1, reading_base=0)
        case Step.REREAD:
            return replace(moved, reading=moved.reading + 1, rung=rung)
        case Step.REOPEN:
            return replace(moved, reading=moved.reading + 1, reading_base=moved.reading)
        case Step.RESET | Step.RESTORE:
            base = moved.attempt
            return replace(moved, attempt=base + 1, attempt_base=base, reading=1, reading_base=0, rung=0)
        case _:
            return moved


def fold(standing: Standing, steps: Iterable[tuple[Step, int | None]]) -> Standing:
    """Where a node stands after all steps recorded about it, oldest first."""
    for step, rung in steps:
        standing = evolve(standing, step, rung)
    return standing
