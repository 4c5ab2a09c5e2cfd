"""One seed: a story, told by orchestrators that die, and what must be true of it all the same."""

from __future__ import annotations

import random
import sqlite3
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from pluggy import PluginManager

from agent_fox.config import load
from agent_fox.engine.issues import courier
from agent_fox.engine.planning.workplace import RunOptions
from agent_fox.engine.record.ending import RunExit, Stop
from agent_fox.engine.record.watch import RunEvent
from agent_fox.engine.running import run as running
from agent_fox.engine.running import scheduler
from agent_fox.engine.running.run import Engine
from agent_fox.engine.running.scheduler import Orders
from agent_fox.plugins import load_plugins
from agent_fox.store import state
from agent_fox.store.state import StateError
from agent_fox.system import clock, git, git_objects, git_refs, programs
from agent_fox.testing.worlds import World
from tools.simulation import made_git
from tools.simulation.claims import Claims, like
from tools.simulation.made_git import MadeGit
from tools.simulation.made_world import KINDS, Connection, MadePlugin, Place, Story, Troubles, told, trouble_of_git
from tools.simulation.stage import Crew, Event, Killed, Queue, Stage, Stuck, Thread

STORIES = 500
MOST_PARTS = 12
AFTERWARDS = 3
"""Orchestrators that meet trouble in one seed, at most, and those that meet none afterwards."""
SHARED_MEMORY = Path("/dev/shm")


class StagedRun(scheduler.Run):
    """The run as it is, with a queue on the stage."""

    def __init__(self, **named: Any) -> None:  # noqa: ANN401 - as the run itself takes them
        super().__init__(**named)
        self.ended = Queue()  # type: ignore[assignment]


class StagedCourier(courier.Courier):
    """The courier as it is, with events, queue and thread on the stage."""

    def __init__(self, *given: Any) -> None:  # noqa: ANN401 - as the courier itself takes them
        super().__init__(*given)
        self.bell, self.closing, self.leaving, self.asked, self.has_read = (Event() for _ in range(5))  # type: ignore[assignment]
        self.events = Queue()  # type: ignore[assignment]

    def start(self) -> None:
        stage = Queue.stage
        self.thread = Thread(stage, stage.begin("courier", self.work))  # type: ignore[assignment]


def refused(argv: object, *_: object, **__: object) -> None:
    raise AssertionError(f"a program is started: {argv}")


@contextmanager
def on(stage: Stage, place: Place) -> Iterator[None]:
    """The engine's ways to the world lead to the stage."""
    real_connect = sqlite3.connect

    def connect(*given: object, **named: object) -> sqlite3.Connection:
        named["timeout"] = 0.0
        return real_connect(*given, factory=Connection, check_same_thread=False, **named)  # type: ignore[call-overload,no-any-return]

    Queue.stage = Event.stage = Crew.stage = stage
    Connection.place, Connection.writer = place, None
    made_git.Resident.repository = place.git
    place.git.step = lambda what: trouble_of_git(place, what)
    with ExitStack() as stack:
        for where, name, instead in (
            (clock, "now", stage.now),
            (clock, "monotonic", stage.time),
            (clock, "new_id", stage.new_id),
            (time, "sleep", stage.sleep),
            (time, "monotonic", stage.time),
            (sqlite3, "connect", connect),
            (state, "sign_of_life", lambda *_: nullcontext()),
            (git, "_call_once", place.git.call_once),
            (programs, "Resident", made_git.Resident),
            (programs, "start", refused),
            (programs, "run", refused),
            (scheduler, "ThreadPoolExecutor", Crew),
            (running, "Run", StagedRun),
            (running, "Courier", StagedCourier),
        ):
            stack.enter_context(patch.object(where, name, instead))
        yield


@dataclass
class Told:
    """What came of a seed. `trace`: what happened, step by step, in each part."""

    seed: int
    story: Story
    place: Place
    parts: list[str] = field(default_factory=list)
    trace: list[list[str]] = field(default_factory=list)
    wrong: str = ""


def built(story: Story, folder: Path) -> tuple[Path, MadeGit]:
    """The repository of a story: its files, and as much of `.git` as is looked at."""
    root = folder / "repo"
    world: World = story.world
    (root / ".agent-fox").mkdir(parents=True)
    (root / ".git/refs/heads").mkdir(parents=True)
    (root / ".git/config").write_text("[core]\n")
    for name in world.specs:
        world.write_spec(root, name)
    (root / ".agent-fox/config.toml").write_text(story.settings)
    (root / ".agent-fox/state.db").write_bytes(empty_state())
    repository = MadeGit()
    specs = {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted((root / ".agent-fox").rglob("*"))
        if path.is_file()
    }
    start = repository.commit(repository.tree({**specs, **story.files()}), [], "start")
    repository.refs["refs/heads/main"] = start
    return root, repository


