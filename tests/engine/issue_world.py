"""A repository at the fake GitHub (a double for the service alone), engines that file there, clocks moved by hand.

Decisions are made by the real functions of `escalation` and `settling`, deliveries by the real `Delivering`, desk and
tracker over a real state file. Not here: what happens (`issue_history`), and what must hold (`issue_rules`).
"""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from email.utils import formatdate
from pathlib import Path
from unittest import mock
from urllib.parse import unquote

from sqlite_utils import Database

from agent_fox.config import TrackerSettings
from agent_fox.core.policy import Policy
from agent_fox.core.retry.decision import Cause
from agent_fox.core.verdicts.judgement import Counted, Judged, Judgement
from agent_fox.core.verdicts.verdict import Signal, Verdict, Word
from agent_fox.engine.issues import escalation, settling
from agent_fox.engine.issues.effects import Delivering, Passed
from agent_fox.engine.issues.upkeep import look_and_sweep
from agent_fox.engine.record.docket import Docket, SpecShelf
from agent_fox.engine.record.watch import RunEvent
from agent_fox.store import outbox, sessions
from agent_fox.store.desk import Rates
from agent_fox.store.plan import PlannedNode, load_nodes
from agent_fox.store.state import transaction
from agent_fox.testing.github import Answer, GitHubFake, Request, mounted
from agent_fox.testing.github.state import Issue, Repository
from agent_fox.trackers.desk import Desk, seconds_of
from agent_fox.trackers.github import marker
from agent_fox.trackers.github.door import opened
from agent_fox.trackers.github.repository import Address
from agent_fox.trackers.github.tracker import GitHubTracker
from agent_fox.trackers.text.pages import Style, written
from tests.engine import desk as planned

KEY = bytes(range(32))
START = datetime(2026, 3, 1, 12, tzinfo=UTC).timestamp()
SPECS = {
    "01_gate": ("01-REQ-1.1", "01-REQ-1.2", "01-REQ-2.1"),
    "02_road": ("02-REQ-1.1", "02-REQ-1.2"),
    "03_well": ("03-REQ-1.1",),
}
MOST_ROUNDS = 400
"""Passes of a courier until all must be settled, once nothing goes wrong any more."""


class Crash(BaseException):
    """The process ends here."""


@dataclass
class Times:
    """GitHub's clock, and ours, which is `ahead` of it."""

    seconds: float = START
    ahead: float = 0.0

    def time(self) -> float:
        return self.seconds

    def now(self) -> str:
        told = datetime.fromtimestamp(self.seconds + self.ahead, UTC)
        return told.isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def pass_by(self, seconds: float) -> None:
        self.seconds += max(0.0, seconds)


@dataclass
class Doom:
    """Where the process ends: after so many more steps. Steps are transactions, and requests before and after."""

    left: int | None = None
    met: Counter[str] = field(default_factory=Counter)

    def step(self, what: str) -> None:
        if self.left is None:
            return
        self.left -= 1
        if self.left < 0:
            self.left = None
            self.met[f"crash {what}"] += 1
            raise Crash


class Mortal(Database):
    """A connection whose process may end before each transaction, which is after all that was committed before."""

    doom: Doom

    def execute(self, sql: str, parameters: object = None) -> sqlite3.Cursor:
        if sql == "BEGIN IMMEDIATE":
            self.doom.step("at a transaction")
        return super().execute(sql, parameters)  # type: ignore[arg-type]  # as it came


def template(folder: Path, specs: Mapping[str, tuple[str, ...]] = SPECS) -> Path:
    """A state file with a plan of these specs, closed and whole."""
    groups = {name: {1: tuple(part.partition("-REQ-")[2] for part in parts)} for name, parts in specs.items()}
    made = planned.Desk.open(folder, [planned.small_spec(name, found) for name, found in groups.items()])
    made.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    made.db.execute("PRAGMA journal_mode = MEMORY")
    made.db.close()
    return folder / "state.db"


@dataclass
class Engine:
    """One process that delivers: its connection, its desk, its tracker."""

    db: Database
    desk: Desk
    tracker: GitHubTracker


