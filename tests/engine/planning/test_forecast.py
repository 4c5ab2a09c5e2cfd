"""What would run, tried on a copy: the order, the cost, the difference, and that nothing is touched."""

from __future__ import annotations

import json
import os
from pathlib import Path

from agent_fox.config import load
from agent_fox.engine.planning.changes import changes_of
from agent_fox.engine.planning.forecast import Forecast, forecast
from agent_fox.engine.planning.plan_reading import read_plan
from agent_fox.engine.planning.workplace import RunOptions
from agent_fox.engine.record.watch import unwatched
from agent_fox.engine.running.run import Engine
from agent_fox.plugins import load_plugins
from agent_fox.specs.reader import BUILT_IN
from agent_fox.system.state_folders import STATE
from agent_fox.testing.worlds import Req, World, commit_all, log, rows, run_cli


def foretold(root: Path, *specs: str, redo: bool = False) -> Forecast:
    return forecast(engine_of(root), RunOptions(specs, redo=redo))


def engine_of(root: Path) -> Engine:
    return Engine(root, load(root, os.environ), load_plugins(), unwatched)


def names(found: Forecast) -> list[str]:
    return [step.node for step in found.steps]


def test_the_order_is_that_of_the_run_itself(tmp_path: Path) -> None:
    world = World(
        {"01_a": [Req("01-REQ-1.1"), Req("01-REQ-1.2", 2)], "02_b": [Req("02-REQ-1.1")], "03_c": [Req("03-REQ-1.1")]},
        depends={"02_b": "01_a"},
    )
    root = world.build(tmp_path / "w")
    told = names(foretold(root))
    assert not (root / STATE).exists()
    run_cli(root, "run", "--parallel", "1", AGENT_FOX__POLICY__FINAL_CHECK="false")
    assert [row["node"] for row in log(root)] == told


def test_what_is_done_is_not_foretold_again(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "w")
    assert run_cli(root, "run").returncode == 0
    assert names(foretold(root)) == []


def test_a_changed_requirement_brings_back_its_owner_and_its_verifier(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1"), Req("01-REQ-1.2", 2)]}).build(tmp_path / "w")
    assert run_cli(root, "run").returncode == 0
    before = rows(root, "SELECT * FROM plan_nodes")
    change(root)
    told = foretold(root)
    assert names(told) == ["01_a:2", "01_a:3"]
    assert any("01-REQ-1.2" in line for line in told.changes)
    engine = engine_of(root)
    plan = read_plan(root, engine.settings, BUILT_IN)
    assert changes_of(root, plan, engine.settings) == told.changes
    assert rows(root, "SELECT * FROM plan_nodes") == before


def change(root: Path) -> None:
    file = root / ".agent-fox" / "specs" / "01_a" / "requirements.md"
    file.write_text(file.read_text().replace("[01-REQ-1.2] WHEN its proof", "[01-REQ-1.2] WHENEVER its proof"))
    commit_all(root, "another wording")


def test_without_a_state_there_is_no_difference(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "w")
    assert json.loads(run_cli(root, "plan", "--json").stdout)["changes"] == []
    assert not (root / STATE).exists()


def test_plan_shows_the_difference_first(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1"), Req("01-REQ-1.2", 2)]}).build(tmp_path / "w")
    assert run_cli(root, "run").returncode == 0
    assert not run_cli(root, "plan").stdout.startswith("changed")
    change(root)
    lines = run_cli(root, "plan").stdout.splitlines()
    assert lines[0] == "changed since the last run"
    assert "01-REQ-1.2" in lines[1]


def test_ticked_groups_are_foretold_with_redo_only(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1")]}).build(tmp_path / "w")
    file = root / ".agent-fox" / "specs" / "01_a" / "tasks.md"
    file.write_text(file.read_text().replace("- [ ] 1.", "- [x] 1."))
    commit_all(root, "ticked")
    assert names(foretold(root)) == ["01_a:2"]
    assert names(foretold(root, redo=True)) == ["01_a:1", "01_a:2"]