@cache
def empty_state() -> bytes:
    """A state file as a run makes it, before anything is written to it."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "state.db"
        db = state.open_state(path)
        state.checkpoint(db)
        db.close()
        return path.read_bytes()


def part(root: Path, place: Place, stage: Stage, troubles: Troubles) -> str:
    """One orchestrator, from its start to its end or death; how it ended, in a word or a sentence."""
    place.begin_part(stage, troubles)
    forget()
    plugins = load_plugins()
    plugins.register(MadePlugin(place))
    with on(stage, place), stage.play():
        how = ending_of(root, place, stage, plugins)
    if stage.broken:
        raise stage.broken[0]
    return how


def ending_of(root: Path, place: Place, stage: Stage, plugins: PluginManager) -> str:
    try:
        engine = Engine(root, load(root, {}), plugins, partial(note, stage), {"HOME": str(root.parent)})
        return ended(engine.run(RunOptions(parallel=place.story.parallel), orders_of(stage, place)))
    except Killed:
        return "killed"
    except (StateError, git.GitError) as error:
        return f"could not go on: {error}"


def orders_of(stage: Stage, place: Place) -> Orders:
    """What a person asks of the run: now and then to stop, and sometimes at once."""
    orders = Orders()
    if place.troubles.strike("person"):
        chance = place.troubles.dice["person"]
        waits, insists = chance.choice([0.5, 5.0, 60.0, 900.0]), chance.random() < 0.5

        def interrupt() -> None:
            stage.sleep(waits)
            orders.interrupt()
            if insists:
                stage.sleep(1.0)
                orders.terminate()

        stage.begin("person", interrupt)
    return orders


def forget() -> None:
    """What a process has heard of git, another one does not know."""
    for module in (git, git_objects, git_refs):
        for function in vars(module).values():
            if hasattr(function, "cache_clear"):
                function.cache_clear()


def note(stage: Stage, event: RunEvent) -> None:
    about = event.planned.node.id if event.planned else ""
    stage.trace.append(f"    {event.kind} {about} {event.text}".rstrip())


def ended(stop: Stop) -> str:
    return f"{stop.exit.name}: {stop.reason}"


def is_end(how: str) -> bool:
    return how.startswith((RunExit.PROVEN.name, RunExit.NOT_PROVEN.name))


@dataclass(frozen=True)
class Bounds:
    """How much of a seed's trouble is met: in its first `parts` only, and none of the kinds in `without`."""

    parts: int = MOST_PARTS
    without: frozenset[str] = frozenset()


def tell(seed: int, bounds: Bounds = Bounds()) -> Told:
    """A seed from its start to its end, with all that is claimed of it on the way."""
    chance = random.Random(seed)
    whole = told_by(seed, told(chance.randrange(STORIES)), chance, bounds)
    if not whole.wrong:
        try:
            like(whole.place.ending, calm_end(whole.story.number))
        except AssertionError as error:
            whole.wrong = str(error)
    return whole


def told_by(seed: int, story: Story, chance: random.Random, bounds: Bounds) -> Told:
    with TemporaryDirectory(prefix="simulation-", dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None) as folder:
        root, repository = built(story, Path(folder))
        whole = Told(seed, story, Place(story, repository))
        try:
            go(whole, root, Claims(root / ".agent-fox/state.db", whole.place), chance, bounds)
        except Exception as error:  # noqa: BLE001 - whatever the engine raises is what is looked for
            whole.wrong = f"{type(error).__name__}: {error}"
            whole.trace[-1].append(traceback.format_exc())
    return whole


def go(whole: Told, root: Path, claims: Claims, chance: random.Random, bounds: Bounds) -> None:
    """One orchestrator after the other, until one of them comes to an end; what a tracker has refused by then is
    delivered by one more.
    """
    how = ""
    for number in range(bounds.parts + AFTERWARDS):
        own = random.Random(chance.random())
        is_calm = number >= bounds.parts
        dies_at = None if is_calm or own.random() < 0.3 else int(own.expovariate(1 / 250)) + 1
        stage = Stage(random.Random(own.random()), dies_at, is_calm)
        stage.drift = 0.0 if is_calm else own.choice([0.0, 0.0, 0.0, 7200.0, -3600.0])
        stage.after_step = claims.after_step
        whole.trace.append(stage.trace)
        if not is_calm and number and own.random() < 0.1:
            commit_on_head(whole.place.git, number)
        how = part(root, whole.place, stage, Troubles() if is_calm else Troubles.by(own, bounds.without))
        whole.parts.append(how)
        claims.after_part(is_whole=is_end(how) or own.random() < 0.2)
        if is_end(how):
            break
    else:
        raise Stuck(f"no end after {bounds.parts + AFTERWARDS} orchestrators: {whole.parts[-3:]}")
    if claims.undelivered():
        stage = Stage(random.Random(0), calm=True)
        whole.trace.append(stage.trace)
        whole.parts.append(part(root, whole.place, stage, Troubles()))
        assert whole.parts[-1] == how, f"{how}; and once more, with nothing left but to deliver: {whole.parts[-1]}"
        claims.after_part(is_whole=True)
    claims.at_the_end(how)


def commit_on_head(repository: MadeGit, number: int) -> None:
    """A person's own commit, about something else."""
    files = repository.files("HEAD") | {f"notes/{number}.txt": b"a thought\n"}
    repository.refs[repository.head] = repository.commit(
        repository.tree(files), [str(repository.resolve("HEAD"))], "a note"
    )


@lru_cache(maxsize=STORIES)
def calm_end(number: int) -> tuple[object, ...]:
    """How a story ends where nothing goes wrong."""
    whole = told_by(0, told(number), random.Random(0), Bounds(parts=0))
    if whole.wrong:
        raise AssertionError(f"the calm telling of story {number} is wrong: {whole.wrong}")
    return whole.place.ending


def shrunk(seed: int) -> Bounds:
    """The least trouble with which a seed is still wrong: parts first, then kinds."""
    parts = next((number for number in range(MOST_PARTS) if tell(seed, Bounds(number)).wrong), MOST_PARTS)
    without: frozenset[str] = frozenset()
    for kind in KINDS:
        if tell(seed, Bounds(parts, without | {kind})).wrong:
            without |= {kind}
    return Bounds(parts, without)
