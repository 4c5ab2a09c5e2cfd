"""What a run would do, tried on a copy of the state in memory: nothing is launched, written or moved."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ids import Archetype
from agent_fox.core.late import late_module
from agent_fox.core.retry.standing import Step, evolve
from agent_fox.core.values import dataclass, to_document
from agent_fox.engine.planning.changes import docket_over
from agent_fox.engine.planning.planning import sync_plan
from agent_fox.engine.record.docket import Handled, Transition
from agent_fox.store.light import light_database
from agent_fox.store.plan import nothing_runs
from agent_fox.store.records import mean_cost
from agent_fox.store.state import is_begun, migrate, read_state, transaction
from agent_fox.system.state_folders import STATE

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.config import Settings
    from agent_fox.engine.planning import from_settings
    from agent_fox.engine.planning.workplace import RunOptions, Workplace
    from agent_fox.engine.record.board import Board
    from agent_fox.evidence import witness
    from agent_fox.store.plan import PlannedNode
else:
    from_settings = late_module("agent_fox.engine.planning.from_settings")
    witness = late_module("agent_fox.evidence.witness")

_SUCCESS = {Archetype.CODER: Step.LAND, Archetype.REVIEWER: Step.REVIEW, Archetype.VERIFIER: Step.ACCEPT}


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a session of an archetype is taken to cost, and where that comes from, in words."""

    cost_usd: float
    source: str


@dataclass(frozen=True, slots=True)
class ForecastStep:
    """One session that would be made."""

    node: str
    archetype: str
    title: str
    attempt: int
    reading: int
    cost_usd: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """What would run, in order, if every session succeeded at once. `changes`: what the files change about the plan."""

    changes: tuple[str, ...]
    steps: tuple[ForecastStep, ...]
    estimates: Mapping[str, Estimate]

    @property
    def cost_usd(self) -> float:
        return sum(step.cost_usd for step in self.steps)

    def document(self) -> dict[str, object]:
        return {
            "changes": to_document(self.changes),
            "sessions": to_document(self.steps),
            "estimates": to_document(self.estimates),
            "cost_usd": round(self.cost_usd, 6),
        }


def forecast(workplace: Workplace, options: RunOptions) -> Forecast:
    """Raises what `Engine.run` raises before it starts."""
    _, scope = workplace.check(options)
    with copy_of(workplace.root / STATE) as db:
        if is_begun(workplace.root / STATE):
            refuse_unbelieved(db, witness.path_of(workplace.environ, workplace.root))
        with transaction(db):
            nothing_runs(db)
            changes = sync_plan(docket_over(db), scope, redo=options.redo)
        order = list(succeed(workplace.board(db, scope, options)))
        kinds = dict.fromkeys(planned.node.archetype.value for planned in order)
        estimates = {kind: estimate(db, workplace.settings, kind) for kind in kinds}
    return Forecast(changes, tuple(_step(planned, estimates) for planned in order), estimates)


def refuse_unbelieved(db: Database, path: Path) -> None:
    """Raises RunStuck."""
    why = witness.why_unbelieved(db, path)
    if why:
        raise from_settings.RunStuck(why)


@contextmanager
def copy_of(path: Path) -> Iterator[Database]:
    """The state in memory, empty where there is none yet. Raises StateError."""
    with closing(light_database(sqlite3.connect(":memory:"))) as memory:
        if path.exists():
            with closing(read_state(path)) as stored:
                stored.conn.backup(memory.conn)
        migrate(memory, path)
        yield memory


def succeed(board: Board) -> Iterator[PlannedNode]:
    """Every node that would be launched, in order, each succeeding at once."""
    while (planned := board.take()) is not None:
        yield planned
        board.launched(planned)
        step = _SUCCESS[planned.node.archetype]
        standing = evolve(planned.standing, step)
        moved = Transition(planned.node.uid, planned.node.id, step, standing)
        board.apply(Handled(None, None, (moved,)))


def estimate(db: Database, settings: Settings, archetype: str) -> Estimate:
    """The mean of completed sessions that told their cost, else what the settings assume."""
    mean, count = mean_cost(db, archetype)
    if count:
        return Estimate(mean, f"the mean of {count} recorded")
    return Estimate(settings.agents.of(archetype).assumed_cost_usd, "assumed (assumed_cost_usd)")


def _step(planned: PlannedNode, estimates: Mapping[str, Estimate]) -> ForecastStep:
    node, at = planned.node, planned.standing
    cost = estimates[node.archetype].cost_usd
    return ForecastStep(node.id, node.archetype, node.title, at.attempt, at.reading, cost)
