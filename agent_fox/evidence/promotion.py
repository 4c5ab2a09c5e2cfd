"""The promotion state of a requirement: counts computed from the ledger, and each further step with why it is blocked.

Nothing is stored here and nothing moves: gates move by recorded decisions alone. What is legal is in `core.gates`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, assert_never

from agent_fox.core.ids import Mode
from agent_fox.core.ledger.evidence import Kind
from agent_fox.core.ledger.gates import Blocked, Gate, is_enough, ways
from agent_fox.core.retry.standing import Status
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.verdict import Word
from agent_fox.core.words import quote
from agent_fox.evidence.about import TRUSTING_SPECS, Binding, Found, bound_to, read, records_about
from agent_fox.evidence.library import Trust, binding
from agent_fox.store.gates import GateRow, gates_of
from agent_fox.store.ledger import ledger
from agent_fox.store.ledger.evidence import address
from agent_fox.store.plan import load_parts, nodes_of_spec, path_of_spec
from agent_fox.store.records import current_verdicts, once_failed
from agent_fox.store.sessions import tree_of_session

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.formal.specification import Specification
    from agent_fox.store.plan import StoredPart

MOST_REFS = 20
"""Ids that one field names; the counts count all."""

MOST_NAMES = 5


@dataclass(frozen=True, slots=True)
class ArtifactRef:
    """What it is all about: the spec's place, the commit and tree that were judged, the version of the text."""

    path: str
    commit: str
    tree: str
    version: str


@dataclass(frozen=True, slots=True)
class Tests:
    """Results of readings and checks of the present text, on the tree that was judged last."""

    passed: int
    failed: int
    unknown: int
    record_refs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Proofs:
    """The contracts and theorems bound to it, by address: `counterexample` names those that were refuted."""

    proved: tuple[str, ...]
    pending: tuple[str, ...]
    counterexample: tuple[str, ...]
    record_refs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Reviews:
    """Final reviews of its spec. `open`: one is part of the plan and has not ended. `dismissed`: on an older tree."""

    open: int
    approved: int
    changes_requested: int
    dismissed: int
    record_refs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RegressionChecks:
    """What of its spec failed once and must stay green. `known_failures`: what of that has no PASS now, the first."""

    all_passing: bool
    known_failures: tuple[str, ...]
    record_refs: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PromotionState:
    """Where the evidence of one requirement stands. `overall` is its gate, None where it has none yet.

    `is_enough`: whether the gate is what the last run asked for (`required`); None where it rests on a waiver that was
    not held against its signature here. `blocked`: where the gate could go, whose step that is, why it is not made now.
    """

    spec: str
    requirement: str
    artifact_ref: ArtifactRef
    tests: Tests
    proofs: Proofs
    reviews: Reviews
    regression_checks: RegressionChecks
    overall: Gate | None
    required: Gate
    is_enough: bool | None
    blocked: tuple[Blocked, ...]


@dataclass(frozen=True)
class Ground:
    """The state file, looked at for one spec; `required` is what the last run asked for.

    `waived`: its requirements with a waiver that counts now; None where no signature was checked.
    """

    db: Database
    spec_name: str
    required: Gate
    trust: Trust = TRUSTING_SPECS
    waived: frozenset[str] | None = None

    @cached_property
    def gates(self) -> dict[str, GateRow]:
        return {row.requirement_id: row for row in gates_of(self.db, self.spec_name)}

    @cached_property
    def verdicts(self) -> dict[str, tuple[int, Word]]:
        return current_verdicts(self.db, self.spec_name)

    @cached_property
    def unproven(self) -> tuple[str, ...]:
        """Requirements of the spec without a PASS or a waiver, in the order of the files."""
        ids = (part.id for part in load_parts(self.db, self.spec_name))
        return tuple(part for part in ids if not self.is_passed(part) and not self.is_at(part, Gate.WAIVED))

    def is_passed(self, part: str) -> bool:
        return part in self.verdicts and self.verdicts[part][1] is Word.PASS

    def is_at(self, part: str, gate: Gate) -> bool:
        return part in self.gates and self.gates[part].state is gate

    @cached_property
    def adopted(self) -> tuple[Specification, ...]:
        """Everything beside its requirements that binds one of them."""
        return binding(self.db, self.spec_name, self.trust)

    @cached_property
    def path(self) -> str:
        return path_of_spec(self.db, self.spec_name)

    @cached_property
    def final_reviews(self) -> list[Found]:
        """What was decided about the final review of the spec."""
        condition = "kind = 'decision' AND spec_name = ? AND json_extract(content, '$.body.mode') = 'final-review'"
        return read(ledger.records(self.db, condition, [self.spec_name]))

    @cached_property
    def has_open_review(self) -> bool:
        reviews = (
            planned for planned in nodes_of_spec(self.db, self.spec_name) if planned.node.mode is Mode.FINAL_REVIEW
        )
        return any(planned.standing.status in (Status.PENDING, Status.RUNNING) for planned in reviews)

    @cached_property
    def once_failed(self) -> dict[str, tuple[str, ...]]:
        """Requirements of the plan that had a FAIL in their present version, each with the records."""
        failed: dict[str, tuple[str, ...]] = {}
        for part, record in once_failed(self.db, self.spec_name):
            failed[part] = (*failed.get(part, ()), record)
        return failed


