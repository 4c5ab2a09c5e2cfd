"""What is claimed at the end holds for the final tip: specs are read again where their tree has changed since."""

from __future__ import annotations

import json
from pathlib import Path

from agent_fox.testing.worlds import NEVER, Req, World, git, landed, log, rows
from tests.stories.scene import NOT_PROVEN, PROVEN, coders, decisions, outcomes, run

SPECS = {"01_a": [Req("01-REQ-1.1", 1)], "02_b": [Req("02-REQ-1.1", 1)]}
BREAKS = {"02_b:1/1": ["01-REQ-1.1"]}


def test_another_spec_breaks_what_was_proven_and_the_owner_repairs_it(tmp_path: Path) -> None:
    root = World(SPECS, depends={"02_b": "01_a"}, breaks=BREAKS).build(tmp_path)
    run(root, ends=PROVEN)
    assert landed(root, "proof/01-REQ-1.1.txt") == "right"
    assert coders(root) == {"01_a:1": 2, "02_b:1": 1}
    assert decisions(root, "01_a:2") == ["Accept", "Reopen", "Recode", "Accept"]
    tip = git(root, "rev-parse", "agent-fox/integration^{tree}")
    verified = [str(commit) for (commit,) in rows(root, "SELECT verified_commit FROM plan_specs")]
    assert {git(root, "rev-parse", f"{commit}^{{tree}}") for commit in verified} == {tip}


def test_what_cannot_be_repaired_on_the_tip_is_not_claimed(tmp_path: Path) -> None:
    specs = {"01_a": [Req("01-REQ-1.1", 1)], "02_b": [Req("02-REQ-1.1", 1)]}
    world = World(specs, depends={"02_b": "01_a"}, breaks=BREAKS, settings="[retry]\nattempts = 1\n")
    root = world.build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert outcomes(root) == {"01_a:2": "escalated", "02_b:2": "verified"}


def test_without_the_final_check_each_claim_is_about_its_own_commit(tmp_path: Path) -> None:
    world = World(SPECS, depends={"02_b": "01_a"}, breaks=BREAKS, settings="[policy]\nfinal_check = false\n")
    root = world.build(tmp_path)
    run(root, ends=PROVEN)
    assert coders(root) == {"01_a:1": 1, "02_b:1": 1}
    assert len(set(rows(root, "SELECT verified_commit FROM plan_specs"))) == 2


def test_a_spec_that_was_verified_on_the_tip_is_not_read_twice(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1", 1)]}).build(tmp_path)
    run(root, ends=PROVEN)
    assert [row["node"] for row in log(root) if row["role"] == "verifier"] == ["01_a:2"]


def test_an_escalated_spec_is_not_read_again_at_the_end(tmp_path: Path) -> None:
    specs = {"01_a": [Req("01-REQ-1.1", 1, NEVER)], "02_b": [Req("02-REQ-1.1", 1)]}
    root = World(specs, settings="[retry]\nattempts = 1\n", seconds=0.1).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert decisions(root, "01_a:2") == ["Block"]


def test_a_verdict_from_another_environment_is_read_again_or_shown(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1", 1)]}).build(tmp_path)
    run(root, ends=PROVEN)
    shown = run(root, ends=PROVEN, AGENT_FOX__VERIFY__NETWORK="true", AGENT_FOX__EVIDENCE__ENVIRONMENT="show")
    assert "01_a: the environment has changed since it was verified" in shown.stdout
    assert decisions(root, "01_a:2") == ["Accept"]
    run(root, ends=PROVEN, AGENT_FOX__VERIFY__NETWORK="true")
    run(root, ends=PROVEN, AGENT_FOX__VERIFY__NETWORK="true")
    assert decisions(root, "01_a:2") == ["Accept", "Reopen", "Accept"]
    assert coders(root) == {"01_a:1": 1}


def test_old_evidence_is_made_again_as_often_as_the_settings_say(tmp_path: Path) -> None:
    root = World({"01_a": [Req("01-REQ-1.1", 1)]}).build(tmp_path)
    run(root, ends=PROVEN, AGENT_FOX__EVIDENCE__RERUN_FRACTION="1.0")
    assert decisions(root, "01_a:2") == ["Accept"]
    run(root, ends=PROVEN, AGENT_FOX__EVIDENCE__RERUN_FRACTION="1.0")
    assert decisions(root, "01_a:2") == ["Accept", "Reopen", "Accept"]
    run(root, ends=PROVEN)
    assert decisions(root, "01_a:2") == ["Accept", "Reopen", "Accept"]
    ((facts,),) = rows(root, "SELECT facts FROM decisions WHERE kind = 'Reopen'")
    assert json.loads(str(facts))["rerun"]["fraction"] == 1.0
