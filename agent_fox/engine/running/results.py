"""The end of a session becomes one transaction: session, verdicts, decision, transitions, history, outbox together."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING

from sqlite_utils import Database

from agent_fox.core.ids import Archetype
from agent_fox.core.policy import Start
from agent_fox.core.retry.onset import Onset
from agent_fox.core.retry.standing import Step
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.verdict import Report
from agent_fox.engine.handlers.coder_handler import TOO_LONG, CoderHandler, CoderResult
from agent_fox.engine.handlers.handling import EndedSession as EndedSession  # plugins import both from here
from agent_fox.engine.handlers.handling import ResultHandler as ResultHandler
from agent_fox.engine.handlers.result_handler import VerifierHandler
from agent_fox.engine.handlers.reviewer_handler import ReviewerHandler, ReviewerResult
from agent_fox.engine.launching import closing, conflicts, going_back, launching, tip, trails
from agent_fox.engine.record.docket import Docket, Handled, Move
from agent_fox.engine.record.review_persistence import (
    Judge,
    LaneRun,
    VerifierResult,
    findings_in,
    lanes_said,
    read_judges,
    record_lanes,
)
from agent_fox.engine.record.watch import RunEvent, Watch
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.session.order import EndKind, LaunchOrder, SessionEnd, Unmerged
from agent_fox.session.workspaces.landing import Conflict, Integration, Landing, build_landing, move
from agent_fox.store import sessions
from agent_fox.store.ledger import evidence
from agent_fox.store.plan import PlannedNode, move_node, node_by_uid
from agent_fox.store.state import transaction
from agent_fox.store.traces import record_cut_off, record_trace
from agent_fox.store.values import NOT_TAKEN
from agent_fox.system import clock, git

if TYPE_CHECKING:
    from agent_fox.core.retry.cut_off import CutOff
    from agent_fox.engine.record.best_tree import WayBack
    from agent_fox.store.sessions import LaunchRow, SessionRow

LANDING_TRIES = 5


class Verifiers(VerifierHandler):
    """The verdict-driven retry, as this engine's own handler of verifiers."""

    def handle_session(self, docket: Docket, ended: EndedSession) -> Handled:
        result = VerifierResult(
            ended.ticket, ended.pinned, ended.tree, ended.judges, ended.report, ended.failure, ended.session_id,
            ended.way_back,
        )  # fmt: skip
        return self.handle(docket, result, ended.pinned)


class Coders(CoderHandler):
    def handle_session(self, docket: Docket, ended: EndedSession) -> Handled:
        result = CoderResult(ended.ticket, ended.pinned, ended.failure, ended.landed, ended.session_id, ended.facts)
        return self.handle(docket, result, ended.pinned)


class Reviewers(ReviewerHandler):
    def handle_session(self, docket: Docket, ended: EndedSession) -> Handled:
        result = ReviewerResult(ended.ticket, ended.pinned, ended.output, ended.failure, ended.session_id, ended.tree)
        return self.handle(docket, result, ended.pinned)


class Registry:
    """One handler for each archetype; a plugin's takes the place of the built-in one."""

    def __init__(self, extra: Iterable[ResultHandler] = ()) -> None:
        handlers: tuple[ResultHandler, ...] = (Verifiers(), Coders(), Reviewers(), *extra)
        self._handlers: Mapping[Archetype, ResultHandler] = {h.archetype: h for h in handlers}

    def handle(self, tx: Docket, archetype: Archetype, ended: EndedSession) -> Handled:
        return self._handlers[archetype].handle_session(tx, ended)

    def nothing_to_prove(self, tx: Docket, planned: PlannedNode) -> Handled:
        """A verifier of a spec that expects nothing: settled by the table, without a session."""
        result = VerifierResult(planned.standing.ticket, None, None, report=Report())
        return VerifierHandler().handle(tx, result, None)


