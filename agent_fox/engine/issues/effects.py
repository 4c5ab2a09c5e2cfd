"""Carrying out what was decided, after the commit: outbox rows go to the tracker, and what came of it is noted.

Every step is safe to repeat: an effect keeps its id, and a tracker delivers one id once. Of each issue the oldest
effect goes first. Who calls this, and when, is in `courier`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from pydantic import BaseModel, ConfigDict

from agent_fox.core.retry.filing import Says
from agent_fox.engine.record.watch import RunEvent, Watch
from agent_fox.store import outbox
from agent_fox.store.desk import HOME, home_of_issue, remember
from agent_fox.store.state import transaction
from agent_fox.system import clock
from agent_fox.system.clock import later
from agent_fox.trackers.desk import Desk, WorksAtADesk
from agent_fox.trackers.facts import IssueFacts, IssueStatus
from agent_fox.trackers.protocol import (
    Delivery,
    Done,
    Effect,
    EffectKind,
    Held,
    Moot,
    Placed,
    Remote,
    Retry,
    StateReason,
    Tracker,
    Unsure,
)

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.store.outbox import OutboxRow

SHORTEST_WAIT, LONGEST_WAIT = 5.0, 900.0
"""Seconds before an effect is tried again where the tracker told no time; it doubles with each try."""

LONGEST_LIMIT = 7200.0
"""Seconds that a tracker may ask everybody to wait. A time further away was told before the clock jumped back."""

NOT_BEFORE, WHY_NOT_BEFORE = "not before", "why not before"
FIXED = "fixed before it was sent"
TOLD_LATER = "told in a later comment"


@dataclass(slots=True)
class Passed:
    """What one pass brought about. `why_stopped`: why nothing more may be sent now, empty where everything due was.

    `found`: how many effects were done that had been in doubt: what was in doubt may have been done twice.
    """

    delivered: int = 0
    found: int = 0
    why_stopped: str = ""


def deliver(db: Database, tracker: Tracker, watch: Watch) -> int:
    """Send what is due, each effect once at most. Gives how many effects were delivered."""
    return Delivering(db, tracker, watch).go().delivered


@dataclass(frozen=True)
class Delivering:
    """Deliveries over one connection, at a desk where the tracker works at one. `is_over` is asked between effects."""

    db: Database
    tracker: Tracker
    watch: Watch
    now: Callable[[], str] = clock.now
    desk: Desk | None = None
    is_over: Callable[[], bool] = lambda: False

    def go(self) -> Passed:
        """Send what is due, until nothing is that was not tried in this pass."""
        passed, tried = Passed(why_stopped=self.why_closed()), set[str]()
        while not passed.why_stopped and not self.is_over():
            row = next((due for due in outbox.due(self.db, self.now()) if due.id not in tried), None)
            if row is None:
                break
            tried.add(row.id)
            self.one(row, passed)
        return passed

    def why_closed(self) -> str:
        """Why nothing may be sent now: too soon, for the reason that was told, or another process delivers there."""
        if self.desk is None:
            return ""
        until = self.desk.recall(NOT_BEFORE)
        if until > self.now() and until <= later(self.now(), LONGEST_LIMIT):
            return self.desk.recall(WHY_NOT_BEFORE)
        return "" if self.desk.hold() else f"another agent-fox delivers to {self.desk.place} just now"

    def one(self, row: OutboxRow, passed: Passed) -> None:
        """Send one effect, and note what came of it."""
        why = self.why_moot(row)
        delivery = Moot(why) if why else self.why_elsewhere(row) or self.send(row)
        if delivery is None:
            return
        with transaction(self.db):
            note_delivery(self.db, row, delivery, self.now(), home_of(self.tracker))
        passed.delivered += isinstance(delivery, Done)
        passed.found += isinstance(delivery, Done) and row.is_in_doubt
        passed.why_stopped = self.why_stopped(delivery)
        if not passed.why_stopped and not is_known(row, delivery):
            self.watch(RunEvent("issue", text=describe(row, delivery)))

    def send(self, row: OutboxRow) -> Delivery | None:
        """None where it was settled meanwhile."""
        tracker = self.tracker
        if self.desk is not None and isinstance(tracker, WorksAtADesk):
            tracker = tracker.at(self.desk)
        newest = tracker.newest()
        with transaction(self.db):
            is_open = outbox.send_outbox(self.db, row.id, newest, self.now())
        effect = effect_of(row, newest, is_one_comment=self.desk is not None)
        return tracker.deliver(effect) if is_open else None

    def why_moot(self, row: OutboxRow) -> str:
        """What nobody has heard of need not be told where the tracker is far away: it is over, or told later."""
        if self.desk is None or row.is_in_doubt:
            return ""
        later_ones = outbox.followers(self.db, row)
        is_told = not row.number and says_of(row) is not Says.PROOF
        if is_told and any(says_of(later) is Says.PROOF for later in later_ones):
            return FIXED
        slot = row.payload.get("slot")
        is_again = slot and any(later.payload.get("slot") == slot and later.kind == row.kind for later in later_ones)
        return TOLD_LATER if is_again else ""

    def why_elsewhere(self, row: OutboxRow) -> Held | None:
        """What is to be said of an issue in another kind of tracker is not said here, where nobody knows it."""
        if row.payload.get("target"):
            remedy = "run `agent-fox issues sync --tracker github`"
            what = f"this is for GitHub, and issues go to {self.tracker.name} now"
            return None if isinstance(self.tracker, WorksAtADesk) else Held(what, remedy)
        if not row.number:
            return None
        home = home_of_issue(self.db, row.fingerprint, row.url)
        kind = home.partition(" ")[0]
        if kind in ("", self.tracker.name):
            return None
        what = f"issue {row.number} of this cause is in the tracker {home}, and issues go to {self.tracker.name} now"
        return Held(what, f"run `agent-fox issues migrate`, or `agent-fox issues sync --tracker {kind}`")

    def why_stopped(self, delivery: Delivery) -> str:
        """Why nothing else is to be tried after this one."""
        match delivery:
            case Held(reason, remedy, is_general=True):
                return f"{reason}; {remedy}"
            case Retry(reason, is_general=True):
                note_limit(self.desk, delivery)
                return reason
            case _:
                return ""


def note_limit(desk: Desk | None, trouble: Delivery | None) -> None:
    """Where a tracker asked everybody to wait, that is kept for every process, until the time it told."""
    if desk is not None and isinstance(trouble, Retry) and trouble.is_general and trouble.not_before:
        desk.remember(NOT_BEFORE, trouble.not_before)
        desk.remember(WHY_NOT_BEFORE, trouble.reason)


class Payload(BaseModel, defer_build=True):
    """What an outbox row carries for the tracker."""

    model_config = ConfigDict(frozen=True)

    title: str = ""
    body: str = ""
    members: tuple[str, ...] = ()
    cause: str = ""
    at: str = ""
    state_reason: StateReason | None = None
    says: Says | None = None
    slot: str = ""
    so_far: str = ""
    target: str = ""
    work: tuple[str, ...] = ()
    facts: tuple[IssueFacts, ...] = ()
    status: IssueStatus | None = None


def says_of(row: OutboxRow) -> Says:
    """What the row says of its cause; rows of older formats tell by their kind alone."""
    word = row.payload.get("says")
    if word is not None:
        return Says(str(word))
    by_kind = {EffectKind.CLOSE: Says.PROOF, EffectKind.COMMENT: Says.PROGRESS}
    return by_kind.get(EffectKind(row.kind), Says.FAILING)


def effect_of(row: OutboxRow, before: str = "", *, is_one_comment: bool = False) -> Effect:
    """The row as a tracker is handed it. `before` is the newest number that is known now; `is_one_comment`: comments of
    one slot are one there, so each holds what was told before it.
    """
    payload = Payload.model_validate(row.payload)
    return Effect(
        id=row.id,
        kind=EffectKind(row.kind),
        fingerprint=row.fingerprint,
        title=payload.title,
        body=(is_one_comment and payload.so_far) or payload.body,
        state_reason=payload.state_reason,
        members=payload.members,
        cause=payload.cause,
        spec=row.spec_name,
        at=payload.at,
        number=row.number,
        witness=(row.witness or "") if row.is_in_doubt else None,
        says=says_of(row),
        slot=payload.slot,
        facts=payload.facts,
        status=payload.status,
        remote=Remote(row.remote) if row.remote else None,
        parent=row.parent_number or "",
        target=payload.target,
        work=payload.work,
        before=before,
        since=row.sent_at,
        readings=row.readings,
        episode=row.episode,
    )


def home_of(tracker: Tracker) -> str:
    """The tracker as its kind, and its place where it tells one: what an issue's own is held against."""
    place = tracker.place if isinstance(tracker, Placed) else ""
    return f"{tracker.name} {place}".strip()


