"""LangGraph hosts the verdict-driven retry: its graph loops, and our database says what may start and what is proven.

Needs: langgraph>=1.0
Run it: python examples/langgraph_host.py
"""

from __future__ import annotations

import sqlite3
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import TypedDict

from langgraph.graph import END, START, StateGraph

from agent_fox.core.graph import Node
from agent_fox.core.ids import Archetype, Ticket
from agent_fox.core.spec import Criterion, Group, Requirement, Spec
from agent_fox.engine import hosting
from agent_fox.specs.planner import PlanShape, plan_of

PART = "01-REQ-1.1"


class Work(TypedDict):
    """What travels along the edges of the graph: names only. What counts is in the database."""

    node: str
    role: str
    tip: str
    steps: list[str]


def code(ticket: Ticket, brief: str) -> str:
    """Your coding agent: does the work of a brief, and gives the commit that has it."""
    return f"commit of attempt {ticket.attempt}"


def verify(ticket: Ticket, brief: str) -> str:
    """Your verifier: what it prints. This one is content with the second attempt."""
    word = "PASS" if ticket.attempt > 1 else "FAIL"
    return f'{{"verdicts": [{{"requirement_id": "{PART}", "verdict": "{word}", "evidence": "seen"}}]}}'


class Host:
    """Each method is a node of the graph. Steps may be repeated: the database says what counted."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def connect(self) -> sqlite3.Connection:
        """LangGraph runs steps in threads of its own: each has its connection."""
        return sqlite3.connect(self.path, isolation_level=None)

    def pick(self, work: Work) -> Work:
        db = self.connect()
        ready = hosting.ready(db)
        if not ready:
            with db:
                db.execute("BEGIN IMMEDIATE")
                hosting.final_check(db, commit=work["tip"], tree=tree_of(work["tip"]), at=now())
            ready = hosting.ready(db)
        return {**work, "node": ready[0].id, "role": ready[0].archetype} if ready else {**work, "node": ""}

    def do(self, work: Work) -> Work:
        db = self.connect()
        with db:
            db.execute("BEGIN IMMEDIATE")
            ticket = hosting.launch(db, work["node"], work["tip"], now())
        brief, tip = hosting.brief(db, ticket).markdown, work["tip"]
        is_coder = work["role"] == Archetype.CODER
        said = code(ticket, brief) if is_coder else verify(ticket, brief)
        with db:
            db.execute("BEGIN IMMEDIATE")
            if is_coder:
                tip, end = said, hosting.coder_ended(db, ticket, landed=said, at=now())
            else:
                end = hosting.hand_in(db, ticket, said, commit=tip, tree=tree_of(tip), at=now())
        step = f"{work['node']} {type(end.decision).__name__}"
        return {**work, "tip": tip, "steps": [*work["steps"], step]}

    def graph(self) -> StateGraph[Work]:
        graph = StateGraph(Work)
        graph.add_node("pick", self.pick)
        graph.add_node("do", self.do)
        graph.add_edge(START, "pick")
        graph.add_conditional_edges("pick", lambda work: "do" if work["node"] else END, ["do", END])
        graph.add_edge("do", "pick")
        return graph


def tree_of(commit: str) -> str:
    return f"tree of {commit}"  # in a git repository: `git rev-parse COMMIT^{tree}`


def now() -> str:
    return datetime.now(UTC).isoformat()


def adopt(path: Path) -> tuple[Node, ...]:
    rule = Criterion(PART, "THE gate SHALL open for a valid ticket.")
    spec = Spec("01_gate", "values", "", requirements=(Requirement("01-REQ-1", "The gate", criteria=(rule,)),),
                groups=(Group(1, "Build it", requirements=(rule.id,)),))  # fmt: skip
    with sqlite3.connect(path, isolation_level=None) as db:
        db.execute("BEGIN IMMEDIATE")
        return hosting.adopt_plan(db, plan_of([spec], (), PlanShape(pre_review=False)), now()).nodes


def main(folder: Path) -> None:
    path = folder / "graph.db"
    adopt(path)
    work = Host(path).graph().compile().invoke({"node": "", "role": "", "tip": "c0", "steps": []})
    print(*work["steps"], sep="\n")
    print("proven:", hosting.is_proven(sqlite3.connect(path), tree_of(work["tip"])))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(Path(made))
