"""What travels between orchestrator and worker, as JSON: the envelope of a launch, its parcel, and its delivery."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pydantic import JsonValue, TypeAdapter, ValidationError

from agent_fox.cluster.deliveries import Delivery
from agent_fox.cluster.packs import Content, Unusable
from agent_fox.cluster.parcels import Parcel
from agent_fox.core.json_text import json_object
from agent_fox.core.late import adapter
from agent_fox.core.markdown import one_line
from agent_fox.core.values import dataclass
from agent_fox.session.infrastructure import Infrastructure

ACTIVITY = "agent_fox.session"
"""The name under which workers offer to run a launch."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """The input of a launch at the engine: who may open it, and where the rest of it is. Times are in seconds."""

    version: str
    node: str
    parcel: Content
    heartbeat: float
    lease: float


@dataclass(frozen=True, slots=True)
class Handed:
    """The result of a launch at the engine. `refused`: why the worker did not run it, and `kind` what was wrong there;
    then there is no delivery.
    """

    number: int
    worker: str
    delivery: Content | None = None
    refused: str = ""
    kind: Infrastructure = Infrastructure.BROKEN_PROGRAM


LONGEST_NAME, LONGEST_REASON = 200, 500
"""Characters."""

LONGEST_LINE = 3 * 1024**3
"""Bytes of a line between two hosts: what travels at once, in base64. What is longer says nothing."""

NAMES = {"Content": Content, "Json": JsonValue}


def named(kind: type) -> TypeAdapter[object]:
    """The modules of these classes name some of their parts for readers of types only."""
    made: TypeAdapter[object] = TypeAdapter(kind)
    made.rebuild(_types_namespace=NAMES)
    return made


_ENVELOPE = adapter(lambda: TypeAdapter(Envelope))
_HANDED = adapter(lambda: TypeAdapter(Handed))
_PARCEL = adapter(lambda: named(Parcel))
_DELIVERY = adapter(lambda: named(Delivery))


def written(message: Envelope | Handed | Parcel | Delivery) -> bytes:
    match message:
        case Envelope():
            return _ENVELOPE.dump_json(message)
        case Handed():
            return _HANDED.dump_json(message)
        case Parcel():
            return _PARCEL.dump_json(message)
    return _DELIVERY.dump_json(message)


def read_envelope(data: bytes) -> Envelope:
    with refused("envelope"):
        return _ENVELOPE.validate_json(data)


def read_handed(data: bytes) -> Handed:
    with refused("result"):
        handed = _HANDED.validate_json(data)
    checked(handed.worker)
    return replace(handed, refused=one_line(handed.refused, LONGEST_REASON))


def read_parcel(data: bytes) -> Parcel:
    with refused("order"):
        parcel = _PARCEL.validate_json(data)
    assert isinstance(parcel, Parcel)
    return parcel


def read_delivery(data: bytes) -> Delivery:
    with refused("delivery"):
        delivery = _DELIVERY.validate_json(data)
    assert isinstance(delivery, Delivery)
    checked(delivery.worker, delivery.version)
    if delivery.host:
        checked(delivery.host)
    return replace(delivery, not_pushed=one_line(delivery.not_pushed, LONGEST_REASON))


def checked(*names: str) -> None:
    """What a worker calls itself is shown and recorded. Raises Unusable."""
    if odd := next((name for name in names if not (0 < len(name) <= LONGEST_NAME and name.isprintable())), None):
        raise Unusable(f"{odd[:80]!r} is no name of a worker, its version or its host")
    if "" in names:
        raise Unusable("a worker without a name, or of no version")


def said_in(line: str | bytes) -> Mapping[str, object]:
    """What a line of two sides says; nothing for one that a login shell printed."""
    return json_object(line) or {}


class refused:
    """Whatever cannot be read as the message that it should be is Unusable."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ValidationError):
            raise Unusable(f"not an {self.what} of agent-fox: {str(error).splitlines()[0]}") from error
