"""A spec that expects nothing proves nothing."""

from __future__ import annotations

import json
from pathlib import Path

from agent_fox.testing.worlds import Req, World, issue_files, log, run_cli
from tests.stories.scene import NOT_PROVEN, causes, outcomes, run


def test_a_spec_without_requirements_is_reported_and_never_verified(tmp_path: Path) -> None:
    root = World({"01_calc": []}).build(tmp_path)
    problems = json.loads(run_cli(root, "plan", "--json").stdout)["problems"]
    assert any("01_calc" in problem["where"] for problem in problems)
    run(root, ends=NOT_PROVEN)
    assert outcomes(root) == {"01_calc:2": "escalated"}
    assert causes(root) == [("01_calc:2", "nothing to prove")]
    assert len(issue_files(root)) == 1


def test_no_session_is_paid_for_judging_nothing_and_the_others_are_proven(tmp_path: Path) -> None:
    root = World({"01_calc": [], "02_side": [Req("02-REQ-1.1", 1)]}).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert "01_calc:2" not in [row["node"] for row in log(root)]
    assert outcomes(root)["02_side:2"] == "verified"


def test_a_plan_without_verifiers_proves_nothing(tmp_path: Path) -> None:
    plan = "[plan]\npre_review = false\naudit_review = false\nverifier = false\n"
    root = World({"01_calc": [Req("01-REQ-1.1", 1)]}, settings=plan).build(tmp_path)
    run(root, ends=NOT_PROVEN)
