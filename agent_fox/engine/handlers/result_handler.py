"""A verifier's report drives the plan: read, judge, decide, record, all in the caller's open transaction.

This is the verdict-driven retry as a plugin: `VerifierHandler` knows no scheduler. A host hands in the open
transaction (a `Docket`) and a `VerifierResult`; it gets back the decision, the nodes that moved, the edges of the
retry's round and the effects that are to be carried out after the commit. Rules are in `core`, not here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, assert_never

from agent_fox.core.ids import Archetype
from agent_fox.core.plan.blame import blame
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
    decide,
)
from agent_fox.core.retry.progress import Progress, Round, compare, failure_of
from agent_fox.core.retry.standing import Step
from agent_fox.core.values import to_document, to_object
from agent_fox.core.verdicts.verdict import Unproven
from agent_fox.core.words import counted
from agent_fox.engine.handlers import final_review, waiving
from agent_fox.engine.issues.escalation import file_issues
from agent_fox.engine.issues.settling import settle_issues
from agent_fox.engine.record import blocking_history, promotion
from agent_fox.engine.record.awaited import awaited_of, ignored
from agent_fox.engine.record.best_tree import WayBack, fact_of, go_back, left_with, without_undone
from agent_fox.engine.record.board import round_edges
from agent_fox.engine.record.changed_tests import changers
from agent_fox.engine.record.convergence import rounds_since_reset, suspects_since_pass
from agent_fox.engine.record.docket import Docket, Handled, Move
from agent_fox.engine.record.review_persistence import VerifierResult, judge_result, persist, read_result
from agent_fox.store.plan import PlannedNode, add_retry_edges, node_by_uid
from agent_fox.store.records import DecisionRow, decisions_of_spec

if TYPE_CHECKING:
    from agent_fox.core.verdicts.judgement import Judged
    from agent_fox.core.verdicts.verdict import Report


class VerifierHandler:
    """Handles the end of a verifier's session. Holds no state: everything is read from the open transaction."""

    archetype = Archetype.VERIFIER

    def handle(self, docket: Docket, result: VerifierResult, pinned: str | None) -> Handled:
        """Decide and record. `pinned` is the commit that was pinned when the awaited session was launched.

        Raises KeyError for a node that is not in the plan.
        """
        planned = node_by_uid(docket.db, result.ticket.node_uid)
        late = ignored(docket, planned, result.ticket, result.commit, pinned)
        if late is not None:
            return late
        report = read_result(docket, planned, result)
        judged = judge_result(docket, planned, report, result)
        past = decisions_of_spec(docket.db, planned.node.spec_name) if judged.failing else []
        facts, round_ = gather(docket, planned, judged, result, past)
        decision = decide(judged, awaited_of(planned, pinned), budget_of(docket, planned), facts)
        record = facts_record(docket, planned, report, judged, facts, round_)
        record |= after_going_back(judged, result.way_back)
        return carry(docket, planned, result, judged, decision, record)


def budget_of(docket: Docket, planned: PlannedNode) -> Budget:
    return Budget(docket.policy.readings, planned.standing.readings_spent)


def gather(
    docket: Docket, planned: PlannedNode, judged: Judged, result: VerifierResult, past: list[DecisionRow]
) -> tuple[Facts, Round]:
    """Who is to blame, whether the work converges, which ceiling is reached: all from what is recorded.

    Blamed is who owns what fails on the tree that the branch is left with; the report itself tells the progress.
    """
    suspects = blamed_coders(docket, planned, left_with(judged, result.way_back), without_undone(past, result.way_back))
    uids = frozenset(suspect.uid for suspect in suspects)
    failures = frozenset(failure_of(judged.counted[part].verdict) for part in judged.failing)
    round_ = Round(failures, uids)
    progress = compare(round_, rounds_since_reset(past, planned.node.uid)) if failures else Progress.FIRST
    facts = Facts(
        ticket=result.ticket,
        commit=result.commit,
        suspects=suspects,
        progress=progress,
        stop_without_progress=docket.policy.stop_without_progress,
        ceiling=first_ceiling(docket, planned, suspects),
        switch=docket.policy.switch,
    )
    return facts, round_