@dataclass(frozen=True, slots=True)
class Ended:
    """A launch that ended, with the rows it belongs to. `beside`: launches of the same attempt that it was chosen from;
    `facts` are recorded with what is decided.
    """

    planned: PlannedNode
    session: SessionRow
    launch: LaunchRow
    end: SessionEnd
    judges: tuple[Judge, ...] = ()
    report: Report | None = None
    cut_off: CutOff | None = None
    way_back: WayBack | None = None
    beside: tuple[LaunchRow, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)


DocketOf = Callable[[Database, str], Docket]


def broken_session(order: LaunchOrder, error: BaseException) -> SessionEnd:
    """Waiting for a session failed by a defect of a backend or of ours: infrastructure, never a verdict."""
    reason = "".join(traceback.format_exception_only(error)).strip()
    return SessionEnd(
        EndKind.INFRASTRUCTURE, f"the backend failed: {reason}", order.log, infrastructure=Infrastructure.LOST
    )


def was_launched(db: Database, planned: PlannedNode) -> bool:
    """Whether the awaited ticket has a session already: a lost launch is repeated free."""
    return sessions.session_by_ticket(db, planned.standing.ticket) is not None


def losses(db: Database, session: SessionRow, run_id: int) -> int:
    return sessions.infrastructure_losses(db, session.id, run_id)


def lose_launch(
    db: Database, planned: PlannedNode, launch: LaunchRow, status: str, end: SessionEnd, at: str,
    cut_off: CutOff | None = None,
) -> PlannedNode:  # fmt: skip
    """The launch does not count; its session waits for another one. In the open transaction."""
    record_cut_off(db, at, sessions.session_by_id(db, launch.session_id), cut_off)
    cost = cost_of(sessions.session_by_id(db, launch.session_id), end)
    changes = {"status": status, "ended_at": at, "reason": end.reason, "cost_usd": cost}
    sessions.set_launch(db, launch.id, changes)
    sessions.set_session(db, launch.session_id, {"status": "waiting"})
    again = launching.waiting(planned)
    move_node(db, again.standing, None)
    return again


def note_wait(db: Database, session_id: int, run_id: int, end: SessionEnd, at: str, seconds: float) -> None:
    """A session is not launched again for so long. In the open transaction."""
    kind, until = str(end.infrastructure or Infrastructure.LOST), clock.later(at, seconds)
    sessions.begin_wait(db, run_id, session_id, kind, end.reason, at, until)


def cost_of(session: SessionRow, end: SessionEnd) -> float | None:
    """What a session told, None where unknown; one that is assumed to cost nothing has cost nothing, untold."""
    return 0.0 if end.cost_usd is None and session.assumed_cost_usd == 0 else end.cost_usd


def take_result(
    registry: Registry, docket_of: DocketOf, db: Database, integration: Integration, ended: Ended
) -> Handled:
    """Everything that this end means, in one transaction. The branch is not moved yet."""
    landing = prepare_landing(db, integration, ended)
    tree = git.tree_of(integration.repo, ended.launch.pinned)
    states = trails.keep(integration.repo, ended.session, ended.launch, ended.end, clock.now())
    before = docket_of(db, clock.now())
    ended = with_way_back(before, integration, with_report(before, ended), tree)
    with transaction(db):
        desk = docket_of(db, clock.now())
        record_cut_off(db, desk.at, ended.session, ended.cut_off)
        if ended.end.trace is not None:
            record_trace(db, desk.at, ended.session.id, ended.end.trace, *states)
        handled = record_result(registry, desk, ended, landing, tree)
        if ended.session.archetype is Archetype.VERIFIER:
            trails.record_reading(db, desk.at, sessions.session_by_id(db, ended.session.id), ended.judges)
    closing.publish_last(db, integration.repo, ended.end.closed)
    return handled


def with_report(tx: Docket, ended: Ended) -> Ended:
    """The end with what a verifier's judges said: a long output is read before anything is locked."""
    node = ended.planned.node
    if node.archetype is not Archetype.VERIFIER or ended.end.kind is not EndKind.ENDED:
        return ended
    return replace(ended, report=read_judges(ended.judges, tx.file_of(node.spec_name)))


