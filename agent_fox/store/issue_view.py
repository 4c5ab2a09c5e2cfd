"""What is known of every issue: how it stands, what it is about, what still waits to be delivered. Read-only, light.

Nothing here asks a tracker: how an issue stands there is what its last delivery told, or the last look at it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from sqlite_utils import Database


class IssueStanding(StrEnum):
    """How an issue stands, as far as it is known here. The words of `Remote`, and two for one without a number."""

    OPEN = "open"
    WAITING = "not delivered yet"
    KEPT = "kept open by a person"
    CLOSED = "closed"
    FINISHED = "closed by a person"
    REFUSED = "refused by a person"
    MOVED = "moved"
    GONE = "deleted"
    NEVER = "never filed"

    @property
    def is_open(self) -> bool:
        return self in {IssueStanding.OPEN, IssueStanding.WAITING, IssueStanding.KEPT}


def told_members(members: Iterable[tuple[str, str, bool]]) -> list[tuple[str, str, bool]]:
    """Those that people are told of, as (spec, requirement, is it open): a spec as a whole only where none of its
    requirements is open, for once it was read, what is open of it has names."""
    listed = list(members)
    named = {spec for spec, part, is_open in listed if part and is_open}
    return [member for member in listed if member[1] or member[0] not in named]


@dataclass(frozen=True, slots=True)
class Member:
    """One requirement of an issue; an empty one stands for the spec as a whole."""

    spec: str
    requirement: str
    is_open: bool


@dataclass(frozen=True, slots=True)
class Episode:
    """An earlier issue of the same cause."""

    episode: int
    number: str
    url: str
    ended_at: str


@dataclass(frozen=True, slots=True)
class EffectView:
    """One effect on an issue: what was to be done, how far that is, and why it waits.

    `payload` is what was handed over (JSON), `body` the text in it.
    """

    id: str
    kind: str
    spec: str
    at: str
    state: str
    tries: int
    note: str
    not_before: str
    body: str
    payload: str

    @property
    def is_settled(self) -> bool:
        return self.state in {"done", "moot"}


@dataclass(frozen=True, slots=True)
class IssueView:
    """One issue. `state` is what we want it to be, `remote` how the tracker was left or last seen; `where` its address.

    `since` is when it was first decided, `seen_at` when the tracker was last asked (both ISO 8601, empty if never),
    `waits` how many effects are not delivered, `part_of` the fingerprint of the issue that it is a part of.
    """

    fingerprint: str
    number: str
    title: str
    cause: str
    state: str
    remote: str
    where: str
    since: str
    updated_at: str
    seen_at: str
    episode: int
    part_of: str
    flaps: int
    waits: int
    members: tuple[Member, ...] = ()
    earlier: tuple[Episode, ...] = ()

    @property
    def standing(self) -> IssueStanding:
        return standing_of(self.state, self.number, self.remote, self.waits)

    @property
    def specs(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(member.spec for member in self.members))

    @property
    def open_ids(self) -> tuple[str, ...]:
        """What is still open: requirements, or a spec's name where it is the spec as a whole."""
        return tuple(member.requirement or member.spec for member in self.members if member.is_open)


class Waits(StrEnum):
    """Why an effect is not delivered."""

    HELD = "held"
    DOUBT = "unknown"
    LATER = "later"
    DUE = "due"


@dataclass(frozen=True, slots=True)
class Waiting:
    """Effects that are not delivered for one and the same reason. `until` is the first time that one is tried again."""

    why: Waits
    note: str
    count: int
    until: str = ""
    fingerprints: tuple[str, ...] = ()


_AS_LEFT = (
    "CASE WHEN i.remote <> '' OR i.state = 'open' OR coalesce((SELECT kind FROM outbox AS last "
    "WHERE last.fingerprint = i.fingerprint AND last.state = 'done' AND last.kind <> 'comment' "
    "ORDER BY last.position DESC LIMIT 1), 'close') = 'close' THEN i.remote ELSE 'open' END"
)
"""How the tracker was left: an issue that we want closed is open where no closing was delivered."""

_ISSUES = (
    f"SELECT i.fingerprint, coalesce(i.number, ''), i.title, i.cause, i.state, {_AS_LEFT}, i.url, "
    "coalesce(min(o.created_at), i.updated_at), i.updated_at, i.seen_at, i.episode, i.parent, i.flaps, "
    "coalesce(sum(o.state NOT IN ('done', 'moot')), 0) "
    "FROM issues AS i LEFT JOIN outbox AS o USING (fingerprint) GROUP BY i.fingerprint "
    "ORDER BY i.number IS NULL, CAST(i.number AS INTEGER), i.updated_at, i.fingerprint"
)


def standing_of(state: str, number: str | None, remote: str, waits: int) -> IssueStanding:
    """How an issue stands: what the tracker told of it last, or else what we want it to be."""
    if not number:
        return IssueStanding.WAITING if waits or state == "open" else IssueStanding.NEVER
    return IssueStanding(remote or state)


def read_issues(db: Database) -> tuple[IssueView, ...]:
    """Every issue by its number, those without one last."""
    members, episodes = _members(db), _episodes(db)
    issues = (IssueView(*row) for row in db.execute(_ISSUES))
    return tuple(
        replace(
            issue, members=tuple(members.get(issue.fingerprint, ())), earlier=tuple(episodes.get(issue.fingerprint, ()))
        )
        for issue in issues
    )


