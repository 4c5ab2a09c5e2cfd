"""What `status` shows, and that it only looks."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from agent_fox.testing.worlds import Req, World, environment, run_cli
from tests.cli.conftest import Finished
from tests.cli.program import start


def test_a_person_sees_specs_counts_cost_blocks_and_issues(finished: Finished) -> None:
    told = finished.tell("status")
    assert told.splitlines()[0] == "run 1: ended: not proven: 02_top, 03_dep"
    assert "  01_calc  verified   3 of 3 proven: 3 judged  on " in told
    assert "  03_dep   blocked    0 of 1 proven            no verdict yet" in told
    assert "how it is known: 3 judged" in told
    assert "nodes: 2 blocked, 5 completed" in told
    assert "3 proven, 3 not proven, 0 waived" in told
    assert "blocked: 02_top:2: no progress" in told
    assert "issue: .agent-fox/issues/0001-" in told


def test_the_document_has_the_numbers_of_the_runs_own_summary(finished: Finished) -> None:
    told = json.loads(finished.tell("status", "--json"))
    assert told["requirements"] == {"proven": 3, "not_proven": 3, "waived": 0}
    assert f"{told['sessions']} sessions, {told['retries']} retries, 1 reread" in finished.done.stdout
    assert (told["running"], told["is_alive"]) == ([], False)


def test_it_changes_nothing(finished: Finished) -> None:
    files = sorted((finished.root / ".agent-fox").rglob("*"))
    before = {path: path.stat().st_mtime_ns for path in files if path.suffix == ".db"}
    finished.tell("status")
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_without_a_state_it_says_what_makes_one(tmp_path: Path) -> None:
    done = start(World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "w"), "status")
    assert done.returncode == 1
    assert "there is no state yet" in done.stderr


def test_it_loads_neither_the_settings_nor_the_live_screen(finished: Finished) -> None:
    code = (
        "import sys; from agent_fox.cli.main import run; run(['status']); "
        "print([m for m in ('pydantic', 'rich', 'agent_fox.config') if m in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=finished.root, env=environment(), capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"


def test_a_setting_that_is_wrong_does_not_hide_the_status(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "w")
    assert run_cli(root, "run").returncode == 0
    (root / ".agent-fox" / "config.toml").write_text("[retyr]\nattempts = 2\n")
    assert "1 of 1 proven" in run_cli(root, "status").stdout