@dataclass
class World:
    """All there is. `spec_nodes` are verifiers by spec, `words` what was told to people."""

    folder: Path
    fake: GitHubFake
    times: Times
    doom: Doom
    db: Mortal
    run_id: int
    settings: TrackerSettings
    spec_nodes: dict[str, PlannedNode]
    shelf: SpecShelf = field(default_factory=SpecShelf)
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    watchers: list[Callable[[Request], None]] = field(default_factory=list)
    hearers: list[Callable[[Request, Answer], None]] = field(default_factory=list)
    engine: Engine | None = None
    other: Repository | None = None
    foreign: Repository | None = None
    runs_begun: int = 1
    decisions_made: int = 0

    # what decides

    def parts(self, spec: str) -> tuple[str, ...]:
        return self.shelf.take(self.db, spec).expected

    @contextmanager
    def deciding(self, spec: str) -> Iterator[tuple[Docket, PlannedNode, int]]:
        """A decision about the verifier of a spec, in one transaction. It must not need GitHub for anything."""
        exchanges = len(self.fake.exchanges)
        with transaction(self.db):
            docket = Docket(
                self.db, self.times.now(), Policy(), self.shelf, self.run_id, sub_issues=self.settings.sub_issues
            )
            node = self.spec_nodes[spec]
            number, _ = docket.record(node, "block", ())
            yield docket, node, number
            self.doom.step("before a decision commits")
        self.decisions_made += 1
        if len(self.fake.exchanges) != exchanges:
            self.problems.append("a decision waited for GitHub")

    def fails(self, spec: str, causes: Mapping[str, str | None], token: str) -> None:
        """A report: these requirements fail, each with the signal of its cause (None: without one), others pass."""
        with self.deciding(spec) as (docket, node, number):
            judged = report(self.parts(spec), causes, token)
            escalation.file_issues(docket, node, number, Cause.ATTEMPTS_SPENT, judged, "c" * 40, ())

    def is_blocked(self, spec: str, token: str) -> None:
        """Its coder is blocked: the issue is about the spec as a whole."""
        with self.deciding(spec) as (docket, node, number):
            escalation.file_node_issue(docket, node, number, Cause.ATTEMPTS_SPENT, token, "c" * 40, ())

    def is_proven(self, spec: str, waived: tuple[str, ...] = ()) -> None:
        with self.deciding(spec) as (docket, node, number):
            told = replace(docket, waiver_lines=lambda name: waived)
            settling.settle_issues(told, node, number, "d" * 40, self.parts(spec))

    def is_removed(self, spec: str) -> None:
        with self.deciding(spec) as (docket, node, number):
            settling.withdraw_issues(docket, node, number)

    def is_waived(self, spec: str, part: str) -> None:
        with self.deciding(spec) as (docket, node, number):
            settling.waive_part(docket, node, number, part, f"{part} until May: good enough (Kim)")

    # what delivers

    def start(self) -> Engine:
        """Another process begins: what it knows is in the state file."""
        self.engine = self.seated(self.db)
        return self.engine

    def seated(self, db: Database) -> Engine:
        times = self.times
        door = opened("ghp_fake", Address("https://api.github.com", "octo", "project"), times.now, times.pass_by)
        tracker = GitHubTracker(door, self.settings, KEY, lambda effect: written(effect, Style()), times.now)
        desk = Desk(db, tracker.place, rates=Rates(), now=times.now, pause=times.pass_by)
        return Engine(db, desk, tracker.at(desk))

    def tell(self, event: RunEvent) -> None:
        self.counts[f"told {event.kind}"] += 1

    def begin(self, engine: Engine) -> None:
        """What a courier does first."""
        with transaction(engine.db):
            outbox.wake(engine.db, self.times.now())
        self.look(engine)

    def look(self, engine: Engine) -> None:
        closed = Delivering(engine.db, engine.tracker, self.tell, now=self.times.now, desk=engine.desk).why_closed()
        asked = len(self.fake.exchanges)
        if not closed:
            look_and_sweep(engine.db, engine.tracker, self.tell, self.times.now())

        limits = [one for one in self.fake.exchanges[asked:] if one.answer.status in (403, 429)]
        self.counts["limit met while looking"] += len(limits)

    def deliver(self, engine: Engine) -> Passed:
        """One pass of a courier."""
        passed = Delivering(engine.db, engine.tracker, self.tell, now=self.times.now, desk=engine.desk).go()
        if passed.found:
            self.look(engine)
        return passed

    def settle(self) -> int:
        """Runs begin and couriers deliver until nothing waits. Gives the passes that it took."""
        engine, began = self.start(), 0.0
        for number in range(1, MOST_ROUNDS):
            if self.times.seconds - began > 3600.0:
                self.begin(engine)
                began = self.times.seconds
            passed = self.deliver(engine)
            if not outbox.waiting(self.db):
                self.begin(engine)
                return number
            self.nap(passed)
        self.problems.append("something waits for ever: " + repr(self.left_over()))
        return MOST_ROUNDS

    def nap(self, passed: Passed) -> None:
        """Until something is due; a minute where that is not known."""
        when = [at for at in (outbox.next_time(self.db), self.engine and self.engine.desk.recall("not before")) if at]
        left = min((seconds_of(at) - seconds_of(self.times.now()) for at in when), default=60.0)
        self.times.pass_by(min(max(left, 1.0), 600.0) if left > 0 else 60.0)

    def left_over(self) -> list[tuple[object, ...]]:
        sql = "SELECT id, kind, fingerprint, state, note, not_before FROM outbox WHERE state NOT IN ('done', 'moot')"
        return list(self.db.execute(sql).fetchall())

    # what is there

    def ours(self) -> list[tuple[str, Issue, Repository]]:
        """Every issue that we filed, by the cause that its first text named, wherever it lies now."""
        found = []
        for where in self.fake.world.repositories.values():
            for issue in where.issues.values():
                fp = fingerprint(issue)
                if fp and issue.author.login == "fox-bot":
                    found.append((fp, issue, where))
        return sorted(found, key=lambda one: one[1].id)

    def new_run(self) -> None:
        self.runs_begun += 1
        with transaction(self.db):
            self.run_id = sessions.start_run(self.db, self.times.now(), f"head {self.runs_begun}")

    def copy_state(self) -> None:
        shutil.copyfile(self.folder / "state.db", self.folder / "copy.db")

    def restore_state(self) -> None:
        """The state file of some time ago takes the place of the present one."""
        self.db.close()
        shutil.copyfile(self.folder / "copy.db", self.folder / "state.db")
        self.db = connected(self.folder / "state.db", self.doom)
        self.shelf = SpecShelf()
        (self.run_id,) = self.db.execute("SELECT max(id) FROM runs").fetchone()