def note_delivery(db: Database, row: OutboxRow, delivery: Delivery, at: str, home: str = "") -> None:
    """What came of it, in the open transaction. What was in doubt before stays so until it is found or given up.

    Another process may have settled it meanwhile, while this one was held up: then nothing is noted.
    """
    if outbox.is_settled(db, row.id):
        return
    doubt, readings_before = row.is_in_doubt, row.readings
    match delivery:
        case Done(number, url, remote, note):
            outbox.set_outbox(db, row.id, "done", at, note)
            outbox.name_issue(db, row.fingerprint, number, url, remote or "", at)
            if home and not row.payload.get("target"):
                remember(db, "", f"{HOME}{row.fingerprint}", home)
        case Moot(reason, remote):
            outbox.set_outbox(db, row.id, "moot", at, reason)
            if remote:
                outbox.note_remote(db, row.fingerprint, remote, at)
        case Held(reason, remedy):
            note = f"{reason}; {remedy}"
            outbox.set_outbox(db, row.id, "held", at, note, is_in_doubt=doubt, readings=readings_before)
        case Retry(reason, not_before):
            state, when = "unknown" if doubt else "pending", not_before or next_try(row, at)
            outbox.set_outbox(db, row.id, state, at, reason, when, is_in_doubt=doubt, readings=readings_before)
        case Unsure(reason, not_before, readings):
            known, when = readings_before if readings is None else readings, not_before or next_try(row, at)
            outbox.set_outbox(db, row.id, "unknown", at, reason, when, is_in_doubt=True, readings=known)
        case _:
            assert_never(delivery)


def next_try(row: OutboxRow, at: str) -> str:
    """When to try again, where the tracker told no time."""
    return later(at, min(LONGEST_WAIT, SHORTEST_WAIT * 2.0 ** min(row.tries, 10)))


def is_known(row: OutboxRow, delivery: Delivery) -> bool:
    """Whether it waits for the same reason as when it was tried last: told then."""
    return isinstance(delivery, Retry | Unsure) and delivery.reason == row.note


def describe(row: OutboxRow, delivery: Delivery) -> str:
    """One line for people: what came of an effect."""
    title = str(row.payload.get("title", ""))
    match delivery:
        case Done(number, url, _, note):
            kind = EffectKind.FILE if row.number and row.number != number else row.kind
            return f"{kind}: {title} ({url})" + (f"; {note}" if note else "")
        case Moot(reason):
            return f"{row.kind} not needed: {title}: {reason}"
        case Held(reason, remedy):
            return f"{row.kind} held: {title}: {reason}; {remedy}"
        case Retry(reason) | Unsure(reason):
            return f"{row.kind} waits: {title}: {reason}"
        case _:
            assert_never(delivery)