def _members(db: Database) -> dict[str, list[Member]]:
    sql = (
        "SELECT fingerprint, spec_name, requirement_id, is_open FROM issue_members "
        "ORDER BY fingerprint, spec_name, requirement_id"
    )
    members: dict[str, list[Member]] = {}
    for fingerprint, spec, requirement, is_open in db.execute(sql):
        members.setdefault(fingerprint, []).append(Member(spec, requirement, bool(is_open)))
    return members


def _episodes(db: Database) -> dict[str, list[Episode]]:
    sql = "SELECT fingerprint, episode, number, url, ended_at FROM issue_episodes ORDER BY fingerprint, episode"
    episodes: dict[str, list[Episode]] = {}
    for fingerprint, *rest in db.execute(sql):
        episodes.setdefault(fingerprint, []).append(Episode(*rest))
    return episodes


_EFFECTS = (
    "SELECT id, kind, spec_name, created_at, state, tries, note, coalesce(not_before, ''), "
    "coalesce(json_extract(payload, '$.body'), ''), payload FROM outbox WHERE fingerprint = ? ORDER BY position"
)


def read_effects(db: Database, fingerprint: str) -> tuple[EffectView, ...]:
    """Everything that was to be done to one issue, oldest first."""
    return tuple(EffectView(*row) for row in db.execute(_EFFECTS, [fingerprint]))


_OPEN = (
    "SELECT state, note, coalesce(not_before, ''), fingerprint FROM outbox "
    "WHERE state NOT IN ('done', 'moot') ORDER BY position"
)


def read_waiting(db: Database, at: str) -> tuple[Waiting, ...]:
    """What is not delivered at the time `at` (ISO 8601, UTC), by reason; what waits for a person first."""
    groups: dict[tuple[Waits, str], Waiting] = {}
    rows = db.execute(_OPEN).fetchall()
    held = {note for state, note, _, _ in rows if state == "held"}
    for state, note, until, fingerprint in rows:
        why = Waits.HELD if note in held and state == "pending" else _why(state, until, at)
        same = groups.get((why, note)) or Waiting(why, note, 0)
        first = min(filter(None, (same.until, until)), default="")
        prints = same.fingerprints if fingerprint in same.fingerprints else (*same.fingerprints, fingerprint)
        groups[why, note] = replace(same, count=same.count + 1, until=first, fingerprints=prints)
    return tuple(sorted(groups.values(), key=lambda group: list(Waits).index(group.why)))


def _why(state: str, until: str, at: str) -> Waits:
    if state == "held":
        return Waits.HELD
    if state in {"unknown", "inflight"}:
        return Waits.DOUBT
    return Waits.LATER if until > at else Waits.DUE


@dataclass(frozen=True, slots=True)
class IssueCounts:
    """All issues in numbers, for a line of a status screen."""

    standings: dict[IssueStanding, int] = field(default_factory=dict)
    waiting: tuple[Waiting, ...] = ()

    @property
    def waits(self) -> int:
        return sum(group.count for group in self.waiting)


_STANDINGS = (
    f"SELECT i.state, i.number, {_AS_LEFT}, EXISTS (SELECT 1 FROM outbox AS o WHERE o.fingerprint = i.fingerprint "
    "AND o.state NOT IN ('done', 'moot')) FROM issues AS i"
)


def read_issue_counts(db: Database, at: str) -> IssueCounts:
    """How many issues stand how, in the order of `IssueStanding`."""
    standings = [standing_of(*row) for row in db.execute(_STANDINGS)]
    counts = {standing: standings.count(standing) for standing in IssueStanding}
    return IssueCounts({standing: count for standing, count in counts.items() if count}, read_waiting(db, at))


def named(issues: Iterable[IssueView], name: str) -> tuple[IssueView, ...]:
    """The issues that a person means by a number (`7`, `#7`, `0007`, its address), a fingerprint or the start of one,
    or a spec. Of several about one spec those that are open, without their parts."""
    every, name = tuple(issues), name.strip()
    matches = _numbered(every, name) or _printed(every, name)
    if matches:
        return matches
    about = tuple(issue for issue in every if name in issue.specs)
    whole = tuple(issue for issue in about if not issue.part_of) or about
    return tuple(issue for issue in whole if issue.standing.is_open) or whole


SHORTEST_PRINT = 4


def _numbered(issues: tuple[IssueView, ...], name: str) -> tuple[IssueView, ...]:
    """By its number now, or else by that of an earlier issue of the same cause."""
    number = name.rstrip("/").rpartition("/")[2].lstrip("#").lstrip("0")
    now = tuple(issue for issue in issues if number and issue.number == number)
    return now or tuple(issue for issue in issues if number and number in {past.number for past in issue.earlier})


def _printed(issues: tuple[IssueView, ...], name: str) -> tuple[IssueView, ...]:
    is_long_enough = len(name) >= SHORTEST_PRINT
    return tuple(issue for issue in issues if is_long_enough and issue.fingerprint.startswith(name.lower()))
