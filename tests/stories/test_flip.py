"""FAIL, then PASS, on a tree that nobody changed: one of the two is wrong, so a further reading must confirm."""

from __future__ import annotations

from pathlib import Path

from agent_fox.testing.worlds import NEVER, Req, World, rows
from tests.stories.scene import NOT_PROVEN, PROVEN, causes, coders, decisions, report, run, verdicts

PASSES = report({"01-REQ-1.1": "PASS"})
FAILS = report({"01-REQ-1.1": "FAIL"})
IDLE = {"01_calc:1/2": "nothing"}
REQS = [Req("01-REQ-1.1", 1, NEVER)]


def test_a_pass_after_a_fail_counts_only_when_it_is_confirmed(tmp_path: Path) -> None:
    says = {"01_calc/1/1": FAILS, "01_calc/2/1": PASSES, "01_calc/2/2": PASSES}
    root = World({"01_calc": REQS}, coder_does=IDLE, verifier_says=says).build(tmp_path)
    run(root, ends=PROVEN)
    assert coders(root) == {"01_calc:1": 2}
    assert decisions(root, "01_calc:2") == ["Recode", "Reread", "Accept"]
    stored = "SELECT verdict, said FROM verification_results ORDER BY id"
    assert rows(root, stored) == [("FAIL", "FAIL"), ("UNKNOWN", "PASS"), ("PASS", "PASS")]


def test_until_then_the_fail_stands(tmp_path: Path) -> None:
    says = {"01_calc/1/1": FAILS, "01_calc/2/1": PASSES, "01_calc/2/2": FAILS}
    root = World({"01_calc": REQS}, coder_does=IDLE, verifier_says=says).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert verdicts(root) == {"01-REQ-1.1": "FAIL"}
    assert causes(root) == [("01_calc:2", "no clear verdict")]


def test_a_coder_that_changed_nothing_is_recorded_as_unchanged_and_not_as_failed(tmp_path: Path) -> None:
    says = {"01_calc/1/1": FAILS, "01_calc/2/1": PASSES, "01_calc/2/2": PASSES}
    root = World({"01_calc": REQS}, coder_does=IDLE, verifier_says=says).build(tmp_path)
    run(root, ends=PROVEN)
    assert rows(root, "SELECT status FROM sessions WHERE archetype = 'coder'") == [("completed",), ("completed",)]
    assert rows(root, "SELECT outcome FROM plan_nodes WHERE archetype = 'coder'") == [("unchanged",)]
