"""A few of the named points at which something dies or stands still; `python -m bench.cluster_kills` tries them all."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from agent_fox.session.order import StopSignal
from agent_fox.session.runners import attended
from agent_fox.system import git
from agent_fox.testing.cluster import cluster, runner_at
from agent_fox.testing.runners import Stage
from agent_fox.testing.worlds import wait_until
from bench.cluster_kills import POINTS, Case
from tests.session.world import sh

FEW = (
    "kill worker at coder at work",
    "freeze worker at coder handing in",
    "kill orchestrator at verifier at work",
    "kill server at coder at work",
)


@pytest.mark.parametrize("point", FEW)
def test_a_run_that_is_struck_comes_to_the_same_end(point: str, tmp_path: Path) -> None:
    assert point in POINTS
    assert Case(point, int(os.environ.get("SEED", "1")), tmp_path).play().problems == []


FREEZES_ITS_WORKER = """
echo $$ >> $MARKS/began
if [ $(wc -l < $MARKS/began) = 1 ]; then
  worker=$(cut -d " " -f 4 /proc/$PPID/stat); echo 1 > app.py; kill -STOP $worker; echo $worker > $MARKS/frozen
else echo 2 > app.py; fi
"""
"""An agent's parent is its supervisor, and that one's parent the worker."""


def test_a_delivery_that_comes_too_late_is_kept_told_and_never_taken(tmp_path: Path) -> None:
    """The first worker stands still when its agent has ended; a second one does the work; then the first goes on."""
    stage = Stage.made(tmp_path)
    order = stage.order(FREEZES_ITS_WORKER, f"{tmp_path.name}-late")
    with cluster(tmp_path / "cluster", workers=2) as own:
        said: list[str] = []
        runner = runner_at(own.address, tell=said.append)
        end = attended(runner, order, StopSignal())
        assert len(stage.lines("began")) == 2
        assert end.work is not None
        assert git.show(stage.repo, end.work.commit, "app.py") == b"2\n"
        os.kill(int(stage.lines("frozen")[0]), signal.SIGCONT)
        wait_until(lambda: runner.late(runner.job(order), 1) is not None, "the first worker left its delivery", 60)
        runner.close()
        (line,) = said
        assert "came too late" in line
        assert git.show(stage.repo, f"refs/agent-fox/late/{order.launch}/d1", "app.py") == b"1\n"
        assert sh(stage.repo, "git", "for-each-ref", "--format=%(refname)", "refs/heads") == "refs/heads/main"
