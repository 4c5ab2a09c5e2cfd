"""Every command that takes NODE takes the same names for it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.testing.worlds import NEVER, Req, World, rows, run_cli
from tests.cli.conftest import Finished


@pytest.mark.parametrize("name", ["02_top:2", "02_top:0:verifier", "02_top"])
def test_a_verifiers_log_is_found_by_each_of_its_names(finished: Finished, name: str) -> None:
    assert finished.tell("logs", name, "--path") == finished.tell("logs", "02_top:2", "--path")


@pytest.mark.parametrize("name", ["01_a:2", "01_a:0:verifier", "01_a"])
def test_a_verifier_is_reset_by_each_of_its_names(tmp_path: Path, name: str) -> None:
    root = World({"01_a": [Req("01-REQ-1.1", right_at=NEVER)]}).build(tmp_path)
    assert run_cli(root, "run").returncode == 2
    done = run_cli(root, "reset", name)
    assert done.returncode == 0, done
    assert rows(root, "SELECT status FROM plan_nodes WHERE id = '01_a:2'") == [("pending",)]


@pytest.mark.parametrize("command", ["reset", "logs", "explain"])
def test_an_unknown_name_is_told_with_the_nearest(finished: Finished, command: str) -> None:
    done = run_cli(finished.root, command, "02_tpo")
    assert done.returncode == 1
    assert done.stderr.startswith("agent-fox: 02_tpo: there is no such node or spec in the plan; did you mean 02_top")
