"""The specification library: what binds a spec now, and every change of it with the author's right to make it.

A person's word counts by its signature, which is checked again at each use. Files are read in `library_files`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_fox.core.formal.specification import (
    Author,
    Change,
    Current,
    Entry,
    NotAllowed,
    Specification,
    State,
    Who,
    allowed,
    current_of,
    synced,
)
from agent_fox.core.ledger.evidence import canonical
from agent_fox.core.values import dataclass, to_object
from agent_fox.evidence.signing import dsse, keys
from agent_fox.evidence.signing.keys import KeyTrouble, Signer
from agent_fox.store import library as stored

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from sqlite_utils import Database

PAYLOAD_TYPE = "application/vnd.agent-fox.specification+json"
NAMESPACE = keys.WAIVERS
"""Who may accept what is not proven may also say what is to be proven: the same persons, the same keys."""

UNSIGNED = "its adoption is signed by nobody who is trusted now; adopt it again, or withdraw it"


@dataclass(frozen=True, slots=True)
class Statement:
    """What a person signs: that one version of one specification is adopted, or withdrawn, in one repository."""

    repository: str
    address: str
    version: str
    state: State
    at: str
    signer: str
    key: str

    def payload(self) -> bytes:
        return canonical({"format": 1, **to_object(self)}).encode()

    def signed_with(self, private: Ed25519PrivateKey) -> str:
        return dsse.sign(PAYLOAD_TYPE, self.payload(), private).to_json()


class _Form(BaseModel, defer_build=True):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)

    format: Literal[1]
    repository: str
    address: str
    version: Annotated[str, Field(pattern="^[0-9a-f]{16}$")]
    state: Literal["adopted", "withdrawn"]
    at: str
    signer: str
    key: str


@lru_cache(maxsize=256)
def statement_in(envelope: str, signers: tuple[Signer, ...]) -> Statement | None:
    """What an envelope says, if the person it names has signed it and is trusted. Raises KeyTrouble."""
    try:
        parsed = dsse.Envelope.from_json(envelope)
        form = _Form.model_validate_json(parsed.payload)
    except (ValueError, ValidationError):
        return None
    statement = Statement(**{**form.model_dump(exclude={"format"}), "state": State(form.state)})
    if parsed.payload_type != PAYLOAD_TYPE or statement.payload() != parsed.payload:
        return None
    holds = dsse.verified_by(parsed, signers, NAMESPACE)
    return (
        statement
        if any((signer.principal, signer.key.id) == (statement.signer, statement.key) for signer in holds)
        else None
    )


@dataclass(frozen=True)
class Trust:
    """Who may adopt, in which repository. `signers` is asked only where a person's word is to be checked."""

    repository: str
    signers: Callable[[], tuple[Signer, ...]]

    def vouches(self, entry: Entry) -> bool:
        """Whether an entry is its spec's own, or is signed, as it stands, by a person who is trusted."""
        if entry.author.who is Who.SPEC:
            return bool(entry.author.name) and entry.author.name == stored.spec_of(entry.specification.address)
        try:
            statement = statement_in(entry.envelope, self.signers())
        except KeyTrouble:
            return False
        wanted = (self.repository, entry.specification.address, entry.version, entry.state)
        return (
            statement is not None
            and (statement.repository, statement.address, statement.version, statement.state) == wanted
        )


def standing(entries: Iterable[Entry]) -> dict[str, Current]:
    """Where each address of a history stands."""
    histories: dict[str, list[Entry]] = {}
    for entry in entries:
        histories.setdefault(entry.specification.address, []).append(entry)
    return {address: current_of(history) for address, history in histories.items()}


def adopted(entries: Iterable[Entry], trust: Trust) -> tuple[Specification, ...]:
    """What counts, by address. An adoption that nobody trusted signed holds back what it binds; a withdrawal by such
    a one takes nothing back.
    """
    counted = [entry for entry in entries if entry.state is not State.WITHDRAWN or trust.vouches(entry)]
    rows = [now.adopted for now in standing(counted).values() if now.adopted is not None]
    vouched_for = [vouched(entry, trust) for entry in rows]
    return tuple(sorted(vouched_for, key=lambda one: one.address))


def vouched(entry: Entry, trust: Trust) -> Specification:
    specification = entry.specification
    if specification.version != entry.version:
        return replace(
            specification, doubt="its row does not fit its version; it was changed by something else than agent-fox"
        )
    return specification if trust.vouches(entry) else replace(specification, doubt=UNSIGNED)


def binding(db: Database, spec_name: str, trust: Trust) -> tuple[Specification, ...]:
    """Everything adopted that is about a requirement of the spec."""
    specifications = adopted(stored.entries_about(db, spec_name), trust)
    return tuple(specification for specification in specifications if specification.is_about(spec_name))


def unweighed(db: Database, spec_name: str) -> tuple[Specification, ...]:
    """The same by the rows alone, for reports: nobody's signature is checked."""
    rows = [now.adopted for now in standing(stored.entries_about(db, spec_name)).values()]
    return tuple(row.specification for row in rows if row is not None and row.specification.is_about(spec_name))


def sync(db: Database, at: str, spec_name: str, wanted: Sequence[Specification]) -> list[Change]:
    """Bring a spec's part of the library in line with its files, in the open transaction. Gives what changed."""
    changes = synced(stored.entries_of_spec(db, spec_name), wanted, Author(Who.SPEC, spec_name))
    stored.add(db, at, changes)
    return changes


def propose(db: Database, at: str, specifications: Iterable[Specification], author: Author) -> list[Change]:
    """Write down what somebody would have checked, in the open transaction; what is there already is left out."""
    known = standing(stored.entries(db))
    changes = [
        Change(specification, State.PROPOSED, author)
        for specification in specifications
        if is_new(specification, known.get(specification.address, Current()))
    ]
    stored.add(db, at, changes)
    return changes


def is_new(one: Specification, now: Current) -> bool:
    return all(entry is None or entry.version != one.version for entry in (now.adopted, now.proposed))


def of_person(db: Database, entry: Entry, state: State, at: str, envelope: str, trust: Trust, note: str) -> Change:
    """Adopt or withdraw by a signed statement, in the open transaction. Raises NotAllowed."""
    statement = statement_in(envelope, trust.signers())
    address = entry.specification.address
    if statement is None:
        remedy = "`agent-fox keys trust NAME --for waiver` adds one"
        raise NotAllowed(f"{address}: this is signed by nobody who is trusted; {remedy}")
    change = Change(entry.specification, state, Author(Who.PERSON, statement.signer), note, envelope)
    now = current_of(stored.entries(db, address))
    if not trust.vouches(replace(entry, state=state, author=change.author, envelope=envelope)):
        raise NotAllowed(f"{address}: the signature is about something else; sign it again")
    stored.add(db, at, [allowed(now, change)])
    return change
