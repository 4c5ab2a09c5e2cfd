"""The verdict-driven retry for other engines: plan values, a launch and its end in; decision, moves and effects out.

A host has a SQLite database, jobs and a loop of its own. Our tables live beside its tables, and everything that is
written here is written in the transaction which the host has open: it commits, or rolls back, both together. Which
process does a job, when, and where work lands, is the host's; what may start, and what is proven, is said here. Rules
are in `core`, not here. What `__all__` names is kept stable (docs/hosting.md).
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype, Ticket
from agent_fox.core.policy import Policy
from agent_fox.core.retry.decision import Facts, why_ignored
from agent_fox.core.retry.standing import Status
from agent_fox.core.spec import Severity
from agent_fox.core.values import dataclass
from agent_fox.core.verdicts.verdict import Report
from agent_fox.engine.doors.hosted_account import Account, read_hosted
from agent_fox.engine.handlers import reset as resetting
from agent_fox.engine.handlers import waiving
from agent_fox.engine.handlers.coder_handler import CoderHandler, CoderResult
from agent_fox.engine.handlers.dockets import with_waivers
from agent_fox.engine.handlers.reset import NothingToReset
from agent_fox.engine.handlers.result_handler import VerifierHandler
from agent_fox.engine.handlers.reviewer_handler import ReviewerHandler, ReviewerResult
from agent_fox.engine.issues import effects as outgoing
from agent_fox.engine.launching.briefing import brief_facts
from agent_fox.engine.launching.launching import running
from agent_fox.engine.planning.planning import sync_plan
from agent_fox.engine.planning.scope import Scope, in_lines
from agent_fox.engine.record.docket import Docket, Handled, SpecShelf, awaited_of, ignore
from agent_fox.engine.record.review_persistence import Judge, VerifierResult, known_by
from agent_fox.engine.record.watch import unwatched
from agent_fox.engine.running import final_check as final_checks
from agent_fox.engine.running import readiness
from agent_fox.evidence.granting import WaiverRefused
from agent_fox.evidence.signing.keys import KeyTrouble
from agent_fox.session.briefs.text import brief_json, brief_markdown
from agent_fox.session.order import EndKind
from agent_fox.store import outbox, sessions
from agent_fox.store import plan as stored
from agent_fox.store.hosted import format_of, guest, settle_in
from agent_fox.store.ledger import evidence, journal
from agent_fox.store.values import insert
from agent_fox.system.redaction.masking import secret_values

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.core.graph import Node, Plan
    from agent_fox.core.ledger.waivers import Statement
    from agent_fox.evidence.signing.keys import PublicKey
    from agent_fox.evidence.waivers import Grounds
    from agent_fox.store.plan import PlannedNode, StoredEdge
    from agent_fox.store.sessions import SessionRow
    from agent_fox.trackers.protocol import Effect, Tracker

__all__ = [
    "USUAL",
    "Account",
    "Adopted",
    "Brief",
    "HostError",
    "account",
    "adopt_plan",
    "awaited",
    "brief",
    "coder_ended",
    "deliver",
    "draft_waiver",
    "effects",
    "final_check",
    "hand_in",
    "is_proven",
    "launch",
    "ready",
    "reset",
    "reviewer_ended",
    "waits_for",
    "waive",
]

USUAL = Policy()
HOST = "host"
OVERTAKEN = "what it builds on is to be done again: this session was overtaken, and the node waits"


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

    `at` is the time, ISO 8601 in UTC. Raises HostError for a plan with errors, and where the plan that stands is not
    the recorded one; StateError where tables of the host have our names.
    """
    errors = [problem for problem in plan.problems if problem.severity is Severity.ERROR]
    if errors:
        raise HostError(f"the plan cannot be adopted:\n{in_lines(errors)}")
    with writing(connection) as db:
        settle_in(db)
        why = journal.why_others(db)
        if why:
            raise HostError(why)
        journal.watch(db)
        run = sessions.open_run(db) or sessions.start_run(db, at, "")
        changes = sync_plan(Docket(db, at, policy, SpecShelf(), run), Scope(plan, {}))
        readiness.recall(db, policy)
        nodes = tuple(p.node for p in stored.load_nodes(db) if p.standing.status is not Status.WITHDRAWN)
        return Adopted(nodes, tuple(stored.load_edges(db)), changes)


def awaited(connection: sqlite3.Connection, node_id: str) -> Ticket:
    """The ticket whose result counts for a node. Raises HostError for a node that is not in the plan."""
    with guest(connection) as db:
        return node_named(db, node_id).standing.ticket


def ready(connection: sqlite3.Connection, policy: Policy = USUAL) -> tuple[Node, ...]:
    """The nodes that `launch` would take now, in fair order: a spec that was not served for long goes first.

    The whole plan is read. A host that moves its own jobs by `transitions` and `waits` need not ask.
    """
    with guest(connection) as db:
        return tuple(planned.node for planned in readiness.ready_nodes(db, policy))


