"""What a person's `reset` does, and when it is refused."""

from __future__ import annotations

import json
from pathlib import Path

from agent_fox.testing.worlds import Req, World, issue_files, log, rows, run_cli


def spent(tmp_path: Path) -> Path:
    """A spec whose coder has spent its only attempt, and one that waits for it."""
    world = World(
        {"01_a": [Req("01-REQ-1.1", right_at=2)], "02_b": [Req("02-REQ-1.1")]},
        depends={"02_b": "01_a"}, settings="[retry]\nattempts = 1\n",
    )  # fmt: skip
    root = world.build(tmp_path / "w")
    assert run_cli(root, "run").returncode == 2
    return root


def test_a_reset_gives_a_new_budget_and_what_waited_goes_on(tmp_path: Path) -> None:
    root = spent(tmp_path)
    done = run_cli(root, "reset", "01_a:1", "--reason", "the spec is clearer now")
    assert done.stdout.splitlines() == [
        "1 attempt restored for 01_a:1",
        "starts anew with the next run: 01_a:1",
        "verified again by the next run: 01_a:2",
        "unblocked: 02_b:1, 02_b:2",
        "next: agent-fox run",
    ]
    assert rows(root, "SELECT note FROM decisions WHERE kind = 'Reset'") == [("the spec is clearer now",)]
    assert run_cli(root, "run").returncode == 0
    last = [row for row in log(root) if row["node"] == "01_a:1"][-1]
    assert (last["attempt"], last["failing"]) == (2, {"01-REQ-1.1": "proof/01-REQ-1.1.txt: wrong at attempt 1"})
    assert issue_files(root) == []


def test_json_tells_what_moved(tmp_path: Path) -> None:
    told = json.loads(run_cli(spent(tmp_path), "reset", "01_a:1", "--json").stdout)
    assert told["moved"][0] == {"node": "01_a:1", "step": "reset", "status": "pending", "attempt": 2}


def test_a_node_that_only_waits_is_refused_with_the_node_that_holds_it(tmp_path: Path) -> None:
    done = run_cli(spent(tmp_path), "reset", "02_b:1")
    assert done.returncode == 1
    assert "only waits for 01_a:2: agent-fox reset 01_a:2" in done.stderr


def test_an_unknown_node_is_refused(tmp_path: Path) -> None:
    done = run_cli(spent(tmp_path), "reset", "09_x:1")
    assert done.returncode == 1
    assert "there is no such node or spec in the plan" in done.stderr


def test_without_a_state_nothing_is_made(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "w")
    done = run_cli(root, "reset", "01_a:1")
    assert done.returncode == 1
    assert "there is no state yet" in done.stderr
    assert not (root / ".agent-fox" / "state.db").exists()
