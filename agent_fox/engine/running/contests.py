"""Candidates of one attempt, step by step, each in one transaction: a try ends and is held, its reading begins and
ends, the best is chosen. A crash between two steps loses none. The rules are in `core.retry.candidates`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.retry.candidates import Candidate, Choice, Contest
from agent_fox.core.values import to_object
from agent_fox.engine.launching import candidates, cut_offs, launching, tip, trails
from agent_fox.engine.launching.candidates import contest_of
from agent_fox.engine.record.watch import RunEvent, Watch
from agent_fox.engine.running import results
from agent_fox.engine.running.results import DocketOf, Ended, Registry
from agent_fox.session.order import EndKind
from agent_fox.session.order_document import end_document
from agent_fox.session.workspaces.landing import Conflict, Integration, build_landing
from agent_fox.store import sessions, traces
from agent_fox.store.plan import PlannedNode, move_node, node_by_uid
from agent_fox.store.state import transaction
from agent_fox.system import clock, git

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.engine.launching.judges import PanelEnd
    from agent_fox.engine.record.docket import Handled
    from agent_fox.store.sessions import LaunchRow, SessionRow

LEFT = "its node went on without it"


def hold(db: Database, integration: Integration, ended: Ended, contest: Contest) -> tuple[PlannedNode, str]:
    """A try has ended: it is kept until it can be compared. Where its node stands now, and what is told of it."""
    repo, session, launch, end = integration.repo, ended.session, ended.launch, ended.end
    candidate, at = candidates.candidate_of(repo, contest, session, launch, end), clock.now()
    trails.keep(repo, session, launch, end, at)
    with transaction(db):
        traces.record_candidate(db, at, session, candidate, end_document(end))
        again = wait(db, ended.planned, launch, session, at, results.cost_of(session, end))
    is_known = candidate.failure or candidate.is_unchanged or candidate.words is not None
    result = candidate.result if is_known else "ended, and is read next"
    return again, f"candidate {candidate.number} of {contest.wanted}: {result}"


def wait(
    db: Database, planned: PlannedNode, launch: LaunchRow, session: SessionRow, at: str, cost: float | None
) -> PlannedNode:
    """Nothing of the attempt runs; what comes next is launched from here. In the open transaction."""
    sessions.set_launch(db, launch.id, {"ended_at": at, "cost_usd": cost})
    sessions.set_session(db, session.id, {"status": "waiting"})
    again = launching.waiting(planned)
    move_node(db, again.standing, None)
    return again


def begin_reading(db: Database, planned: PlannedNode, session: SessionRow, launch: LaunchRow) -> PlannedNode:
    """What must stand before a candidate is read, in the open transaction."""
    sessions.set_launch(db, launch.id, {"ended_at": None})
    sessions.set_session(db, session.id, {"status": "running"})
    sessions.end_waits(db, "session_id", session.id, clock.now())
    under_way = launching.running(planned)
    move_node(db, under_way.standing, None)
    return under_way


def end_reading(
    docket_of: DocketOf, db: Database, ended: Ended, candidate: Candidate, reading: PanelEnd | None, assumed: float
) -> tuple[PlannedNode, Candidate]:
    """A reading has ended; None: it was lost, and is repeated. `assumed`: dollars for one that tells nothing.

    Where the node stands now, and the candidate as it was read.
    """
    session, launch, end = ended.session, ended.launch, ended.end
    paid = 0.0 if end.cost_usd is None and (assumed == 0 or reading is None) else end.cost_usd
    before = sessions.launch_cost(db, launch.id)
    cost = candidates.cost_with(before, session.assumed_cost_usd, paid, assumed if reading is not None else 0.0)
    desk = docket_of(db, clock.now())
    read = candidates.as_read(desk, session.spec_name, candidate, reading) if reading is not None else candidate
    with transaction(db):
        if reading is not None:
            traces.record_candidate(db, desk.at, session, read)
        return wait(db, ended.planned, launch, session, desk.at, cost), read


def choose(
    registry: Registry, docket_of: DocketOf, db: Database, integration: Integration, planned: PlannedNode, why: str,
    watch: Watch,
) -> list[Handled]:  # fmt: skip
    """The best of what was made becomes the end of the attempt, as if it had been the only try; the others stay as
    references. `why`: why there are fewer than were wanted. What was decided.
    """
    session, contest = sessions.session_by_ticket(db, planned.standing.ticket), contest_of(db, planned)
    assert session is not None
    assert contest is not None
    before = candidates.proven_before(docket_of(db, clock.now()), planned.node.spec_name)
    first, passed_over = first_to_land(db, integration, planned, session, contest.ranking(before))
    chosen = first or next(iter(contest.ranking(before)), contest.made[0])
    choice = Choice(
        contest.wanted, contest.made, chosen.number, first is not None, passed_over, why or contest.why_no_more
    )
    ended = ended_of(db, integration, planned, session, choice, chosen)
    watch(RunEvent("note", planned, text=choice.in_words))
    handled = results.take_result(registry, docket_of, db, integration, ended)
    taken_back = results.land(docket_of, db, integration, ended, watch)
    if choice.landed and chosen.ref:
        git.delete_ref(integration.repo, chosen.ref)
    return [each for each in (handled, taken_back) if each is not None]


def first_to_land(
    db: Database, integration: Integration, planned: PlannedNode, session: SessionRow, ranking: tuple[Candidate, ...]
) -> tuple[Candidate | None, dict[int, str]]:
    """The best candidate that merges with the branch, and those before it, each with what is in its way."""
    message, at = launching.commit_message(planned, session), tip.expected(db, integration)
    passed_over: dict[int, str] = {}
    for candidate in ranking:
        if candidate.is_unchanged:
            return candidate, passed_over
        if git.commit_of(integration.repo, candidate.commit) is None:
            passed_over[candidate.number] = f"its commit {candidate.commit} is not there any more"
            continue
        landing = build_landing(integration.repo, at, candidate.commit, message, integration.style)
        if not isinstance(landing, Conflict):
            return candidate, passed_over
        passed_over[candidate.number] = f"it conflicts with the branch in {', '.join(landing.files)}"
    return None, passed_over


def ended_of(
    db: Database, integration: Integration, planned: PlannedNode, session: SessionRow, choice: Choice, chosen: Candidate
) -> Ended:
    """The end of the attempt: that of the candidate that is taken, or where none may land, why none may."""
    held = {launch.id: launch for launch in sessions.held_launches(db, session.id)}
    launch = held.pop(chosen.launch)
    end = candidates.end_of(db, launch)
    if not chosen.may_land:
        is_last = any(candidate.is_last for candidate in choice.made)
        end = replace(end, kind=EndKind.TOO_LONG if is_last else end.kind, reason=choice.failure)
    cut_off = cut_offs.keep(integration.repo, session, launch, end, clock.now())
    facts = {"told": choice.in_words, "chosen": choice.chosen, "wanted": choice.wanted}
    each = {"made": [to_object(candidate, without=("words",)) for candidate in choice.made]}
    return Ended(
        planned, session, launch, end, cut_off=cut_off, beside=tuple(held.values()), facts={"candidates": facts | each}
    )


def leave(db: Database) -> None:
    """Candidates whose attempt is not awaited any more, since the plan has changed."""
    for launch in sessions.held_launches(db):
        session = sessions.session_by_id(db, launch.session_id)
        planned = node_by_uid(db, session.ticket.node_uid)
        if contest_of(db, planned) is None or planned.standing.ticket != session.ticket:
            with transaction(db):
                results.set_aside(db, launch, LEFT)