def first_ceiling(docket: Docket, planned: PlannedNode, suspects: tuple[Suspect, ...]) -> str | None:
    reached = (docket.ceiling(planned.node.spec_name, suspect.uid) for suspect in suspects)
    return next((ceiling for ceiling in reached if ceiling is not None), None)


def blamed_coders(docket: Docket, planned: PlannedNode, judged: Judged, past: list[DecisionRow]) -> tuple[Suspect, ...]:
    """The coders that own what fails, in plan order. Before the owner come groups that ran since the last PASS, and
    before these, where a test is at fault, the group that changed it last."""
    if not judged.failing:
        return ()
    spec_name = planned.node.spec_name
    coders = docket.coders(spec_name)
    suspects = {number: docket.suspect(coder) for number, coder in coders.items()}
    spent = frozenset(number for number, suspect in suspects.items() if suspect.is_spent)
    groups = {coder.node.uid: number for number, coder in coders.items()}
    rerun = suspects_since_pass(docket.db, spec_name, judged.failing, past, groups)
    bent = changers(docket, spec_name, judged, groups)
    numbers = blame(judged.failing, docket.file_of(spec_name).ownership, rerun, spent, bent)
    return tuple(suspects[number] for number in numbers if number in suspects)


def facts_record(
    docket: Docket, planned: PlannedNode, report: Report, judged: Judged, facts: Facts, round_: Round
) -> dict[str, object]:
    """What the decision was made from, kept beside it: limits, spending, failures, progress."""
    return {
        "judgement": judged.judgement,
        **to_object(judged, only=("failing", "unknown", "waived")),
        "notes": list(report.notes),
        "summary": report.summary,
        "progress": facts.progress,
        "failures": [[f.requirement_id, f.cause, f.failing_tests] for f in sorted(round_.failures, key=str)],
        "blamed": sorted(round_.blamed),
        "suspects": to_document(facts.suspects),
        "ceiling": facts.ceiling,
        "limits": {
            "attempts": docket.policy.attempts,
            "readings": docket.policy.readings,
            "stop_without_progress": docket.policy.stop_without_progress,
            "switch": docket.policy.switch,
        },
        "spent": {"readings": planned.standing.readings_spent, "attempt": planned.standing.attempt},
    }


def after_going_back(judged: Judged, back: WayBack | None) -> dict[str, object]:
    """What is recorded besides where the report's tree is worse than the best one, and what fails on the latter."""
    if back is None:
        return {}
    left = left_with(judged, back)
    return {"failing": list(left.failing), "unknown": list(left.unknown), **fact_of(back, judged)}


def carry(
    docket: Docket,
    planned: PlannedNode,
    result: VerifierResult,
    judged: Judged,
    decision: Decision,
    record: dict[str, object],
) -> Handled:
    """Write the decision and everything that belongs to it."""
    match decision:
        case Accept():
            return accept(docket, planned, result, judged, decision, record)
        case Recode():
            return recode(docket, planned, result, judged, decision, record)
        case Reread():
            return reread(docket, planned, result, judged, decision, record)
        case Block():
            return escalate(docket, planned, result, judged, decision, record)
        case Ignore():
            return Handled(decision)
        case _:
            assert_never(decision)


def accept(
    docket: Docket, planned: PlannedNode, result: VerifierResult, judged: Judged, decision: Accept,
    record: dict[str, object],
) -> Handled:  # fmt: skip
    """Completed as verified (or waived); open issues about the spec are closed with the proof."""
    move = Move(planned, Step.WAIVE if decision.is_waived else Step.ACCEPT)
    number, moved = docket.record(
        planned, "Accept", [move], session_id=result.session_id, commit=result.commit, facts=record
    )
    persist(docket, planned, judged, result, number)
    spec_name = planned.node.spec_name
    docket.db.execute("UPDATE plan_specs SET verified_commit = ? WHERE name = ?", [result.commit, spec_name])
    promotion.sound(docket, spec_name, judged, number, result.commit or "", result.tree or "")
    waiving.note_use(docket, spec_name, judged.waived, number)
    if final_review.review_of(docket.db, spec_name) is not None:  # which closes them, when it is content
        return Handled(decision, number, moved)
    effects = settle_issues(docket, planned, number, result.commit, tuple(judged.counted))
    return Handled(decision, number, moved, effects)


