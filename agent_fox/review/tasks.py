"""Review tasks: registered, judged, cleared, and where each stands. Everything here works in the caller's transaction.

A task stands where its last event left it, and only if the ledger has the record of that event, whole and about the
same: a row alone proves nothing. What is shown to a reviewer, and how it is asked, is elsewhere.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.ledger.evidence import (
    Artifact,
    Evidence,
    Feedback,
    Kind,
    Outcome,
    ReviewerDecision,
    RunContext,
    SpecRef,
    head_after,
    record_id,
)
from agent_fox.core.spec import text_version
from agent_fox.core.values import Json, dataclass, to_document
from agent_fox.store.ledger.ledger import Kept, append
from agent_fox.store.reviews import EventRow, TaskRow, add_event, add_task, events_of, next_event, record_of, task_row
from agent_fox.store.values import storable, to_json

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.review.repositories import Registered

PREFIX = "afx-"
DIGITS = 12
ADVISORY = "the reviewer saw the task's description and the diff; nothing was run"
CLEARED = "a person's password cleared the task; nobody judged the work"


class Word(StrEnum):
    """Where a task stands. `damaged`: its rows and the ledger do not agree."""

    UNKNOWN = "unknown"
    REGISTERED = "registered"
    VERIFIED = "verified"
    REJECTED = "rejected"
    FAILED = "failed"
    CLEARED = "cleared"
    DAMAGED = "damaged"


NOTHING = Artifact()
DECISIONS = {Word.VERIFIED: ReviewerDecision.ACCEPTED, Word.REJECTED: ReviewerDecision.REJECTED}


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a task stands, in a line for people; `data` is what its last event has."""

    task_id: str
    word: Word
    reason: str
    at: str = ""
    data: Mapping[str, Json] = field(default_factory=dict)

    @property
    def is_verified(self) -> bool:
        return self.word is Word.VERIFIED


@dataclass(frozen=True, slots=True)
class Event:
    """Something about to be recorded about a task."""

    word: Word
    data: Mapping[str, Json] = field(default_factory=dict)
    command: str = ""
    log: str = ""
    artifact: Artifact = NOTHING


def register(db: Database, at: str, row: TaskRow, repositories: Sequence[Registered]) -> None:
    """Keep a task with its first event, in the open transaction."""
    add_task(db, row)
    about = {"repositories": to_document(repositories)}
    record(db, at, row, Event(Word.REGISTERED, {"client": row.client}), about)


def record(db: Database, at: str, task: TaskRow, event: Event, more: Mapping[str, Json] | None = None) -> EventRow:
    """Keep what happened to a task, with its record in the ledger, in the open transaction."""
    row = EventRow(next_event(db), at, task.id, event.word.value, as_kept(event.data))
    add_event(db, row)
    append(db, [_evidence(task, row, event, more or {})])
    return row


def as_kept(data: Mapping[str, Json]) -> dict[str, Json]:
    """The data as it is read back from its row, so that the record says the same: half a surrogate pair becomes `?`."""
    kept: dict[str, Json] = json.loads(str(storable(to_json(dict(data)))))
    return kept


def _evidence(task: TaskRow, row: EventRow, event: Event, more: Mapping[str, Json]) -> Evidence:
    reason = row.data.get("feedback") or row.data.get("reason") or ""
    digest = row.data.get("prompt_sha256") or ""
    return Evidence(
        kind=Kind.REVIEW,
        identity=row.identity,
        timestamp=row.at,
        outcome=Outcome(row.kind, str(reason), f"sha256:{digest}" if digest else "", event.log),
        about=SpecRef("task", task.id, text_version(task.description)),
        context=RunContext(command=event.command),
        artifact=event.artifact,
        feedback=_feedback(task, str(reason), digest),
        reviewer_decision=DECISIONS.get(event.word, ReviewerDecision.PENDING),
        limitation=CLEARED if event.word is Word.CLEARED else ADVISORY,
        body={"task": task.id, "event": row.id, "data": dict(row.data), **more},
    )


def _feedback(task: TaskRow, reason: object, prompt: object) -> Feedback:
    """What the reviewer told the agent, for what may once be learned from it."""
    if not reason:
        return Feedback()
    payload = f"sha256:{digest_of(str(reason))}"
    return Feedback("review", payload, f"sha256:{prompt}" if prompt else "", f"task {task.id}")


def standing(db: Database, task_id: str) -> Standing:
    """Where a task stands by what is recorded. Whether the files are still the same is asked by `recheck`."""
    task = task_row(db, task_id)
    if task is None:
        return Standing(task_id, Word.UNKNOWN, "this state knows no such task; the state was lost or lies elsewhere")
    events = events_of(db, task_id)
    if not events or events[0].kind != Word.REGISTERED:
        return Standing(task_id, Word.DAMAGED, "the task was never registered as it should; `agent-fox ledger verify`")
    for event in (events[0], events[-1]):
        trouble = why_not_recorded(task, event, record_of(db, event))
        if trouble:
            what = f"event {event.id} ({event.kind}): {trouble}; run `agent-fox ledger verify`, and register a new task"
            return Standing(task_id, Word.DAMAGED, what, event.at)
    last = events[-1]
    return Standing(task_id, Word(last.kind), _reason(last), last.at, last.data)


def why_not_recorded(task: TaskRow, event: EventRow, kept: Kept | None) -> str:
    """In what the ledger's record of an event is not what the event's row says; empty where they agree."""
    if kept is None:
        return "the ledger has no record of it"
    link = kept.link
    if record_id(kept.content) != link.record_id or head_after(link.previous, link.record_id) != link.head:
        return "its record in the ledger was changed"
    document = kept.document
    about, result, body = document.get("spec_ref"), document.get("result"), document.get("body")
    assert isinstance(about, dict)
    assert isinstance(result, dict)
    assert isinstance(body, dict)
    recorded = (
        document.get("kind"),
        document.get("identity"),
        result.get("status"),
        body.get("task"),
        body.get("event"),
    )
    if recorded != (Kind.REVIEW.value, event.identity, event.kind, task.id, event.id) or body.get("data") != event.data:
        return "its record in the ledger says something else"
    if about.get("version") != text_version(task.description):
        return "the task's description is not the one that was recorded"
    if event.kind == Word.REGISTERED and body.get("repositories") != json.loads(task.repositories):
        return "the task's repositories are not the ones that were recorded"
    return ""


def _reason(event: EventRow) -> str:
    match Word(event.kind):
        case Word.REGISTERED:
            return "not reviewed yet; call todoCompleteAndVerify"
        case Word.VERIFIED:
            return "the reviewer said OK"
        case Word.REJECTED:
            return f"the reviewer said NOK: {event.data.get('feedback', '')}"
        case Word.FAILED:
            return f"the review failed: {event.data.get('reason', '')}"
        case Word.CLEARED:
            return "cleared with the password; nobody judged the work"
    raise AssertionError(event.kind)


def fingerprint(trees: Mapping[str, str]) -> str:
    """One name for what the files of all repositories hold."""
    return digest_of(json.dumps(dict(trees), sort_keys=True))
