"""How many git processes a run starts, with those of the programs that it starts: counted by a git in front of git."""

from __future__ import annotations

import os
import shutil
from itertools import pairwise
from pathlib import Path

from agent_fox.testing.worlds import rows
from tests.stories.scene import PROVEN, run
from tests.stories.test_checks_in_a_run import RIGHT, world

A_SESSION = 8
"""From the claim of a node to its recorded result. This number only goes down, and so do the others."""

A_START, AN_END = 17, 7

COUNTING = """#!/bin/sh
echo "$*" >> {log}
exec {git} "$@"
"""


def test_a_session_starts_few_git_processes(tmp_path: Path) -> None:
    """A verifier without a model counts with what its own program starts."""
    log, front = tmp_path / "git.log", tmp_path / "bin"
    front.mkdir()
    (front / "git").write_text(COUNTING.format(log=log, git=shutil.which("git")))
    (front / "git").chmod(0o755)
    root = world(tmp_path / "repo", {"1": {"cart.py": "def total(prices):\n    return 4\n"}, "2": {"cart.py": RIGHT}})
    run(root, "--parallel", "1", ends=PROVEN, PATH=f"{front}{os.pathsep}{os.environ['PATH']}")
    lines = log.read_text().splitlines()
    checkouts = [number for number, line in enumerate(lines) if " reset --quiet --hard " in line]
    assert [row[0] for row in rows(root, "SELECT archetype FROM sessions")] == ["coder", "verifier"] * 2
    assert len(checkouts) == 4
    costs = [end - begin for begin, end in pairwise([*checkouts, len(lines)])]
    assert costs[0] <= A_SESSION, lines
    assert max(costs[:-1]) <= A_SESSION, (costs, lines)
    assert costs[-1] <= A_SESSION + AN_END, (costs, lines)
    assert checkouts[0] <= A_START, lines[: checkouts[0]]
