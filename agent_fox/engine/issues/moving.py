"""Open issues of a former tracker, moved to the present one: left, filed anew by the outbox, noted on the old ones.

Each step is safe to repeat, and is known from the state alone: whoever is killed goes on where it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from agent_fox.core.ids import digest_of
from agent_fox.core.markdown import one_line
from agent_fox.core.retry.filing import Says
from agent_fox.core.values import dataclass
from agent_fox.store import outbox
from agent_fox.store.desk import HOME, MOVED, all_remembered, forget, home_of_issue, remember
from agent_fox.store.issue_view import IssueView, read_issues
from agent_fox.store.state import transaction
from agent_fox.trackers.protocol import Effect, EffectKind, Remote, StateReason, Tracker
from agent_fox.trackers.upkeep import KeepsOrder, Known, Observation

if TYPE_CHECKING:
    from sqlite_utils import Database

TOLD_THERE = "told by the issue that takes its place in another tracker"
_LONGEST_TITLE = 200


@dataclass(frozen=True, slots=True)
class Former:
    """An issue as it was left: `home` is the kind and the place of its tracker, `name` where this is kept."""

    fingerprint: str
    title: str
    spec: str
    home: str
    number: str
    url: str
    name: str = ""

    @property
    def kind(self) -> str:
        return self.home.partition(" ")[0]


def elsewhere(db: Database, home: str) -> Iterator[tuple[IssueView, str]]:
    """Every issue that is filed in another tracker than `home`, with that tracker."""
    for issue in read_issues(db):
        own = home_of_issue(db, issue.fingerprint, issue.where) if issue.number else ""
        if own not in ("", home):
            yield issue, own


def why_stays(issue: IssueView, sight: Remote | None) -> str:
    """Why an issue is not moved; empty for one that is open and wanted open. `sight`: how it was seen there now."""
    if sight in (Remote.REFUSED, Remote.FINISHED):
        return f"{sight}: a person decided that"
    if issue.state == "closed":
        return "it is settled: only its closing is still to be sent" if issue.standing.is_open else "it is closed"
    return "" if issue.standing.is_open else str(issue.standing)


def leave(db: Database, issue: IssueView, former: str, home: str, at: str) -> str:
    """Have the issue filed in the tracker `home`: one transaction. Gives why that can't be; empty where it was done.

    What was still to be said of the old one is said by the new one, whose text is the newest that there is.
    """
    with transaction(db):
        again = next((each for each in read_issues(db) if each.fingerprint == issue.fingerprint), None)
        if again is None or (again.number, again.episode) != (issue.number, issue.episode):
            return ""  # another process was here
        last = outbox.last_failing(db, issue.fingerprint)
        if last is None:
            return "the state does not say why it is open"
        spec, payload = last
        room = outbox.room_to_file(db, issue.fingerprint, spec)
        if room is None:
            return "it was moved too often since the last decision about it; run `agent-fox run` first"
        outbox.settle_waiting(db, issue.fingerprint, TOLD_THERE, at)
        outbox.leave_issue(db, issue.fingerprint, at)
        text = {**payload, "says": Says.FAILING.value, "slot": "", "at": at}
        outbox.put(db, *room, issue.fingerprint, spec, text, at)
        remember(db, "", f"{HOME}{issue.fingerprint}", home)
        moved = {"home": former, "number": issue.number, "url": issue.where, "title": issue.title, "spec": spec}
        remember(db, "", f"{MOVED}{issue.fingerprint} {issue.episode}", json.dumps(moved))
    return ""


def unnoted(db: Database) -> Iterator[tuple[Former, str]]:
    """Each issue that was left and does not say yet where its cause goes on, and the address of that."""
    urls = {issue.fingerprint: issue.where for issue in read_issues(db) if issue.number}
    for name, value in all_remembered(db, "", MOVED):
        fingerprint, moved = name.partition(" ")[0], json.loads(value)
        if fingerprint in urls:
            former = Former(
                fingerprint, moved["title"], moved["spec"], moved["home"], moved["number"], moved["url"], name
            )
            yield former, urls[fingerprint]


def noted(db: Database, former: Former) -> None:
    with transaction(db):
        forget(db, "", f"{MOVED}{former.name}")


def is_same_issue(tracker: Tracker, former: Former, url: str) -> bool:
    """Whether the old address leads to the new issue: a repository was renamed, and nothing was moved."""
    return any(seen.url == url for seen in _seen(tracker, former.fingerprint, former.number))


def sight_of(tracker: Tracker, fingerprint: str, number: str) -> Remote | None:
    """How an issue stands there now; None where that can't be told."""
    return next((seen.remote for seen in _seen(tracker, fingerprint, number)), None)


def _seen(tracker: Tracker, fingerprint: str, number: str) -> tuple[Observation, ...]:
    if not isinstance(tracker, KeepsOrder):
        return ()
    return tracker.look((Known(fingerprint, number),)).observations


def note_of(former: Former, url: str, at: str) -> Effect:
    """What closes the old issue, with the place where its cause goes on; of one id, however often it is sent."""
    id = digest_of("moved", former.home, former.name, digits=24)
    return Effect(
        id=id,
        kind=EffectKind.CLOSE,
        fingerprint=former.fingerprint,
        title=one_line(former.title, _LONGEST_TITLE),
        body=f"Moved to {url}. There will be no further updates here.",
        state_reason=StateReason.NOT_PLANNED,
        spec=former.spec,
        at=at,
        number=former.number,
        says=Says.PROOF,
    )
