"""A plan whose coders get everything right the first time."""

from __future__ import annotations

from pathlib import Path

from agent_fox.testing.worlds import Req, World, git, issue_files, landed, log, rows
from tests.stories.scene import PROVEN, causes, coders, order, outcomes, run, verdicts

RIGHT_AT_ONCE = World({"01_calc": [Req("01-REQ-1.1", 1), Req("01-REQ-2.1", 2)]})


def test_every_node_runs_once_and_everything_is_proven(tmp_path: Path) -> None:
    root = RIGHT_AT_ONCE.build(tmp_path)
    run(root, ends=PROVEN)
    assert order(root) == ["01_calc:1", "01_calc:2", "01_calc:3"]
    assert outcomes(root) == {"01_calc:3": "verified"}
    assert verdicts(root) == {"01-REQ-1.1": "PASS", "01-REQ-2.1": "PASS"}
    assert causes(root) == []
    assert issue_files(root) == []


def test_the_run_names_the_commit_that_each_spec_was_verified_on(tmp_path: Path) -> None:
    root = RIGHT_AT_ONCE.build(tmp_path)
    run(root, ends=PROVEN)
    tip = git(root, "rev-parse", "agent-fox/integration")
    assert rows(root, "SELECT name, verified_commit FROM plan_specs") == [("01_calc", tip)]
    assert rows(root, "SELECT tip_commit, exit_code FROM runs") == [(tip, 0)]


def test_a_second_run_has_nothing_to_do(tmp_path: Path) -> None:
    root = RIGHT_AT_ONCE.build(tmp_path)
    run(root, ends=PROVEN)
    before = log(root)
    run(root, ends=PROVEN)
    assert log(root) == before


def test_specs_take_turns(tmp_path: Path) -> None:
    specs = {name: [Req(f"{name[:2]}-REQ-{n}.1", n) for n in (1, 2)] for name in ("01_a", "02_b")}
    root = World(specs).build(tmp_path)
    run(root, "--parallel", "1", ends=PROVEN)
    assert [node.split(":")[0] for node in order(root)] == ["01_a", "02_b"] * 3


def test_every_proof_lands_on_the_integration_branch_as_a_commit_of_its_node(tmp_path: Path) -> None:
    root = RIGHT_AT_ONCE.build(tmp_path)
    run(root, ends=PROVEN)
    assert [landed(root, f"proof/01-REQ-{n}.1.txt") for n in (1, 2)] == ["right", "right"]
    told = git(root, "log", "--format=%(trailers:key=Agent-Fox-Ticket,valueonly,separator=)", "main..agent-fox/integration")
    assert sorted(filter(None, told.splitlines())) == ["01_calc:1@1", "01_calc:2@1"]
    assert coders(root) == {"01_calc:1": 1, "01_calc:2": 1}
