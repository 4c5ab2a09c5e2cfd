"""What a worker on another host signs about a session: which launch, and what it hands in, by digests."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from agent_fox.core.json_text import json_object
from agent_fox.core.values import dataclass
from agent_fox.evidence.signing import dsse, keys

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from agent_fox.evidence.signing.keys import Signer

PAYLOAD_TYPE = "application/vnd.agent-fox.delivery+json"


@dataclass(frozen=True, slots=True)
class Statement:
    """One delivery. `end`, `objects` and `files` are SHA-256 of what came with it; `commit` is a coder's work."""

    launch: str
    node: str
    attempt: int
    reading: int
    pinned: str
    number: int
    worker: str
    version: str
    end: str
    objects: str
    files: str
    commit: str = ""
    host: str = ""
    """What the host is: its system, machine and Python, in words."""

    @property
    def payload(self) -> bytes:
        return json.dumps(asdict(self), sort_keys=True, separators=(",", ":")).encode()


def signed(statement: Statement, key: Ed25519PrivateKey) -> str:
    return dsse.sign(PAYLOAD_TYPE, statement.payload, key).to_json()


def read(text: str) -> Statement:
    """What an envelope says, whoever signed it. Raises ValueError for anything that is not one such statement."""
    envelope = dsse.Envelope.from_json(text)
    document = json_object(envelope.payload)
    try:
        statement = Statement(**(document or {}))  # type: ignore[arg-type]
    except TypeError as error:
        raise ValueError(f"no statement of a worker: {error}") from error
    if envelope.payload_type != PAYLOAD_TYPE or statement.payload != envelope.payload:
        raise ValueError("no statement of a worker, or spelled in another way")
    return statement


def signers_of(text: str, trusted: tuple[Signer, ...]) -> tuple[str, ...]:
    """Who of those that are trusted for workers signed the envelope. Raises ValueError, KeyTrouble."""
    envelope = dsse.Envelope.from_json(text)
    return tuple(signer.principal for signer in dsse.verified_by(envelope, trusted, keys.WORKERS))
