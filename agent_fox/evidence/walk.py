"""Along the chain, one record at a time: whether it stands where it stands, and is what its address names.

A walk is a value, so that a check can be taken up again anywhere. Where records come from is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator

from agent_fox.core.ledger.evidence import GENESIS, Evidence, Link, head_after, record_id
from agent_fox.core.values import dataclass
from agent_fox.evidence.documents import evidence_of
from agent_fox.evidence.faults import Fault

MOVED = "records were removed, moved, repeated or put in between"
REWRITTEN = "it was changed after it was recorded"
UNCHAINED = "a record before it was removed, changed or moved"
SET_BACK = "it was put in later, or its time was changed"


@dataclass(frozen=True, slots=True)
class Entry:
    """A record as somebody hands it over: its place, and its content as text."""

    link: Link
    content: str


@dataclass(frozen=True, slots=True)
class Walk:
    """How far the chain was followed: the last position, the head there, its time."""

    position: int = 0
    head: str = GENESIS
    at: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One record further. `record` is None where its content cannot be read."""

    walk: Walk
    record: Evidence | None
    faults: tuple[Fault, ...]


def step(walk: Walk, entry: Entry) -> Step:
    """Take the next record. The walk goes on from what that record says, so that one change is one place."""
    record, unread = _read(entry)
    faults = (*unread, *_misplaced(walk, entry.link), *_misnamed(entry), *_untimely(walk, entry, record))
    at = record.timestamp if record else walk.at
    return Step(Walk(entry.link.position, entry.link.head, at), record, faults)


def _read(entry: Entry) -> tuple[Evidence | None, tuple[Fault, ...]]:
    try:
        return evidence_of(entry.content), ()
    except ValueError as error:
        return None, (Fault(entry.link.position, f"its content cannot be read ({error})", REWRITTEN),)


def _misplaced(walk: Walk, link: Link) -> Iterator[Fault]:
    if link.position != walk.position + 1:
        yield Fault(link.position, f"record {link.position} follows record {walk.position}", MOVED)
    if link.previous != walk.head:
        yield Fault(link.position, "it is not chained to the record in front of it", UNCHAINED)


def _misnamed(entry: Entry) -> Iterator[Fault]:
    link = entry.link
    if record_id(entry.content) != link.record_id:
        yield Fault(link.position, "its address is not the hash of its content", REWRITTEN)
    if head_after(link.previous, link.record_id) != link.head:
        yield Fault(link.position, "its head does not follow from its address", REWRITTEN)


def _untimely(walk: Walk, entry: Entry, record: Evidence | None) -> Iterator[Fault]:
    if record and record.timestamp < walk.at:
        what = f"its time {record.timestamp} is before that of the record in front of it, {walk.at}"
        yield Fault(entry.link.position, what, SET_BACK)
