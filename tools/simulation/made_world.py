"""What the engine meets: specs, sessions, a tracker, a disk. Who gets what right is the world's own; what goes wrong
on the way is a seed's.
"""

from __future__ import annotations

import json
import random
import sqlite3
from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import ClassVar

from agent_fox.core.ids import Archetype
from agent_fox.plugins import hookimpl
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.session.order import EndKind, LaunchOrder, SessionEnd, Work
from agent_fox.session.runners import Job, Unreachable
from agent_fox.session.workspaces.workspace import launch_ref
from agent_fox.system import git
from agent_fox.system.outside import Trouble
from agent_fox.testing.worlds import NEVER, Req, World
from agent_fox.trackers.protocol import Delivery, Done, Effect, EffectKind, Retry, Unsure
from tools.simulation.made_git import MadeGit
from tools.simulation.stage import Stage

COST = 0.25
RIGHT = b"right\n"
NEAR, FAR = "near", "far"
"""A runner whose sessions end with the orchestrator, and one whose sessions go on without it."""


@dataclass(frozen=True)
class Story:
    """A world that is the same however a run goes: who is right at which attempt, who crashes, what is unclear."""

    number: int
    world: World
    attempts: int
    crashes: frozenset[tuple[str, int]]
    unclear: frozenset[tuple[str, int, int]]
    runner: str
    parallel: int

    @property
    def requirements(self) -> dict[str, Req]:
        return {req.id: req for reqs in self.world.specs.values() for req in reqs}

    @property
    def settings(self) -> str:
        return (
            "[plan]\npre_review = false\naudit_review = false\n"
            '[agents.coder]\nbackend = "command"\ncommand = ["true"]\nassumed_cost_usd = 0.5\n'
            '[agents.verifier]\nbackend = "command"\ncommand = ["true"]\nassumed_cost_usd = 0.5\n'
            '[agents.reviewer]\nbackend = "command"\ncommand = ["true"]\nassumed_cost_usd = 0.5\n'
            f'[retry]\nattempts = {self.attempts}\n[tracker]\nkind = "made"\n'
            f'[cluster]\nengine = "made://{self.runner}"\n[verify]\nsandbox = "off"\n'
        )

    def files(self) -> dict[str, bytes]:
        """Where the requirements are met: nowhere, to begin with."""
        return {proof_of(id): b"nothing yet\n" for id in self.requirements}


def proof_of(requirement: str) -> str:
    return f"proofs/{requirement}.txt"


def told(number: int) -> Story:
    """The story of a number."""
    chance = random.Random(f"story {number}")
    names = [f"{n:02}_part" for n in range(1, chance.choice([1, 1, 2, 2, 3]) + 1)]
    groups = {name: chance.randint(1, 3) for name in names}
    specs = {
        name: [
            Req(f"{name[:2]}-REQ-{n}.1", chance.randint(1, groups[name]), chance.choice([1, 1, 1, 2, 2, 3, NEVER]))
            for n in range(1, chance.randint(1, 4) + 1)
        ]
        for name in names
    }
    depends = {later: before for before, later in pairwise(names) if chance.random() < 0.4}
    crashes = {
        (f"{name}:{group}", attempt)
        for name in names
        for group in range(1, groups[name] + 1)
        for attempt in (1, 2)
        if chance.random() < 0.08
    }
    unclear = {
        (name, attempt, reading) for name in names for attempt in (1, 2) for reading in (1, 2) if chance.random() < 0.08
    }
    return Story(
        number, World(specs, groups, depends=depends), chance.choice([1, 2, 2, 3]), frozenset(crashes),
        frozenset(unclear), chance.choice([NEAR, FAR]), chance.choice([1, 2, 3]),
    )  # fmt: skip


KINDS = ("git", "disk", "session", "tracker", "person")


