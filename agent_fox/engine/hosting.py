"""The verdict-driven retry for other engines: plan values, a launch and its end in; decision, moves and effects out.

A host has a SQLite database, jobs and a loop of its own. Our tables live beside its tables, and everything that is
written here is written in the transaction which the host has open: it commits, or rolls back, both together. What is
ready, which process does a job, and where work lands, is the host's. Rules are in `core`, not here.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agent_fox.core.decision import Facts, why_ignored
from agent_fox.core.ids import Archetype, Ticket
from agent_fox.core.policy import Policy
from agent_fox.core.spec import Severity
from agent_fox.core.standing import Status
from agent_fox.core.values import dataclass
from agent_fox.core.verdict import Report
from agent_fox.engine import effects as outgoing
from agent_fox.engine.briefing import brief_facts
from agent_fox.engine.coder_handler import CoderHandler, CoderResult
from agent_fox.engine.docket import Docket, Handled, SpecShelf
from agent_fox.engine.lateness import awaited_of
from agent_fox.engine.launching import running
from agent_fox.engine.planning import sync_plan
from agent_fox.engine.result_handler import VerifierHandler
from agent_fox.engine.review_persistence import Judge, VerifierResult, known_by
from agent_fox.engine.reviewer_handler import ReviewerHandler, ReviewerResult
from agent_fox.engine.scope import Scope, told
from agent_fox.engine.watch import unwatched
from agent_fox.session.briefs import brief_json, brief_markdown
from agent_fox.session.order import EndKind
from agent_fox.store import evidence, journal, outbox, sessions
from agent_fox.store import plan as stored
from agent_fox.store.hosted import format_of, guest, settle_in
from agent_fox.store.values import insert
from agent_fox.system.redact import secret_values

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.graph import Node, Plan
    from agent_fox.store.plan import PlannedNode, StoredEdge
    from agent_fox.store.sessions import SessionRow
    from agent_fox.trackers.protocol import Effect, Tracker

USUAL = Policy()
HOST = "host"


class HostError(Exception):
    """What the host asks is not possible; the text says why and what to do. Nothing was written."""


@dataclass(frozen=True, slots=True)
class Adopted:
    """The plan as it stands in the database now. `changes` says in sentences what differs from the plan before.

    Edges are between uids, which never change; a node's id is its name in this plan. A gate edge starts at a
    verifier: its target waits until that is verified, and is blocked by a transition where it never will be.
    """

    nodes: tuple[Node, ...]
    edges: tuple[StoredEdge, ...]
    changes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Brief:
    """What the session of a ticket is told: the same facts as Markdown and as a JSON document."""

    markdown: str
    document: Mapping[str, object]


def adopt_plan(connection: sqlite3.Connection, plan: Plan, at: str, policy: Policy = USUAL) -> Adopted:
    """Make our tables if they are not there, and bring them in line with the plan, also over an earlier one.

    `at` is the time, ISO 8601 in UTC. Raises HostError for a plan with errors, StateError where tables of the host
    have our names.
    """
    errors = [problem for problem in plan.problems if problem.severity is Severity.ERROR]
    if errors:
        raise HostError(f"the plan cannot be adopted:\n{told(errors)}")
    with writing(connection) as db:
        settle_in(db)
        journal.watch(db)
        run = sessions.open_run(db) or sessions.start_run(db, at, "")
        changes = sync_plan(Docket(db, at, policy, SpecShelf(), run), Scope(plan, {}))
        nodes = tuple(p.node for p in stored.load_nodes(db) if p.standing.status is not Status.WITHDRAWN)
        return Adopted(nodes, tuple(stored.load_edges(db)), changes)


def awaited(connection: sqlite3.Connection, node_id: str) -> Ticket:
    """The ticket whose result counts for a node. Raises HostError for a node that is not in the plan."""
    with guest(connection) as db:
        return node_named(db, node_id).standing.ticket


def launch(connection: sqlite3.Connection, node_id: str, commit: str, at: str) -> Ticket:
    """Note that the host starts the awaited session of a node, pinned at a commit. Gives its ticket.

    A launch that was lost is noted again, under the same ticket, and costs nothing. Raises HostError for a node that
    is settled.
    """
    with writing(connection) as db:
        planned = node_named(db, node_id)
        if planned.standing.is_settled:
            raise HostError(f"{node_id} is {planned.standing.status}: it is not to be launched")
        before = sessions.session_by_ticket(db, planned.standing.ticket)
        if before is None:
            new_session(db, planned, commit, at)
        else:
            sessions.set_session(db, before.id, {"pinned_commit": commit})
        stored.move_node(db, running(planned).standing, None)
        return planned.standing.ticket


def new_session(db: Database, planned: PlannedNode, commit: str, at: str) -> None:
    node, standing = planned.node, planned.standing
    row = {
        "run_id": sessions.open_run(db), "node_id": node.id, "node_uid": node.uid, "spec_name": node.spec_name,
        "archetype": node.archetype, "mode": node.mode, "attempt": standing.attempt, "reading": standing.reading,
        "status": "running", "backend": HOST, "rung": standing.rung, "pinned_commit": commit, "started_at": at,
    }  # fmt: skip
    insert(db, "sessions", row)


def brief(connection: sqlite3.Connection, ticket: Ticket) -> Brief:
    """What a launched session is told: the task, and at a retry what fails, with evidence, and must stay green."""
    with guest(connection) as db:
        session = session_of(db, ticket)
        file, secrets = SpecShelf().take(db, session.spec_name), secret_values(os.environ)
        facts = brief_facts(db, node_of(db, ticket), session, file, secrets=secrets)
        return Brief(brief_markdown(facts), brief_json(facts))


def hand_in(
    connection: sqlite3.Connection, ticket: Ticket, said: str | Report, *, commit: str, tree: str, at: str,
    policy: Policy = USUAL, failure: str = "",
) -> Handled:  # fmt: skip
    """The end of a verifier's session: what it printed, or a report that the host read already.

    `commit` and `tree` name what was judged; `failure` says why there is no report: a crash, a time-out. A report that
    is late, doubled, or about another commit than the launch was pinned at is ignored, and changes nothing.
    """
    host = Judge(HOST, said if isinstance(said, str) else "")
    report = known_by(host, said) if isinstance(said, Report) else None
    judges = () if isinstance(said, Report) else (host,)
    with writing(connection) as db:
        session = end_session(db, ticket, Archetype.VERIFIER, commit, at, {"tree": tree, "reason": failure})
        result = VerifierResult(ticket, commit, tree, judges, report, failure, session.id)
        return VerifierHandler().handle(docket_of(db, session, at, policy), result, session.pinned)


def coder_ended(
    connection: sqlite3.Connection, ticket: Ticket, *, landed: str | None, at: str, policy: Policy = USUAL,
    failure: str = "", summary: str = "",
) -> Handled:  # fmt: skip
    """The end of a coder's session. `landed` is the commit that has its work, None where it changed nothing.

    `failure` says why it ended badly: then it is tried again with the reason, within its attempts.
    """
    with writing(connection) as db:
        pinned = session_of(db, ticket).pinned
        end = {"reason": failure, "summary": summary, "landed_commit": landed, "is_landed": landed is not None}
        session = end_session(db, ticket, Archetype.CODER, pinned, at, end)
        result = CoderResult(ticket, pinned, failure, landed, session.id)
        return CoderHandler().handle(docket_of(db, session, at, policy), result, pinned)


def reviewer_ended(
    connection: sqlite3.Connection, ticket: Ticket, said: str, *, at: str, policy: Policy = USUAL, failure: str = ""
) -> Handled:
    """The end of a reviewer's session: what it printed, or why it printed nothing that counts."""
    with writing(connection) as db:
        pinned = session_of(db, ticket).pinned
        session = end_session(db, ticket, Archetype.REVIEWER, pinned, at, {"reason": failure})
        result = ReviewerResult(ticket, pinned, said, failure, session.id)
        return ReviewerHandler().handle(docket_of(db, session, at, policy), result, pinned)


