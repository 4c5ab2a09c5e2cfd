"""A foreign scheduler that hosts the verdict-driven retry: its own table of jobs, its own loop, its own transactions.

Run it: python examples/foreign_scheduler.py
"""

from __future__ import annotations

import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from agent_fox.core.graph import Plan
from agent_fox.core.ids import Archetype, Ticket
from agent_fox.core.policy import Policy
from agent_fox.core.spec import Criterion, Group, Requirement, Spec
from agent_fox.engine import hosting
from agent_fox.engine.record.docket import Handled
from agent_fox.specs.planner import PlanShape, plan_of
from agent_fox.trackers.local import LocalTracker

JOBS = """
CREATE TABLE jobs (uid TEXT PRIMARY KEY, name TEXT, role TEXT, state TEXT);
CREATE TABLE job_waits (job TEXT, waits_for TEXT, is_round INTEGER, UNIQUE (job, waits_for));
"""
READY = """
SELECT name, role FROM jobs WHERE state = 'pending' AND NOT EXISTS (
    SELECT 1 FROM job_waits JOIN jobs AS other ON other.uid = waits_for
    WHERE job = jobs.uid AND other.state <> 'completed') ORDER BY rowid LIMIT 1
"""
ROUND_ENDED = """
DELETE FROM job_waits WHERE is_round AND waits_for IN (SELECT uid FROM jobs WHERE state = 'completed')
"""


@dataclass
class Scheduler:
    """`code` does a coder's job with its brief and gives the commit of its work; `verify` gives what was printed."""

    db: sqlite3.Connection
    code: Callable[[Ticket, str], str | None]
    verify: Callable[[Ticket, str], str]
    policy: Policy = hosting.USUAL
    tip: str = "c0"

    def adopt(self, plan: Plan) -> None:
        self.db.executescript(JOBS)
        with self.transaction():
            adopted = hosting.adopt_plan(self.db, plan, now(), self.policy)
            jobs = [(node.uid, node.id, node.archetype) for node in adopted.nodes]
            self.db.executemany("INSERT INTO jobs VALUES (?, ?, ?, 'pending')", jobs)
            self.db.executemany("INSERT INTO job_waits VALUES (?, ?, 0)", [(e.target, e.source) for e in adopted.edges])

    def run(self) -> None:
        while (job := self.db.execute(READY).fetchone()) is not None:
            with self.transaction():
                ticket = hosting.launch(self.db, job[0], self.tip, now())
            end = self.code_job if job[1] == Archetype.CODER else self.verify_job
            end(ticket, hosting.brief(self.db, ticket).markdown)

    def code_job(self, ticket: Ticket, brief: str) -> None:
        commit = self.code(ticket, brief)
        with self.transaction():
            self.follow(hosting.coder_ended(self.db, ticket, landed=commit, at=now(), policy=self.policy))
        self.tip = commit or self.tip

    def verify_job(self, ticket: Ticket, brief: str) -> None:
        said = self.verify(ticket, brief)
        about = {"commit": self.tip, "tree": f"tree of {self.tip}"}  # in a git repository: `git rev-parse HEAD^{tree}`
        with self.transaction():
            self.follow(hosting.hand_in(self.db, ticket, said, **about, at=now(), policy=self.policy))

    def follow(self, handled: Handled) -> None:
        """Jobs move as the decision says, in the transaction that records it."""
        print(f"{type(handled.decision).__name__:8}", ", ".join(f"{t.node_id} {t.step}" for t in handled.transitions))
        states = [(moved.standing.status, moved.uid) for moved in handled.transitions]
        self.db.executemany("UPDATE jobs SET state = ? WHERE uid = ?", states)
        self.db.execute(ROUND_ENDED)
        rounds = [(target, source) for source, target in handled.waits]
        self.db.executemany("INSERT OR IGNORE INTO job_waits VALUES (?, ?, 1)", rounds)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        self.db.execute("BEGIN IMMEDIATE")
        with self.db:
            yield


def now() -> str:
    return datetime.now(UTC).isoformat()


def main(folder: Path) -> None:
    """Three rules of a gate: the first is right at once, the second at the coder's second attempt, the third never."""
    criteria = [Criterion(f"01-REQ-1.{n}", f"THE gate SHALL keep rule {n}.") for n in (1, 2, 3)]
    spec = Spec("01_gate", "values", "", requirements=(Requirement("01-REQ-1", "The gate", "", tuple(criteria)),),
                groups=(Group(1, "Build the gate", requirements=tuple(c.id for c in criteria)),))  # fmt: skip

    def verify(ticket: Ticket, brief: str) -> str:
        words = ["PASS", "PASS" if ticket.attempt > 1 else "FAIL", "FAIL"]
        rows = [f'{{"requirement_id": "{c.id}", "verdict": "{w}"}}' for c, w in zip(criteria, words, strict=True)]
        return f'{{"verdicts": [{", ".join(rows)}], "overall_verdict": "FAIL"}}'

    db = sqlite3.connect(folder / "foreign.db", isolation_level=None)
    scheduler = Scheduler(db, lambda ticket, brief: f"work of attempt {ticket.attempt}", verify)
    scheduler.adopt(plan_of([spec], (), PlanShape(pre_review=False)))
    scheduler.run()
    hosting.deliver(db, LocalTracker(folder / "issues"))
    print(db.execute("SELECT name, state FROM jobs").fetchall(), [path.name for path in (folder / "issues").iterdir()])


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        main(Path(folder))