def waits_for(connection: sqlite3.Connection, node_id: str, policy: Policy = USUAL) -> tuple[Node, ...]:
    """The nodes that must be completed, or verified, before this one; empty for one that need not wait.

    Raises HostError for a node that is not in the plan.
    """
    with guest(connection) as db:
        return tuple(source.node for source in readiness.open_edges(db, node_named(db, node_id), policy))


def launch(connection: sqlite3.Connection, node_id: str, commit: str, at: str, policy: Policy = USUAL) -> Ticket:
    """Note that the host starts the awaited session of a node, pinned at a commit. Gives its ticket.

    A launch that was lost is noted again, under the same ticket, and costs nothing. Raises HostError for a node that
    is settled, and for one that waits for others: it names them, and how they stand.
    """
    with writing(connection) as db:
        planned = node_named(db, node_id)
        refuse_unready(db, planned, policy)
        before = sessions.session_by_ticket(db, planned.standing.ticket)
        if before is None:
            new_session(db, planned, commit, at)
        else:
            sessions.set_session(db, before.id, {"pinned_commit": commit, "status": "running"})
        stored.move_node(db, running(planned).standing, None)
        return planned.standing.ticket


def refuse_unready(db: Database, planned: PlannedNode, policy: Policy) -> None:
    """Raises HostError."""
    if planned.standing.is_settled:
        raise HostError(f"{planned.node.id} is {planned.standing.status}: it is not to be launched")
    waits = readiness.open_edges(db, planned, policy)
    if waits:
        named = ", ".join(f"{source.node.id} ({in_words(source)})" for source in waits)
        raise HostError(f"{planned.node.id} is not ready: it waits for {named}")


def in_words(planned: PlannedNode) -> str:
    """How a node stands: what it came to, where it is completed."""
    standing = planned.standing
    return f"{standing.status}, {standing.outcome}" if standing.outcome else str(standing.status)


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
    policy: Policy = USUAL, failure: str = "", grounds: Grounds | None = None,
) -> Handled:  # fmt: skip
    """The end of a verifier's session: what it printed, or a report that the host read already.

    `commit` and `tree` name what was judged; `failure` says why there is no report: a crash, a time-out; `grounds` what
    waivers are held against, without which none counts. A report that is late, doubled, overtaken, or about another
    commit than the launch was pinned at is ignored, and changes nothing.
    """
    host = Judge(HOST, said if isinstance(said, str) else "")
    report = known_by(host, said) if isinstance(said, Report) else None
    judges = () if isinstance(said, Report) else (host,)

    def handle(tx: Docket, session: SessionRow) -> Handled:
        result = VerifierResult(ticket, commit, tree, judges, report, failure, session.id)
        return VerifierHandler().handle(tx, result, session.pinned)

    with writing(connection) as db:
        about = End(ticket, Archetype.VERIFIER, commit, {"tree": tree, "reason": failure})
        return take_end(db, about, at, policy, grounds, handle)


def coder_ended(
    connection: sqlite3.Connection, ticket: Ticket, *, landed: str | None, at: str, policy: Policy = USUAL,
    failure: str = "", summary: str = "", grounds: Grounds | None = None,
) -> Handled:  # fmt: skip
    """The end of a coder's session. `landed` is the commit that has its work, None where it changed nothing.

    `failure` says why it ended badly: then it is tried again with the reason, within its attempts.
    """

    def handle(tx: Docket, session: SessionRow) -> Handled:
        result = CoderResult(ticket, session.pinned, failure, landed, session.id)
        return CoderHandler().handle(tx, result, session.pinned)

    with writing(connection) as db:
        columns = {"reason": failure, "summary": summary, "landed_commit": landed, "is_landed": landed is not None}
        about = End(ticket, Archetype.CODER, session_of(db, ticket).pinned, columns)
        return take_end(db, about, at, policy, grounds, handle)


def reviewer_ended(
    connection: sqlite3.Connection, ticket: Ticket, said: str, *, at: str, policy: Policy = USUAL, failure: str = "",
    grounds: Grounds | None = None,
) -> Handled:  # fmt: skip
    """The end of a reviewer's session: what it printed, or why it printed nothing that counts."""

    def handle(tx: Docket, session: SessionRow) -> Handled:
        result = ReviewerResult(ticket, session.pinned, said, failure, session.id)
        return ReviewerHandler().handle(tx, result, session.pinned)

    with writing(connection) as db:
        about = End(ticket, Archetype.REVIEWER, session_of(db, ticket).pinned, {"reason": failure})
        return take_end(db, about, at, policy, grounds, handle)


def reset(
    connection: sqlite3.Connection, node_id: str, at: str, *, reason: str = "", policy: Policy = USUAL,
    grounds: Grounds | None = None,
) -> Handled:  # fmt: skip
    """A person's `reset`: a new budget and a new start for one node, and what it held back goes on.

    A session under way that builds on it is overtaken. Raises HostError where there is nothing to reset.
    """
    with writing(connection) as db:
        try:
            handled = resetting.reset(docket_of(db, sessions.open_run(db), at, policy, grounds), node_id, reason)
        except NothingToReset as error:
            raise HostError(str(error)) from error
        readiness.recall(db, policy)
        return handled