def promotion_state(ground: Ground, part: StoredPart) -> PromotionState:
    """Everything computed for one requirement."""
    gate = ground.gates.get(part.id)
    binding = bound_to(part, ground.adopted)
    entries = list(_entries(ground, part, binding))
    judged = last_judged(entries, address(part.spec_name, part.id), part.version)
    here = [entry for entry in entries if judged and entry.kept.tree == judged.kept.tree]
    proofs = proofs_of(binding, here)
    reviews = reviews_of(ground, judged.kept.tree if judged else "")
    return PromotionState(
        spec=part.spec_name,
        requirement=part.id,
        artifact_ref=ArtifactRef(
            ground.path, judged.record.artifact.commit if judged else "", judged.kept.tree if judged else "",
            part.version,
        ),
        tests=tests_of(part, binding, here),
        proofs=proofs,
        reviews=reviews,
        regression_checks=regressions(ground),
        overall=gate.state if gate else None,
        required=ground.required,
        is_enough=enough(ground, gate) if gate else False,
        blocked=tuple(blocked(ground, part, gate, proofs, reviews)) if gate else (),
    )  # fmt: skip


def enough(ground: Ground, gate: GateRow) -> bool | None:
    """A waived gate is worth what its waiver is worth now, not what was once recorded."""
    if gate.state is Gate.WAIVED:
        return None if ground.waived is None else gate.requirement_id in ground.waived
    return is_enough(ground.required, gate.state, was_proved=gate.was_proved)


def _entries(ground: Ground, part: StoredPart, binding: Iterable[Binding]) -> Iterator[Found]:
    """Readings of the requirement and checks of what is binding to it, each about the present version."""
    places = {address(part.spec_name, part.id): part.version} | {entry.address: entry.version for entry in binding}
    for place, version in places.items():
        entries = records_about(ground.db, place, Kind.VERDICT, Kind.CHECK)
        yield from (entry for entry in entries if entry.kept.version == version)


def last_judged(entries: Iterable[Found], place: str, version: str) -> Found | None:
    """The last reading of the requirement itself, of this version of its text."""
    judged = [entry for entry in entries if entry.kept.address == place and entry.kept.version == version]
    return max(judged, key=lambda entry: entry.kept.link.position, default=None)


def tests_of(part: StoredPart, binding: Iterable[Binding], here: list[Found]) -> Tests:
    formal = {entry.address for entry in binding if entry.is_formal}
    tests = [entry for entry in here if entry.kept.address not in formal]
    counts = {word: sum(test.kept.status == word for test in tests) for word in Word}
    return Tests(counts[Word.PASS], counts[Word.FAIL], counts[Word.UNKNOWN], refs(tests))


def proofs_of(binding: Iterable[Binding], here: list[Found]) -> Proofs:
    """By the last check of each on this tree."""
    formal = [proof.address for proof in binding if proof.is_formal]
    last = {place: _last(here, place) for place in formal}
    words = {place: proof.kept.status if proof else Word.UNKNOWN for place, proof in last.items()}
    return Proofs(
        proved=tuple(place for place in formal if words[place] == Word.PASS),
        pending=tuple(place for place in formal if words[place] not in (Word.PASS, Word.FAIL)),
        counterexample=tuple(place for place in formal if words[place] == Word.FAIL),
        record_refs=refs([proof for proof in last.values() if proof]),
    )


def _last(here: Iterable[Found], place: str) -> Found | None:
    entries = (entry for entry in here if entry.kept.address == place)
    return max(entries, key=lambda entry: entry.kept.link.position, default=None)


