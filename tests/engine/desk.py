"""An engine without processes: a real state file and real handlers; the ends of sessions are handed in by the test."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sqlite_utils import Database

from agent_fox.core.graph import Plan
from agent_fox.core.ids import Archetype, Ticket
from agent_fox.core.policy import Policy
from agent_fox.core.spec import Criterion, Dependency, Group, Requirement, Spec
from agent_fox.engine.planning.planning import sync_plan
from agent_fox.engine.planning.scope import Scope
from agent_fox.engine.record.board import Board
from agent_fox.engine.record.docket import Docket, Handled, SpecShelf
from agent_fox.engine.record.review_persistence import Judge
from agent_fox.engine.running.results import EndedSession, Registry
from agent_fox.specs.planner import PlanShape, plan_of
from agent_fox.store import plan as stored
from agent_fox.store import sessions
from agent_fox.store.plan import PlannedNode, node_by_id
from agent_fox.store.records import insert
from agent_fox.store.state import transaction
from tests.states import fresh_state

AT = "2026-03-01T12:00:00.000Z"
BARE = PlanShape(pre_review=False, audit_review=False)


def small_spec(name: str, groups: Mapping[int, tuple[str, ...]], after: str | None = None) -> Spec:
    """A spec whose groups own the criteria named (as `1.1`, `2.E1`); each number before the dot is a requirement."""
    number = name.split("_")[0]
    parts = [f"{number}-REQ-{part}" for own in groups.values() for part in own]
    heads = dict.fromkeys(part.rpartition(".")[0] for part in parts)
    requirements = tuple(
        Requirement(head, head, "", tuple(Criterion(p, f"text of {p}") for p in parts if p.startswith(f"{head}.")))
        for head in heads
    )
    tasks = tuple(
        Group(n, f"group {n}", requirements=tuple(f"{number}-REQ-{part}" for part in own)) for n, own in groups.items()
    )
    dependencies = (Dependency(after, None, None, "prd.md:1"),) if after else ()
    return Spec(name, "agent-fox", f"specs/{name}", name, requirements, tasks, dependencies)


@dataclass
class Desk:
    """One plan in a state file; `commit` stands for the integration branch's tip and for its tree."""

    db: Database
    policy: Policy = field(default_factory=Policy)
    registry: Registry = field(default_factory=Registry)
    shelf: SpecShelf = field(default_factory=SpecShelf)
    run_id: int = 1
    commit: str = "c0"
    landings: int = 0

    @classmethod
    def open(cls, folder: Path, specs: Iterable[Spec], policy: Policy | None = None, shape: PlanShape = BARE) -> Desk:
        db = fresh_state(folder / "state.db")
        desk = cls(db, policy or Policy())
        with transaction(db):
            desk.run_id = sessions.start_run(db, AT, "head")
            sync_plan(desk.docket(), Scope(plan_of(specs, (), shape), {}))
        return desk

    def docket(self) -> Docket:
        return Docket(self.db, AT, self.policy, self.shelf, self.run_id)

    def replan(self, plan: Plan) -> tuple[str, ...]:
        with transaction(self.db):
            lines = sync_plan(self.docket(), Scope(plan, {}))
        self.shelf = SpecShelf()
        return lines

    def node(self, node_id: str) -> PlannedNode:
        found = node_by_id(self.db, node_id)
        assert found is not None, node_id
        return found

    def board(self) -> Board:
        return Board(stored.load_nodes(self.db), stored.load_edges(self.db), stored.load_retry_edges(self.db))

    def session(self, planned: PlannedNode) -> int:
        """The row of the awaited session; made if it is not there."""
        known = sessions.session_by_ticket(self.db, planned.standing.ticket)
        if known is not None:
            return known.id
        node, at = planned.node, planned.standing
        row = {"run_id": self.run_id, "node_id": node.id, "node_uid": node.uid, "spec_name": node.spec_name}
        more = {"archetype": node.archetype, "attempt": at.attempt, "reading": at.reading, "status": "running"}
        last = {"pinned_commit": self.commit, "tree": self.commit, "started_at": AT}
        return insert(self.db, "sessions", {**row, **more, **last})

    def end(
        self, node_id: str, *, ticket: Ticket | None = None, output: str = "", failure: str = "",
        is_trusted: bool = False,
    ) -> Handled:  # fmt: skip
        """The awaited session of a node ends; a coder's lands a new commit unless it failed. `is_trusted`: the judge is
        one of ours."""
        planned = self.node(node_id)
        with transaction(self.db):
            number = self.session(planned)
            landed = self.next_commit() if planned.node.archetype is Archetype.CODER and not failure else None
            judges = (Judge("checks" if is_trusted else "command", output, is_trusted=is_trusted),)
            ended = EndedSession(
                ticket or planned.standing.ticket, self.commit, self.commit, judges, failure, landed, number
            )
            handled = self.registry.handle(self.docket(), planned.node.archetype, ended)
        self.commit = landed or self.commit
        return handled

    def next_commit(self) -> str:
        self.landings += 1
        return f"c{self.landings}"

    def report(self, node_id: str, words: Mapping[str, str], ticket: Ticket | None = None) -> Handled:
        return self.end(node_id, ticket=ticket, output=answer(words))

    def rows(self, sql: str) -> list[tuple[object, ...]]:
        return list(self.db.execute(sql).fetchall())


def answer(words: Mapping[str, str]) -> str:
    rows = [{"requirement_id": part, "verdict": word, "evidence": f"saw {part}"} for part, word in words.items()]
    return json.dumps({"verdicts": rows})