def draft_waiver(
    connection: sqlite3.Connection, address: str, *, reason: str, expires: str, key: PublicKey, at: str,
    grounds: Grounds, policy: Policy = USUAL,
) -> Statement:  # fmt: skip
    """What a person would sign to accept a requirement (`SPEC/REQ`) that is not proven; nothing is written.

    `expires` is a span such as `30d`, or a date; `key` the public half of the person's key, which must be trusted to
    waive (`agent-fox keys trust`). `evidence.granting.sign_with_key` signs it. Raises HostError.
    """
    with guest(connection) as db:
        tx = docket_of(db, sessions.open_run(db), at, policy, grounds)
        try:
            return waiving.draft(tx, grounds, address, reason, expires, key)
        except (WaiverRefused, KeyTrouble) as error:
            raise HostError(str(error)) from error


def waive(
    connection: sqlite3.Connection, envelope: str, *, at: str, grounds: Grounds, policy: Policy = USUAL
) -> tuple[Handled, ...]:
    """Keep a waiver that a person signed, and let go on what it completes. Gives what was decided, in order.

    Raises HostError for one that would not count; then the host rolls back.
    """
    with writing(connection) as db:
        tx = docket_of(db, sessions.open_run(db), at, policy, grounds)
        try:
            return tuple(waiving.grant(tx, grounds, envelope)[1])
        except (ValueError, KeyTrouble) as error:
            raise HostError(str(error)) from error


def final_check(
    connection: sqlite3.Connection, *, commit: str, tree: str, at: str, policy: Policy = USUAL,
    grounds: Grounds | None = None,
) -> tuple[Handled, ...]:  # fmt: skip
    """Before all is called proven: reopen every spec that was proven on another tree than `tree`, that of `commit`.

    Their verifiers are ready then, with readings of their own. Waivers that ended take back what rested on them.
    """
    with writing(connection) as db:
        tx = docket_of(db, sessions.open_run(db), at, policy, grounds)
        ended = waiving.settle(tx, grounds) if grounds is not None else []
        board = readiness.board_of(db, policy)
        return (*ended, *final_checks.reopen_read_elsewhere(tx, board, commit, tree))


def account(
    connection: sqlite3.Connection, tree: str, policy: Policy = USUAL, *, at: str = "", grounds: Grounds | None = None
) -> Account:
    """What is proven on `tree`, what is not, and why: the rule of a run's exit code 0. Reads only.

    Without `grounds` (and `at`, the time that waivers are held against) no waiver counts.
    """
    with guest(connection) as db:
        return read_hosted(db, tree, policy, at, grounds)


def is_proven(
    connection: sqlite3.Connection, tree: str, policy: Policy = USUAL, *, at: str = "", grounds: Grounds | None = None
) -> bool:
    """Whether everything in the plan is proven, or waived, on `tree`."""
    return account(connection, tree, policy, at=at, grounds=grounds).is_proven


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


@dataclass(frozen=True, slots=True)
class End:
    """How the host says that a session ended: the commit that it was about, and what its row keeps."""

    ticket: Ticket
    archetype: Archetype
    commit: str | None
    columns: Mapping[str, object]


def take_end(
    db: Database, end: End, at: str, policy: Policy, grounds: Grounds | None,
    handle: Callable[[Docket, SessionRow], Handled],
) -> Handled:  # fmt: skip
    """One session's end. What is ignored leaves its row as it was; what others build on it recalls their sessions."""
    session = session_of(db, end.ticket)
    if session.archetype is not end.archetype:
        raise HostError(f"{session.node_id} is a {session.archetype}, not a {end.archetype}")
    planned, tx = node_of(db, end.ticket), docket_of(db, session.run_id, at, policy, grounds)
    if why_ignored(awaited_of(planned, session.pinned), Facts(end.ticket, end.commit)) is None:
        if is_overtaken(db, planned, session, policy):
            return ignore(tx, planned, end.ticket, OVERTAKEN)
        end_session(db, session, end, at)
    handled = handle(tx, session)
    readiness.recall(db, policy)
    return handled


def is_overtaken(db: Database, planned: PlannedNode, session: SessionRow, policy: Policy) -> bool:
    """Whether its launch was recalled, or would have to be: a launch is needed again before an end can count."""
    is_under_way = session.status == "running" and planned.standing.status is Status.RUNNING
    return not is_under_way or bool(readiness.open_edges(db, planned, policy))


def end_session(db: Database, session: SessionRow, end: End, at: str) -> None:
    """Write how the awaited session ended."""
    has_failed = bool(end.columns["reason"])
    status, kind = ("failed", EndKind.FAILED) if has_failed else ("completed", EndKind.ENDED)
    sessions.set_session(db, session.id, {"status": status, "end_kind": kind, "ended_at": at, **end.columns})
    evidence.record_session(db, session.id, at)


def docket_of(db: Database, run_id: int | None, at: str, policy: Policy, grounds: Grounds | None) -> Docket:
    tx = Docket(db, at, policy, SpecShelf(), run_id)
    return tx if grounds is None else with_waivers(tx, lambda: grounds)
