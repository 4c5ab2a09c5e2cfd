"""What readings of GitHub mean: which issue is a cause's, how it stands, who has spoken. Pure; asks nobody."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.retry.filing import Says, Seen
from agent_fox.core.values import dataclass
from agent_fox.trackers.desk import seconds_of
from agent_fox.trackers.github import marker
from agent_fox.trackers.github.answers import Absent, RemoteComment, RemoteIssue
from agent_fox.trackers.protocol import Remote

if TYPE_CHECKING:
    from agent_fox.trackers.github.marker import Marker

DAY = 86_400.0
ENOUGH_READINGS = 3
DUPLICATE_OF = "duplicate-of-"
QUICK = (5.0, 30.0, 120.0, 300.0)
"""Seconds between the first readings; then as long as an issue in doubt is looked for at all."""

SETTLED = frozenset({Remote.CLOSED, Remote.FINISHED, Remote.REFUSED, Remote.KEPT})
"""How an issue was left that only a person has open now."""


@dataclass(frozen=True, slots=True)
class Marked:
    """An issue of ours with the mark that shows it."""

    issue: RemoteIssue
    marker: Marker


def is_by(issue: RemoteIssue, creators: Iterable[str]) -> bool:
    """Whether an issue is by one of `creators`."""
    return any(is_same(issue.creator, creator) for creator in creators)


def is_same(login: str, ours: str) -> bool:
    """Whether a login is ours. A token without a known owner writes as a bot, and no person has such a name."""
    return login.lower() == ours.lower() if ours else login.endswith("[bot]")


def by_us(
    comments: Sequence[RemoteComment], issue: RemoteIssue, creators: Collection[str], key: bytes
) -> tuple[RemoteComment, ...]:
    """The same comments, those of strangers without the mark that they have copied from one of ours.

    Ours are by one of `creators`, or by whoever filed the issue, where it is ours.
    """
    filed_by = issue.creator.lower() if marker.read(issue.body, key) is not None else ""
    return tuple(
        comment
        if any(is_same(comment.author, creator) for creator in creators)
        or (filed_by and comment.author.lower() == filed_by)
        else replace(comment, body=f"\n{comment.body}")
        for comment in comments
    )


def marked(issues: Sequence[RemoteIssue], creators: Collection[str], key: bytes) -> tuple[Marked, ...]:
    """Those of our logins with our mark. A mark in a stranger's issue is a copy."""
    read = ((issue, marker.read(issue.body, key)) for issue in issues if is_by(issue, creators) and not issue.is_pull)
    return tuple(Marked(issue, mark) for issue, mark in read if mark is not None)


def chosen(found: Sequence[Marked], fp: str, op: str, stale: Collection[int] = ()) -> RemoteIssue | None:
    """The issue of a cause: the one that `op` made, else the open one with the lowest number, else the latest closed.

    `stale` are numbers that are past: only what is open beside them counts, or was made by `op`.
    """
    ours = sorted((each for each in found if each.marker.fp == fp), key=lambda each: each.issue.number)
    exact = [each.issue for each in ours if each.marker.op == op]
    fresh = [each.issue for each in ours if each.issue.number not in stale]
    is_open = [issue for issue in fresh if issue.state == "open"]
    closed = sorted((issue for issue in fresh if issue.number > max(stale, default=0)), key=_is_kept_and_late)
    return next(iter([*exact, *is_open, *reversed(closed)]), None)


def _is_kept_and_late(issue: RemoteIssue) -> tuple[bool, int]:
    return issue.state_reason != "duplicate", issue.number


def ops_in(comments: Sequence[RemoteComment], fp: str, key: bytes) -> dict[str, RemoteComment]:
    """Our comments about a cause by the operation that wrote them; of several the first."""
    read = ((marker.read(comment.body, key), comment) for comment in reversed(comments))
    return {mark.op: comment for mark, comment in read if mark is not None and mark.fp == fp}


