"""What travels between orchestrator and worker, as JSON: the envelope of a launch, its parcel, and its delivery."""

from __future__ import annotations

import json
from collections.abc import Mapping

from pydantic import JsonValue, TypeAdapter, ValidationError

from agent_fox.cluster.deliveries import Delivery
from agent_fox.cluster.packs import Content, Unusable
from agent_fox.cluster.parcels import Parcel
from agent_fox.core.late import adapter
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
        return _HANDED.validate_json(data)


def read_parcel(data: bytes) -> Parcel:
    with refused("order"):
        parcel = _PARCEL.validate_json(data)
    assert isinstance(parcel, Parcel)
    return parcel


def read_delivery(data: bytes) -> Delivery:
    with refused("delivery"):
        delivery = _DELIVERY.validate_json(data)
    assert isinstance(delivery, Delivery)
    return delivery


def said_in(line: str | bytes) -> Mapping[str, object]:
    """What a line of two sides says; nothing for one that a login shell printed."""
    try:
        document = json.loads(line)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


class refused:
    """Whatever cannot be read as the message that it should be is Unusable."""

    def __init__(self, what: str) -> None:
        self.what = what

    def __enter__(self) -> None: ...

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, ValidationError | json.JSONDecodeError):
            raise Unusable(f"not an {self.what} of agent-fox: {str(error).splitlines()[0]}") from error
