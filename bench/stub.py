"""The engine without sessions: takes nodes from the board, writes launches and made-up ends, follows decisions.

It does in each step what a run does about board and state; there is no process, no checkout and no git.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from agent_fox.core.ids import Archetype
from agent_fox.engine.launching import launching
from agent_fox.engine.launching.launching import Workshop
from agent_fox.engine.record.docket import Handled
from agent_fox.engine.record.review_persistence import Judge
from agent_fox.engine.running.results import Ended, Registry, record_result, with_report
from agent_fox.session.order import EndKind, SessionEnd
from agent_fox.session.workspaces.landing import Landing
from agent_fox.store import outbox, sessions
from agent_fox.store.plan import PlannedNode
from agent_fox.store.sessions import LaunchRow, SessionRow
from agent_fox.store.state import transaction
from agent_fox.system import clock
from bench.worlds import World

TIP, TREE = "a" * 40, "b" * 40


@dataclass(frozen=True, slots=True)
class Flight:
    """A launch under way."""

    planned: PlannedNode
    session: SessionRow
    launch: LaunchRow


def unwatched(name: str, seconds: float) -> None:
    """For callers that do not ask what single steps take."""


@dataclass
class Stub:
    """Completes nodes. `watch` is told the name and the seconds of every transaction after its commit."""

    world: World
    watch: Callable[[str, float], None] = unwatched
    registry: Registry = field(default_factory=Registry)
    launches: int = 0

    def __post_init__(self) -> None:
        self.board = self.world.board()
        folder = self.world.path.parent
        self.workshop = Workshop(self.world.settings, folder, folder / "launches", folder, self.world.shelf)

    def complete(self) -> bool:
        """One node from ready to completed; False where nothing is ready."""
        planned = self.board.take()
        if planned is None:
            return False
        flight = self.launch(planned)
        self.follow(flight, self.result(flight, self.ended(flight)))
        return True

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.watch(name, time.perf_counter() - start)

    def launch(self, planned: PlannedNode) -> Flight:
        db = self.world.db
        self.launches += 1
        name = f"launch-{self.launches}"
        with self.step("launch"), transaction(db):
            session, launch, _ = launching.begin(db, self.workshop, planned, self.world.run_id, TIP, name, clock.now())
        under_way = launching.running(planned)
        self.board.stand(planned.node.uid, under_way.standing)
        self.board.launched(planned)
        self.workshop.panel(db, under_way, session, launch)
        return Flight(under_way, session, launch)

    def ended(self, flight: Flight) -> Ended:
        """The end that the session would have had: everything passes at once."""
        end = SessionEnd(
            EndKind.ENDED, "", Path("session.log"), exit_status=0, cost_usd=0.25, input_tokens=1000, output_tokens=100,
            seconds=1.0, summary="done",
        )  # fmt: skip
        judges = (Judge("command", self.report(flight)),) if is_verifier(flight.planned) else ()
        return Ended(flight.planned, flight.session, flight.launch, end, judges)

    def report(self, flight: Flight) -> str:
        return report(self.world.shelf.take(self.world.db, flight.planned.node.spec_name).expected)

    def result(self, flight: Flight, ended: Ended) -> Handled:
        """What the judges said, read; then the transaction that is one durable session result."""
        db, is_read = self.world.db, is_verifier(flight.planned)
        ended = with_report(self.world.docket(db, clock.now()), ended)
        landing = None if is_read else Landing(TIP, TIP)
        with self.step("verdicts" if is_read else "work"), transaction(db):
            return record_result(self.registry, self.world.docket(db, clock.now()), ended, landing, TREE)

    def follow(self, flight: Flight, handled: Handled) -> None:
        """What comes after the commit: the branch has the work, the board follows, the outbox is looked at."""
        db = self.world.db
        if not is_verifier(flight.planned):
            with self.step("landed"):
                sessions.set_landed(db, flight.session.id)
        self.board.apply(handled)
        outbox.undelivered(db, clock.now())


def report(expected: Iterable[str]) -> str:
    """What a verifier prints when everything passes."""
    rows = [{"requirement_id": part, "verdict": "PASS", "evidence": f"{part}: 3 passed"} for part in expected]
    return json.dumps({"verdicts": rows, "overall_verdict": "PASS", "summary": "all pass"})


def is_verifier(planned: PlannedNode) -> bool:
    return planned.node.archetype is Archetype.VERIFIER
