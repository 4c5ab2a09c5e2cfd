"""Where every gate stands, from the records of the ledger alone, and whether what was recorded allowed each change.

The same table as the database has (`core.gates`) and the same proof of roles (`store.evidence_tables`), so that an
export answers what the state file answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Strict, ValidationError

from agent_fox.core.evidence import Evidence, Kind, SpecRef
from agent_fox.core.gates import Forbidden, Gate, Role, step
from agent_fox.evidence.faults import Fault

SHOWN_BY: dict[Role, dict[Gate, tuple[str, ...]]] = {
    Role.BUILDER: {Gate.PROPOSED: ("Land",)},
    Role.EVALUATOR: {Gate.TESTED: ("Accept",), Gate.REJECTED: ("Recode", "Block")},
    Role.REVIEWER: {Gate.REVIEWED: ("Accept",), Gate.ACCEPTED: ("Accept",), Gate.REJECTED: ("SendBack", "Block")},
    Role.FORMAL: {Gate.REVIEWED: ("Prove",), Gate.PROVED: ("Prove",), Gate.ACCEPTED: ("Prove",)},
    Role.PERSON: {Gate.PROPOSED: ("Reset",)},
}
"""The decisions that show a role, by what it moved a gate to. A person's waiver is shown by its own record."""

FINAL = "final-review"
JUDGES = {
    Role.BUILDER: ("coder",),
    Role.EVALUATOR: ("verifier",),
    Role.REVIEWER: ("reviewer", FINAL),
    Role.FORMAL: ("verifier",),
    Role.PERSON: ("coder", "verifier", "reviewer", FINAL),
}
"""About which nodes the decision is: an archetype, or the review of the whole, which alone moves a gate forward."""

PLANNED = "planned"
GRANTED, OVER = "granted", ("expired", "revoked", "over")
FORGED_VERDICT = "the verdict was written past the engine, or records of its decision were removed"
FORGED = "the gate was moved past the engine, or records of its decision were removed"


@dataclass(frozen=True, slots=True)
class FoldedGate:
    """Where a gate stands, and the record that moved it there; for one that never moved, the plan's record.

    `was_proved`: whether it was proved on its way.
    """

    spec: str
    requirement: str
    version: str
    state: Gate
    role: Role
    waiver: str | None
    reason: str
    position: int
    at: str
    was_proved: bool = False


@dataclass(frozen=True, slots=True)
class Planned:
    """What a spec expects, by its last record: id of a requirement to the version of its text."""

    parts: dict[str, str]
    position: int
    at: str


@dataclass(frozen=True, slots=True)
class CloseOut:
    """The last judgement of a task."""

    task: str
    status: str
    position: int
    at: str


@dataclass(frozen=True, slots=True)
class Decided:
    """A recorded decision, as far as it can show a role. `archetype` is empty where the record has none."""

    kind: str
    spec: str
    archetype: str
    at: str


@dataclass(frozen=True, slots=True)
class Granted:
    """A recorded waiver: what it is about, and what was signed (the envelope, or nothing)."""

    about: SpecRef
    envelope: str
    position: int
    is_over: bool = False
    is_used: bool = False

    @property
    def address(self) -> str:
        return self.about.address


class _Move(BaseModel):
    """The body of a record about a gate."""

    model_config = ConfigDict(strict=True)
    spec: str
    requirement: str
    version: str
    start: Annotated[Gate, Strict(False)] | None
    finish: Annotated[Gate, Strict(False)]
    role: Annotated[Role, Strict(False)]
    waiver: str | None
    reason: str


class _Plan(BaseModel):
    """The body of a record about what a spec expects."""

    model_config = ConfigDict(strict=True)
    spec: str
    parts: dict[str, str]


class _Waiver(BaseModel):
    model_config = ConfigDict(strict=True)
    waiver: str = ""
    envelope: str = ""


class _Archetype(BaseModel):
    model_config = ConfigDict(strict=True)
    archetype: Literal["coder", "reviewer", "verifier"] | None = None
    mode: str | None = None


