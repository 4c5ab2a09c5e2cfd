"""Order among the issues that are there: how they stand now, and one open issue for a cause. Files nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass

from agent_fox.trackers.desk import LeaseLost, TooSoon
from agent_fox.trackers.github import reading
from agent_fox.trackers.github.door import Absent, RemoteIssue
from agent_fox.trackers.github.reading import DUPLICATE_OF, Marked
from agent_fox.trackers.github.scribe import Scribe, Talk
from agent_fox.trackers.github.trouble import DoorTrouble
from agent_fox.trackers.protocol import Remote, Retry
from agent_fox.trackers.upkeep import Known, Observation, Seeing, Trouble


@dataclass(frozen=True)
class Sweep:
    """Looks and closes through a scribe; where there is none, `trouble` says why."""

    scribe: Scribe | None
    trouble: Trouble | None
    reopen_days: float

    def look(self, known: Iterable[Known]) -> Seeing:
        """How each of these stands now. The list is asked first; where it says something new, the issue itself is."""
        return self._collected(lambda scribe: self._look(scribe, known))

    def sweep(self) -> Seeing:
        """Close what was doubled, with a link to the lowest number; gives the issues that stay."""
        return self._collected(self._sweep)

    def _collected(self, observe: Callable[[Scribe], Iterator[Observation]]) -> Seeing:
        observations: list[Observation] = []
        trouble = self.trouble
        try:
            for observation in observe(self.scribe) if self.scribe else ():
                observations.append(observation)
        except DoorTrouble as error:
            trouble = error.delivery
        except LeaseLost as lost:
            trouble = Retry(str(lost), is_general=True)
        except TooSoon as early:
            trouble = Retry(str(early), early.until, is_general=True)
        return Seeing(tuple(observations), trouble)

    def _look(self, scribe: Scribe, known: Iterable[Known]) -> Iterator[Observation]:
        listed = {issue.number: issue for issue in scribe.search.issues()}
        for known_issue in known:
            number = self._number(scribe, known_issue, listed)
            remote_issue: RemoteIssue | Absent | None = listed.get(number)
            if number and (
                remote_issue is None
                or self._remote(scribe, known_issue, number, remote_issue) is not known_issue.remote
            ):
                remote_issue = self._asked(scribe, number, known_issue.remote)
            remote = self._remote(scribe, known_issue, number, remote_issue) if remote_issue is not None else None
            if remote_issue is not None and remote is not None:
                url = "" if isinstance(remote_issue, Absent) else remote_issue.url
                yield Observation(known_issue.fingerprint, str(number), url, remote)

    def _number(self, scribe: Scribe, one: Known, listed: Mapping[int, RemoteIssue]) -> int:
        """As noted at this desk; else only that of an issue with the mark of the cause. 0 where there is none."""
        noted = scribe.desk.recall(f"filed {one.fingerprint}")
        issue = listed.get(int(one.number)) if one.number.isdecimal() else None
        ours = reading.marked((issue,), scribe.search.creators(), scribe.key) if issue else ()
        return int(noted or (one.number if any(each.marker.fp == one.fingerprint for each in ours) else 0))

    def _asked(self, scribe: Scribe, number: int, left: Remote | None) -> RemoteIssue | Absent | None:
        """The issue itself, or how it is gone; None where that is not to be believed yet."""
        standing = scribe.search.known(number, left is Remote.GONE)
        return None if isinstance(standing, Retry) else standing

    def _remote(self, scribe: Scribe, one: Known, number: int, found: RemoteIssue | Absent) -> Remote | None:
        state = "" if isinstance(found, Absent) else found.state
        is_withdrawn = scribe.is_withdrawn(one.fingerprint, number, state)
        sight = reading.seen(found, one.remote, False, scribe.desk.now(), self.reopen_days, is_withdrawn)
        return reading.as_found(sight, one.remote)

    def _sweep(self, scribe: Scribe) -> Iterator[Observation]:
        creators = scribe.search.creators()
        if not all(creators):
            return
        ours = reading.marked(scribe.search.issues("open"), creators, scribe.key)
        for fingerprint in sorted({each.marker.fp for each in ours}):
            same = sorted((each for each in ours if each.marker.fp == fingerprint), key=lambda each: each.issue.number)
            if len(same) > 1:
                yield from self._of_issue(scribe, same)

    def _of_issue(self, scribe: Scribe, same: list[Marked]) -> Iterator[Observation]:
        """A list may be late: each issue is asked for itself before anything is closed.

        What a person opened again after it was closed here stays open.
        """
        fingerprint = same[0].marker.fp
        asked = [(each.issue.number, scribe.door.issue(each.issue.number)) for each in same]
        is_open = [
            Talk(number, issue, ())
            for number, issue in asked
            if (not isinstance(issue, Absent) and issue.state == "open")
        ]
        doubled = [talk for talk in is_open[1:] if not scribe.desk.recall(f"swept {talk.number}")]
        if not doubled:
            return
        kept = is_open[0]
        for talk in doubled:
            self._close(scribe, fingerprint, talk, kept.number)
        scribe.remember(fingerprint, kept.number)
        yield Observation(fingerprint, str(kept.number), kept.issue.url, Remote.OPEN)

    def _close(self, scribe: Scribe, fingerprint: str, talk: Talk, kept: int) -> None:
        read = scribe.talk(talk.number, talk.issue)
        text = f"Duplicate of #{kept}: both were filed for one cause. What follows is told there.\n"
        if scribe.say(read, fingerprint, {f"{DUPLICATE_OF}{kept}": text}) is None:
            scribe.door.set_state(talk.number, "closed", "duplicate")
            scribe.desk.remember(f"swept {talk.number}", str(kept))
