"""Prefect hosts the verdict-driven retry: each session is a task of a flow, and our database says what may start.

Needs: prefect>=3.0
Run it: python examples/prefect_host.py
"""

from __future__ import annotations

import sqlite3
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from prefect import flow, task

from agent_fox.core.graph import Node, Plan
from agent_fox.core.ids import Archetype, Ticket
from agent_fox.core.spec import Criterion, Group, Requirement, Spec
from agent_fox.engine import hosting
from agent_fox.specs.planner import PlanShape, plan_of

SPECS = ("01_gate", "02_bell")


def code(ticket: Ticket, brief: str) -> str:
    """Your coding agent: does the work of a brief, and gives the commit that has it."""
    return f"commit of {ticket}"


def verify(ticket: Ticket, brief: str) -> str:
    """Your verifier: what it prints. The gate is right at its second attempt, the bell at once."""
    number = str(ticket)[:2]
    word = "FAIL" if number == "01" and ticket.attempt == 1 else "PASS"
    return f'{{"verdicts": [{{"requirement_id": "{number}-REQ-1.1", "verdict": "{word}", "evidence": "seen"}}]}}'


@task
def code_job(ticket: Ticket, brief: str) -> str:
    return code(ticket, brief)


@task(retries=2)
def verify_job(ticket: Ticket, brief: str) -> str:
    """Prefect may repeat the process; the budget of readings is ours, and counts reports."""
    return verify(ticket, brief)


@flow
def build(path: str) -> list[str]:
    """Launch what is ready, side by side, until nothing is; a flow that was killed is started again and goes on."""
    db = sqlite3.connect(path, isolation_level=None)
    tip, steps = "c0", list[str]()
    while ready := hosting.ready(db) or reopened(db, tip):
        with db:
            db.execute("BEGIN IMMEDIATE")
            tickets = [hosting.launch(db, node.id, tip, now()) for node in ready]
        jobs = [code_job if node.archetype is Archetype.CODER else verify_job for node in ready]
        said = [
            job.submit(ticket, hosting.brief(db, ticket).markdown) for job, ticket in zip(jobs, tickets, strict=True)
        ]
        for node, ticket, future in zip(ready, tickets, said, strict=True):
            with db:
                db.execute("BEGIN IMMEDIATE")
                steps.append(f"{node.id} {end(db, node.archetype, ticket, future.result(), tip)}")
        landed = [
            future.result() for node, future in zip(ready, said, strict=True) if node.archetype is Archetype.CODER
        ]
        tip = "+".join(landed) or tip  # yours: merge what landed, and name the commit
    if not hosting.is_proven(db, tree_of(tip)):
        raise RuntimeError("; ".join(hosting.account(db, tree_of(tip)).why_not))
    return steps


def end(db: sqlite3.Connection, archetype: Archetype, ticket: Ticket, said: str, tip: str) -> str:
    if archetype is Archetype.CODER:
        handled = hosting.coder_ended(db, ticket, landed=said, at=now())
    else:
        handled = hosting.hand_in(db, ticket, said, commit=tip, tree=tree_of(tip), at=now())
    return type(handled.decision).__name__


def reopened(db: sqlite3.Connection, tip: str) -> tuple[Node, ...]:
    """Nothing is ready: what was proven on an older tree is read again before the end."""
    with db:
        db.execute("BEGIN IMMEDIATE")
        hosting.final_check(db, commit=tip, tree=tree_of(tip), at=now())
    return hosting.ready(db)


def tree_of(commit: str) -> str:
    return f"tree of {commit}"  # in a git repository: `git rev-parse COMMIT^{tree}`


def now() -> str:
    return datetime.now(UTC).isoformat()


def plan() -> Plan:
    specs = []
    for name in SPECS:
        rule = Criterion(f"{name[:2]}-REQ-1.1", f"THE {name[3:]} SHALL work.")
        requirement = Requirement(f"{name[:2]}-REQ-1", name, criteria=(rule,))
        specs.append(
            Spec(name, "values", "", requirements=(requirement,), groups=(Group(1, "Build", requirements=(rule.id,)),))
        )
    return plan_of(specs, (), PlanShape(pre_review=False))


def main(folder: Path) -> None:
    path = folder / "flow.db"
    with sqlite3.connect(path, isolation_level=None) as db:
        db.execute("BEGIN IMMEDIATE")
        hosting.adopt_plan(db, plan(), now())
    print(*build(str(path)), sep="\n")
    print("proven")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(Path(made))
