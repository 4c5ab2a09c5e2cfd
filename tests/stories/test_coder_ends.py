"""A coder that crashes, hangs, conflicts or changes nothing: what it costs, and what its next try is told."""

from __future__ import annotations

from pathlib import Path

from agent_fox.testing.worlds import Req, World, issue_files, landed, log, rows, run_cli
from tests.stories.scene import NOT_PROVEN, PROVEN, causes, coders, decisions, order, run

REQS = [Req("01-REQ-1.1", 1)]


def reasons(root: Path) -> list[str]:
    """Why the coders' last tries gave no result, as their briefs say; only those that say something."""
    return [str(row["reason"]) for row in log(root) if row["role"] == "coder" and row["reason"]]


def test_a_crashed_coder_is_tried_again_with_the_reason_before_anybody_judges(tmp_path: Path) -> None:
    root = World({"01_calc": REQS}, coder_does={"01_calc:1/1": "crash"}).build(tmp_path)
    run(root, ends=PROVEN)
    assert order(root) == ["01_calc:1", "01_calc:1", "01_calc:2"]
    (reason,) = reasons(root)
    assert "exit 7" in reason
    assert decisions(root, "01_calc:1") == ["Retry", "Land"]


def test_a_coder_that_always_crashes_is_blocked_with_one_issue_until_a_person_resets_it(tmp_path: Path) -> None:
    does = {f"01_calc:1/{n}": "crash" for n in (1, 2, 3)}
    root = World({"01_calc": REQS}, coder_does=does).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert coders(root) == {"01_calc:1": 3}
    assert causes(root) == [("01_calc:1", "attempts spent"), ("01_calc:2", "depends on a blocked node")]
    (issue,) = issue_files(root)
    assert "the coder was told to crash" in issue.read_text()
    assert run_cli(root, "reset", "01_calc:1").returncode == 0
    run(root, ends=PROVEN)
    assert issue_files(root) == []


def test_a_coder_that_hangs_is_ended_and_tried_again(tmp_path: Path) -> None:
    root = World({"01_calc": REQS}, coder_does={"01_calc:1/1": "hang"}).build(tmp_path)
    run(root, ends=PROVEN, AGENT_FOX__AGENTS__CODER__TIMEOUT="2")
    (reason,) = reasons(root)
    assert "did not end within 2 s" in reason


def test_work_that_conflicts_is_tried_again_on_the_new_tip_with_the_files_named(tmp_path: Path) -> None:
    specs = {"01_a": [Req("01-REQ-1.1", 1)], "02_b": [Req("02-REQ-1.1", 1)]}
    does = {f"{node}/{attempt}": "write shared.txt" for node in ("01_a:1", "02_b:1") for attempt in (1, 2)}
    root = World(specs, coder_does=does, seconds=0.7).build(tmp_path)
    run(root, "--parallel", "2", ends=PROVEN)
    assert sorted(coders(root).values()) == [1, 2]
    (reason,) = reasons(root)
    assert "shared.txt" in reason
    (second,) = (node for node, count in coders(root).items() if count == 2)
    assert landed(root, "shared.txt") == f"{second}\n"
    assert {landed(root, "proof/01-REQ-1.1.txt"), landed(root, "proof/02-REQ-1.1.txt")} == {"right"}


def test_a_coder_that_changes_nothing_is_not_a_failure_but_the_verifier_is_not_fooled(tmp_path: Path) -> None:
    root = World({"01_calc": REQS}, coder_does={"01_calc:1/1": "nothing"}).build(tmp_path)
    run(root, ends=PROVEN)
    assert coders(root) == {"01_calc:1": 2}
    assert decisions(root, "01_calc:1") == ["Land", "Land"]
    unlanded = "SELECT attempt, status FROM sessions WHERE archetype = 'coder' AND landed_commit IS NULL"
    assert rows(root, unlanded) == [(1, "completed")]
