"""A state file that is none of ours is told in one line, and left as it is."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agent_fox.testing.worlds import Req, World, log, run_cli


@pytest.mark.parametrize(
    "command", [["run"], ["run", "--dry-run"], ["status"], ["reset", "01_a:1"], ["plan"], ["report"], ["view"]]
)
@pytest.mark.parametrize("is_folder", [True, False])
def test_what_is_not_our_state_is_told_and_left_alone(tmp_path: Path, command: list[str], is_folder: bool) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path)
    path = root / ".agent-fox" / "state.db"
    if is_folder:
        path.mkdir()
    else:
        with closing(sqlite3.connect(path)) as other:
            other.execute("CREATE TABLE addresses (name TEXT)")
    before = None if is_folder else path.read_bytes()
    done = run_cli(root, *command)
    assert done.returncode == 1, done
    assert done.stderr.count("\n") == 1
    assert "not agent-fox state" in done.stderr
    assert (None if is_folder else path.read_bytes()) == before
    assert log(root) == []