def with_way_back(tx: Docket, integration: Integration, ended: Ended, tree: str) -> Ended:
    """The end of a verifier's session with the commit that the branch goes back by, where its report calls for it, and
    no step is known before which the next attempt can start instead.
    """
    starts_before = tx.policy.start is Start.BEFORE_ONSET and tx.by_worth is None
    if starts_before and any(finding.onset is Onset.FOUND for finding in findings_in(ended.judges)):
        return ended
    return replace(ended, way_back=going_back.way_back(tx, integration, ended.planned, ended.report, tree))


def record_result(
    registry: Registry, tx: Docket, ended: Ended, landing: Landing | Conflict | None, tree: str
) -> Handled:
    """Write the end of a session and what its handler decides, in the open transaction. `tree` is what was pinned."""
    write_end(tx.db, ended, landing, tree, tx.at)
    if ended.end.closed is not None:
        closing.record_close_out(tx.db, ended.session, ended.end.closed, tx.at)
    record_lanes(tx.db, lanes_said(ended.judges), lane_run(tx, ended, tree))
    return registry.handle(tx, ended.planned.node.archetype, as_seen(tx.db, ended, landing))


def lane_run(tx: Docket, ended: Ended, tree: str) -> LaneRun:
    """Where the lanes of a verifier's session ran."""
    session, ticket = ended.session, ended.session.ticket
    verifier, environment = sessions.judge_of(tx.db, session.id)
    return LaneRun(
        session.spec_name, f"session:{session.id}", tx.at, tree, ended.launch.pinned,
        f"{session.node_id}@{ticket.attempt}.{ticket.reading}", session.run_id, session.id,
        verifier=verifier, environment=environment,
    )  # fmt: skip


def prepare_landing(db: Database, integration: Integration, ended: Ended) -> Landing | Conflict | None:
    """A coder's work on the branch's tip, as a commit that nothing points at yet; None without work.

    Work that conflicts is kept from here on, so that the session that merges it finds it; work that was such a merge
    is not.
    """
    work = ended.end.work
    if ended.end.kind is not EndKind.ENDED or work is None or work.is_unchanged:
        return None
    message = launching.commit_message(ended.planned, ended.session)
    at = tip.expected(db, integration)
    landing = build_landing(integration.repo, at, work.commit, message, integration.style)
    if isinstance(landing, Conflict) and conflicts.unmerged_of(db, ended.session.ticket) is None:
        conflicts.keep(integration.repo, ended.launch.id, work.commit)
    return landing


def write_end(db: Database, ended: Ended, landing: Landing | Conflict | None, tree: str, at: str) -> None:
    end, launch = ended.end, ended.launch
    failed = bool(failure_of(ended, landing))
    cost = cost_of(ended.session, end)
    sessions.set_launch(db, launch.id, {"status": "ended", "ended_at": at, "cost_usd": cost})
    for other in ended.beside:
        set_aside(db, other, f"attempt {ended.session.ticket.attempt} ends with launch {launch.number}")
    landed = landing if isinstance(landing, Landing) else None
    changes = {
        "status": "failed" if failed else "completed", "end_kind": end.kind, "reason": failure_of(ended, landing),
        "pinned_commit": launch.pinned, "tree": tree, "exit_status": end.exit_status,
        "cost_usd": cost, "input_tokens": end.input_tokens, "output_tokens": end.output_tokens,
        "seconds": end.seconds, "summary": end.summary, "log": str(end.log), "ended_at": at,
        "agents": json.dumps(end.agents, default=dict),
        "base_commit": landed.base if landed else None,
        "landed_commit": landed.commit if landed else None,
    }  # fmt: skip
    sessions.set_session(db, launch.session_id, changes)
    evidence.record_session(db, launch.session_id, at)


def set_aside(db: Database, launch: LaunchRow, why: str) -> None:
    """A candidate's launch is not the one that counts; what it cost stays. In the open transaction."""
    sessions.set_launch(db, launch.id, {"status": "interrupted", "reason": f"{NOT_TAKEN}{why}"})