def has_person_spoken(comments: Sequence[RemoteComment], op: str, key: bytes) -> bool:
    """Whether a person wrote after the last of our comments; those of `op`, which is being delivered, set aside.

    The mark tells what is ours, not the login alone: the token may be the person's own. Bots are no persons.
    """
    marks = [marker.read(comment.body, key) for comment in comments]
    last = max((place for place, mark in enumerate(marks) if mark is not None and not mark.is_of(op)), default=-1)
    since = zip(comments[last + 1 :], marks[last + 1 :], strict=True)
    return any(mark is None and not comment.is_bot for comment, mark in since)


def kept_instead(comments: Sequence[RemoteComment], fp: str, key: bytes) -> int | None:
    """The number that our own comment names where we closed an issue as a duplicate."""
    numbers = [op.removeprefix(DUPLICATE_OF) for op in ops_in(comments, fp, key) if op.startswith(DUPLICATE_OF)]
    return next((int(number) for number in numbers if number.isascii() and number.isdigit()), None)


def seen(
    issue: RemoteIssue | Absent, left: Remote | None, has_spoken: bool, now: str, reopen_days: float,
    is_withdrawn: bool = False,
) -> Seen:  # fmt: skip
    """How an issue stands. `left` is how it was left or seen last, as far as we know. `is_withdrawn`: it was closed as
    not planned by us."""
    if isinstance(issue, Absent):
        return Seen.MOVED if issue is Absent.MOVED else Seen.GONE
    if issue.is_pull:
        return Seen.GONE
    if issue.state == "open":
        return Seen.SPOKEN if has_spoken or left in SETTLED else Seen.OPEN
    if issue.state_reason in ("not_planned", "duplicate") and not is_withdrawn:
        return Seen.REFUSED
    if issue.closed_at and seconds_of(now) - seconds_of(issue.closed_at) > reopen_days * DAY:
        return Seen.OLD
    return Seen.PROVEN if left is Remote.CLOSED or is_withdrawn else Seen.FINISHED


_REMOTE = {
    Seen.OPEN: Remote.OPEN,
    Seen.SPOKEN: Remote.OPEN,
    Seen.PROVEN: Remote.CLOSED,
    Seen.FINISHED: Remote.FINISHED,
    Seen.REFUSED: Remote.REFUSED,
    Seen.MOVED: Remote.MOVED,
    Seen.GONE: Remote.GONE,
}


def as_found(sight: Seen, left: Remote | None) -> Remote | None:
    """How an issue stands where nothing is done to it. One that a person wants open stays kept."""
    if sight is Seen.SPOKEN and left in SETTLED:
        return Remote.KEPT
    if sight is Seen.OLD:
        return Remote.CLOSED if left is Remote.CLOSED else Remote.FINISHED
    return _REMOTE.get(sight)


def after(sight: Seen, says: Says, left: Remote | None) -> Remote | None:
    """How an issue stands after the table's act. What fails again is open as any other; a proof ends it, or leaves it
    to the person who spoke."""
    if says is Says.FAILING:
        return Remote.OPEN
    if says is Says.PROOF:
        return Remote.KEPT if sight is Seen.SPOKEN else Remote.CLOSED
    return as_found(sight, left)


def patience(readings: int, grace_seconds: float) -> float:
    """Seconds until the next reading, after so many that did not show what they should have."""
    wait = QUICK[readings - 1] if 0 < readings <= len(QUICK) else grace_seconds
    return max(QUICK[0], min(wait, grace_seconds))


def is_given_up(readings: int, since: str, now: str, grace_seconds: float) -> bool:
    """Whether what is in doubt was surely not delivered: looked for long enough, and often enough.

    A clock that was set back proves nothing: then it is looked for longer.
    """
    return readings >= ENOUGH_READINGS and seconds_of(now) - seconds_of(since) >= grace_seconds
