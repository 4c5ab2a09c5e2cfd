"""A FAIL goes back to the coder who owns it, with the evidence, and the work is proven in the end."""

from __future__ import annotations

from pathlib import Path

from agent_fox.testing.worlds import Req, World, landed, rows
from tests.stories.scene import PROVEN, briefed, coders, decisions, order, run, verdicts


def test_only_the_group_that_owns_the_failing_requirement_runs_again(tmp_path: Path) -> None:
    reqs = [Req("01-REQ-1.1", 1), Req("01-REQ-2.1", 2), Req("01-REQ-2.E1", 2, right_at=2), Req("01-REQ-3.1", 3)]
    root = World({"01_calc": reqs}).build(tmp_path)
    run(root, ends=PROVEN)
    assert coders(root) == {"01_calc:1": 1, "01_calc:2": 2, "01_calc:3": 1}
    assert briefed(root, "01_calc:2", 2) == {"01-REQ-2.E1": "proof/01-REQ-2.E1.txt: wrong at attempt 1"}
    assert verdicts(root) == {req.id: "PASS" for req in reqs}
    closed = "SELECT requirement_id, verdict FROM verification_results WHERE superseded_by IS NOT NULL"
    assert ("01-REQ-2.E1", "FAIL") in rows(root, closed)
    assert decisions(root, "01_calc:4") == ["Recode", "Accept"]


def test_two_groups_to_blame_run_in_plan_order_and_the_verifier_waits_for_both(tmp_path: Path) -> None:
    reqs = [Req("01-REQ-1.1", 1, right_at=2), Req("01-REQ-2.1", 2), Req("01-REQ-3.1", 3, right_at=2)]
    root = World({"01_calc": reqs}).build(tmp_path)
    run(root, "--parallel", "4", ends=PROVEN)
    assert order(root)[4:] == ["01_calc:1", "01_calc:3", "01_calc:4"]


def test_the_retried_group_starts_from_what_all_groups_had_landed(tmp_path: Path) -> None:
    reqs = [Req("01-REQ-1.1", 1, right_at=2), Req("01-REQ-2.1", 2)]
    root = World({"01_calc": reqs}).build(tmp_path)
    run(root, ends=PROVEN)
    bases = "SELECT node_id, attempt, pinned_commit FROM sessions ORDER BY id"
    pinned = {(node, attempt): commit for node, attempt, commit in rows(root, bases)}
    assert pinned["01_calc:1", 2] == pinned["01_calc:3", 1]


def test_a_retry_that_breaks_another_requirement_is_asked_first_and_the_owner_after_it(tmp_path: Path) -> None:
    world = World(
        {"01_calc": [Req("01-REQ-1.1", 1), Req("01-REQ-2.1", 2, right_at=2)]},
        breaks={"01_calc:2/2": ["01-REQ-1.1"]},
        settings="[retry]\nattempts = 5\n",
    )
    root = world.build(tmp_path)
    run(root, ends=PROVEN)
    breaking, asked_first, owner = (["01_calc:2", "01_calc:3"], ["01_calc:2", "01_calc:3"], ["01_calc:1", "01_calc:3"])
    assert order(root)[3:] == [*breaking, *asked_first, *owner]
    assert "01-REQ-1.1" in str(briefed(root, "01_calc:2", 3))
    words = "SELECT verdict FROM verification_results WHERE requirement_id = '01-REQ-1.1' ORDER BY id"
    assert [word for (word,) in rows(root, words)] == ["PASS", "FAIL", "FAIL", "PASS"]
    assert [landed(root, f"proof/01-REQ-{n}.1.txt") for n in (1, 2)] == ["right", "right"]
