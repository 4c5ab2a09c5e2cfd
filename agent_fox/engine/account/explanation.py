"""Why a node is where it is: one value with its whole story, its budget, and what would change it. Prints nothing."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype, Mode
from agent_fox.core.late import late_module
from agent_fox.core.plan.blame import ownership
from agent_fox.core.plan.corrections import doubt
from agent_fox.core.retry.decision import Cause
from agent_fox.core.retry.standing import Outcome, Status
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.verdict import Word
from agent_fox.core.words import quote
from agent_fox.store import history
from agent_fox.store.gates import gates_of
from agent_fox.store.history import current_records
from agent_fox.store.known import none_waived, words_known
from agent_fox.store.plan import PlannedNode, load_parts, load_spec, nodes_of_spec
from agent_fox.store.records import read_expectations

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.policy import Policy
    from agent_fox.engine.record import stopping
    from agent_fox.engine.record.stopping import Saved
    from agent_fox.store.history import Held, OpenPart, PastSession, Ruling
else:
    stopping = late_module("agent_fox.engine.record.stopping")

SIGNED = ("agent-fox waive ", "agent-fox agree ")
NO_KEY = "nobody is trusted to sign here yet; first make a key and trust it"


@dataclass(frozen=True, slots=True)
class Spent:
    """A budget: of which node, what it counts (attempts or readings), how much is spent, the total."""

    node: str
    what: str
    spent: int
    total: int

    @property
    def left(self) -> int:
        return max(self.total - self.spent, 0)


@dataclass(frozen=True, slots=True)
class PartEvidence:
    """One requirement in short: its gate, and the record of the verdict that holds. Empty: there is none.

    `how` it is known: a word of `core.known.How`, empty where it is not. `trials`: what was tried to see its tests
    fail, as `core.proof.Trials`; None where nothing is recorded of it.
    """

    requirement: str
    gate: str
    word: str
    record: str
    commit: str
    session: str
    at: str
    how: str = ""
    trials: object = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """One node's story. `why` and `remedies` are sentences; `remedies` name commands to type. `doubts` has, by its id,
    each requirement that a decision found failing or unclear whose owner was guessed, and who comes next."""

    node: str
    spec: str
    archetype: str
    mode: str | None
    title: str
    status: str
    outcome: str | None
    attempt: int
    reading: int
    rung: int
    why: str
    sessions: tuple[PastSession, ...]
    rulings: tuple[Ruling, ...]
    open_parts: tuple[OpenPart, ...]
    evidence: tuple[PartEvidence, ...]
    waits_for: tuple[tuple[str, str], ...]
    budgets: tuple[Spent, ...]
    saved: Saved | None
    issue: str | None
    remedies: tuple[str, ...]
    doubts: Mapping[str, str] = field(default_factory=dict)


def explain(
    db: Database, planned: PlannedNode, policy: Policy, waived: Callable[[str, str], bool] = none_waived,
    before_waiving: Callable[[], tuple[str, ...]] = tuple,
) -> Explanation:  # fmt: skip
    """Everything recorded about one node. `policy` gives the limits that hold now; `waived` as in `words_known`.

    `before_waiving` gives the commands without which nobody could sign; asked only where a person could.
    """
    node, at = planned.node, planned.standing
    rulings = history.rulings_about(db, node.uid)
    is_verifier = node.archetype is Archetype.VERIFIER
    held = history.held(db, node.uid)
    waits = () if at.is_settled else tuple(history.awaited_by(db, node.uid))
    parts = tuple(history.open_parts(db, node.spec_name)) if is_verifier else ()
    blamed = dict.fromkeys(name for each in rulings for name in each.blamed)
    return Explanation(
        node=node.id,
        spec=node.spec_name,
        archetype=node.archetype,
        mode=node.mode,
        title=node.title,
        status=at.status,
        outcome=at.outcome,
        attempt=at.attempt,
        reading=at.reading,
        rung=at.rung,
        why=why(planned, rulings, held, waits),
        sessions=tuple(history.sessions_of(db, node.uid)),
        rulings=tuple(rulings),
        open_parts=parts,
        evidence=tuple(evidence_of(db, planned, words_known(db, waived, node.spec_name).get(node.spec_name, {}))),
        waits_for=waits,
        budgets=tuple(budgets(db, planned, blamed, policy)),
        saved=saved(db, planned, held),
        issue=history.open_issue_of(db, node.spec_name),
        remedies=tuple(
            with_keys_first((*agreements(db, planned), *remedies(planned, held, waits, parts)), before_waiving)
        ),
        doubts=dict(doubts(db, node.spec_name, rulings)),
    )


def doubts(db: Database, spec_name: str, rulings: Iterable[Ruling]) -> Iterator[tuple[str, str]]:
    """The requirements that decisions are about whose owner is a guess, each with the words for it."""
    failed = dict.fromkeys(part for each in rulings if each.blamed for part in (*each.failing, *each.unknown))
    if failed:
        spec = load_spec(db, spec_name)
        grounds = ownership(spec).grounds
        yield from ((part, words) for part in failed if (words := doubt(spec, grounds.get(part))))


def saved(db: Database, planned: PlannedNode, held: Held | None) -> Saved | None:
    """What stopping saved, where the verifier stands escalated because the work did not converge."""
    is_stopped = planned.standing.outcome is Outcome.ESCALATED and held is not None and held.cause == Cause.NO_PROGRESS
    return stopping.saved_by_stopping(db, planned.node.uid, planned.node.spec_name) if is_stopped else None


def evidence_of(db: Database, planned: PlannedNode, how: Mapping[str, str]) -> Iterator[PartEvidence]:
    """Of the requirements that the node judges, or that it is to make true. `how`: as `SpecAccount` has it."""
    wanted = requirements_of(db, planned)
    texts = {part.id: " ".join(part.text.split()) for part in load_parts(db, planned.node.spec_name)}
    gates = {row.requirement_id: row.state.value for row in gates_of(db, planned.node.spec_name)}
    records = current_records(db, planned.node.spec_name)
    none = ("", "", "", "", "", None)
    for part in wanted:
        word, record, commit, by, at, trials = records.get(part, none)
        tried = json.loads(trials) if trials else None
        yield PartEvidence(
            part, gates.get(part, ""), word, record, commit, by, at, how.get(part, ""), tried, texts.get(part, "")
        )


def requirements_of(db: Database, planned: PlannedNode) -> tuple[str, ...]:
    """All of the spec for who reads it whole, those it owns for a coder; none for other reviewers."""
    node = planned.node
    parts = tuple(part.id for part in load_parts(db, node.spec_name))
    if node.archetype is Archetype.VERIFIER or node.mode is Mode.FINAL_REVIEW:
        return parts
    if node.archetype is not Archetype.CODER or not parts:
        return ()
    owned = ownership(load_spec(db, node.spec_name))
    return tuple(part for part in parts if node.group in owned.of(part))


def why(planned: PlannedNode, rulings: list[Ruling], held: Held | None, waits: Iterable[tuple[str, str]]) -> str:
    """In one sentence: why the node stands where it stands."""
    at, last = planned.standing, rulings[-1] if rulings else None
    match at.status:
        case Status.RUNNING:
            return "its session is under way"
        case Status.BLOCKED:
            return held.reason if held else "it needs a person"
        case Status.WITHDRAWN:
            return "it is no longer in the plan"
        case Status.PENDING:
            names = ", ".join(f"{name} ({status})" for name, status in waits)
            return f"it waits for {names}" if names else "nothing holds it back: the next run starts it"
        case Status.COMPLETED:
            return completed(at.outcome, last, held)


def completed(outcome: Outcome | None, last: Ruling | None, held: Held | None) -> str:
    commit = f" (commit {last.commit[:12]})" if last and last.commit else ""
    match outcome:
        case Outcome.VERIFIED:
            return f"everything that its spec expects is proven{commit}"
        case Outcome.WAIVED:
            return f"everything that its spec expects is proven or waived{commit}"
        case Outcome.ESCALATED:
            return held.reason if held else "its spec is not proven"
        case Outcome.LANDED:
            return "its work landed"
        case Outcome.UNCHANGED:
            return "its session changed nothing, which is no failure"
        case Outcome.TICKED:
            return "it is ticked off in the spec, so it was not run; its verifier judges it all the same"
        case Outcome.REVIEWED | None:
            return "its review found nothing critical"


def budgets(db: Database, planned: PlannedNode, blamed: Iterable[str], policy: Policy) -> Iterator[Spent]:
    """A verifier's readings and the attempts of the coders that were blamed; a coder's own attempts."""
    node = planned.node
    if node.archetype is Archetype.CODER:
        yield attempts(db, planned, policy.attempts)
        return
    spent = planned.standing.readings_spent - history.is_awaited(db, planned.standing.ticket)
    yield Spent(node.id, "readings", max(spent, 0), policy.readings)
    if node.archetype is Archetype.REVIEWER:
        yield attempts(db, planned, policy.review_attempts)
        return
    coders = {coder.node.id: coder for coder in nodes_of_spec(db, node.spec_name)}
    yield from (attempts(db, coders[name], policy.attempts) for name in blamed if name in coders)


def attempts(db: Database, planned: PlannedNode, total: int) -> Spent:
    """Attempts since the last reset; the one that is still awaited is not spent yet."""
    spent = planned.standing.attempts_spent - history.is_awaited(db, planned.standing.ticket)
    return Spent(planned.node.id, "attempts", max(spent, 0), total)


def remedies(
    planned: PlannedNode, held: Held | None, waits: Iterable[tuple[str, str]], open_parts: Sequence[OpenPart] = ()
) -> Iterator[str]:
    """What would change where the node stands, as commands to type."""
    node, at = planned.node, planned.standing
    if at.status is Status.BLOCKED or at.outcome is Outcome.ESCALATED:
        yield from lifting(
            node.id, held, [f"{quote(part.requirement)} --spec {quote(node.spec_name)}" for part in open_parts]
        )
    elif at.status is Status.PENDING:
        yield from (f"agent-fox explain {quote(name)}" for name, _ in waits)
        yield "agent-fox run"
    elif at.status is Status.COMPLETED and node.archetype is Archetype.VERIFIER:
        yield "nothing: it is verified again by itself where a requirement or the code changes"
        yield f"agent-fox reset {quote(node.id)}   (verify it again now)"
    elif at.status is Status.COMPLETED:
        yield "it goes back to work by itself where a requirement that it owns fails"
        yield f"agent-fox reset {quote(node.id)}   (do it again now)"


def agreements(db: Database, planned: PlannedNode) -> Iterator[str]:
    """What a person could agree to, where the verifier stopped at a committed test that was changed."""
    node, at = planned.node, planned.standing
    is_held = node.archetype is Archetype.VERIFIER and at.outcome is Outcome.ESCALATED
    if is_held or (node.mode is Mode.FINAL_REVIEW and at.status is Status.BLOCKED):
        for read in read_expectations(db, node.spec_name):
            if read.word is not Word.PASS or read.expectation.is_asked:
                test, command = (
                    read.expectation.test,
                    f"agent-fox agree {quote(node.spec_name)} {quote(read.requirement)}",
                )
                yield f"agree that the committed test {test} was changed: {command}"


def with_keys_first(remedies: Iterable[str], before: Callable[[], tuple[str, ...]]) -> Iterator[str]:
    """The remedies, and before the first that a person signs what makes a key to sign with, where nobody is trusted."""
    is_told = False
    for remedy in remedies:
        if not is_told and any(command in remedy for command in SIGNED):
            is_told = True
            commands = before()
            if commands:
                yield f"{NO_KEY}: {'; '.join(commands)}"
        yield remedy


def lifting(node_id: str, held: Held | None, unproven: Sequence[str]) -> Iterator[str]:
    if held is not None and held.root != node_id:
        yield f"nothing here: it unblocks itself when {held.root} passes: agent-fox explain {quote(held.root)}"
        return
    if held is not None and (remedy := Cause(held.cause).remedy):
        yield remedy
    if unproven:
        yield f"accept the gap, signed and for a time: agent-fox waive {unproven[0]} --reason '...' --expires 30d"
    yield f"agent-fox reset {quote(node_id)}"
