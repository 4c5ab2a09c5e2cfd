"""What a result handler works with: the open transaction, the time, the run, the policy, the specs; and row 1 of the
decision table, for every archetype: an end that is not the awaited one changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype, Ticket
from agent_fox.core.late import late_module
from agent_fox.core.plan.blame import Ownership, ownership
from agent_fox.core.retry.decision import Awaited, Facts, Ignore, Suspect, why_ignored
from agent_fox.core.retry.standing import Standing, Step, evolve
from agent_fox.core.values import dataclass
from agent_fox.store.plan import PlannedNode, StoredPart, ids_ever, load_parts, load_spec, move_node, nodes_of_spec
from agent_fox.store.records import NewDecision, StepRow, record_decision, record_event

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.memory import Limits
    from agent_fox.core.policy import Policy
    from agent_fox.core.retry.arms import ByWorth
    from agent_fox.core.retry.decision import CoderDecision, Decision, ReviewerDecision
    from agent_fox.core.spec import Spec
    from agent_fox.engine.record import shared_ids
else:
    shared_ids = late_module("agent_fox.engine.record.shared_ids")


@dataclass(frozen=True)
class SpecFile:
    """One spec as the engine needs it: the snapshot that counts, what it expects, whose work it is."""

    spec: Spec
    parts: tuple[StoredPart, ...]

    @cached_property
    def expected(self) -> tuple[str, ...]:
        return tuple(part.id for part in self.parts)

    @cached_property
    def versions(self) -> Mapping[str, str]:
        return {part.id: part.version for part in self.parts}

    @cached_property
    def texts(self) -> Mapping[str, str]:
        return {part.id: part.text for part in self.parts}

    @cached_property
    def index(self) -> Mapping[str, tuple[str, ...]]:
        """Requirement id → the ids of its criteria and edge cases; empty where it is itself expected."""
        index: dict[str, tuple[str, ...]] = {}
        for part in self.parts:
            known = index.get(part.requirement_id, ())
            index[part.requirement_id] = known if part.id == part.requirement_id else (*known, part.id)
        return index

    @cached_property
    def ownership(self) -> Ownership:
        return ownership(self.spec)


class SpecShelf:
    """Spec snapshots, read from the state once and kept while the plan stays as it is."""

    def __init__(self) -> None:
        self._files: dict[str, SpecFile] = {}
        self._ids: shared_ids.KnownIds | None = None

    def take(self, db: Database, name: str) -> SpecFile:
        """Raises KeyError for a spec that has no snapshot."""
        if name not in self._files:
            self._files[name] = SpecFile(load_spec(db, name), tuple(load_parts(db, name)))
        return self._files[name]

    def ids(self, db: Database) -> shared_ids.KnownIds:
        """The ids of all specs that the state knows."""
        if self._ids is None:
            self._ids = shared_ids.KnownIds(ids_ever(db))
        return self._ids


@dataclass(frozen=True, slots=True)
class Transition:
    """One node that was moved: what was done to it, and where it stands now."""

    uid: str
    node_id: str
    step: Step
    standing: Standing


@dataclass(frozen=True, slots=True)
class Handled:
    """What came of a result. `decision`: None where no table was asked. `effects` are ids of outbox rows, `waits` edges
    (source, target) of a retry's round.
    """

    decision: Decision | CoderDecision | ReviewerDecision | None
    decision_id: int | None = None
    transitions: tuple[Transition, ...] = ()
    effects: tuple[str, ...] = ()
    waits: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Move:
    """A node to be moved by the decision being recorded."""

    planned: PlannedNode
    step: Step
    rung: int | None = None


def no_ceiling(spec_name: str, uid: str) -> str | None:
    """Says that no ceiling of a spec or a node is reached, for callers that have none."""
    return None


@dataclass(frozen=True)
class Docket:
    """The open transaction `db` and all that a handler may know besides the result.

    `at` is the time of the result (ISO 8601, UTC). `waived` gives the ids of a spec with a valid waiver, and
    `waiver_lines` those waivers in words; `before_waiving` are commands without which nobody could sign one.
    `sub_issues`: an issue for each requirement, too. `max_new`: how many issues a run files before the rest goes into a
    digest (None: any number). `log_end` gives the end of a kept log by its address. `ceiling` says which ceiling of a
    spec or node is reached, if one is. `touched` gives the files that differ between the two commits of a landing.
    `by_worth`: how a next attempt is chosen, None where the ladder says it, and `left_usd` the dollars that the
    ceilings of a spec and a node leave. `memory`: when an item of regression memory decays; None: as without settings.
    """

    db: Database
    at: str
    policy: Policy
    shelf: SpecShelf
    run_id: int | None = None
    waived: Callable[[str], frozenset[str]] = field(default=lambda spec_name: frozenset())
    ceiling: Callable[[str, str], str | None] = no_ceiling
    waiver_lines: Callable[[str], tuple[str, ...]] = field(default=lambda spec_name: ())
    before_waiving: Callable[[], tuple[str, ...]] = field(default=tuple)
    sub_issues: bool = False
    max_new: int | None = None
    log_end: Callable[[str], str] = field(default=lambda address: "")
    touched: Callable[[str, str], frozenset[str]] = field(default=lambda base, landed: frozenset())
    by_worth: ByWorth | None = None
    left_usd: Callable[[str, str], float | None] = field(default=lambda spec_name, uid: None)
    memory: Limits | None = None

    def file_of(self, spec_name: str) -> SpecFile:
        return self.shelf.take(self.db, spec_name)

    def coders(self, spec_name: str) -> dict[int, PlannedNode]:
        """The coders of a spec by group number, in plan order."""
        nodes = nodes_of_spec(self.db, spec_name)
        return {n.node.group: n for n in nodes if n.node.archetype is Archetype.CODER}

    def suspect(self, coder: PlannedNode, attempts: int | None = None) -> Suspect:
        return Suspect(
            uid=coder.node.uid,
            attempts=self.policy.attempts if attempts is None else attempts,
            spent=coder.standing.attempts_spent,
            retry_predecessor=coder.node.retry_predecessor,
            rung=coder.standing.rung,
            top_rung=self.policy.top_rung_of(coder.node.spec_name),
            has_second_agent=self.policy.has_second_agent(coder.node.spec_name),
        )

    def reread(self, reader: PlannedNode) -> Move:
        """A verifier or reviewer asked again, by the next stronger agent where there is one."""
        node, rung = reader.node, reader.standing.rung
        return Move(reader, Step.REREAD, self.policy.next_reading_rung(node.archetype, node.spec_name, rung))

    def record(
        self,
        about: PlannedNode,
        kind: str,
        moves: Iterable[Move],
        *,
        cause: str | None = None,
        session_id: int | None = None,
        commit: str | None = None,
        facts: Mapping[str, object] | None = None,
        note: str = "",
    ) -> tuple[int, tuple[Transition, ...]]:
        """Record a decision and move the nodes it is about, all in the open transaction."""
        moves = tuple(moves)
        ended = [(m, evolve(m.planned.standing, m.step, m.rung)) for m in moves]
        steps: tuple[StepRow, ...] = tuple(
            {"uid": m.planned.node.uid, "step": m.step.value, "rung": m.rung} for m in moves
        )
        ticket = Ticket(about.node.uid, about.standing.attempt, about.standing.reading)
        new = NewDecision(
            about.node.uid, about.node.id, about.node.spec_name, kind, ticket, steps, cause, session_id, commit,
            facts or {}, note,
        )  # fmt: skip
        decision_id = record_decision(self.db, self.at, self.run_id, new)
        for _, standing in ended:
            move_node(self.db, standing, decision_id)
        return decision_id, tuple(
            Transition(m.planned.node.uid, m.planned.node.id, m.step, standing) for m, standing in ended
        )


def awaited_of(planned: PlannedNode, pinned: str | None) -> Awaited:
    """What the node waits for: its present ticket, about the commit pinned at its launch."""
    return Awaited(planned.standing.ticket, pinned, is_open=not planned.standing.is_settled)


def ignored(tx: Docket, planned: PlannedNode, ticket: Ticket, commit: str | None, pinned: str | None) -> Handled | None:
    """What came of a late, doubled or foreign end: nothing but an event. None for the end that is awaited."""
    why = why_ignored(awaited_of(planned, pinned), Facts(ticket, commit))
    return None if why is None else ignore(tx, planned, ticket, why)


def ignore(tx: Docket, planned: PlannedNode, ticket: Ticket, why: str) -> Handled:
    """Note that an end was not counted, and why."""
    record_event(
        tx.db, tx.at, tx.run_id, "ignored", node_id=planned.node.id,
        spec_name=planned.node.spec_name, data={"ticket": str(ticket), "why": why},
    )  # fmt: skip
    return Handled(Ignore(why))


def round_edges(blamed: tuple[str, ...], waiting: str) -> tuple[tuple[str, str], ...]:
    """Blamed coders run one after the other, and the node that sent them back waits for each of them."""
    return (*pairwise(blamed), *((uid, waiting) for uid in blamed))
