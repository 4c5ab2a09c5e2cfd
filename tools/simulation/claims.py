"""What must be true of a run at every step, after every orchestrator, and at the end, whatever happens on the way."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from agent_fox.evidence import verify
from agent_fox.store.state import read_state, snapshot
from tools.simulation.made_world import COST, RIGHT, proof_of

if TYPE_CHECKING:
    from tools.simulation.made_world import Place

BRANCH = "refs/heads/agent-fox/integration"

PAID_TWICE = (
    """SELECT session_id, count(*) FROM launches WHERE status = 'ended' GROUP BY session_id HAVING count(*) > 1"""
)
WITHOUT_EVIDENCE = """
SELECT n.id FROM plan_nodes n WHERE n.archetype = 'verifier' AND n.status = 'completed' AND n.outcome = 'verified'
AND EXISTS (
    SELECT 1 FROM plan_parts p WHERE p.spec_name = n.spec_name AND NOT EXISTS (
        SELECT 1 FROM verification_results v
        WHERE v.spec_name = p.spec_name AND v.requirement_id = p.id AND v.superseded_by IS NULL AND v.read_as = 'PASS'
    )
)"""
OVER_BUDGET = (
    "SELECT id, attempt - attempt_base FROM plan_nodes WHERE archetype = 'coder' AND attempt - attempt_base > ?"
)
OVERDRAWN = """SELECT spec_name, node_uid, attempt, count(*) FROM sessions WHERE archetype = 'coder'
GROUP BY node_uid, attempt HAVING count(*) > 1"""


@dataclass
class Claims:
    """Held against the state file as anybody would read it, and against what the made world knows of itself."""

    file: Path
    place: Place
    commits: int = 0

    def after_step(self, what: str) -> None:
        if what == "committed":
            self.commits += 1
            if self.commits % 4 == 0:
                self.hold()

    def hold(self) -> None:
        """At every step."""
        with closing(sqlite3.dbapi2.Connection(f"file:{self.file}?mode=ro", uri=True)) as db:
            nobody(db, PAID_TWICE, "sessions with two launches that count")
            nobody(db, WITHOUT_EVIDENCE, "verified without a PASS of each requirement")
            nobody(db, OVERDRAWN, "attempts with two sessions")
            over = db.execute(OVER_BUDGET, (self.place.story.attempts,)).fetchall()
            assert not over, f"more attempts than {self.place.story.attempts}: {over}"
        again = {ticket: count for ticket, count in self.place.results.items() if count > 1}
        assert not again, f"tickets that were paid for twice: {again}"
        twice = {launch: count for launch, count in self.place.started.items() if count > 1}
        assert not twice, f"launches that ran twice: {twice}"

    def after_part(self, *, is_whole: bool) -> None:
        """After each orchestrator, however it ended. `is_whole`: the ledger is walked, too."""
        if not self.file.exists():
            return
        self.hold()
        self.costs()
        if not is_whole:
            return
        with closing(read_state(self.file)) as db, snapshot(db):
            checked = verify.verify(db, witness=None, signers=None, now="9", asks_witness=False)
        assert checked.findings.is_sound, f"the ledger is not sound: {checked.findings.faults[:3]}"

    def costs(self) -> None:
        """A launch that ended is in the books with what it cost, once."""
        for launch, cost in self.rows("SELECT id, cost_usd FROM launches WHERE status = 'ended'"):
            assert launch in self.place.paid, f"launch {launch} is in the books, and never ended"
            assert cost == self.place.paid[launch] == COST, (
                f"launch {launch} cost {self.place.paid[launch]}, not {cost}"
            )

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        with closing(sqlite3.dbapi2.Connection(f"file:{self.file}?mode=ro", uri=True)) as db:
            return db.execute(sql).fetchall()

    def undelivered(self) -> list[tuple[Any, ...]]:
        return self.rows("SELECT kind, fingerprint, state, note FROM outbox WHERE state NOT IN ('done', 'moot')")

    def at_the_end(self, how: str) -> None:
        """What the run claims is what stands on its branch; what is filed is what fails."""
        files = self.place.git.files(self.place.git.refs[BRANCH])
        right = {id for id in self.place.story.requirements if files[proof_of(id)] == RIGHT}
        if how.startswith("PROVEN"):
            assert right == set(self.place.story.requirements), f"PROVEN, and only {sorted(right)} are right"
        standings = self.rows("SELECT id, status, coalesce(outcome, '') FROM plan_nodes ORDER BY id")
        for id, status, outcome in standings:
            spec = id.partition(":")[0]
            if outcome == "verified" and ":" in id:
                missing = {req.id for req in self.place.story.world.specs.get(spec, ()) if req.id not in right}
                assert not missing, f"{id} is {status}, {outcome}, and {missing} are wrong on the branch"
        prints = [issue.fingerprint for issue in self.place.issues.values() if issue.is_open]
        assert len(prints) == len(set(prints)), f"two open issues of one cause: {prints}"
        assert not self.undelivered(), f"not delivered: {self.undelivered()}"
        assert sorted(prints) == sorted(
            fp for (fp,) in self.rows("SELECT fingerprint FROM issues WHERE state = 'open'")
        )
        attempts = self.rows("SELECT id, attempt FROM plan_nodes WHERE archetype = 'coder' ORDER BY id")
        self.place.ending = (how.partition(":")[0], standings, attempts, sorted(right), sorted(prints))


PARTS = ("exit", "standings", "attempts", "right", "issues")


def like(ending: tuple[object, ...], calm: tuple[object, ...]) -> None:
    """The same end as where nothing went wrong."""
    for name, mine, other in zip(PARTS, ending, calm, strict=True):
        assert mine == other, f"{name}: {difference(mine, other)}"


def difference(mine: Any, calm: Any) -> str:  # noqa: ANN401
    if isinstance(mine, str):
        return f"{mine}, and {calm} in calm"
    return f"{[one for one in mine if one not in calm]}, and in calm {[one for one in calm if one not in mine]}"


def nobody(db: sqlite3.Connection, sql: str, what: str) -> None:
    rows = db.execute(sql).fetchall()
    assert not rows, f"{what}: {rows}"
