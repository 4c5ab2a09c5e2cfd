"""A verifier's report drives the plan: read, judge, decide, record, all in the caller's open transaction.

This is the verdict-driven retry as a plugin: `VerifierHandler` knows no scheduler. A host hands in the open
transaction (a `Docket`) and a `VerifierResult`; it gets back the decision, the nodes that moved, the edges of the
retry's round and the effects that are to be carried out after the commit. Rules are in `core`, not here.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, assert_never

from agent_fox.core.ids import Archetype
from agent_fox.core.late import late_module
from agent_fox.core.plan.blame import blame
from agent_fox.core.policy import Start
from agent_fox.core.retry.decision import (
    Accept,
    Block,
    Budget,
    Cause,
    Decision,
    Facts,
    Ignore,
    Recode,
    Reread,
    Suspect,
    Switch,
    decide,
)
from agent_fox.core.retry.onset import Onset
from agent_fox.core.retry.progress import Progress, Round, compare, failure_of
from agent_fox.core.retry.standing import Step
from agent_fox.core.values import dataclass, to_document, to_object
from agent_fox.core.verdicts.verdict import Unproven
from agent_fox.core.words import counted
from agent_fox.engine.handlers import final_review, waiving
from agent_fox.engine.issues.escalation import file_issues
from agent_fox.engine.issues.settling import settle_issues
from agent_fox.engine.record import blocking_history, promotion
from agent_fox.engine.record.best_tree import fact_of, go_back, left_with, without_undone
from agent_fox.engine.record.convergence import changers, passed_through, rounds_since_reset, suspects_since_pass
from agent_fox.engine.record.docket import Docket, Handled, Move, Transition, awaited_of, ignored, round_edges
from agent_fox.engine.record.review_persistence import (
    VerifierResult,
    findings_in,
    judge_result,
    persist,
    read_result,
)
from agent_fox.store.plan import PlannedNode, add_retry_edges, node_by_uid, set_verified
from agent_fox.store.records import DecisionRow, decisions_of_spec
from agent_fox.store.sessions import sessions_where

if TYPE_CHECKING:
    from agent_fox.core.retry import arms
    from agent_fox.core.verdicts.judgement import Judged, Judgement
    from agent_fox.core.verdicts.verdict import Report
    from agent_fox.engine.record import attempts
else:
    arms = late_module("agent_fox.core.retry.arms")
    attempts = late_module("agent_fox.engine.record.attempts")


class VerifierHandler:
    """Handles the end of a verifier's session. Holds no state: everything is read from the open transaction."""

    archetype = Archetype.VERIFIER

    def handle(self, tx: Docket, result: VerifierResult, pinned: str | None) -> Handled:
        """Decide and record. `pinned` is the commit that was pinned when the awaited session was launched.

        Raises KeyError for a node that is not in the plan.
        """
        planned = node_by_uid(tx.db, result.ticket.node_uid)
        late = ignored(tx, planned, result.ticket, result.commit, pinned)
        if late is not None:
            return late
        report = read_result(tx, planned, result)
        return Case(tx, planned, result, report, judge_result(tx, planned, report, result)).settle(pinned)


@dataclass(frozen=True, slots=True)
class Limits:
    """The policy that a decision was made under."""

    attempts: int
    readings: int
    stop_without_progress: bool
    switch: Switch


@dataclass(frozen=True, slots=True)
class Spent:
    """Where the verifier stood: readings of this attempt, and the attempt."""

    readings: int
    attempt: int


@dataclass(frozen=True, slots=True)
class Basis:
    """What a decision was made from, as it is kept beside it. `failures`: requirement, cause, how many tests failed."""

    judgement: Judgement
    failing: tuple[str, ...]
    unknown: tuple[str, ...]
    waived: tuple[str, ...]
    notes: tuple[str, ...]
    summary: str
    progress: Progress
    failures: tuple[tuple[object, ...], ...]
    blamed: tuple[str, ...]
    suspects: tuple[Suspect, ...]
    ceiling: str | None
    limits: Limits
    spent: Spent