_MARK = re.compile(r"<!-- agent-fox v=1 fp=([^ ]+) op=([^ ]+) sig=")


def fingerprint(issue: Issue) -> str:
    """The cause that an issue was filed for: as its first text said, whatever people made of it."""
    found = marker.read(issue.faces[0].body or "", KEY)
    return found.fp if found else ""


def op_of(text: str) -> str:
    found = _MARK.match(text)
    return unquote(found[2]) if found else ""


def report(expected: tuple[str, ...], causes: Mapping[str, str | None], token: str) -> Judged:
    """A report in which what is not named passes."""
    counted = {}
    for part in expected:
        word = Word.FAIL if part in causes else Word.PASS
        told = causes.get(part)
        signal = Signal("make check", told) if told else None
        counted[part] = Counted(Verdict(part, word, word, f"seen: {token}", signal=signal), word, word)
    judgement = Judgement.FAULTY if causes else Judgement.SOUND
    return Judged(judgement, counted, tuple(part for part in expected if part in causes), ())


def connected(path: Path, doom: Doom) -> Mortal:
    """A connection that does not wait for the disk: no test here pulls the plug of the machine."""
    db = Mortal(sqlite3.connect(path, timeout=1.0, cached_statements=256), execute_plugins=False)
    db.doom = doom
    for pragma in ("journal_mode = MEMORY", "synchronous = OFF", "foreign_keys = ON", "recursive_triggers = ON"):
        db.conn.execute(f"PRAGMA {pragma}")
    return db


class Dated(GitHubFake):
    """The fake, whose answers tell its time as GitHub's do."""

    def answer(self, request: Request) -> Answer:
        found = super().answer(request)
        return replace(found, headers={"Date": formatdate(self.clock(), usegmt=True), **found.headers})


@contextmanager
def world(folder: Path, state: Path, **settings: object) -> Iterator[World]:
    """A new world with a copy of this state file."""
    shutil.copyfile(state, folder / "state.db")
    times, doom = Times(), Doom()
    fake = Dated(times.time)
    db = connected(folder / "state.db", doom)
    (run_id,) = db.execute("SELECT max(id) FROM runs").fetchone()
    nodes = {node.node.spec_name: node for node in load_nodes(db) if node.node.archetype == "verifier"}
    found = World(
        folder, fake, times, doom, db, run_id, TrackerSettings.model_validate({"kind": "github", **settings}), nodes
    )
    found.other, found.foreign = fake.add_repository("octo/other"), fake.add_repository("acme/else")
    fake.hooks.before, fake.hooks.after = before(found), after(found)
    with mounted(fake), mock.patch("requests.sessions.get_environ_proxies", return_value={}):  # a fifth of the time
        try:
            yield found
        finally:
            found.db.close()


def before(world: World) -> Callable[[Request], None]:
    def ask(request: Request) -> None:
        if world.engine is not None and world.engine.db.conn.in_transaction:
            world.problems.append(f"a transaction is open while GitHub is asked: {request.path}")
        world.doom.step("before a request arrives")
        for watcher in tuple(world.watchers):
            watcher(request)

    return ask


def after(world: World) -> Callable[[Request, Answer], None]:
    def hear(request: Request, answer: Answer) -> None:
        world.times.pass_by(0.2)
        for hearer in tuple(world.hearers):
            hearer(request, answer)
        world.doom.step("after a request was answered")

    return hear
