"""Defects seen elsewhere in who is sent back, who waits, and where everybody works."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from agent_fox.testing.worlds import NEVER, PLAYERS, Req, World, agent_table, git, landed, rows
from tests.stories.scene import NOT_PROVEN, PROVEN, coders, order, outcomes, run


def test_the_owners_of_what_fails_are_sent_back_and_not_the_first_predecessor(tmp_path: Path) -> None:
    """Elsewhere `predecessors[0]` was reset, a reviewer or the wrong group, and one at most."""
    reqs = [Req("01-REQ-1.1", 1), Req("01-REQ-2.1", 2, 2), Req("01-REQ-3.1", 3), Req("01-REQ-4.1", 4, 2)]
    root = World({"01_calc": reqs}, settings="[plan]\npre_review = true\naudit_review = false\n").build(tmp_path)
    run(root, "--parallel", "4", ends=PROVEN)
    assert order(root)[6:] == ["01_calc:2", "01_calc:4", "01_calc:5"]


def test_what_depends_on_a_spec_waits_for_its_verifier(tmp_path: Path) -> None:
    """Elsewhere the verifier was a leaf of the plan: nothing waited for what it said."""
    specs = {"01_base": [Req("01-REQ-1.1", 1, NEVER)], "02_top": [Req("02-REQ-1.1", 1)]}
    root = World(specs, depends={"02_top": "01_base"}, settings="[retry]\nattempts = 1\n").build(tmp_path)
    run(root, "--parallel", "4", ends=NOT_PROVEN)
    assert coders(root) == {"01_base:1": 1}
    assert outcomes(root) == {"01_base:2": "escalated", "02_top:2": "blocked"}


def test_every_launch_has_a_workspace_of_its_own(tmp_path: Path) -> None:
    """Elsewhere the reviewer and the verifier of a spec shared one worktree, and saw what the other had left."""
    reqs = [Req("01-REQ-1.1", 1, right_at=2)]
    world = World({"01_calc": reqs}, settings="[plan]\npre_review = true\naudit_review = false\n")
    root = world.build(tmp_path)
    run(root, ends=PROVEN)
    assert rows(root, "SELECT count(DISTINCT folder) = count(*), count(*) FROM launches") == [(1, 5)]


def test_what_a_verifier_commits_is_not_merged(tmp_path: Path) -> None:
    """Elsewhere the verifier could write and commit, and its commits were merged like a coder's."""
    seen = tmp_path / "seen"
    me = "-c user.name=v -c user.email=v@example.org"
    play = f"exec {sys.executable} {PLAYERS} verifier"
    commit = f"git add -A; git {me} commit -qm sneaky; git log -1 --format=%s > {seen}"
    sneaky = f"echo right > sneaky.txt; chmod -R u+w .; {commit}; {play}"
    table = agent_table("verifier", json.dumps(str(tmp_path / "tools" / "story.json")))
    lines = [line for line in table.splitlines() if not line.startswith("command")]
    command = f"command = {json.dumps(['sh', '-c', sneaky])}"
    root = World({"01_calc": [Req("01-REQ-1.1", 1)]}, settings="\n".join([*lines, command, ""])).build(tmp_path)
    run(root, ends=PROVEN)
    assert seen.read_text() == "sneaky\n"
    assert landed(root, "sneaky.txt") is None
    assert "sneaky" not in git(root, "log", "--all", "--format=%s")
