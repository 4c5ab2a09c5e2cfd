"""Carrying out what was decided, after the commit: outbox rows go to the tracker, and what came of it is noted.

Every step is safe to repeat: an effect keeps its id, and a tracker delivers one id once.
"""

from __future__ import annotations

from typing import assert_never

from pydantic import BaseModel, ConfigDict
from sqlite_utils import Database

from agent_fox.engine.watch import RunEvent, Watch
from agent_fox.store import outbox
from agent_fox.store.outbox import OutboxRow
from agent_fox.store.state import transaction
from agent_fox.system import clock
from agent_fox.trackers.protocol import (
    Delivery,
    Done,
    Effect,
    EffectKind,
    Held,
    Retry,
    StateReason,
    Tracker,
    Unsure,
)


def deliver(db: Database, tracker: Tracker, watch: Watch) -> int:
    """Send what is pending, oldest first. Gives how many effects were delivered."""
    delivered = 0
    for row in outbox.undelivered(db, clock.now()):
        newest = tracker.newest()
        with transaction(db):
            outbox.send_outbox(db, row.id, newest, clock.now())
        delivery = tracker.deliver(effect_of(row))
        with transaction(db):
            note_delivery(db, row, delivery)
        watch(RunEvent("issue", text=told(row, delivery)))
        delivered += isinstance(delivery, Done)
    return delivered


class Payload(BaseModel):
    """What an outbox row carries for the tracker."""

    model_config = ConfigDict(frozen=True)

    title: str
    body: str
    members: tuple[str, ...] = ()
    cause: str = ""
    at: str = ""
    state_reason: StateReason | None = None


def effect_of(row: OutboxRow) -> Effect:
    payload = Payload.model_validate(row.payload)
    is_in_doubt = row.state in {"inflight", "unknown"}
    return Effect(
        id=row.id,
        kind=EffectKind(row.kind),
        fingerprint=row.fingerprint,
        title=payload.title,
        body=payload.body,
        state_reason=payload.state_reason,
        members=payload.members,
        cause=payload.cause,
        spec=row.spec_name,
        at=payload.at,
        number=row.number,
        witness=row.witness if is_in_doubt else None,
    )


def note_delivery(db: Database, row: OutboxRow, delivery: Delivery) -> None:
    at = clock.now()
    match delivery:
        case Done(number, url):
            outbox.set_outbox(db, row.id, "done", at)
            outbox.name_issue(db, row.fingerprint, number, url)
        case Held(reason, remedy):
            outbox.set_outbox(db, row.id, "held", at, f"{reason}; {remedy}")
        case Retry(reason, not_before):
            outbox.set_outbox(db, row.id, "pending", at, reason, not_before or None)
        case Unsure(reason):
            outbox.set_outbox(db, row.id, "unknown", at, reason)
        case _:
            assert_never(delivery)


def told(row: OutboxRow, delivery: Delivery) -> str:
    title = str(row.payload.get("title", ""))
    match delivery:
        case Done(_, url):
            return f"{row.kind}: {title} ({url})"
        case Held(reason, remedy):
            return f"{row.kind} held: {title}: {reason}; {remedy}"
        case Retry(reason, _) | Unsure(reason):
            return f"{row.kind} waits: {title}: {reason}"
        case _:
            assert_never(delivery)
