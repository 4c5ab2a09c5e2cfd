"""A group that is ticked in the spec is not launched at first; the tick is no evidence."""

from __future__ import annotations

from pathlib import Path

from agent_fox.testing.worlds import Req, World, commit_all
from tests.stories.scene import PROVEN, coders, order, outcomes, run

WORLD = World({"01_calc": [Req("01-REQ-1.1", 1), Req("01-REQ-2.1", 2)]})


def ticked(folder: Path, *, is_done: bool) -> Path:
    """A repository whose first group is ticked, and done or not."""
    root = WORLD.build(folder)
    tasks = root / ".agent-fox" / "specs" / "01_calc" / "tasks.md"
    tasks.write_text(tasks.read_text().replace("- [ ] 1.", "- [x] 1."))
    if is_done:
        (root / "proof").mkdir()
        (root / "proof" / "01-REQ-1.1.txt").write_text("right")
    commit_all(root, "group 1 is done, says the box")
    return root


def test_a_ticked_group_that_is_done_is_not_launched_but_verified(tmp_path: Path) -> None:
    root = ticked(tmp_path, is_done=True)
    run(root, ends=PROVEN)
    assert order(root) == ["01_calc:2", "01_calc:3"]
    assert outcomes(root) == {"01_calc:3": "verified"}


def test_a_tick_that_lies_is_found_out_and_the_group_launched(tmp_path: Path) -> None:
    root = ticked(tmp_path, is_done=False)
    run(root, ends=PROVEN)
    assert order(root) == ["01_calc:2", "01_calc:3", "01_calc:1", "01_calc:3"]


def test_redo_launches_ticked_groups_at_once(tmp_path: Path) -> None:
    root = ticked(tmp_path, is_done=True)
    run(root, "--redo", ends=PROVEN)
    assert order(root) == ["01_calc:1", "01_calc:2", "01_calc:3"]
    assert coders(root) == {"01_calc:1": 1, "01_calc:2": 1}
