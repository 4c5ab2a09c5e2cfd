"""A FAIL escalates at once where coders may not be sent back: for the run, an archetype, a spec or a node."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.testing.worlds import Req, World, agent_table, issue_files
from tests.stories.scene import NOT_PROVEN, causes, coders, run

REQS = [Req("01-REQ-1.1", 1), Req("01-REQ-2.1", 2, right_at=2)]


@pytest.mark.parametrize(
    "switch",
    [
        "[retry]\nretry_predecessor = false\n",
        "[specs.01_calc]\nretry_predecessor = false\n",
        '[nodes."01_calc:2"]\nretry_predecessor = false\n',
        "AGENT",
    ],
    ids=["run", "spec", "node", "archetype"],
)
def test_nobody_is_sent_back(tmp_path: Path, switch: str) -> None:
    story = f'"{tmp_path / "tools" / "story.json"}"'
    settings = switch.replace("AGENT", agent_table("coder", story) + "retry_predecessor = false\n")
    root = World({"01_calc": REQS}, settings=settings).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert coders(root) == {"01_calc:1": 1, "01_calc:2": 1}
    assert causes(root) == [("01_calc:3", "retry disabled")]
    assert len(issue_files(root)) == 1


def test_a_node_that_is_not_blamed_does_not_matter(tmp_path: Path) -> None:
    root = World({"01_calc": REQS}, settings='[nodes."01_calc:1"]\nretry_predecessor = false\n').build(tmp_path)
    run(root, ends=0)
    assert coders(root) == {"01_calc:1": 1, "01_calc:2": 2}
