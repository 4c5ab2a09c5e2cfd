"""What a tracker that is far away can be asked beside delivering: how issues stand now, and to put them in order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, runtime_checkable

from agent_fox.core.values import dataclass
from agent_fox.trackers.protocol import Delivery, Held, Remote, Retry, Unsure

Trouble = Held | Retry | Unsure


@dataclass(frozen=True, slots=True)
class Known:
    """An issue as we know it: the fingerprint it is about, its number, how it was left or seen last."""

    fingerprint: str
    number: str
    remote: Remote | None = None


@dataclass(frozen=True, slots=True)
class Observation:
    """An issue as it stands in the tracker now."""

    fingerprint: str
    number: str
    url: str
    remote: Remote


@dataclass(frozen=True, slots=True)
class Seeing:
    """What was observed, and why it is not all, where it is not."""

    observations: tuple[Observation, ...] = ()
    trouble: Trouble | None = None


@runtime_checkable
class KeepsOrder(Protocol):
    """A tracker where people act, and where two processes may have filed for one cause."""

    def look(self, known: Iterable[Known]) -> Seeing:
        """How each of these stands now; those of which nothing is known are left out. Never raises."""

    def sweep(self) -> Seeing:
        """Close all open issues of ours but one for each fingerprint; gives those that stay. Never raises."""

    def adopt(self, number: int, fingerprint: str) -> Delivery:
        """Take an issue that is there as the one of a cause. Never raises."""


@dataclass(frozen=True, slots=True)
class PersonsIssue:
    """An issue that a person wrote. `source` names it as specs do: `OWNER/NAME#NUMBER`."""

    number: int
    title: str
    body: str
    author: str
    source: str


@runtime_checkable
class ReadsIssues(Protocol):
    """A tracker whose other issues can be read, too."""

    def read_issue(self, number: int) -> PersonsIssue | Trouble:
        """One that a person wrote. Held for one that is none, is not there, or is ours. Never raises."""


@dataclass(frozen=True, slots=True)
class Command:
    """What a person asks for in a comment on an issue of ours: the words after `/agent-fox`, and what stands below.

    `id` is the comment's own, `number` the issue's. `refusal` says why it is not to be done, where the tracker knows;
    empty for one from somebody who may ask for it.
    """

    id: str
    number: str
    fingerprint: str
    author: str
    words: tuple[str, ...]
    below: str = ""
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class Commands:
    """Commands that were not read before, why they are not all, and what is to be remembered of the place once they are
    kept: names and values."""

    commands: tuple[Command, ...] = ()
    trouble: Trouble | None = None
    seen: tuple[tuple[str, str], ...] = ()


@runtime_checkable
class ReadsCommands(Protocol):
    """A tracker in whose comments people can ask for something."""

    def commands(self, known: Iterable[Known]) -> Commands:
        """New commands on these issues. Safe to repeat until `seen` is remembered. Never raises."""