def effects(connection: sqlite3.Connection, at: str) -> list[Effect]:
    """What the outbox holds for the outside world, oldest first, and was not delivered until `at`."""
    with guest(connection) as db:
        return [outgoing.effect_of(row) for row in outbox.undelivered(db, at)]


def deliver(connection: sqlite3.Connection, tracker: Tracker) -> int:
    """Hand the effects to a tracker, and note what came of each: gives how many were delivered.

    Called between the host's transactions: each delivery is noted in one of its own. Safe to repeat.
    """
    if connection.in_transaction:
        raise HostError("effects are carried out after the commit: commit your transaction first")
    with guest(connection) as db:
        return outgoing.deliver(db, tracker, unwatched)


@contextmanager
def writing(connection: sqlite3.Connection) -> Iterator[Database]:
    """Without an open transaction every row would be committed alone: that is refused."""
    if not connection.in_transaction:
        raise HostError("begin a transaction first: what is written here belongs to yours")
    with guest(connection) as db:
        if format_of(db):
            journal.watch(db)
        yield db
        journal.flush(db)


def node_named(db: Database, node_id: str) -> PlannedNode:
    planned = stored.node_by_id(db, node_id)
    if planned is None:
        raise HostError(f"{node_id}: there is no such node in the plan")
    return planned


def node_of(db: Database, ticket: Ticket) -> PlannedNode:
    return stored.node_by_uid(db, ticket.node_uid)


def session_of(db: Database, ticket: Ticket) -> SessionRow:
    session = sessions.session_by_ticket(db, ticket)
    if session is None:
        raise HostError(f"{ticket} was never launched; note its launch before its end")
    return session


def end_session(
    db: Database, ticket: Ticket, archetype: Archetype, commit: str | None, at: str, end: Mapping[str, object]
) -> SessionRow:
    """Write how the session ended, if it is the awaited one. What is ignored leaves its row as it was."""
    session = session_of(db, ticket)
    if session.archetype is not archetype:
        raise HostError(f"{session.node_id} is a {session.archetype}, not a {archetype}")
    awaits = awaited_of(node_of(db, ticket), session.pinned)
    if why_ignored(awaits, Facts(ticket, commit)) is None:
        has_failed = bool(end["reason"])
        status, kind = ("failed", EndKind.FAILED) if has_failed else ("completed", EndKind.ENDED)
        sessions.set_session(db, session.id, {"status": status, "end_kind": kind, "ended_at": at, **end})
        evidence.record_session(db, session.id, at)
    return session


def docket_of(db: Database, session: SessionRow, at: str, policy: Policy) -> Docket:
    return Docket(db, at, policy, SpecShelf(), session.run_id)