@dataclass(slots=True)
class Fold:
    """Everything that a ledger says about gates and tasks, as far as it was read."""

    moved: dict[tuple[str, str], FoldedGate] = field(default_factory=dict)
    """By spec and requirement: where the last record about a gate left it, for the version that it is about."""
    plans: dict[str, Planned] = field(default_factory=dict)
    close_outs: dict[str, CloseOut] = field(default_factory=dict)
    waivers: dict[str, Granted] = field(default_factory=dict)
    decisions: dict[int, Decided] = field(default_factory=dict)
    verdicts: dict[str, tuple[str, str]] = field(default_factory=dict)
    """Address of a requirement to its last PASS, FAIL or UNKNOWN, and the version of the text that was read."""

    def add(self, position: int, record: Evidence) -> tuple[Fault, ...]:
        """Take one record, in the order of the chain; what is wrong with it."""
        try:
            match record.kind:
                case Kind.GATE:
                    return tuple(self._move(position, record))
                case Kind.DECISION:
                    self._decide(record)
                case Kind.WAIVER:
                    self._waive(position, record)
                case Kind.VERDICT:
                    self.verdicts[record.about.address] = (record.outcome.status, record.about.version)
                    return tuple(self._unread(position, record))
                case Kind.SPECIFICATION if record.outcome.status == PLANNED:
                    plan = _Plan.model_validate(dict(record.body))
                    self.plans[plan.spec] = Planned(plan.parts, position, record.timestamp)
                case Kind.CLOSE_OUT:
                    task = record.about.address
                    self.close_outs[task] = CloseOut(task, record.outcome.status, position, record.timestamp)
                case _:
                    pass
        except ValidationError as error:
            what = f"its body is not that of a {record.kind} ({error.errors()[0]['msg']})"
            return (Fault(position, what, "it was not written by agent-fox"),)
        return ()

    def gates(self) -> dict[tuple[str, str], FoldedGate]:
        """Every gate, by spec and requirement: of what is planned, for its present text, and of what once was."""
        found = dict(self.moved)
        for spec, plan in self.plans.items():
            for part, version in plan.parts.items():
                last = self.moved.get((spec, part))
                if last is None or last.version != version:
                    found[spec, part] = FoldedGate(
                        spec, part, version, Gate.PROPOSED, Role.ENGINE, None, PLANNED, plan.position, plan.at
                    )
        return {key: found[key] for key in sorted(found)}

    def _unread(self, position: int, record: Evidence) -> Iterator[Fault]:
        """A verdict is written with the decision about its report."""
        number = record.context.decision
        found = self.decisions.get(number) if number is not None else None
        if found is None:
            yield Fault(position, "no decision is recorded that this verdict was read for", FORGED_VERDICT)
        elif found.at != record.timestamp or found.spec != record.about.address.partition("/")[0]:
            yield Fault(position, "it was not read when its decision was made", FORGED_VERDICT)

    def _decide(self, record: Evidence) -> None:
        if record.context.decision is not None:
            body = _Archetype.model_validate(dict(record.body))
            archetype = FINAL if body.mode == FINAL else body.archetype or ""
            spec = record.about.address.partition(":")[0]
            self.decisions[record.context.decision] = Decided(record.outcome.status, spec, archetype, record.timestamp)

    def _waive(self, position: int, record: Evidence) -> None:
        body = _Waiver.model_validate(dict(record.body))
        name = body.waiver or _named(record.identity)
        old = self.waivers.get(name)
        if record.outcome.status == GRANTED and old is None:
            self.waivers[name] = Granted(record.about, body.envelope, position)
        elif record.outcome.status in OVER and old:
            self.waivers[name] = replace(old, is_over=True)

    def _move(self, position: int, record: Evidence) -> Iterator[Fault]:
        move = _Move.model_validate(dict(record.body))
        key = (move.spec, move.requirement)
        last = self.moved.get(key)
        yield from (Fault(position, what, "it was not written by agent-fox") for what in _disagreeing(record, move))
        yield from (Fault(position, what, FORGED) for what in self._illegal(last, move))
        yield from (Fault(position, what, FORGED) for what in self._unshown(record, move))
        was_proved = move.finish is Gate.PROVED or bool(
            last and last.was_proved and move.finish not in (Gate.PROPOSED, Gate.REJECTED)
        )
        self.moved[key] = FoldedGate(
            move.spec, move.requirement, move.version, move.finish, move.role, move.waiver, move.reason, position,
            record.timestamp, was_proved,
        )  # fmt: skip

    def _illegal(self, last: FoldedGate | None, move: _Move) -> Iterator[str]:
        """In what a change is none that the table has."""
        if move.start is None:
            yield from self._not_anew(last, move)
            return
        plan = self.plans.get(move.spec)
        stood = (
            (last.state, last.version) if last else (Gate.PROPOSED, plan.parts.get(move.requirement) if plan else None)
        )
        if stood != (move.start, move.version):
            yield f"it moves a gate from {move.start} for version {move.version}, and that gate stood at {stood[0]}"
        try:
            step(move.start, move.finish, move.role)
        except Forbidden as error:
            yield str(error)

    def _not_anew(self, last: FoldedGate | None, move: _Move) -> Iterator[str]:
        """A gate begins again where its text is new, or no verdict stands: its requirement had left the plan."""
        verdict = self.verdicts.get(f"{move.spec}/{move.requirement}", ("UNKNOWN", ""))
        stands = last is not None and last.version == move.version and verdict[0] != "UNKNOWN"
        if last is None or stands or (move.finish, move.role) != (Gate.PROPOSED, Role.ENGINE):
            yield "a gate began again where none can"

    def _unshown(self, record: Evidence, move: _Move) -> Iterator[str]:
        if move.role is Role.PERSON and move.finish is Gate.WAIVED:
            yield from self._unwaived(move)
        elif move.role is not Role.ENGINE:
            yield from self._undecided(record, move)

    def _undecided(self, record: Evidence, move: _Move) -> Iterator[str]:
        wanted = SHOWN_BY[move.role].get(move.finish, ())
        found = self.decisions.get(record.context.decision or 0)
        if found is None or found.kind not in wanted or found.spec != move.spec:
            yield f"no decision {' or '.join(wanted) or 'at all'} is recorded by which a {move.role} moves a gate there"
        elif found.at != record.timestamp:
            yield "it was not moved when its decision was made"
        elif found.archetype and found.archetype not in _judges(move):
            yield f"it was moved as a {move.role}'s, by a decision about a {found.archetype}"
        if move.finish is Gate.TESTED and self.verdicts.get(record.about.address) != ("PASS", move.version):
            yield "the last verdict that is recorded about it is no PASS of this version"

    def _unwaived(self, move: _Move) -> Iterator[str]:
        waiver = self.waivers.get(move.waiver or "")
        if waiver is None or move.waiver is None:
            yield "no waiver is recorded by which it could have been waived"
        elif waiver.about != SpecRef("requirement", f"{move.spec}/{move.requirement}", move.version):
            yield "it was waived by the waiver of something else"
        elif waiver.is_over or waiver.is_used:
            yield f"it was waived by a waiver that was {'over' if waiver.is_over else 'used'} already"
        else:
            self.waivers[move.waiver] = replace(waiver, is_used=True)


def _named(identity: str) -> str:
    """The waiver that a record is about, from `waiver:ID:granted`."""
    return identity.split(":")[1] if identity.count(":") else ""


def _judges(move: _Move) -> tuple[str, ...]:
    is_forward = move.role is Role.REVIEWER and move.finish is not Gate.REJECTED
    return (FINAL,) if is_forward else JUDGES[move.role]


def _disagreeing(record: Evidence, move: _Move) -> Iterator[str]:
    about = record.about
    if (about.address, about.version) != (f"{move.spec}/{move.requirement}", move.version):
        yield "its body is about another requirement than its reference"
    if record.outcome.status != move.finish:
        yield "its body ends elsewhere than its result"