@dataclass(frozen=True)
class Case:
    """A report before the decision table, in the open transaction: what is known of it, and one method for each kind
    of decision, which writes it with everything that belongs to it.
    """

    docket: Docket
    planned: PlannedNode
    result: VerifierResult
    report: Report
    judged: Judged

    def settle(self, pinned: str | None) -> Handled:
        """Decide by the table, and write what was decided."""
        case, decision = self.weighed_against_staying(pinned)
        return case.write(decision)

    def decided(self, pinned: str | None) -> Decision:
        budget = Budget(self.docket.policy.readings, self.planned.standing.readings_spent)
        return decide(self.judged, awaited_of(self.planned, pinned), budget, self.facts)

    def weighed_against_staying(self, pinned: str | None) -> tuple[Case, Decision]:
        """The case as it is, or the same without its way back, where coders that start from the tip are worth more."""
        decision, back = self.decided(pinned), self.result.way_back
        if not isinstance(decision, Recode) or not decision.choices or back is None or back.landing is None:
            return self, decision
        stays = replace(self, result=replace(self.result, way_back=None))
        other = stays.decided(pinned)
        if not isinstance(other, Recode):
            return self, decision
        here, there = self.expected(decision), self.expected(other)
        if there > here or (there == here and self.docket.policy.start is Start.TIP):
            return stays, instead_of(other, here)
        return self, instead_of(decision, there)

    def expected(self, decision: Recode) -> float:
        return arms.expected_of(
            decision.choices.values(), max(choice.stake_usd for choice in decision.choices.values())
        )

    def write(self, decision: Decision) -> Handled:
        match decision:
            case Accept():
                return self.accept(decision)
            case Recode():
                return self.recode(decision)
            case Reread():
                return self.reread(decision)
            case Block():
                return self.escalate(decision)
            case Ignore():
                return Handled(decision)
            case _:
                assert_never(decision)

    @property
    def spec_name(self) -> str:
        return self.planned.node.spec_name

    @cached_property
    def left(self) -> Judged:
        """What holds on the tree that the branch is left with: that of the report, or the best one before it."""
        return left_with(self.judged, self.result.way_back)

    @cached_property
    def past(self) -> list[DecisionRow]:
        return decisions_of_spec(self.docket.db, self.spec_name) if self.judged.failing else []

    @cached_property
    def suspects(self) -> tuple[Suspect, ...]:
        """The coders that own what fails where the branch is left, in plan order. Before the owner come groups that ran
        since the last PASS, and before these, where a test is at fault, the group that changed it last. What nobody
        owns is of the group whose work the failure went through, else of the last one."""
        if not self.left.failing:
            return ()
        coders = self.docket.coders(self.spec_name)
        suspects = {number: self.docket.suspect(coder) for number, coder in coders.items()}
        spent = frozenset(number for number, suspect in suspects.items() if suspect.is_spent)
        groups = {coder.node.uid: number for number, coder in coders.items()}
        past = without_undone(self.past, self.result.way_back)
        rerun = suspects_since_pass(self.docket.db, self.spec_name, self.left.failing, past, groups)
        bent = changers(self.docket, self.spec_name, self.left, groups)
        ownership = self.docket.file_of(self.spec_name).ownership
        passed = passed_through(self.docket, self.spec_name, self.left, ownership.doubtful, groups)
        numbers = blame(self.left.failing, ownership, rerun, spent, bent, passed)
        return tuple(suspects[number] for number in numbers if number in suspects)

    @cached_property
    def round(self) -> Round:
        """What the report itself says fails, and who is blamed for it: it tells the progress."""
        failures = frozenset(failure_of(self.judged.counted[part].verdict) for part in self.judged.failing)
        return Round(failures, frozenset(suspect.uid for suspect in self.suspects))

    @cached_property
    def facts(self) -> Facts:
        """Who is to blame, whether the work converges, which ceiling is reached: all from what is recorded."""
        by_worth, stake = self.docket.by_worth, len(self.judged.failing)
        before = rounds_since_reset(self.past, self.planned.node.uid) if self.round.failures else ()
        ceilings = (self.docket.ceiling(self.spec_name, suspect.uid) for suspect in self.suspects)
        return Facts(
            ticket=self.result.ticket,
            commit=self.result.commit,
            suspects=self.suspects,
            progress=compare(self.round, before) if self.round.failures else Progress.FIRST,
            stop_without_progress=self.docket.policy.stop_without_progress,
            ceiling=next((ceiling for ceiling in ceilings if ceiling is not None), None),
            switch=self.docket.policy.switch,
            start=self.docket.policy.start if by_worth is None else self.ladder_start,
            arms={}
            if by_worth is None
            else attempts.cases_of(self.docket, by_worth, self.spec_name, self.starts, stake),
        )

    @property
    def ladder_start(self) -> Start:
        """Where the ladder would start, if every blamed coder can; else what the branch is left at."""
        start = self.docket.policy.start
        return start if all(start in possible for possible in self.starts.values()) else self.branch_start

    @property
    def branch_start(self) -> Start:
        """What the branch is left at: the best tree, where it goes back to it, or its tip."""
        back = self.result.way_back
        return Start.BEST if back is not None and back.landing is not None else Start.TIP

    @cached_property
    def starts(self) -> dict[str, tuple[Start, ...]]:
        """Where each blamed coder can start: a branch that goes back loses the step before which one could."""
        if self.branch_start is Start.BEST:
            return {suspect.uid: (Start.BEST,) for suspect in self.suspects}
        broken_in = {finding.session for finding in findings_in(self.result.judges) if finding.onset is Onset.FOUND}
        return {
            suspect.uid: (Start.TIP, Start.BEFORE_ONSET)
            if any(row.id in broken_in for row in sessions_where(self.docket.db, "node_uid = ?", [suspect.uid]))
            else (Start.TIP,)
            for suspect in self.suspects
        }

    @cached_property
    def record(self) -> dict[str, object]:
        """What is kept beside the decision; where the branch goes back, with what fails there and why it does."""
        policy, standing = self.docket.policy, self.planned.standing
        basis = Basis(
            judgement=self.judged.judgement,
            failing=self.left.failing,
            unknown=self.left.unknown,
            waived=self.judged.waived,
            notes=self.report.notes,
            summary=self.report.summary,
            progress=self.facts.progress,
            failures=tuple((f.requirement_id, f.cause, f.failing_tests) for f in sorted(self.round.failures, key=str)),
            blamed=tuple(sorted(self.round.blamed)),
            suspects=self.suspects,
            ceiling=self.facts.ceiling,
            limits=Limits(policy.attempts, policy.readings, policy.stop_without_progress, policy.switch),
            spent=Spent(standing.readings_spent, standing.attempt),
        )
        return {**to_object(basis), **fact_of(self.result.way_back, self.judged)}

    def accept(self, decision: Accept) -> Handled:
        """Completed as verified (or waived); open issues about the spec are closed with the proof."""
        tx, result = self.docket, self.result
        number, moved = self._write(decision, [Move(self.planned, Step.WAIVE if decision.is_waived else Step.ACCEPT)])
        set_verified(tx.db, self.spec_name, result.commit)
        promotion.sound(tx, self.spec_name, self.judged, number, result.commit or "", result.tree or "")
        waiving.note_use(tx, self.spec_name, self.judged.waived, number)
        if final_review.review_of(tx.db, self.spec_name) is not None:  # which closes them, when it is content
            return Handled(decision, number, moved)
        effects = settle_issues(tx, self.planned, number, result.commit, tuple(self.judged.counted))
        return Handled(decision, number, moved, effects)

    def recode(self, decision: Recode) -> Handled:
        """The blamed coders and the verifier go back to pending; the round brings its own edges."""
        coders = [node_by_uid(self.docket.db, uid) for uid in decision.blamed]
        back = [Move(coder, Step.RECODE, decision.rungs[coder.node.uid]) for coder in coders]
        chosen = {attempts.CHOICES: to_document(decision.choices)} if decision.choices else {}
        more = {**chosen, **self.candidates(len(coders))}
        number, moved = self._write(decision, [Move(self.planned, Step.RECODE), *back], more)
        self._reject(number)
        waits = round_edges(decision.blamed, self.planned.node.uid)
        add_retry_edges(self.docket.db, waits, number)
        return Handled(decision, number, moved, waits=waits)

    def candidates(self, blamed: int) -> dict[str, object]:
        """How many tries the next attempt has, or why it has one although more are asked for; nothing where one is."""
        wanted = self.docket.policy.candidates
        if wanted == 1:
            return {}
        if blamed > 1:
            return {"candidates": {"told": f"no candidates: they are of one group, and {blamed} are blamed"}}
        return {"tries": wanted, "candidates": {"told": f"{wanted} candidates are made, and the best lands"}}

    def reread(self, decision: Reread) -> Handled:
        """The verifier is asked again; nobody else moves."""
        number, moved = self._write(decision, [self.docket.reread(self.planned)])
        return Handled(decision, number, moved)

    def escalate(self, decision: Block) -> Handled:
        """History, one issue per cause, and only then completed, as escalated and not as verified."""
        result, back = self.result, self.result.way_back
        number, moved = blocking_history.block(
            self.docket, self.planned, Step.ESCALATE, decision.cause, self.reason(decision.cause),
            session_id=result.session_id, commit=result.commit, facts=self.record,
            requirements=self.left.failing or self.left.unknown,
        )  # fmt: skip
        persist(self.docket, self.planned, self.judged, result, number)
        self._reject(number)
        commit = result.commit if self.left is self.judged or back is None else back.best.commit
        effects = file_issues(
            self.docket, self.planned, number, decision.cause, self.left, commit, moved, back, self.judged
        )
        return Handled(decision, number, moved, effects)

    def _write(
        self, decision: Accept | Recode | Reread, moves: list[Move], more: Mapping[str, object] | None = None
    ) -> tuple[int, tuple[Transition, ...]]:
        """Record the decision, move the nodes, and keep every verdict that counts."""
        result = self.result
        number, moved = self.docket.record(
            self.planned, type(decision).__name__, moves, session_id=result.session_id, commit=result.commit,
            facts={**self.record, **(more or {})},
        )  # fmt: skip
        persist(self.docket, self.planned, self.judged, result, number)
        return number, moved

    def _reject(self, number: int) -> None:
        """The gates of what fails, and what the branch is left with where it goes back."""
        go_back(self.docket, self.planned, self.result.way_back, number, self.result.session_id)
        commit, tree = self.result.commit or "", self.result.tree or ""
        promotion.faulty(self.docket, self.spec_name, self.left, number, commit, tree)

    def reason(self, cause: Cause) -> str:
        """One sentence for the history: the whole reason, not cut."""
        left, back = self.left, self.result.way_back
        verb = "fails" if len(left.failing) == 1 else "fail"
        failing = f"{counted(len(left.failing), 'requirement')} {verb}: {', '.join(left.failing)}"
        unclear = f"{len(left.unknown)} have no clear verdict: {', '.join(left.unknown)}" if left.unknown else ""
        notes = "; ".join([*tests_at_fault(left), *self.report.notes])
        ceiling = f"ceiling: {self.facts.ceiling}" if cause is Cause.CEILING else ""
        whole = (cause.value, ceiling, failing if left.failing else "", unclear, back.in_words if back else "", notes)
        return "; ".join(part for part in whole if part)


def tests_at_fault(judged: Judged) -> Iterator[str]:
    """What is wrong with the tests of requirements that are open: `changed expectation: 01-REQ-1.1`."""
    open_ids = (*judged.failing, *judged.unknown)
    for kind in Unproven:
        parts = [part for part in open_ids if judged.counted[part].verdict.disposition is kind]
        if parts:
            yield f"{kind}: {', '.join(parts)}"


def instead_of(decision: Recode, usd: float) -> Recode:
    """The decision, with what was expected of the other side of the branch."""
    choices = {uid: replace(choice, instead_usd=usd) for uid, choice in decision.choices.items()}
    return replace(decision, choices=choices)
