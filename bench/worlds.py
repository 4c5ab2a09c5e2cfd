"""Plans of any size as values, and a state file that holds one. Nothing is measured here."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sqlite_utils import Database

from agent_fox.config import Settings
from agent_fox.core.graph import Plan
from agent_fox.core.spec import Criterion, Dependency, Group, Requirement, Spec, Trace
from agent_fox.engine.handlers.dockets import DocketFactory
from agent_fox.engine.planning.from_settings import policy_of
from agent_fox.engine.planning.planning import sync_plan
from agent_fox.engine.planning.scope import Scope
from agent_fox.engine.record.board import Board
from agent_fox.engine.record.docket import SpecShelf
from agent_fox.evidence.waivers import Grounds
from agent_fox.specs.planner import PlanShape, plan_of
from agent_fox.store import plan as stored
from agent_fox.store import sessions
from agent_fox.store.state import open_state, transaction
from agent_fox.system import clock
from agent_fox.system.own_folders import own_folder

NODES_PER_SPEC = 10
REQUIREMENTS_PER_SPEC = 20
WIDTH = 8
"""How many specs can be worked on at the same time where specs wait for each other."""

SHAPE = PlanShape(pre_review=False, audit_review=False)
TEXT = "WHEN the part is asked for, THE system SHALL give it whole, within a second, and say where it came from."


def spec_name(number: int) -> str:
    return f"{number:05}_part"


def spec_of(number: int, *, is_chained: bool) -> Spec:
    """Nine coder groups and twenty requirements, one verifier; waiting for the spec `WIDTH` places before it."""
    groups = NODES_PER_SPEC - 1
    ids = [f"{number:05}-REQ-{n}.1" for n in range(1, REQUIREMENTS_PER_SPEC + 1)]
    owners = {part: n % groups + 1 for n, part in enumerate(ids)}
    before = (Dependency(spec_name(number - WIDTH), None, None),) if is_chained and number >= WIDTH else ()
    return Spec(
        name=spec_name(number),
        dialect="agent-fox",
        path=f".agent-fox/specs/{spec_name(number)}",
        requirements=tuple(Requirement(p[:-2], "A part", criteria=(Criterion(p, TEXT),)) for p in ids),
        groups=tuple(Group(n, f"Part {n}", text=TEXT) for n in range(1, groups + 1)),
        dependencies=before,
        traceability=tuple(Trace(part, tasks=(f"{owner}.1",)) for part, owner in owners.items()),
    )


def plan_with(nodes: int, *, is_chained: bool = True) -> Plan:
    """A plan of about so many nodes; specs wait for each other, or all could start at once."""
    specs = [spec_of(number, is_chained=is_chained) for number in range(max(1, nodes // NODES_PER_SPEC))]
    return plan_of(specs, (), SHAPE)


@dataclass(frozen=True)
class World:
    """A state file with a plan in it, and what the engine works with."""

    db: Database
    path: Path
    run_id: int
    shelf: SpecShelf
    docket: DocketFactory
    settings: Settings

    def board(self) -> Board:
        """The board as a run lays it from the state."""
        return Board(stored.load_nodes(self.db), stored.load_edges(self.db), stored.load_retry_edges(self.db))

    def save(self, plan: Plan) -> None:
        """Bring the state in line with a plan, as a run does at its start."""
        with transaction(self.db):
            sync_plan(self.docket(self.db, clock.now()), Scope(plan, {}))


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """A folder that is gone afterwards, whatever happens."""
    with own_folder("bench") as made:
        yield made


@contextmanager
def opened(path: Path) -> Iterator[World]:
    """A new state file without a plan."""
    db = open_state(path)
    try:
        with transaction(db):
            run_id = sessions.start_run(db, clock.now(), "0" * 40)
        settings, shelf = Settings(), SpecShelf()
        grounds = Grounds(path.parent, {}, "")
        factory = DocketFactory(policy_of(settings), shelf, run_id, settings, lambda: grounds, lambda address: "")
        yield World(db, path, run_id, shelf, factory, settings)
    finally:
        db.close()


@contextmanager
def planned(path: Path, plan: Plan) -> Iterator[World]:
    """A new state file with a plan in it."""
    with opened(path) as world:
        world.save(plan)
        yield world