@dataclass
class Troubles:
    """How often something goes wrong at a call of each kind, and who decides it; nothing in a calm part."""

    rates: Mapping[str, float] = field(default_factory=dict)
    dice: Mapping[str, random.Random] = field(default_factory=dict)

    @classmethod
    def by(cls, chance: random.Random, without: Container[str]) -> Troubles:
        """Each kind has dice of its own, so that one can be left out without another story for the rest."""
        dice = {kind: random.Random(chance.random()) for kind in KINDS}
        rates = {
            "git": chance.choice([0.0, 0.0, 0.004, 0.02]),
            "disk": chance.choice([0.0, 0.0, 0.004, 0.02]),
            "session": chance.choice([0.0, 0.05, 0.3]),
            "tracker": chance.choice([0.0, 0.05, 0.3]),
            "person": chance.choice([0.0, 0.0, 0.0, 1.0]),
        }
        return cls({kind: 0.0 if kind in without else rate for kind, rate in rates.items()}, dice)

    def strike(self, kind: str, share: float = 1.0) -> bool:
        rate = self.rates.get(kind, 0.0)
        return bool(rate) and self.dice[kind].random() < rate * share


@dataclass
class MadeJob:
    """A session somewhere: when it ends, and what it comes to."""

    order: LaunchOrder
    ends_at: float
    is_cancelled: bool = False
    is_gone: bool = False
    end: SessionEnd | None = None


@dataclass
class Place:
    """All that outlives an orchestrator: sessions, the repository, the tracker, and what was counted there."""

    story: Story
    git: MadeGit
    jobs: dict[str, MadeJob] = field(default_factory=dict)
    paid: dict[str, float] = field(default_factory=dict)
    """Launch → dollars that its session has cost by its end."""
    started: dict[str, int] = field(default_factory=dict)
    issues: dict[int, Issue] = field(default_factory=dict)
    stage: Stage = field(default_factory=lambda: Stage(random.Random(0), calm=True))
    troubles: Troubles = field(default_factory=Troubles)
    results: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    """How many sessions of a ticket came to a result that somebody paid for."""
    chance: random.Random = field(default_factory=lambda: random.Random(0))
    ending: tuple[object, ...] = ()

    def begin_part(self, stage: Stage, troubles: Troubles) -> None:
        """Another orchestrator, on another stage. Sessions near it died with the last one, but for those that had
        ended.
        """
        stage.monotonic = max(stage.monotonic, self.stage.monotonic + 1.0)
        stage.ids = self.stage.ids
        for job in self.jobs.values():
            if self.story.runner == NEAR and job.end is None and not job.is_gone:
                job.is_gone = job.ends_at > self.stage.monotonic
                if not job.is_gone:
                    job.end = self.end_of(job)
        self.stage, self.troubles, self.chance = stage, troubles, stage.chance

    def end_of(self, job: MadeJob) -> SessionEnd:
        """What a session comes to, once."""
        end = self.came_to(job)
        if end.kind in (EndKind.ENDED, EndKind.FAILED):
            self.results[job.order.node_id, job.order.attempt, job.order.reading] += 1
        self.paid[job.order.launch] = end.cost_usd or 0.0
        return end

    def came_to(self, job: MadeJob) -> SessionEnd:
        order = job.order
        if job.is_cancelled:
            return SessionEnd(EndKind.INTERRUPTED, "interrupted", order.log)
        if self.troubles.strike("session"):
            return SessionEnd(
                EndKind.INFRASTRUCTURE, "the model is overloaded", order.log, infrastructure=Infrastructure.OVERLOAD
            )
        if order.archetype is Archetype.CODER:
            return coded(self, order)
        return SessionEnd(EndKind.ENDED, "ended", order.log, output=verdicts_of(self, order), cost_usd=COST)


# Sessions


