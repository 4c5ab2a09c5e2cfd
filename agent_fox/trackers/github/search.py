"""Looking for the issue of a cause until it is found, or until its absence can be believed. Writes nothing.

A list of issues may lag, or be empty by mistake: that something is not in it counts only where the list shows the
witnesses: the issues that are known to be there. Beyond what the list shows, numbers are asked for one by one.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import count, islice
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.system.clock import later
from agent_fox.trackers.github import reading
from agent_fox.trackers.github.door import Absent, Door, RemoteIssue
from agent_fox.trackers.github.journal import Journal, Sent
from agent_fox.trackers.protocol import Effect, Retry, Unsure

if TYPE_CHECKING:
    from agent_fox.trackers.desk import Desk

MOST_PROBES = 200
MISSING_IN_A_ROW, MOST_GAPS = 5, 10
MOST_WITNESSES = 5
EMPTY_READINGS = 3
SOON = 2.0

Waits = Retry | Unsure


@dataclass(frozen=True, slots=True)
class Listing:
    """One reading of the list of our issues. `top` is the highest number known to exist anywhere in the repository."""

    issues: tuple[RemoteIssue, ...]
    creators: tuple[str, ...]
    is_witnessed: bool
    top: int


@dataclass(frozen=True)
class Search:
    """Looks through a door, remembers at a desk. `grace_seconds`: how long what is in doubt is looked for. `former` are
    logins that filed before, beside those that the desk remembers."""

    door: Door
    desk: Desk
    key: bytes
    grace_seconds: float
    former: tuple[str, ...] = ()

    @property
    def journal(self) -> Journal:
        return Journal(self.desk)

    def creator(self) -> str:
        """Our login; where the token does not give it, the author of our last issue."""
        return self.door.login() or self.desk.recall("login")

    def creators(self) -> tuple[str, ...]:
        """Our login, and those that we had before: an account that was changed has filed what it has filed."""
        return tuple(dict.fromkeys((self.creator(), *self.desk.logins(), *self.former)))

    def issues(self, state: str = "all") -> tuple[RemoteIssue, ...]:
        """All issues of ours, the newest first."""
        creators = self.creators()
        asked = creators if all(creators) else ("",)
        issues = {issue.number: issue for creator in asked for issue in self.door.issues(creator, state)}
        return tuple(sorted(issues.values(), key=lambda issue: issue.number, reverse=True))

    def known(self, number: int, is_gone_before: bool) -> RemoteIssue | Absent | Retry:
        """The issue of a number that is known. That it is not found is believed after some readings, not at once."""
        issue = self.door.issue(number)
        name = f"missing {number}"
        if issue is Absent.MOVED:
            self.door.newest()  # raises where the token may not see anything now
        if issue is not Absent.NONE or is_gone_before:
            if self.desk.recall(name):
                self.desk.remember(name, "")
            return issue
        self.door.newest()  # raises where it is the whole repository that we cannot see
        missed = int(self.desk.recall(name) or 0) + 1
        if missed >= reading.ENOUGH_READINGS:
            return Absent.NONE
        self.desk.remember(name, str(missed))
        return Retry(f"issue #{number} is not found, which is not believed at once", self._in(missed))

    def cause(self, effect: Effect, stale: Collection[int], op: str = "") -> RemoteIssue | Waits | None:
        """The issue of a cause among ours, the numbers of `stale` being past; None where there is surely none.

        `op` is set where one is to be made otherwise: what may be out already is looked for until it is given up.
        """
        listing = self.listing()
        ours = reading.marked(listing.issues, listing.creators, self.key)
        chosen = reading.chosen(ours, effect.fingerprint, effect.id, stale)
        if chosen is not None:
            return chosen
        sent = self.journal.sent(op) if op else None
        known = {issue.number for issue in listing.issues} | {*stale}
        probed = self._probe(effect, listing, sent, known)
        if probed is not None:
            return probed
        if not listing.is_witnessed:
            return self._unwitnessed(effect)
        return None if sent is None else self.still_in_doubt(op, sent)

    def listing(self) -> Listing:
        """Ask for the list of our issues, and for the newest number of all."""
        creators, issues = self.creators(), self.issues()
        if not issues and not self.desk.ours():
            rereadings = (self.issues() for _ in range(EMPTY_READINGS - 1))
            issues = next((again for again in rereadings if again), ())
        shown = max((issue.number for issue in issues), default=0)
        top = max(self.door.newest(), self.desk.newest(), shown)
        self.desk.note_newest(top)
        return Listing(issues, creators, self._is_witnessed(issues, creators), top)

    def _is_witnessed(self, issues: tuple[RemoteIssue, ...], creators: tuple[str, ...]) -> bool:
        """Whether the list shows the issues that we know to be there. Those that are gone are no witnesses, nor
        are those that somebody else has opened."""
        shown = {issue.number for issue in issues}
        lacking = [number for number in self.desk.ours() if number not in shown]
        asked = ((number, self.door.issue(number)) for number in lacking[:MOST_WITNESSES])
        return not any(self._should_be_listed(issue, number, creators) for number, issue in asked)

    def _should_be_listed(self, issue: RemoteIssue | Absent, number: int, creators: tuple[str, ...]) -> bool:
        if isinstance(issue, Absent) or issue.is_pull or not reading.is_by(issue, creators):
            return False
        return (issue.repository.lower(), issue.number) == (self.door.repository.lower(), number)

    def _probe(
        self, effect: Effect, listing: Listing, sent: Sent | None, known: Collection[int]
    ) -> RemoteIssue | Waits | None:
        """Ask for numbers one by one, until some in a row beyond all that is known are not found.

        What may be out is looked for from the number before it, and with each reading further: discussions leave gaps.
        """
        name = f"probed {effect.id}"
        start = min(sent.before, listing.top) if sent else listing.top
        gap = MISSING_IN_A_ROW * min(1 + (sent.readings if sent else 0), MOST_GAPS)
        missing, top, first = 0, listing.top, max(start, int(self.desk.recall(name) or 0)) + 1
        for number in islice(count(first), MOST_PROBES):
            issue = Absent.GONE if number in known else self.door.issue(number)
            missing = missing + 1 if issue is Absent.NONE and number > top else 0
            if isinstance(issue, RemoteIssue):
                self.desk.note_newest(number)
                if reading.chosen(reading.marked((issue,), listing.creators, self.key), effect.fingerprint, effect.id):
                    return issue
            if missing == gap:
                self._note_probed(name, "")
                return None
        self._note_probed(name, str(first + MOST_PROBES - 1 - missing))
        return self._wait(effect, f"numbers after #{start} are still being looked through", self._in(0))

    def _note_probed(self, name: str, value: str) -> None:
        """Remember how far it came; a long search keeps the lease. Raises LeaseLost."""
        if self.desk.recall(name) != value:
            self.desk.remember(name, value)
        self.desk.keep()

    def _unwitnessed(self, effect: Effect) -> Waits:
        """The list does not show what it must: read again, a few times soon, then ever later."""
        name = f"unwitnessed {effect.id}"
        times = int(self.desk.recall(name) or 0) + 1
        self.desk.remember(name, str(times))
        until = later(self.desk.now(), min(SOON * 2.0 ** min(times - 1, 20), max(SOON, self.grace_seconds)))
        return self._wait(effect, "the list of issues lags: it does not show issues that are there", until)

    def lagging(self, effect: Effect) -> Waits | None:
        """What to say where the list of comments shows fewer than there are; None once that was seen often enough:
        some may be hidden for good."""
        name = f"comments lag {effect.id}"
        times = int(self.desk.recall(name) or 0) + 1
        if times > len(reading.QUICK) + 1:
            return None
        self.desk.remember(name, str(times))
        return self._wait(effect, "the list of comments lags: it shows fewer than there are", self._in(times))

    def still_in_doubt(self, op: str, sent: Sent) -> Unsure | None:
        """Count one more reading that lacks what may be out; None where it is given up, and may be sent again."""
        counted = self.journal.note_reading(op) or sent
        if reading.is_given_up(counted.readings, counted.at, self.desk.now(), self.grace_seconds):
            return None
        reason = f"it may have been filed at {sent.at}; looked for {counted.readings} times"
        return Unsure(reason, self._in(counted.readings), counted.readings)

    def _wait(self, effect: Effect, reason: str, until: str) -> Waits:
        return Retry(reason, until) if effect.witness is None else Unsure(reason, until)

    def _in(self, readings: int) -> str:
        return later(self.desk.now(), reading.patience(readings or 1, self.grace_seconds))
