"""The chain of evidence of one requirement as one value: proven by what, by whom, on which tree, and does it count.

Read from the ledger and the tables beside it; nothing is judged anew, and nothing is worded for a screen.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from agent_fox.core.ledger.evidence import Freshness, Json, Kind, record_id, why_stale
from agent_fox.core.values import dataclass
from agent_fox.evidence.about import TRUSTING_SPECS, Binding, Found, bound_to, read, records_about, required_by
from agent_fox.evidence.library import Trust
from agent_fox.evidence.promotion import Ground, PromotionState, promotion_state
from agent_fox.evidence.waivers import Grounds, held, waived_now
from agent_fox.store.known import in_which, parts_of, words_known
from agent_fox.store.ledger import ledger
from agent_fox.store.ledger.evidence import address
from agent_fox.store.ledger.ledger import Tip, tip_of
from agent_fox.store.plan import is_escalated
from agent_fox.store.waivers import WaiverRow, over, waivers_of

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.store.plan import StoredPart

MOST_RECORDS = 40
MOST_STEPS = 60
LONGEST_TEXT = 2000
CHANGED = "its content is not what its id says: run `agent-fox ledger verify`"
ENVIRONMENT_CHANGED = "the environment has changed"
NOT_CHECKED = "who signed it was not checked here: `agent-fox waive --list` checks it"


@dataclass(frozen=True, slots=True)
class Now:
    """What stands now: the tree of the integration branch, the environment and the verifier that settings name.

    None: not known here; nothing is then said to count because of it.
    """

    tree: str | None = None
    environment: str | None = None
    verifier: str | None = None
    parts: Mapping[str, str] = field(default_factory=dict)
    """What the environment is made of."""


@dataclass(frozen=True, slots=True)
class Proof:
    """One record of the chain. `why_stale` says why it does not count now; empty where it does.

    `status` is PASS, FAIL or UNKNOWN; `command` shows it again; `said` is what was seen; `how` a PASS was known, by
    the word that it was recorded with. `restores` is the number of the verdict whose reading counts again by this one,
    empty for a reading of its own. `trials`: what was tried to see its tests fail, as `core.proof.Trials`; None where
    nothing was, or nothing is recorded of it. `rests_on`: what of the tree a PASS rests on, as `core.scope.Scope`.
    `is_untouched`: it was read on another tree than that of now, and nothing that it rests on differs.
    """

    id: str
    position: int
    kind: str
    about: str
    version: str
    status: str
    at: str
    command: str
    counterexample: str
    said: str
    limitation: str
    ticket: str
    session: int | None
    decision: int | None
    commit: str
    tree: str
    environment: str
    verifier: str
    log: str
    is_current: bool
    why_stale: tuple[str, ...]
    restores: str = ""
    how: str = ""
    trials: Json = None
    rests_on: Json = None
    is_untouched: bool = False


@dataclass(frozen=True, slots=True)
class Judge:
    """A session that said something about it: `backend` and `models` as they told themselves."""

    session: int
    ticket: str
    archetype: str
    backend: str
    models: tuple[str, ...]
    commit: str
    at: str
    record: str


@dataclass(frozen=True, slots=True)
class Step:
    """One change of its gate."""

    at: str
    start: str
    finish: str
    role: str
    reason: str
    version: str
    decision: int | None
    waiver: str | None
    commit: str
    tree: str
    record: str


@dataclass(frozen=True, slots=True)
class WaiverLine:
    """A waiver of the requirement. `why_not`: why it does not count now; empty where it does."""

    id: str
    signer: str
    reason: str
    version: str
    granted_at: str
    expires_at: str
    why_not: str


@dataclass(frozen=True, slots=True)
class ReviewLine:
    """A decision about the final review of its spec."""

    at: str
    decision: str
    note: str
    ticket: str
    commit: str
    record: str


@dataclass(frozen=True, slots=True)
class Chain:
    """Everything. `is_proven_now`: the current verdict is PASS, its record counts as things stand, its spec is not
    escalated, and the state may be believed: `disbelieved` says why not. `how` it is known: a word of `core.known.How`,
    empty where it is not.

    `proofs` are oldest first, the newest `MOST_RECORDS` of them (`left_out` counts the others). `check` are commands
    that show it again, on any machine with the repository; `head` is the ledger's.
    """

    spec: str
    requirement: str
    text: str
    version: str
    is_proven_now: bool
    promotion: PromotionState
    proofs: tuple[Proof, ...]
    left_out: int
    judges: tuple[Judge, ...]
    steps: tuple[Step, ...]
    waivers: tuple[WaiverLine, ...]
    reviews: tuple[ReviewLine, ...]
    bound: tuple[Binding, ...]
    check: tuple[str, ...]
    head: Tip
    how: str = ""
    disbelieved: str = ""

    @property
    def current(self) -> Proof | None:
        """The record of the verdict that holds."""
        return next((proof for proof in reversed(self.proofs) if proof.is_current), None)


def chain_of(
    db: Database, part: StoredPart, now: Now, at: str, grounds: Grounds | None = None, *, disbelieved: str
) -> Chain:
    """The chain of a requirement of the plan. `at` is the time; without `grounds` no signature is checked.

    `disbelieved`: why nothing is proven by this state, as `witness.why_unbelieved` says it; empty where it may be.
    """
    trust = Trust(grounds.repository, lambda: grounds.signers) if grounds else TRUSTING_SPECS
    waived = waived_now(db, grounds, at, part.spec_name) if grounds else None
    ground = Ground(db, part.spec_name, required_by(db), trust, waived)
    binding = bound_to(part, ground.adopted)
    entries = _found(db, part, binding)
    current = ground.verdicts.get(part.id)
    names = {f"verdict:{current[0]}"} if current else set()
    versions = {entry.address: entry.version for entry in binding} | {address(part.spec_name, part.id): part.version}
    parts_then = {name: parts_of(db, name) for name in {entry.record.context.environment for entry in entries}}
    untouched = {read.tree for read in ledger.read_for(db, part.spec_name, now.tree)} if now.tree else set()
    proofs = tuple(proof_of(entry, versions, now, names, parts_then, untouched) for entry in entries)
    last = next((proof for proof in reversed(proofs) if proof.is_current), None)
    return Chain(
        spec=part.spec_name,
        requirement=part.id,
        text=part.text[:LONGEST_TEXT],
        version=part.version,
        is_proven_now=last is not None
        and last.status == "PASS"
        and not last.why_stale
        and not is_escalated(db, part.spec_name)
        and not disbelieved,
        promotion=promotion_state(ground, part),
        proofs=proofs[-MOST_RECORDS:],
        left_out=max(0, len(proofs) - MOST_RECORDS),
        judges=tuple(judges(db, proofs[-MOST_RECORDS:])),
        steps=tuple(map(_step, records_about(db, address(part.spec_name, part.id), Kind.GATE)[-MOST_STEPS:])),
        waivers=tuple(_waivers(db, part, at, grounds))[-MOST_STEPS:],
        reviews=tuple(map(_review, ground.final_reviews[-MOST_STEPS:])),
        bound=binding[:MOST_STEPS],
        check=tuple(how_to_check(last)),
        head=tip_of(db),
        how="" if disbelieved else how_of(db, part, waived or frozenset()),
        disbelieved=disbelieved,
    )


def how_of(db: Database, part: StoredPart, waived: Collection[str]) -> str:
    known = words_known(db, lambda _, name: name in waived, part.spec_name)
    return known.get(part.spec_name, {}).get(part.id, "")


def _found(db: Database, part: StoredPart, binding: Iterable[Binding]) -> list[Found]:
    """Readings of it and checks of what is binding to it, of every version, oldest first."""
    places = [address(part.spec_name, part.id), *(rule.address for rule in binding)]
    records = [record for place in places for record in records_about(db, place, Kind.VERDICT, Kind.CHECK)]
    return sorted(records, key=lambda rule: rule.kept.link.position)


def proof_of(
    found: Found, versions: Mapping[str, str], now: Now, current: set[str],
    parts_then: Mapping[str, Mapping[str, str]], untouched: Collection[str] = (),
) -> Proof:  # fmt: skip
    """`versions` are the present ones by address; `current` the identity of the verdict that holds; `parts_then` what
    environments are made of; `untouched` the trees whose verdicts count for that of now."""
    record, kept = found.record, found.kept
    is_untouched = record.artifact.tree in untouched
    now = replace(now, tree=record.artifact.tree) if is_untouched else now
    then = parts_then.get(record.context.environment, {})
    context, outcome = record.context, record.outcome
    return Proof(
        id=found.id, position=kept.link.position, kind=record.kind, about=record.about.address,
        version=record.about.version, status=outcome.status, at=record.timestamp, command=context.command,
        counterexample=outcome.counterexample[:LONGEST_TEXT], said=str(record.body.get("evidence", ""))[:LONGEST_TEXT],
        limitation=record.limitation, ticket=context.ticket, session=context.session, decision=context.decision,
        commit=record.artifact.commit, tree=record.artifact.tree, environment=context.environment,
        verifier=context.verifier, log=outcome.log_ref, is_current=record.identity in current,
        why_stale=tuple(staleness(found, versions.get(record.about.address, ""), now, then)),
        restores=str(record.body.get("restores", "")),
        how=str(record.body.get("how", "")),
        trials=record.body.get("trials"), rests_on=record.body.get("rests_on"), is_untouched=is_untouched,
    )  # fmt: skip


def staleness(found: Found, version: str, now: Now, parts_then: Mapping[str, str]) -> Iterable[str]:
    """Why a record does not count: it was changed, is about something else, or that is not known here."""
    record, context = found.record, found.record.context
    then = Freshness(record.artifact.tree, record.about.version, context.environment, context.verifier)
    known = {"the code": now.tree, "the environment": now.environment, "the verifier": now.verifier}
    current = Freshness(
        then.tree if now.tree is None else now.tree, version,
        then.environment if now.environment is None else now.environment,
        then.verifier if now.verifier is None else now.verifier,
    )  # fmt: skip
    if record_id(found.kept.content) != found.id:
        yield CHANGED
    for why in why_stale(then, current):
        changed = "; ".join(in_which(parts_then, now.parts)) if why == ENVIRONMENT_CHANGED else ""
        yield f"{why} ({changed})" if changed else why
    yield from (f"whether {what} has changed is not known here" for what, value in known.items() if value is None)


def judges(db: Database, proofs: Iterable[Proof]) -> Iterable[Judge]:
    """The sessions behind the records, each once."""
    for number in dict.fromkeys(proof.session for proof in proofs if proof.session is not None):
        sessions = read(ledger.records(db, "session_id = ? AND kind = 'session'", [number]))
        if sessions:
            yield _judge(number, sessions[-1])


def _judge(number: int, found: Found) -> Judge:
    record, body = found.record, found.record.body
    agents = body.get("agents")
    rows = [agent for agent in agents if isinstance(agent, dict)] if isinstance(agents, list) else []
    models = tuple(str(row["model"]) for row in rows if row.get("model"))
    return Judge(
        number, record.context.ticket, str(body.get("archetype", "")), str(body.get("backend", "")), models,
        record.artifact.commit, record.timestamp, found.id,
    )  # fmt: skip


def _step(found: Found) -> Step:
    record, body = found.record, found.record.body
    waiver = body.get("waiver")
    return Step(
        record.timestamp, str(body.get("start") or ""), record.outcome.status, str(body.get("role", "")),
        str(body.get("reason", "")), record.about.version, record.context.decision,
        None if waiver is None else str(waiver), record.artifact.commit, record.artifact.tree, found.id,
    )  # fmt: skip


def _review(found: Found) -> ReviewLine:
    record = found.record
    return ReviewLine(
        record.timestamp, record.outcome.status, str(record.body.get("note", "")), record.context.ticket,
        record.artifact.commit, found.id,
    )  # fmt: skip


def _waivers(db: Database, part: StoredPart, at: str, grounds: Grounds | None) -> Iterable[WaiverLine]:
    rows = [row for row in waivers_of(db, "requirement", part.spec_name) if row.columns.address == part.id]
    if grounds is None:
        return [_waiver(row, over(db, row.id) or NOT_CHECKED) for row in rows]
    return [_waiver(row, state.why_not) for row, state in zip(rows, held(db, grounds, at, rows), strict=True)]


def _waiver(row: WaiverRow, why_not: str) -> WaiverLine:
    columns = row.columns
    return WaiverLine(
        row.id, columns.signer, columns.reason, columns.version, columns.granted_at, columns.expires_at, why_not
    )  # fmt: skip


def how_to_check(last: Proof | None) -> Iterable[str]:
    """Commands: whether the ledger is whole, the judged commit in a folder of its own, what was run there."""
    if last is None or not last.commit:
        return
    yield "agent-fox ledger verify"
    folder = f"../check-{last.commit[:12]}"
    yield f"git worktree add --detach {folder} {last.commit}"
    yield f"cd {folder}"
    yield last.command or "agent-fox verify"
