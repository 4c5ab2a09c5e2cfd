"""What the engine asks of a tracker, and what a tracker answers. No tracker is here, nor when to file.

One effect is one row of the outbox. Its id is made from the decision, so a decision recorded once asks for
one thing once, however often it is delivered. An issue is known by its fingerprint, which the engine gives; a
tracker never invents one and never searches by title.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, runtime_checkable


class EffectKind(StrEnum):
    """What is to happen to the issue of a fingerprint."""

    FILE = "file"
    COMMENT = "comment"
    CLOSE = "close"
    REOPEN = "reopen"


class StateReason(StrEnum):
    """Why an issue was closed. One closed as not planned is a person's no: it is never opened again by us."""

    COMPLETED = "completed"
    NOT_PLANNED = "not_planned"


@dataclass(frozen=True, slots=True)
class Effect:
    """One change to one issue, as the outbox holds it.

    `body` is Markdown, masked already: the whole issue for FILE, what is added for the others. `state_reason`
    is set where it closes. `members` are the requirement ids it is about, `cause` and `spec` words
    for people, `at` is when it was decided (ISO 8601). `number` is known where an earlier delivery told it.
    `witness` is set where this effect may be out already: an earlier try ended in doubt, and this was the
    newest number known to exist before it.
    """

    id: str
    kind: EffectKind
    fingerprint: str
    title: str
    body: str
    state_reason: StateReason | None = None
    members: tuple[str, ...] = ()
    cause: str = ""
    spec: str = ""
    at: str = ""
    number: str | None = None
    witness: str | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """It stands in the tracker, now or since earlier. `number` is how the tracker calls the issue."""

    number: str
    url: str


@dataclass(frozen=True, slots=True)
class Held:
    """A person must act first; nothing is dropped, and nothing is tried again by itself."""

    reason: str
    remedy: str


@dataclass(frozen=True, slots=True)
class Retry:
    """Surely not delivered; to be tried again, not before the time told (ISO 8601; empty: at any time)."""

    reason: str
    not_before: str = ""


@dataclass(frozen=True, slots=True)
class Unsure:
    """It may have been delivered. Delivered again with a `witness`, the tracker looks before it sends."""

    reason: str


Delivery = Done | Held | Retry | Unsure


@runtime_checkable
class Tracker(Protocol):
    """Where issues go. Called outside the engine's transaction, never by two at a time for one tracker."""

    @property
    def name(self) -> str:
        """The word in `[tracker] kind`."""

    def newest(self) -> str:
        """The newest issue number known to exist, empty if none; kept before each delivery as its witness.

        Never raises.
        """

    def deliver(self, effect: Effect) -> Delivery:
        """Bring the effect about. Safe to repeat: an effect that stands already is Done and changes nothing.

        Never raises for anything the tracker or the network does: that is a Delivery.
        """