def reviews_of(ground: Ground, tree: str) -> Reviews:
    """`tree` is the one that was judged last: an approval of another commit is dismissed."""
    commits = {review.kept.link.position: _tree_of(ground.db, review) for review in ground.final_reviews}
    accepted = [entry for entry in ground.final_reviews if entry.kept.status == "Accept"]
    fresh = [entry for entry in accepted if tree and commits[entry.kept.link.position] == tree]
    return Reviews(
        open=int(ground.has_open_review),
        approved=len(fresh),
        changes_requested=sum(entry.kept.status in ("SendBack", "Block") for entry in ground.final_reviews),
        dismissed=len(accepted) - len(fresh),
        record_refs=refs(ground.final_reviews),
    )


def _tree_of(db: Database, review: Found) -> str:
    """The tree that the session of a review was about."""
    return tree_of_session(db, review.record.context.session)


def regressions(ground: Ground) -> RegressionChecks:
    failing = tuple(part for part in ground.once_failed if not ground.is_passed(part))
    records = [record for failures in ground.once_failed.values() for record in failures]
    return RegressionChecks(not failing, failing[:MOST_REFS], tuple(records[-MOST_REFS:]))


def refs(found: list[Found]) -> tuple[str, ...]:
    """The newest ids, in the order of the chain."""
    return tuple(entry.id for entry in sorted(found, key=lambda entry: entry.kept.link.position)[-MOST_REFS:])


def blocked(ground: Ground, part: StoredPart, gate: GateRow, proofs: Proofs, reviews: Reviews) -> Iterator[Blocked]:
    """Every step that the table has from here, and why it is not made now."""
    for finish, roles in ways(gate.state).items():
        yield Blocked(finish, roles, why_not(ground, part, gate, finish, proofs, reviews))


def why_not(ground: Ground, part: StoredPart, gate: GateRow, finish: Gate, proofs: Proofs, reviews: Reviews) -> str:
    match finish:
        case Gate.TESTED:
            return _why_not_tested(ground, part)
        case Gate.REVIEWED:
            return _why_not_reviewed(ground, gate, reviews)
        case Gate.PROVED:
            if proofs.counterexample:
                return f"refuted: {some(proofs.counterexample)}"
            if proofs.pending:
                return f"not proved on this tree: {some(proofs.pending)}"
            if not proofs.proved:
                return "no contract or theorem is bound to it: write one into specifications.toml of its spec"
            return "the formal lane runs at the end of a run with [policy] required_state = 'proved'"
        case Gate.ACCEPTED:
            return _why_not_accepted(ground, gate)
        case Gate.REJECTED:
            return "nothing speaks against it: no reading of it says FAIL, and no review asks for changes"
        case Gate.PROPOSED:
            return _why_not_proposed(gate)
        case Gate.WAIVED:
            return "no person has waived this version of it: " + waive_command(part)
        case _:
            assert_never(finish)


def some(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return ", ".join(names[:MOST_NAMES]) + more


def waive_command(part: StoredPart) -> str:
    return f"agent-fox waive {quote(address(part.spec_name, part.id))} --reason '...' --expires 30d"


def _why_not_tested(ground: Ground, part: StoredPart) -> str:
    word = ground.verdicts[part.id][1] if part.id in ground.verdicts else None
    if word is None:
        return "no verifier has read it yet"
    if word is not Word.PASS:
        return f"the current verdict on it is {word}"
    if ground.unproven:
        return f"a spec is accepted as a whole, and these are not proven: {some(ground.unproven)}"
    return "its verifier's report has not been accepted yet"


def _why_not_reviewed(ground: Ground, gate: GateRow, reviews: Reviews) -> str:
    if gate.state is Gate.ACCEPTED:
        return "no proof that it needs is missing"
    if reviews.open:
        return "the final review of its spec has not accepted it yet"
    if ground.required is Gate.TESTED:
        return "no final review is asked for: [policy] required_state is 'tested'"
    return "no final review of its spec is part of the plan: `agent-fox plan` shows it, `agent-fox run` makes it"


def _why_not_accepted(ground: Ground, gate: GateRow) -> str:
    if gate.state is Gate.WAIVED:
        return "it rests on its waiver: it is accepted once a reading passes it, as any other"
    if ground.required is Gate.PROVED:
        return "a proof is asked for: [policy] required_state is 'proved'"
    return "a final reviewer accepts it with its review, and a proof when the formal lane has proved it"


def _why_not_proposed(gate: GateRow) -> str:
    if gate.state is Gate.REJECTED:
        return "no work was handed in since it was rejected: `agent-fox run`, or a reset by a person"
    if gate.state is Gate.WAIVED:
        return "its waiver has not ended, and nothing has proven it"
    return "its text is as it was, and so is what it rests on"
