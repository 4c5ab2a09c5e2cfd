"""A plan whose coders get everything right the first time."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.testing.worlds import Req, World, git, issue_files, landed, log, rows
from tests.stories.scene import PROVEN, causes, order, outcomes, run, verdicts

RIGHT_AT_ONCE = World({"01_calc": [Req("01-REQ-1.1", 1), Req("01-REQ-2.1", 2)]})


@pytest.fixture(scope="module")
def proven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that went well. The tests only look at it."""
    root = RIGHT_AT_ONCE.build(tmp_path_factory.mktemp("proven"))
    run(root, ends=PROVEN)
    return root


def test_every_node_runs_once_and_everything_is_proven(proven: Path) -> None:
    assert order(proven) == ["01_calc:1", "01_calc:2", "01_calc:3"]
    assert outcomes(proven) == {"01_calc:3": "verified"}
    assert verdicts(proven) == {"01-REQ-1.1": "PASS", "01-REQ-2.1": "PASS"}
    assert causes(proven) == []
    assert issue_files(proven) == []


def test_the_run_names_the_commit_that_each_spec_was_verified_on(proven: Path) -> None:
    tip = git(proven, "rev-parse", "agent-fox/integration")
    assert rows(proven, "SELECT name, verified_commit FROM plan_specs") == [("01_calc", tip)]
    assert rows(proven, "SELECT tip_commit, exit_code FROM runs") == [(tip, 0)]


def test_every_proof_lands_on_the_integration_branch_as_a_commit_of_its_node(proven: Path) -> None:
    assert [landed(proven, f"proof/01-REQ-{n}.1.txt") for n in (1, 2)] == ["right", "right"]
    ticket = "--format=%(trailers:key=Agent-Fox-Ticket,valueonly,separator=)"
    told = git(proven, "log", ticket, "main..agent-fox/integration").splitlines()
    assert set(filter(None, told)) == {"01_calc:1@1", "01_calc:2@1"}


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
