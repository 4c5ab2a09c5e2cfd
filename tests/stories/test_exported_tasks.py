"""A verified spec as a task for others: its folder is played here, by sh and pytest, without the work and with it."""

from __future__ import annotations

import json
import os
import subprocess
import tomllib
from pathlib import Path

import pytest

from agent_fox.system.sandbox.bubblewrap import why_missing
from tests.evidence.waiver_world import person
from tests.stories.test_freshness import module, world

pytestmark = pytest.mark.skipif(bool(why_missing()), reason=why_missing() or "has a sandbox")


def reward(folder: Path, work: Path) -> str:
    """What `tests/test.sh` of the task says of the files in `work`."""
    logs = work.parent / f"{work.name}-logs"
    environment = {**os.environ, "WORK": str(work), "LOGS": str(logs), "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run(["sh", str(folder / "tests/test.sh")], env=environment, check=True, capture_output=True)
    return (logs / "reward.txt").read_text().strip()


def test_a_task_is_worth_nothing_before_the_work_and_all_of_it_after(tmp_path: Path) -> None:
    alice = person(tmp_path / "people")
    root = world(tmp_path / "repo", {"01_a": module("01")}, {"shop/__init__.py": ""})
    alice.run(root, 0)
    why = ("--reason", "ours", *alice.signing)
    done = alice.cli(root, "training", "allow", "spec:01_a", "--purpose", "tuning", "--expires", "9d", *why)
    assert done.returncode == 0, done
    told = json.loads(alice.cli(root, "export", "tasks", str(tmp_path / "out"), "--purpose", "tuning", "--json").stdout)
    folder = tmp_path / "out" / "01_a"
    settings = tomllib.loads((folder / "task.toml").read_text())
    assert (settings["version"], settings["metadata"]["name"]) == ("1.0", "01_a")
    assert set(settings["metadata"]["agent_fox_records"]) <= set(told["records"])
    assert "01-REQ-1.1" in (folder / "instruction.md").read_text()
    before, after = tmp_path / "before", tmp_path / "after"
    for work in (before, after):
        subprocess.run(["cp", "-R", str(folder / "environment/tree"), str(work)], check=True)
    assert not (before / "shop/part_01.py").exists()
    subprocess.run(
        ["patch", "-p1", "-i", str(folder / "solution/solution.patch")], cwd=after, check=True, capture_output=True
    )
    assert (reward(folder, before), reward(folder, after)) == ("0", "1")
