"""Where every gate stands, from the records of the ledger alone, and whether what was recorded allowed each change.

The same table as the database has (`core.gates`) and the same proof of roles (`store.evidence_tables`), so that an
export answers what the state file answers.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field, replace
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Strict, ValidationError

from agent_fox.core.ledger.evidence import Evidence, Kind, SpecRef
from agent_fox.core.ledger.gates import Forbidden, Gate, Role, step
from agent_fox.core.ledger.waivers import AboutFinding, reference
from agent_fox.core.retry.standing import TRANSITIONS as MOVES
from agent_fox.core.retry.standing import Outcome, Status, Step
from agent_fox.core.values import dataclass
from agent_fox.evidence.close_outs import Covers, Damaged, judged_again, status_of
from agent_fox.evidence.faults import Fault

if TYPE_CHECKING:
    from agent_fox.core.ledger.close_out import Finding

SHOWN_BY: dict[Role, dict[Gate, tuple[str, ...]]] = {
    Role.BUILDER: {Gate.PROPOSED: ("Land",)},
    Role.EVALUATOR: {Gate.TESTED: ("Accept",), Gate.REJECTED: ("Recode", "Block")},
    Role.REVIEWER: {Gate.REVIEWED: ("Accept",), Gate.ACCEPTED: ("Accept",), Gate.REJECTED: ("SendBack", "Block")},
    Role.FORMAL: {Gate.REVIEWED: ("Prove",), Gate.PROVED: ("Prove",), Gate.ACCEPTED: ("Prove",)},
    Role.PERSON: {Gate.PROPOSED: ("Reset",)},
}
"""The decisions that show a role, by what it moved a gate to. A person's waiver is shown by its own record."""

S = Step
DONE_BY: dict[tuple[Role, str], tuple[Step, ...]] = {
    (Role.BUILDER, "Land"): (S.LAND, S.LAND_UNCHANGED),
    (Role.EVALUATOR, "Accept"): (S.ACCEPT, S.WAIVE),
    (Role.EVALUATOR, "Recode"): (S.RECODE,),
    (Role.EVALUATOR, "Block"): (S.ESCALATE, S.BLOCK),
    (Role.REVIEWER, "Accept"): (S.REVIEW,),
    (Role.REVIEWER, "SendBack"): (S.RECODE, S.SEND_BACK),
    (Role.REVIEWER, "Block"): (S.BLOCK,),
    (Role.PERSON, "Reset"): (S.RESET, S.REOPEN),
}
"""What such a decision does to the node that it is about: one that did nothing of the kind shows no role. `Prove` moves
no node: checks that passed show it."""

FORMAL_KINDS = ("contract", "theorem")
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
FORGED_STEP = "the decision was made up, or records of others were removed"
FORGED_CLOSE_OUT = "the close-out was written past the gate, or changed"


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
    """The last judgement of a task. `judged_again`: what the rules give for what the record was made from; empty
    where it does not hold that."""

    task: str
    status: str
    position: int
    at: str
    judged_again: str = ""


@dataclass(frozen=True, slots=True)
class Decided:
    """A recorded decision, as far as it can show a role: `did` to its own node. `archetype` is empty where the record
    has none."""

    kind: str
    spec: str
    archetype: str
    at: str
    did: frozenset[str] = frozenset()
    is_proof: bool = False


@dataclass(frozen=True, slots=True)
class Read:
    """The last verdict that is recorded about a requirement."""

    word: str = "UNKNOWN"
    version: str = ""
    decision: int | None = None
    tree: str = ""


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


class _Move(BaseModel, defer_build=True):
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


class _Plan(BaseModel, defer_build=True):
    """The body of a record about what a spec expects."""

    model_config = ConfigDict(strict=True)
    spec: str
    parts: dict[str, str]


class _Waiver(BaseModel, defer_build=True):
    model_config = ConfigDict(strict=True)
    waiver: str = ""
    envelope: str = ""


class _Step(BaseModel, defer_build=True):
    model_config = ConfigDict(strict=True)
    uid: str
    step: Annotated[Step, Strict(False)]


class _Decision(BaseModel, defer_build=True):
    """The body of a record about a decision."""

    model_config = ConfigDict(strict=True)
    uid: str = ""
    archetype: Literal["coder", "reviewer", "verifier"] | None = None
    mode: str | None = None
    steps: list[_Step] = []


