"""What must hold of issues whatever happens: looked at with each write, and at the end. Knows the truth by itself.

The truth is kept apart from the engine's tables: which parts of which cause fail now, what people did, in which order.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from agent_fox.core.retry.clusters import fingerprint_of
from agent_fox.core.retry.filing import Says
from agent_fox.core.verdicts.verdict import Signal
from agent_fox.store import outbox
from agent_fox.testing.github import Request
from agent_fox.testing.github.state import Comment, Face, Issue, Repository
from agent_fox.trackers.protocol import Remote
from tests.engine.issue_world import World, fingerprint, op_of

BOT = "fox-bot"
EDITED_TITLE = "A better title"
"""As a person gives an issue."""

NO = ("not_planned", "duplicate")
SETTLED = {Remote.CLOSED, Remote.FINISHED, Remote.REFUSED, Remote.KEPT}


@dataclass(frozen=True, slots=True)
class Act:
    """What a person did to an issue of ours, the `at`-th thing that happened."""

    at: int
    cause: str
    issue: int
    what: str


@dataclass
class Truth:
    """What is so. `failing`: parts by cause; `told`: the word by which the last report of a spec can be found."""

    at: int = 0
    failing: dict[str, set[tuple[str, str]]] = field(default_factory=dict)
    failed_at: dict[str, int] = field(default_factory=dict)
    told: dict[str, dict[str, str]] = field(default_factory=dict)
    removed_at: dict[str, int] = field(default_factory=dict)
    acts: list[Act] = field(default_factory=list)
    restored_at: int = 0
    withdrawn: set[str] = field(default_factory=set)

    def next(self) -> int:
        self.at += 1
        return self.at

    def fails(self, spec: str, expected: Iterable[str], causes: Mapping[str, str | None], token: str) -> None:
        at = self.next()
        self._passes(spec, set(expected) - set(causes))
        for part, error in causes.items():
            cause = cause_of(spec, error)
            self.failing.setdefault(cause, set()).add((spec, part))
            self.failed_at[cause] = at
            self.told.setdefault(cause, {})[spec] = token

    def is_blocked(self, spec: str, token: str) -> None:
        cause = cause_of(spec, None)
        self.failing.setdefault(cause, set()).add((spec, ""))
        self.failed_at[cause] = self.next()
        self.told.setdefault(cause, {})[spec] = token

    def is_over(self, spec: str) -> None:
        """Proven, waived as a whole, or removed."""
        self.next()
        for cause, parts in self.failing.items():
            parts -= {(known, part) for known, part in parts if known == spec}
            self.told.get(cause, {}).pop(spec, None)

    def _passes(self, spec: str, passing: set[str]) -> None:
        for cause, parts in self.failing.items():
            parts -= {(spec, part) for part in passing}
            if not any(known == spec for known, _ in parts):
                self.told.get(cause, {}).pop(spec, None)

    def acted(self, cause: str, issue: Issue, what: str) -> None:
        self.acts.append(Act(self.next(), cause, issue.id, what))

    def has(self, cause: str, *what: str, since: int = 0) -> bool:
        """Whether a person did any of this. What nobody had heard of then was done all the same."""
        done = {one for act in what for one in (act, f"{act}, unheard")}
        return any(act.cause == cause and act.what in done and act.at >= since for act in self.acts)


def cause_of(spec: str, error: str | None) -> str:
    return fingerprint_of(Signal("make check", error) if error else None, spec)


@dataclass
class Guard:
    """Looks at each write before it arrives. `raced`: causes that a person acted on since the delivery began."""

    world: World
    truth: Truth
    raced: set[str] = field(default_factory=set)
    wanted_open: set[int] = field(default_factory=set)

    def look(self, request: Request) -> None:
        if not request.is_write:
            return
        body = json.loads(request.body or b"{}")
        if request.method == "POST" and request.path.endswith("/issues"):
            self._filing(str(body.get("body") or ""))
        found = re.search(r"/issues/(?:comments/)?(\d+)", request.path)
        if found and "/comments/" in request.path:
            self._edit_of_comment(int(found[1]))
        elif found:
            issue = self._meant(request.path, int(found[1]))
            if issue is not None:
                self._write_to(issue, request.method, body)

    def _meant(self, path: str, number: int) -> Issue | None:
        world = self.world.fake.world
        named = re.match(r"/repos/([^/]+/[^/]+)/|/repositories/(\d+)/", path)
        where = world.named(named[1]) if named and named[1] else None
        if named and named[2]:
            where = world.repositories.get(int(named[2]))
        return where.issues.get(number) if where else None

    def _filing(self, text: str) -> None:
        cause = next((one for one in self.truth.failed_at if f" fp={one} " in text.partition("\n")[0]), None)
        if cause is None:
            self._wrong("an issue is filed for no cause that failed")
            return
        known = [(issue, where) for fp, issue, where in self.world.ours() if fp == cause]
        is_there = any(issue.is_open and where is not self.world.foreign for issue, where in known)
        if is_there and self._wrong(f"{cause} is filed although it has an open issue", cause):
            self.world.counts["filed twice"] += 1
        here = [issue for issue, where in known if where is not self.world.foreign]
        if here and is_refused(here[-1]):
            self._wrong(f"{cause} is filed again although a person said not planned", cause)

    def _write_to(self, issue: Issue, method: str, body: Mapping[str, object]) -> None:
        cause, face = fingerprint(issue), issue.face
        if issue.author.login != BOT:
            self._wrong(f"#{issue.number} of a stranger is written to")
        if method == "PATCH" and ("labels" in body or not is_kept_current(face, body)):
            self._wrong(f"#{issue.number}: a text is rewritten")
        if method == "PATCH" and body.get("state") == "open" and is_refused(issue):
            self._wrong(f"#{issue.number} is opened again although a person said not planned", cause)
        if method == "POST" and "body" in body and self._says_failing(str(body["body"])):
            self.wanted_open.discard(issue.id)
        if body.get("state_reason") == "not_planned":
            self.truth.withdrawn.add(cause)
        closes = method == "PATCH" and body.get("state") == "closed" and body.get("state_reason") not in NO
        if closes and face.state == "open" and has_spoken_since(issue):
            self._wrong(f"#{issue.number} is closed although a person has written", cause)
        if closes and issue.id in self.wanted_open:
            self._wrong(f"#{issue.number} is closed although a person opened it again", cause)

    def _says_failing(self, text: str) -> bool:
        op = op_of(text).partition("/")[0]
        sql = "SELECT payload FROM outbox WHERE id = ? OR json_extract(payload, '$.slot') = ?"
        row = self.world.db.execute(sql, [op, op]).fetchone()
        return row is not None and json.loads(row[0]).get("says") == Says.FAILING

    def opened_again(self, issue: Issue, cause: str) -> None:
        """A person wants an issue open that we know to be closed."""
        sql = "SELECT remote FROM issues WHERE fingerprint = ?"
        row = self.world.db.execute(sql, [cause]).fetchone()
        if row is not None and row[0] in SETTLED:
            self.wanted_open.add(issue.id)

    def _edit_of_comment(self, id: int) -> None:
        issues = (issue for where in self.world.fake.world.repositories.values() for issue in where.issues.values())
        comment = next((one for issue in issues for one in issue.comments if one.id == id), None)
        if comment is not None and comment.author.login != BOT:
            self._wrong(f"the comment {id} of a stranger is rewritten")

    def _wrong(self, what: str, cause: str = "") -> bool:
        """Note what is wrong, unless nobody could know better."""
        is_wrong = cause not in self.raced and not (cause and is_excused(self.truth, cause))
        if is_wrong:
            self.world.problems.append(what)
        self.world.counts["excused"] += not is_wrong
        return is_wrong


def is_refused(issue: Issue) -> bool:
    """Closed by a person as not planned."""
    face = issue.face
    by_person = face.closed_by is not None and face.closed_by.login != BOT
    return face.state == "closed" and face.reason in NO and by_person


def has_spoken_since(issue: Issue) -> bool:
    """Whether a person wrote after the last of our comments but the one that is being delivered."""
    said = list(issue.comments)
    if said and is_ours(said[-1]):
        op = op_of(said[-1].body).partition("/")[0]
        while said and is_ours(said[-1]) and op_of(said[-1].body).partition("/")[0] == op:
            said.pop()
    return bool(said) and not is_ours(said[-1]) and not said[-1].author.is_bot


def is_ours(comment: Comment) -> bool:
    return comment.author.login == BOT and bool(op_of(comment.body))


def is_excused(truth: Truth, cause: str) -> bool:
    """Where nobody could know: a person has taken the mark away or moved the issue, and its number was never heard or
    was lost with the state; or the state does not know that we closed it as not planned."""
    lost = ("removes the mark", "transfers", "transfers away")
    if truth.has(cause, *(f"{what}, unheard" for what in lost)):
        return True
    return bool(truth.restored_at) and (truth.has(cause, *lost) or cause in truth.withdrawn)


def verdict(world: World, truth: Truth) -> list[str]:
    """What is wrong at the end, when all is settled."""
    by_cause: dict[str, list[tuple[Issue, Repository]]] = {cause: [] for cause in truth.failed_at}
    for cause, issue, where in world.ours():
        by_cause.setdefault(cause, []).append((issue, where))
    found = [*world.problems]
    for cause, known in by_cause.items():
        found += (f"{cause}: {problem}" for problem in _of_cause(world, truth, cause, known))
    return found + list(_said_twice(world))


def _of_cause(world: World, truth: Truth, cause: str, known: list[tuple[Issue, Repository]]) -> Iterator[str]:
    here = [issue for issue, where in known if where is not world.foreign]
    is_open = [issue for issue in here if issue.is_open]
    hidden = truth.has(cause, "removes the mark", "transfers") and truth.has(cause, "opens again")
    if len(is_open) > 1 and not hidden and not is_excused(truth, cause):
        yield f"{[issue.number for issue in is_open]} are open"
    if truth.failing.get(cause):
        yield from _of_failing(world, truth, cause, known, is_open)
    else:
        yield from _of_recovered(world, truth, cause, is_open)


def _of_failing(
    world: World, truth: Truth, cause: str, known: list[tuple[Issue, Repository]], is_open: list[Issue]
) -> Iterator[str]:
    since = truth.failed_at[cause]
    if not is_open:
        is_gone = truth.has(cause, "deletes", "transfers away", "closes", since=since)
        is_no = any(is_refused(issue) for issue, _ in known) or any(where is world.foreign for _, where in known)
        is_lost = truth.restored_at > since  # no report has named it since the state was put back: another cause has
        if not (is_gone or is_no or is_lost or is_excused(truth, cause)):
            yield f"fails, and no issue of {[(i.number, i.face.state, i.face.reason) for i, _ in known]} is open"
        return
    if truth.has(cause, "refuses", "closes", "deletes", "transfers away") or truth.restored_at:
        return
    if is_excused(truth, cause):
        return
    text = "\n".join([is_open[0].faces[0].body or "", *(comment.body for comment in is_open[0].comments)])
    for spec, token in truth.told.get(cause, {}).items():
        if token not in text:
            yield f"#{is_open[0].number} does not tell {token} of {spec}"


def _of_recovered(world: World, truth: Truth, cause: str, is_open: list[Issue]) -> Iterator[str]:
    state = outbox.issue_state(world.db, cause)
    if state is None and truth.restored_at:
        return  # a state that was restored has never heard of it
    awaits = state == "open" and outbox.flaps_of(world.db, cause) > 0
    kept = truth.has(cause, "comments", "copies a comment", "opens again", since=truth.failed_at[cause])
    if is_open and truth.has(cause, "opens again"):  # what failed after that, and passed before it was told, is no word
        kept = kept or not any(is_ours(said) and "Still failing" in said.body for said in is_open[0].comments)
    if is_open and not awaits and not kept and not is_excused(truth, cause):
        yield f"is over, and #{is_open[0].number} is open"


def _said_twice(world: World) -> Iterator[str]:
    """One comment for each thing that is said, and so one comment a run that it fails again."""
    for _, issue, _ in world.ours():
        ops = Counter(op_of(comment.body) for comment in issue.comments if is_ours(comment))
        yield from (f"#{issue.number}: {op} is said {times} times" for op, times in ops.items() if times > 1)


_BLOCK = re.compile(
    r"(?<=<!-- agent-fox status )title=\w+ text=\w+ -->\n.*?\n(?=<!-- agent-fox status ends -->)", re.DOTALL
)


def is_kept_current(face: Face, body: Mapping[str, object]) -> bool:
    """Whether a write changes nothing but our own block, and a title that nobody else has edited."""
    old, new = face.body or "", str(body.get("body", face.body or ""))
    return _BLOCK.sub("", old, count=1) == _BLOCK.sub("", new, count=1) and (
        "title" not in body or face.title != EDITED_TITLE
    )
