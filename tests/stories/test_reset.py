"""A person resets: a new budget, the open FAIL in the brief, and the issue is closed with the proof."""

from __future__ import annotations

from pathlib import Path

from agent_fox.testing.worlds import Req, World, issue_files, log, run_cli
from tests.stories.scene import (
    CANNOT_GO_ON,
    NOT_PROVEN,
    PROVEN,
    begin,
    briefed,
    coders,
    outcomes,
    run,
    wait_for_sessions,
)

ONE_TRY = "[retry]\nattempts = 1\n"
LATE = World({"01_calc": [Req("01-REQ-1.1", 1, right_at=2)]}, settings=ONE_TRY)


def test_a_reset_coder_is_tried_once_more_and_the_issue_closes(tmp_path: Path) -> None:
    root = LATE.build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert len(issue_files(root)) == 1
    assert run_cli(root, "reset", "01_calc:1").returncode == 0
    run(root, ends=PROVEN)
    assert briefed(root, "01_calc:1", 2) == {"01-REQ-1.1": "proof/01-REQ-1.1.txt: wrong at attempt 1"}
    assert issue_files(root) == []
    (closed,) = issue_files(root, "closed")
    assert "Proven" in closed.read_text()


def test_resetting_the_verifier_reads_again_and_gives_the_coders_a_new_budget(tmp_path: Path) -> None:
    root = LATE.build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert run_cli(root, "reset", "01_calc:2").returncode == 0
    run(root, ends=PROVEN)
    assert coders(root) == {"01_calc:1": 2}
    assert outcomes(root) == {"01_calc:2": "verified"}


def test_a_reset_lifts_what_was_blocked_only_because_of_it(tmp_path: Path) -> None:
    world = World(
        {"01_base": [Req("01-REQ-1.1", 1, right_at=2)], "02_top": [Req("02-REQ-1.1", 1)]},
        depends={"02_top": "01_base"},
        settings=ONE_TRY,
    )
    root = world.build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert "02_top:1" not in coders(root)
    assert run_cli(root, "reset", "01_base:1").returncode == 0
    run(root, ends=PROVEN)
    assert coders(root) == {"01_base:1": 2, "02_top:1": 1}


def test_a_node_that_does_not_exist_is_named_and_nothing_changes(tmp_path: Path) -> None:
    root = LATE.build(tmp_path)
    run(root, ends=NOT_PROVEN)
    done = run_cli(root, "reset", "01_calc:9")
    assert (done.returncode, "01_calc:9" in done.stderr) == (1, True)
    run(root, ends=NOT_PROVEN)
    assert len(log(root)) == 2


def test_nothing_is_reset_while_a_run_is_on(tmp_path: Path) -> None:
    go_on = tmp_path / "go on"
    world = World({"01_calc": [Req("01-REQ-1.1", 1)]}, coder_does={"01_calc:1/1": f"wait {go_on}"})
    root = world.build(tmp_path)
    running = begin(root)
    wait_for_sessions(root, 1)
    done = run_cli(root, "reset", "01_calc:1")
    go_on.touch()
    assert (done.returncode, "Traceback" in done.stderr) == (CANNOT_GO_ON, False)
    assert running.wait(60) == PROVEN