@dataclass(slots=True)
class Fold:
    """Everything that a ledger says about gates and tasks, as far as it was read."""

    moved: dict[tuple[str, str], FoldedGate] = field(default_factory=dict)
    """By spec and requirement: where the last record about a gate left it, for the version that it is about."""
    plans: dict[str, Planned] = field(default_factory=dict)
    close_outs: dict[str, CloseOut] = field(default_factory=dict)
    waivers: dict[str, Granted] = field(default_factory=dict)
    decisions: dict[int, Decided] = field(default_factory=dict)
    verdicts: dict[str, Read] = field(default_factory=dict)
    """By the address of a requirement."""
    nodes: dict[str, tuple[Status, Outcome | None]] = field(default_factory=dict)
    """By uid: where the decisions that are recorded left a node. One that runs is pending here."""

    def add(self, position: int, record: Evidence) -> tuple[Fault, ...]:
        """Take one record, in the order of the chain; what is wrong with it."""
        try:
            match record.kind:
                case Kind.GATE:
                    return tuple(self._move(position, record))
                case Kind.DECISION:
                    return tuple(self._decide(position, record))
                case Kind.CHECK:
                    self._check(record)
                case Kind.WAIVER:
                    self._waive(position, record)
                case Kind.VERDICT:
                    self.verdicts[record.about.address] = Read(
                        record.outcome.status, record.about.version, record.context.decision, record.artifact.tree
                    )
                    return tuple(self._unread(position, record))
                case Kind.SPECIFICATION if record.outcome.status == PLANNED:
                    plan = _Plan.model_validate(dict(record.body))
                    self.plans[plan.spec] = Planned(plan.parts, position, record.timestamp)
                case Kind.CLOSE_OUT:
                    return tuple(self._close(position, record))
                case _:
                    pass
        except ValidationError as error:
            what = f"its body is not that of a {record.kind} ({error.errors()[0]['msg']})"
            return (Fault(position, what, "it was not written by agent-fox"),)
        return ()

    def gates(self) -> dict[tuple[str, str], FoldedGate]:
        """Every gate, by spec and requirement: of what is planned, for its present text, and of what once was."""
        gates = dict(self.moved)
        for spec, plan in self.plans.items():
            for part, version in plan.parts.items():
                last = self.moved.get((spec, part))
                if last is None or last.version != version:
                    gates[spec, part] = FoldedGate(
                        spec, part, version, Gate.PROPOSED, Role.ENGINE, None, PLANNED, plan.position, plan.at
                    )
        return {key: gates[key] for key in sorted(gates)}

    def _unread(self, position: int, record: Evidence) -> Iterator[Fault]:
        """A verdict is written with the decision about its report."""
        number = record.context.decision
        decided = self.decisions.get(number) if number is not None else None
        if decided is None:
            yield Fault(position, "no decision is recorded that this verdict was read for", FORGED_VERDICT)
        elif decided.at != record.timestamp or decided.spec != record.about.address.partition("/")[0]:
            yield Fault(position, "it was not read when its decision was made", FORGED_VERDICT)
        elif decided.archetype != "verifier" and record.outcome.status != "UNKNOWN":
            yield Fault(position, "the decision that it was read for is not a verifier's", FORGED_VERDICT)

    def _decide(self, position: int, record: Evidence) -> Iterator[Fault]:
        if record.context.decision is None:
            return
        body = _Decision.model_validate(dict(record.body))
        archetype = FINAL if body.mode == FINAL else body.archetype or ""
        spec = record.about.address.partition(":")[0]
        did = frozenset(move.step.value for move in body.steps if move.uid == body.uid)
        decided = Decided(record.outcome.status, spec, archetype, record.timestamp, did)
        self.decisions[record.context.decision] = decided
        for taken in body.steps:
            yield from (Fault(position, what, FORGED_STEP) for what in self._moved(taken))

    def _moved(self, one: _Step) -> Iterator[str]:
        """A node goes on from where the last decision about it left it. Of one that has none, it is not known where."""
        if one.step is Step.RENEW:
            return
        starts, end, outcome = MOVES[one.step]
        stood = self.nodes.get(one.uid)
        if stood is not None and stood[0] not in starts:
            yield f"its step {one.step} cannot be: {one.uid} was {stood[1] or stood[0]}"
        self.nodes[one.uid] = (end, outcome)

    def _check(self, record: Evidence) -> None:
        """What a decision `Prove` rests on."""
        decided = self.decisions.get(record.context.decision or 0)
        if decided and record.about.kind in FORMAL_KINDS and record.outcome.status == "PASS":
            self.decisions[record.context.decision or 0] = replace(decided, is_proof=True)

    def _close(self, position: int, record: Evidence) -> Iterator[Fault]:
        """A task's judgement is what the rules give for what it was made from, whoever wrote it down."""
        task, status, again = record.about.address, record.outcome.status, ""
        try:
            again = status_of(judged_again(record, self._covers(record)))
            if again != status:
                yield Fault(position, f"it says {status}, and by the rules it is {again}", FORGED_CLOSE_OUT)
        except Damaged as error:
            yield Fault(position, f"it {error}", FORGED_CLOSE_OUT)
        self.close_outs[task] = CloseOut(task, status, position, record.timestamp, again)

    def _covers(self, record: Evidence) -> Covers:
        """The waivers that are recorded by now. A session was judged while one held that may have ended since."""

        def covers(name: str, task: str, finding: Finding) -> bool:
            granted = self.waivers.get(name)
            if granted is None or (granted.is_over and record.context.session is None):
                return False
            signed = AboutFinding(granted.about.address, finding.check.value, finding.detail_hash)
            return granted.about == reference(signed) and signed.is_of(task)

        return covers

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
        verdict = self.verdicts.get(f"{move.spec}/{move.requirement}", Read())
        stands = last is not None and last.version == move.version and verdict.word != "UNKNOWN"
        if last is None or stands or (move.finish, move.role) != (Gate.PROPOSED, Role.ENGINE):
            yield "a gate began again where none can"

    def _unshown(self, record: Evidence, move: _Move) -> Iterator[str]:
        if move.role is Role.PERSON and move.finish is Gate.WAIVED:
            yield from self._unwaived(move)
        elif move.role is not Role.ENGINE:
            yield from self._undecided(record, move)

    def _undecided(self, record: Evidence, move: _Move) -> Iterator[str]:
        wanted = SHOWN_BY[move.role].get(move.finish, ())
        decided = self.decisions.get(record.context.decision or 0)
        if decided is None or decided.kind not in wanted or decided.spec != move.spec:
            yield f"no decision {' or '.join(wanted) or 'at all'} is recorded by which a {move.role} moves a gate there"
        elif decided.at != record.timestamp:
            yield "it was not moved when its decision was made"
        elif decided.archetype not in _judges(move):
            yield f"it was moved as a {move.role}'s, by a decision about {_about(decided)}"
        else:
            yield from _undone(decided, move)
        if move.finish is Gate.TESTED:
            yield from _unpassed(self.verdicts.get(record.about.address, Read()), record)

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


