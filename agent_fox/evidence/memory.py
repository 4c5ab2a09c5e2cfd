"""Whose word an item of regression memory rests on: what a person adds, accepts or forgets counts by a signature, which
is checked again at each use. Everything else comes from verdicts of our own judges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_fox.core.ids import digest_of
from agent_fox.core.ledger.evidence import canonical
from agent_fox.core.memory import SIGNED, Birth, Item, Move, Remembered, Step, life_of
from agent_fox.core.values import dataclass, to_object
from agent_fox.evidence.signing import dsse, keys
from agent_fox.evidence.signing.keys import KeyTrouble
from agent_fox.store.ledger import memory as stored

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.evidence.signing.keys import Signer
    from agent_fox.evidence.waivers import Grounds
    from agent_fox.store.ledger.memory import KeptMove

PAYLOAD_TYPE = "application/vnd.agent-fox.memory+json"
NAMESPACE = keys.WAIVERS
"""Who may accept what is not proven may also say what is to be remembered: the same persons, the same keys."""

UNSIGNED = "nobody who is trusted now has signed it"


class MemoryRefused(ValueError):
    """What a person wants of an item cannot be done; the text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Statement:
    """What a person signs about one item in one repository. `content`: the digest of all that the item says; `step`:
    `born`, `accepted` or `forgotten`."""

    repository: str
    item: str
    content: str
    step: Step
    reason: str
    at: str
    signer: str
    key: str

    def payload(self) -> bytes:
        return canonical({"format": 1, **to_object(self)}).encode()


class _Form(BaseModel, defer_build=True):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    format: Literal[1]
    repository: str
    item: Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
    content: Annotated[str, Field(pattern="^[0-9a-f]{64}$")]
    step: Literal["born", "accepted", "forgotten"]
    reason: Annotated[str, Field(min_length=1)]
    at: str
    signer: str
    key: str


def content_of(item: Item) -> str:
    """SHA-256 of all that an item says, but for its signature and the item that it joins."""
    return digest_of(canonical(to_object(item, without=("envelope", "joins"))))


@lru_cache(maxsize=256)
def statement_in(envelope: str, signers: tuple[Signer, ...]) -> Statement | None:
    """What an envelope says, if the person it names has signed it and is trusted. Raises KeyTrouble."""
    try:
        parsed = dsse.Envelope.from_json(envelope)
        form = _Form.model_validate_json(parsed.payload)
    except (ValueError, ValidationError):
        return None
    statement = Statement(**{**form.model_dump(exclude={"format"}), "step": Step(form.step)})
    if parsed.payload_type != PAYLOAD_TYPE or statement.payload() != parsed.payload:
        return None
    holds = dsse.verified_by(parsed, signers, NAMESPACE)
    is_signed = any((signer.principal, signer.key.id) == (statement.signer, statement.key) for signer in holds)
    return statement if is_signed else None


def vouched_by(grounds: Grounds, item: Item, step: Step, envelope: str) -> str:
    """Who signed a step of an item, as it stands, for this repository; empty where nobody did who is trusted."""
    try:
        statement = statement_in(envelope, grounds.signers) if envelope else None
    except KeyTrouble:
        return ""
    wanted = (grounds.repository, item.id, content_of(item), step)
    if statement is None or (statement.repository, statement.item, statement.content, statement.step) != wanted:
        return ""
    return statement.signer


def is_made_by_trusted(grounds: Grounds, item: Item) -> bool:
    """Whether an item counts: of a verdict, or signed by a person who is trusted now."""
    return item.born is not Birth.PERSON or bool(vouched_by(grounds, item, Step.BORN, item.envelope))


def believed(db: Database, grounds: Grounds, spec_name: str | None = None) -> list[Remembered]:
    """The items that count, where they stand by what counts: an end that nobody trusted signed is none."""
    forged = unsigned_ends(db, grounds)
    items = [each for each in stored.items(db, spec_name) if is_made_by_trusted(grounds, each.item)]
    return [without_end(db, each) if each.item.id in forged else each for each in items]


def unsigned_ends(db: Database, grounds: Grounds) -> Mapping[str, KeptMove]:
    """By item: a step that only a person may make, and nobody signed who is trusted."""
    moves = {kept.item: kept for kept in stored.signed_moves(db)}
    items = {each.item.id: each.item for each in stored.items_named(db, tuple(moves))} if moves else {}
    return {
        number: kept
        for number, kept in moves.items()
        if number in items and not vouched_by(grounds, items[number], kept.move.step, kept.move.envelope)
    }


def without_end(db: Database, each: Remembered) -> Remembered:
    moves = [kept.move for kept in stored.moves_of(db, each.item.id) if kept.move.step not in SIGNED]
    return replace(each, life=life_of(each.item, moves))


def add(db: Database, grounds: Grounds, item: Item) -> Remembered:
    """Keep an item that a person signed, in the open transaction. Raises MemoryRefused."""
    if not vouched_by(grounds, item, Step.BORN, item.envelope):
        raise MemoryRefused(f"{item.address}: {UNSIGNED}; `agent-fox keys trust NAME --for waiver` adds a signer")
    if stored.items_named(db, (item.id,)):
        raise MemoryRefused(f"{item.test.id} of {item.address} is remembered already: agent-fox memory show {item.id}")
    return stored.remember(db, item)


def end(
    db: Database, grounds: Grounds, each: Remembered, step: Step, at: str, reason: str, envelope: str
) -> Remembered:
    """End an item as a person signed it, in the open transaction. Raises MemoryRefused."""
    item = each.item
    if each.life.is_over:
        raise MemoryRefused(f"memory {item.id}: is over already; `agent-fox memory why {item.id}` says how")
    if not vouched_by(grounds, item, step, envelope):
        raise MemoryRefused(f"memory {item.id}: {UNSIGNED}; `agent-fox keys trust NAME --for waiver` adds a signer")
    (now,) = stored.move(db, [(each, Move(step, at, note=reason, envelope=envelope))])
    return now