@dataclass(eq=False)
class MadeRunner:
    """Sessions that take no time of ours: what they come to is the story's."""

    place: Place
    name: str
    outlives: bool

    def start(self, order: LaunchOrder) -> Job:
        self.place.stage.step(f"start {order.node_id}")
        job = self.place.jobs.get(order.launch)
        if job is None:
            takes = 1.0 if self.place.stage.calm else self.place.chance.choice([0.1, 1.0, 5.0, 60.0])
            job = self.place.jobs[order.launch] = MadeJob(order, self.place.stage.monotonic + takes)
            self.place.started[order.launch] = self.place.started.get(order.launch, 0) + 1
        self.place.stage.step(f"started {order.node_id}")
        return job

    def found(self, order: LaunchOrder) -> Job | None:
        self.place.stage.step(f"found {order.node_id}")
        job = self.place.jobs.get(order.launch)
        return None if job is None or job.is_gone else job

    def poll(self, job: Job, seconds: float) -> bool:
        made = mine(job)
        stage = self.place.stage
        stage.step(f"poll {made.order.node_id}")
        return stage.wait(lambda: made.is_cancelled or made.ends_at <= stage.monotonic, min(seconds, 600.0))

    def cancel(self, job: Job) -> None:
        mine(job).is_cancelled = True

    def collect(self, job: Job) -> SessionEnd:
        made = mine(job)
        self.place.stage.step(f"collect {made.order.node_id}")
        if self.outlives and made.end is None and self.place.troubles.strike("session", 0.25):
            raise Unreachable(f"{made.order.node_id}: nobody answers")
        if made.end is None:
            made.end = self.place.end_of(made)
        return made.end

    def clean_up(self, order: LaunchOrder) -> None:
        self.place.stage.step(f"clean up {order.node_id}")
        self.place.jobs.pop(order.launch, None)
        self.place.git.refs.pop(launch_ref(order.launch), None)

    def close(self) -> None:
        """Nothing is left to say."""


def coded(place: Place, order: LaunchOrder) -> SessionEnd:
    """What a coder leaves: the proofs of its group, right from the attempt that the story says."""
    repository = place.git
    if (order.node_id, order.attempt) in place.story.crashes:
        return SessionEnd(EndKind.FAILED, "exit 1: no idea", order.log, exit_status=1, cost_usd=COST)
    files = repository.files(order.pinned)
    for req in place.story.world.specs[order.spec_name]:
        if req.group == order.group:
            wrong = f"wrong, at attempt {order.attempt}\n".encode()
            files[proof_of(req.id)] = RIGHT if order.attempt >= req.right_at else wrong
    tree = repository.tree(files)
    if tree == repository.resolve(f"{order.pinned}^{{tree}}"):
        return SessionEnd(EndKind.ENDED, "ended", order.log, cost_usd=COST, work=Work(order.pinned, tree, True))
    commit = repository.commit(tree, [order.pinned], order.message)
    repository.refs[launch_ref(order.launch)] = commit
    return SessionEnd(EndKind.ENDED, "ended", order.log, cost_usd=COST, work=Work(commit, tree, False))


def verdicts_of(place: Place, order: LaunchOrder) -> str:
    """What a verifier prints: what stands in the tree that it was given."""
    if (order.spec_name, order.attempt, order.reading) in place.story.unclear:
        return "I am not sure."
    files = place.git.files(order.pinned)
    verdicts = [
        {
            "requirement_id": req.id,
            "verdict": "PASS" if files[proof_of(req.id)] == RIGHT else "FAIL",
            "evidence": files[proof_of(req.id)].decode(),
        }
        for req in place.story.world.specs[order.spec_name]
    ]
    return json.dumps({"verdicts": verdicts})


def mine(job: Job) -> MadeJob:
    assert isinstance(job, MadeJob)
    return job


# The tracker


@dataclass
class Issue:
    """One issue of the made tracker."""

    number: int
    fingerprint: str
    is_open: bool = True
    told: list[str] = field(default_factory=list)
    """The ids of the effects that it has."""