def _about(found: Decided) -> str:
    return f"a {found.archetype}" if found.archetype else "nobody knows whom"


def _undone(found: Decided, move: _Move) -> Iterator[str]:
    """A decision shows a role by what it did: to its node, or with what it was proved."""
    wanted = DONE_BY.get((move.role, found.kind), ())
    if wanted and not found.did & {taken.value for taken in wanted}:
        yield f"the decision {found.kind} by which it was moved did not {' or '.join(wanted)} its node"
    if move.role is Role.FORMAL and move.finish is not Gate.REVIEWED and not found.is_proof:
        yield "no contract or theorem is recorded as proved by the decision by which it was moved"


def _unpassed(read: Read, record: Evidence) -> Iterator[str]:
    """The PASS belongs to the decision, or it is an earlier one on the same files, about which a report was silent."""
    if (read.word, read.version) != ("PASS", record.about.version):
        yield "the last verdict that is recorded about it is no PASS of this version"
    elif read.decision != record.context.decision and (not read.tree or read.tree != record.artifact.tree):
        yield "the PASS that is recorded about it was read on other files, for another decision"


def _judges(move: _Move) -> tuple[str, ...]:
    is_forward = move.role is Role.REVIEWER and move.finish is not Gate.REJECTED
    return (FINAL,) if is_forward else JUDGES[move.role]


def _disagreeing(record: Evidence, move: _Move) -> Iterator[str]:
    about = record.about
    if (about.address, about.version) != (f"{move.spec}/{move.requirement}", move.version):
        yield "its body is about another requirement than its reference"
    if record.outcome.status != move.finish:
        yield "its body ends elsewhere than its result"