def recode(
    docket: Docket, planned: PlannedNode, result: VerifierResult, judged: Judged, decision: Recode,
    record: dict[str, object],
) -> Handled:  # fmt: skip
    """The blamed coders and the verifier go back to pending; the round brings its own edges."""
    coders = [node_by_uid(docket.db, uid) for uid in decision.blamed]
    moves = [Move(planned, Step.RECODE)]
    moves += [Move(coder, Step.RECODE, decision.rungs[coder.node.uid]) for coder in coders]
    number, moved = docket.record(
        planned, "Recode", moves, session_id=result.session_id, commit=result.commit, facts=record
    )
    leave(docket, planned, result, judged, number)
    waits = round_edges(decision.blamed, planned.node.uid)
    add_retry_edges(docket.db, waits, number)
    return Handled(decision, number, moved, waits=waits)


def leave(docket: Docket, planned: PlannedNode, result: VerifierResult, judged: Judged, number: int) -> Judged:
    """Write what was read, and what the branch is left with, where it goes back. Gives what holds then."""
    persist(docket, planned, judged, result, number)
    go_back(docket, planned, result.way_back, number, result.session_id)
    left = left_with(judged, result.way_back)
    promotion.faulty(docket, planned.node.spec_name, left, number, result.commit or "", result.tree or "")
    return left


def reread(
    docket: Docket, planned: PlannedNode, result: VerifierResult, judged: Judged, decision: Reread,
    record: dict[str, object],
) -> Handled:  # fmt: skip
    number, moved = docket.record(
        planned, "Reread", [docket.reread(planned)], session_id=result.session_id, commit=result.commit, facts=record
    )
    persist(docket, planned, judged, result, number)
    return Handled(decision, number, moved)


def escalate(
    docket: Docket, planned: PlannedNode, result: VerifierResult, judged: Judged, decision: Block,
    record: dict[str, object],
) -> Handled:  # fmt: skip
    """History, one issue per cause, and only then completed, as escalated and not as verified."""
    back = result.way_back
    left = left_with(judged, back)
    open_ids = left.failing or left.unknown
    number, moved = blocking_history.block(
        docket, planned, Step.ESCALATE, decision.cause, reason_of(decision.cause, left, record, back),
        session_id=result.session_id, commit=result.commit, facts=record, requirements=open_ids,
    )  # fmt: skip
    leave(docket, planned, result, judged, number)
    commit = result.commit if left is judged or back is None else back.best.commit
    effects = file_issues(docket, planned, number, decision.cause, left, commit, moved, back, judged)
    return Handled(decision, number, moved, effects)


def tests_at_fault(judged: Judged) -> Iterator[str]:
    """What is wrong with the tests of requirements that are open: `changed expectation: 01-REQ-1.1`."""
    open_ids = (*judged.failing, *judged.unknown)
    for kind in Unproven:
        found = [part for part in open_ids if judged.counted[part].verdict.disposition is kind]
        if found:
            yield f"{kind}: {', '.join(found)}"


def reason_of(cause: Cause, judged: Judged, record: dict[str, object], back: WayBack | None = None) -> str:
    """One sentence for the history: the whole reason, not cut. `judged` is what the branch is left with."""
    verb = "fails" if len(judged.failing) == 1 else "fail"
    failing = f"{counted(len(judged.failing), 'requirement')} {verb}: {', '.join(judged.failing)}"
    unclear = f"{len(judged.unknown)} have no clear verdict: {', '.join(judged.unknown)}" if judged.unknown else ""
    notes = record["notes"]
    said = "; ".join([*tests_at_fault(judged), *(notes if isinstance(notes, list) else [])])
    ceiling = f"ceiling: {record['ceiling']}" if cause is Cause.CEILING else ""
    whole = (cause.value, ceiling, failing if judged.failing else "", unclear, back.told if back else "", said)
    return "; ".join(part for part in whole if part)
