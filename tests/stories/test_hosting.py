"""The verdict-driven retry in a foreign scheduler: the same stories as under our own engine."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agent_fox.core.graph import Plan
from agent_fox.core.ids import Ticket
from agent_fox.core.policy import Policy
from agent_fox.core.spec import Criterion, Dependency, Group, Requirement, Spec
from agent_fox.engine import hosting
from agent_fox.engine.record.docket import Handled
from agent_fox.specs.planner import PlanShape, plan_of
from agent_fox.testing.worlds import SOURCE, environment
from examples.foreign_scheduler import Scheduler, now

GIBBERISH = "I looked at everything and it is fine."


def spec_of(name: str, owners: Mapping[str, int], *depends: str) -> Spec:
    """A spec whose ids are each implemented by the group named."""
    criteria = tuple(Criterion(part, f"THE system SHALL keep {part}.") for part in owners)
    groups = tuple(
        Group(number, f"Part {number}", requirements=tuple(part for part, owner in owners.items() if owner == number))
        for number in sorted(set(owners.values()))
    )
    requirement = Requirement(f"{name[:2]}-REQ-1", "All of it", criteria=criteria)
    waits = tuple(Dependency(other, None, None) for other in depends)
    return Spec(name, "values", name, requirements=(requirement,), groups=groups, dependencies=waits)


def planned(*specs: Spec) -> Plan:
    return plan_of(specs, (), PlanShape(pre_review=False, audit_review=False))


GATE = planned(spec_of("01_gate", {"01-REQ-1.1": 1, "01-REQ-1.2": 2}))


def report(**words: str) -> str:
    """What a verifier prints: `r1="PASS"` is about 01-REQ-1.1."""
    rows = [
        {"requirement_id": f"01-REQ-1.{name[1:]}", "verdict": word, "evidence": f"saw {word}"}
        for name, word in words.items()
    ]
    overall = "PASS" if set(words.values()) == {"PASS"} else "FAIL"
    return json.dumps({"verdicts": rows, "overall_verdict": overall})


GOOD = report(r1="PASS", r2="PASS")
HALF = report(r1="PASS", r2="FAIL")


@dataclass
class Story:
    """What each session of the verifiers says, by attempt and reading; coders always commit, if not told otherwise."""

    says: Mapping[tuple[int, int], str]
    idle: tuple[str, ...] = ()
    briefs: dict[str, str] = field(default_factory=dict)

    def code(self, ticket: Ticket, brief: str) -> str | None:
        self.briefs[str(ticket)] = brief
        return None if str(ticket) in self.idle else f"commit of {ticket}"

    def verify(self, ticket: Ticket, brief: str) -> str:
        return self.says[ticket.attempt, ticket.reading]


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(tmp_path / "foreign.db", isolation_level=None)) as connection:
        yield connection


def told(db: sqlite3.Connection, story: Story, plan: Plan = GATE, policy: Policy | None = None) -> Scheduler:
    scheduler = Scheduler(db, story.code, story.verify, policy or Policy())
    scheduler.adopt(plan)
    scheduler.run()
    return scheduler


def decisions(db: sqlite3.Connection) -> list[tuple[str, str]]:
    return db.execute("SELECT node_id, kind FROM decisions ORDER BY id").fetchall()


def verifiers(db: sqlite3.Connection) -> list[tuple[str, str, str]]:
    sql = "SELECT id, status, outcome FROM plan_nodes WHERE archetype = 'verifier' ORDER BY id"
    return db.execute(sql).fetchall()


def current(db: sqlite3.Connection) -> list[tuple[str, str, int]]:
    sql = (
        "SELECT spec_name, verdict, count(*) FROM verification_results WHERE superseded_by IS NULL "
        "GROUP BY spec_name, verdict"
    )
    return db.execute(sql).fetchall()


def jobs(db: sqlite3.Connection) -> dict[str, str]:
    return dict(db.execute("SELECT name, state FROM jobs").fetchall())


def test_work_that_is_right_at_once_is_proven_at_once(db: sqlite3.Connection) -> None:
    told(db, Story({(1, 1): GOOD}))
    assert decisions(db) == [("01_gate:1", "Land"), ("01_gate:2", "Land"), ("01_gate:3", "Accept")]
    assert verifiers(db) == [("01_gate:3", "completed", "verified")]
    assert current(db) == [("01_gate", "PASS", 2)]
    assert hosting.effects(db, now()) == []


def test_a_fail_sends_only_the_blamed_coder_back_with_the_evidence(db: sqlite3.Connection) -> None:
    story = Story({(1, 1): HALF, (2, 1): GOOD})
    told(db, story)
    assert decisions(db)[2:] == [("01_gate:3", "Recode"), ("01_gate:2", "Land"), ("01_gate:3", "Accept")]
    assert "saw FAIL" in story.briefs["01_gate:coder:2@2.1"]
    assert "01_gate:coder:1@2.1" not in story.briefs
    assert current(db) == [("01_gate", "PASS", 2)]


def test_two_blamed_coders_run_in_plan_order_before_the_verifier(db: sqlite3.Connection) -> None:
    told(db, Story({(1, 1): report(r1="FAIL", r2="FAIL"), (2, 1): GOOD}))
    assert [node for node, _ in decisions(db)[3:]] == ["01_gate:1", "01_gate:2", "01_gate:3"]


def test_a_budget_that_is_spent_leaves_one_effect_and_an_escalated_verifier(db: sqlite3.Connection) -> None:
    never = Story({(attempt, 1): HALF for attempt in (1, 2, 3)})
    told(db, never, policy=Policy(stop_without_progress=False))
    assert verifiers(db) == [("01_gate:3", "completed", "escalated")]
    assert [kind for _, kind in decisions(db)].count("Recode") == 2
    assert db.execute("SELECT DISTINCT archetype FROM blocking_history").fetchall() == [("verifier",)]
    (effect,) = hosting.effects(db, now())
    assert (effect.kind, effect.spec, effect.members) == ("file", "01_gate", ("01-REQ-1.2",))


def test_gibberish_is_read_again_and_costs_the_coders_nothing(db: sqlite3.Connection) -> None:
    told(db, Story({(1, 1): GIBBERISH, (1, 2): GOOD}))
    assert decisions(db)[2:] == [("01_gate:3", "Reread"), ("01_gate:3", "Accept")]
    assert db.execute("SELECT max(attempt) FROM sessions").fetchone() == (1,)


def test_a_verifier_that_never_speaks_is_blocked_with_a_reason(db: sqlite3.Connection) -> None:
    told(db, Story({(1, 1): GIBBERISH, (1, 2): ""}))
    assert verifiers(db) == [("01_gate:3", "completed", "escalated")]
    assert db.execute("SELECT cause FROM blocking_history").fetchall() == [("no clear verdict",)]


def test_a_pass_after_a_fail_on_an_unchanged_tree_must_be_confirmed(db: sqlite3.Connection) -> None:
    idle = ("01_gate:coder:2@2.1",)
    told(db, Story({(1, 1): HALF, (2, 1): GOOD, (2, 2): GOOD}, idle))
    kinds = [kind for node, kind in decisions(db) if node == "01_gate:3"]
    assert kinds == ["Recode", "Reread", "Accept"]


def test_what_depends_on_an_escalated_spec_is_blocked_in_the_hosts_jobs(db: sqlite3.Connection) -> None:
    plan = planned(spec_of("01_gate", {"01-REQ-1.1": 1}), spec_of("02_toll", {"02-REQ-1.1": 1}, "01_gate"))
    told(db, Story({(1, 1): report(r1="FAIL")}), plan, Policy(attempts=1))
    assert jobs(db) == {
        "01_gate:1": "completed", "01_gate:2": "completed", "02_toll:1": "blocked", "02_toll:2": "blocked",
    }  # fmt: skip


class Faint(Exception):
    pass


class Fainting(Scheduler):
    """Fails inside its own transaction, after the report was handed in."""

    def follow(self, handled: Handled) -> None:
        super().follow(handled)
        if not handled.decision.__class__.__name__.startswith("Land"):
            raise Faint


def test_a_host_that_rolls_back_leaves_nothing_and_can_hand_in_again(db: sqlite3.Connection) -> None:
    story = Story({(1, 1): HALF, (2, 1): GOOD})
    fainting = Fainting(db, story.code, story.verify)
    fainting.adopt(GATE)
    with pytest.raises(Faint):
        fainting.run()
    assert [kind for _, kind in decisions(db)] == ["Land", "Land"]
    assert current(db) == []
    assert db.execute("SELECT count(*) FROM job_waits WHERE is_round").fetchone() == (0,)
    db.execute("UPDATE jobs SET state = 'pending' WHERE name = '01_gate:3'")
    Scheduler(db, story.code, story.verify, tip=fainting.tip).run()
    assert verifiers(db) == [("01_gate:3", "completed", "verified")]


def test_the_example_runs_as_it_stands() -> None:
    done = run([str(SOURCE / "examples" / "foreign_scheduler.py")])
    assert [line.split()[0] for line in done.stdout.splitlines()[:6]] == ["Land", "Recode"] * 2 + ["Land", "Block"]
    assert "0001-01-gate-01-req-1-3-fails-" in done.stdout


def test_the_code_of_the_document_runs() -> None:
    text = (SOURCE / "docs" / "hosting.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    printed = re.findall(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert blocks
    assert run(["-c", "\n".join(blocks)]).stdout == "".join(printed)


def run(arguments: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *arguments], env=environment(), capture_output=True, text=True, check=True)