def failure_of(ended: Ended, landing: Landing | Conflict | None) -> str:
    """Why the session counts as failed; empty where it ended well."""
    if isinstance(landing, Conflict):
        return f"its work conflicts with the integration branch in {', '.join(landing.files)}"
    return "" if ended.end.kind is EndKind.ENDED else f"{ended.end.kind}: {ended.end.reason}"


def as_seen(db: Database, ended: Ended, landing: Landing | Conflict | None) -> EndedSession:
    session = sessions.session_by_id(db, ended.launch.session_id)
    return EndedSession(
        ticket=session.ticket,
        pinned=session.pinned,
        tree=session.tree,
        judges=ended.judges,
        failure=failure_of(ended, landing),
        landed=landing.commit if isinstance(landing, Landing) else None,
        session_id=session.id,
        report=ended.report,
        way_back=ended.way_back,
        facts={**ended.facts, **conflict_of(db, ended, landing), **too_long_of(ended.end)},
    )


def too_long_of(end: SessionEnd) -> dict[str, object]:
    return {TOO_LONG: True} if end.kind is EndKind.TOO_LONG else {}


def conflict_of(db: Database, ended: Ended, landing: Landing | Conflict | None) -> dict[str, object]:
    """What is recorded so that the next session finishes the merge; nothing where this one had that very task."""
    work = ended.end.work
    if not isinstance(landing, Conflict) or work is None or conflicts.unmerged_of(db, ended.session.ticket):
        return {}
    return conflicts.facts_of(ended.launch.id, Unmerged(work.commit, landing.files))


def land(docket_of: DocketOf, db: Database, integration: Integration, ended: Ended, watch: Watch) -> Handled | None:
    """Move the branch to what was recorded. Where somebody else moved it meanwhile, put it back, or build again on what
    is there and record again. Gives what was decided where the work had to be taken back.
    """
    for _ in range(LANDING_TRIES):
        session = sessions.session_by_id(db, ended.launch.session_id)
        if session.landed is None or session.base is None or session.status != "completed":
            return None
        if move(integration.repo, integration.branch, session.landed, session.base):
            note_landed(db, session.id, session.landed)
            watch(RunEvent("landed", ended.planned, text=session.landed))
            return None
        moved = tip.hold(db, integration)
        if moved is not None:
            watch(RunEvent("note", ended.planned, text=moved.told))
        taken_back = build_again(docket_of, db, integration, ended, session)
        if taken_back is not None:
            return taken_back
    raise git.GitError(
        f"{integration.branch} was moved {LANDING_TRIES} times while work was landing; stop what moves it, then run "
        "again"
    )


def note_landed(db: Database, session_id: int, commit: str) -> None:
    with transaction(db):
        sessions.set_landed(db, session_id)
        sessions.note_tip(db, commit)


def build_again(
    docket_of: DocketOf, db: Database, integration: Integration, ended: Ended, session: SessionRow
) -> Handled | None:
    """The landing once more where the tip is another one now; taken back where it conflicts."""
    if session.archetype is Archetype.VERIFIER:
        return going_back.build_again(docket_of, db, integration, session)
    if tip.expected(db, integration) == session.base:
        return None
    again = prepare_landing(db, integration, ended)
    if not isinstance(again, Landing):
        return take_back(docket_of, db, ended, again)
    with transaction(db):
        sessions.record_landing(db, session.id, again.base, again.commit, clock.now())
    return None


def take_back(docket_of: DocketOf, db: Database, ended: Ended, landing: Conflict | None) -> Handled:
    """Recorded work that no longer merges: the coder tries again, with the files that conflict."""
    why = failure_of(ended, landing)
    with transaction(db):
        desk = docket_of(db, clock.now())
        sessions.set_session(db, ended.launch.session_id, {"landed_commit": None, "base_commit": None})
        planned = node_by_uid(db, ended.planned.node.uid)
        number, moved = desk.record(
            planned, "Retry", [Move(planned, Step.RECODE)], session_id=ended.session.id, note=why,
            facts={"failure": why, **conflict_of(db, ended, landing)},
        )  # fmt: skip
        return Handled(None, number, moved)