@dataclass(eq=False)
class MadeTracker:
    """Issues in memory; now and then a call is refused, and now and then its answer is lost on the way back."""

    place: Place
    name: str = "made"

    def newest(self) -> str:
        return str(max(self.place.issues, default=0))

    def deliver(self, effect: Effect) -> Delivery:
        place = self.place
        place.stage.step(f"deliver {effect.kind} {effect.fingerprint}")
        if place.troubles.strike("tracker", 0.5):
            return Retry("busy")
        issue = self.issue_of(effect)
        done = Done(str(issue.number), f"made/{issue.number}")
        is_lost = place.troubles.strike("tracker", 0.5)
        place.stage.step(f"delivered {effect.kind} {effect.fingerprint}")
        return Unsure("the answer was lost") if is_lost else done

    def issue_of(self, effect: Effect) -> Issue:
        """The issue after the effect. One that may have been sent before is looked for first, as the protocol says."""
        known = self.place.issues.get(int(effect.number)) if effect.number else None
        if known is None and effect.witness is not None:
            known = next((i for n, i in self.place.issues.items() if effect.id in i.told), None)
        if known is None:
            number = len(self.place.issues) + 1
            known = self.place.issues[number] = Issue(number, effect.fingerprint)
        if effect.id not in known.told:
            known.told.append(effect.id)
            known.is_open = effect.kind is not EffectKind.CLOSE and (known.is_open or effect.kind is EffectKind.REOPEN)
        return known


# Plugin


@dataclass(eq=False)
class MadePlugin:
    """The runner and the tracker, as any other package would bring them."""

    place: Place

    @hookimpl
    def agent_fox_runners(self) -> Mapping[str, object]:
        return {"made": self.runner}

    @hookimpl
    def agent_fox_trackers(self) -> Mapping[str, object]:
        return {"made": lambda root: MadeTracker(self.place)}

    def runner(self, address: str, root: Path, backends: object) -> MadeRunner:
        return MadeRunner(self.place, address, address.endswith(FAR))


# The disk


class Connection(sqlite3.Connection):
    """A connection to a state file that may be busy, full or broken, and on which the orchestrator may die."""

    place: ClassVar[Place]
    writer: ClassVar[sqlite3.Connection | None] = None

    def execute(self, sql: str, parameters: object = (), /) -> sqlite3.Cursor:
        self.place.stage.refuse_dead()
        if sql.startswith("BEGIN IMMEDIATE"):
            self.begin()
        return super().execute(sql, parameters)  # type: ignore[arg-type]

    def executescript(self, script: str, /) -> sqlite3.Cursor:
        self.place.stage.refuse_dead()
        return super().executescript(script)

    def begin(self) -> None:
        stage = self.place.stage
        stage.step("begin")
        if not stage.wait(lambda: Connection.writer in (None, self), 10.0):
            raise failure(sqlite3.SQLITE_BUSY, "database is locked")
        self.fail()
        Connection.writer = self

    def fail(self) -> None:
        if self.place.troubles.strike("disk"):
            code = self.place.chance.choice([sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR])
            raise failure(code, "the disk, as the seed has it")

    def commit(self) -> None:
        self.place.stage.step("commit")
        if self.in_transaction:
            self.fail()
        super().commit()
        self.leave()
        self.place.stage.step("committed")

    def rollback(self) -> None:
        super().rollback()
        self.leave()

    def close(self) -> None:
        super().close()
        self.leave()

    def leave(self) -> None:
        if Connection.writer is self:
            Connection.writer = None


def failure(code: int, text: str) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(text)
    error.sqlite_errorcode = code
    return error


def trouble_of_git(place: Place, what: str) -> git.Answer | None:
    """What git answers where the world is in its way."""
    place.stage.step(f"git {what}")
    if not place.troubles.strike("git"):
        return None
    kind = place.chance.choice([Trouble.TRANSIENT, Trouble.INFRASTRUCTURE])
    return git.Answer(128, b"", "fatal: the disk, as the seed has it", kind)
