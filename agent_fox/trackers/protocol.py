"""What the engine asks of a tracker, and what a tracker answers. No tracker is here, nor when to file.

One effect is one row of the outbox. Its id is made from the decision, so a decision recorded once asks for
one thing once, however often it is delivered. An issue is known by its fingerprint, which the engine gives; a
tracker never invents one and never searches by title.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from agent_fox.core.retry.filing import Says
from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.trackers.facts import IssueFacts, IssueStatus


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


class Remote(StrEnum):
    """How an issue was left in the tracker, or last seen there."""

    OPEN = "open"
    CLOSED = "closed"
    FINISHED = "closed by a person"
    REFUSED = "refused by a person"
    KEPT = "kept open by a person"
    MOVED = "moved"
    GONE = "deleted"


@dataclass(frozen=True, slots=True)
class Effect:
    """One change to one issue, as the outbox holds it.

    `body` is Markdown, masked already: the whole issue for FILE, what is added for the others. `facts` are what it was
    made from, one for each spec, where a tracker writes it in its own way. `says` what it is about, by which a tracker
    looks up what to do (`core.filing`). `status` is what title and top of the issue say from then on. `state_reason` is
    set where it closes. `members` are the requirement ids it is about, `cause` and `spec` words for people, `at` is
    when it was decided (ISO 8601, UTC). Comments of one `slot` are one comment, written anew.

    `number` is known where an earlier delivery told it, `remote` how that left the issue, `parent` the number of the
    issue that this one is a part of. `target` (`OWNER/NAME#NUMBER`, or `#NUMBER`) names a person's issue that is
    commented: no issue of ours is meant then. On GitHub it may also be `pull:BRANCH` or `pull:BRANCH:BASE`, the pull
    request of a branch, and `checks:COMMIT`, what a commit is said to be worth, the body being a JSON list of checks.
    `work` are commits of the coders whose work fails. `before` is the newest number that was known when this sending
    was noted. `witness` is set where this effect may be out already: an earlier try, first sent at `since`, ended in
    doubt, and this was the newest number known to exist before it; `readings` counts those that should have shown it
    and did not.
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
    says: Says = Says.FAILING
    slot: str = ""
    facts: tuple[IssueFacts, ...] = ()
    status: IssueStatus | None = None
    remote: Remote | None = None
    parent: str = ""
    target: str = ""
    work: tuple[str, ...] = ()
    before: str = ""
    since: str = ""
    readings: int = 0
    episode: int = 1


@dataclass(frozen=True, slots=True)
class Done:
    """It stands in the tracker, now or since earlier. `number` is how the tracker calls the issue.

    `remote` says how the issue stands there now, where the tracker knows; `note` what a person should know of it.
    """

    number: str
    url: str
    remote: Remote | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Moot:
    """Nothing is to be done (any more), and nothing was: the reason, and how the issue stands where there is one."""

    reason: str
    remote: Remote | None = None


@dataclass(frozen=True, slots=True)
class Held:
    """A person must act first; nothing is dropped, and nothing is tried again by itself.

    `is_general`: it holds for everything this tracker is asked, not for this effect alone.
    """

    reason: str
    remedy: str
    is_general: bool = False


@dataclass(frozen=True, slots=True)
class Retry:
    """Surely not delivered; to be tried again, not before the time told (ISO 8601; empty: at any time).

    `is_general`: nothing else may be sent before that either.
    """

    reason: str
    not_before: str = ""
    is_general: bool = False


@dataclass(frozen=True, slots=True)
class Unsure:
    """It may have been delivered. Delivered again with a `witness`, the tracker looks before it sends.

    `readings` is set where it looked: how many readings by now should have shown it and did not.
    """

    reason: str
    not_before: str = ""
    readings: int | None = None


Delivery = Done | Moot | Held | Retry | Unsure


@runtime_checkable
class Placed(Protocol):
    """A tracker that knows where it writes to; empty where that is unknown."""

    @property
    def place(self) -> str: ...


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
