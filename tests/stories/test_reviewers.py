"""Reviewers hold or send back by critical findings, on budgets of their own; what cannot be read is no approval."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.testing.worlds import Req, World, commit_all, issue_files, log, run_cli
from tests.stories.scene import NOT_PROVEN, PROVEN, causes, coders, decisions, order, run

REQS = [Req("01-REQ-1.1", 2)]
PRE_REVIEW = "[plan]\naudit_review = false\n"
AUDIT = "[plan]\npre_review = false\n"
TITLES = {"01_calc:1": "Write failing spec tests", "01_calc:2": "Implement it"}
HOLDER, AUDITOR = "01_calc:0:reviewer:pre-review", "01_calc:1:reviewer:audit-review"


def review(severity: str) -> str:
    findings = [{"severity": severity, "description": "nobody says what a proof is", "requirement_id": "01-REQ-1.1"}]
    return json.dumps({"findings": findings, "summary": "read it"})


def test_a_critical_finding_of_a_pre_review_holds_the_first_coder(tmp_path: Path) -> None:
    world = World({"01_calc": REQS}, reviewer_says={f"{HOLDER}/1/1": review("critical")}, settings=PRE_REVIEW)
    root = world.build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert coders(root) == {}
    assert causes(root)[0] == (HOLDER, "needs a person")
    (issue,) = issue_files(root)
    assert "nobody says what a proof is" in issue.read_text()


def test_a_person_who_resets_the_review_frees_what_it_held(tmp_path: Path) -> None:
    world = World({"01_calc": REQS}, reviewer_says={f"{HOLDER}/1/1": review("critical")}, settings=PRE_REVIEW)
    root = world.build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert run_cli(root, "reset", HOLDER).returncode == 0
    run(root, ends=PROVEN)
    assert decisions(root, HOLDER) == ["Block", "Reset", "Accept"]
    assert issue_files(root) == []
    assert coders(root) == {"01_calc:1": 1, "01_calc:2": 1}


def test_a_changed_spec_is_reviewed_again(tmp_path: Path) -> None:
    world = World({"01_calc": REQS}, reviewer_says={f"{HOLDER}/1/1": review("critical")}, settings=PRE_REVIEW)
    root = world.build(tmp_path)
    run(root, ends=NOT_PROVEN)
    path = root / ".agent-fox" / "specs" / "01_calc" / "requirements.md"
    path.write_text(path.read_text().replace("its proof is read", "its proof, a file, is read"))
    commit_all(root, "say what a proof is")
    run(root, ends=PROVEN)
    assert order(root).count(HOLDER) == 2


@pytest.mark.parametrize("severity", ["major", "minor", "note"])
def test_lesser_findings_hold_nothing(tmp_path: Path, severity: str) -> None:
    world = World({"01_calc": REQS}, reviewer_says={f"{HOLDER}/1/1": review(severity)}, settings=PRE_REVIEW)
    run(world.build(tmp_path), ends=PROVEN)


def test_an_audit_sends_the_tests_back_and_the_work_waits_for_it(tmp_path: Path) -> None:
    says = {f"{AUDITOR}/1/1": review("critical")}
    root = World({"01_calc": REQS}, titles=TITLES, reviewer_says=says, settings=AUDIT).build(tmp_path)
    run(root, ends=PROVEN)
    assert order(root) == ["01_calc:1", AUDITOR, "01_calc:1", AUDITOR, "01_calc:2", "01_calc:3"]
    assert decisions(root, AUDITOR) == ["SendBack", "Accept"]


def test_what_an_audit_spends_is_not_taken_from_the_coders_own_budget(tmp_path: Path) -> None:
    says = {f"{AUDITOR}/1/1": review("critical")}
    one_try = AUDIT + "[retry]\nattempts = 1\n"
    reqs = [Req("01-REQ-1.1", 2)]
    root = World({"01_calc": reqs}, titles=TITLES, reviewer_says=says, settings=one_try).build(tmp_path)
    run(root, ends=PROVEN)
    assert coders(root) == {"01_calc:1": 2, "01_calc:2": 1}


def test_an_audit_that_is_never_content_blocks_on_its_own_budget(tmp_path: Path) -> None:
    says = {f"{AUDITOR}/{n}/1": review("critical") for n in range(1, 9)}
    root = World({"01_calc": REQS}, titles=TITLES, reviewer_says=says, settings=AUDIT).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert coders(root) == {"01_calc:1": 2}
    assert causes(root)[0] == (AUDITOR, "attempts spent")
    assert len(issue_files(root)) == 1


@pytest.mark.parametrize("said", ["Looks good to me.", '{"findings": [', '{"findings": ["bad"]}', "fail no idea"])
def test_a_review_that_cannot_be_read_is_asked_for_again_and_then_fails_closed(tmp_path: Path, said: str) -> None:
    world = World({"01_calc": REQS}, reviewer_says={f"{HOLDER}/1/1": said}, settings=PRE_REVIEW)
    root = world.build(tmp_path / "once")
    run(root, ends=PROVEN)
    assert decisions(root, HOLDER) == ["Reread", "Accept"]


def test_a_reviewer_that_never_speaks_holds_the_coders(tmp_path: Path) -> None:
    says = {f"{HOLDER}/1/{n}": "Looks good to me." for n in range(1, 9)}
    root = World({"01_calc": REQS}, reviewer_says=says, settings=PRE_REVIEW).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert coders(root) == {}
    assert causes(root)[0] == (HOLDER, "no clear verdict")


def test_switched_off_no_reviewer_is_launched(tmp_path: Path) -> None:
    world = World({"01_calc": REQS}, titles=TITLES)
    on = replace(world, settings="[plan]\ndrift_review = true\n").build(tmp_path / "on")
    off = world.build(tmp_path / "off")
    run(on, ends=PROVEN)
    run(off, ends=PROVEN)
    assert [row["node"] for row in log(off) if row["role"] == "reviewer"] == []
    assert len([row["node"] for row in log(on) if row["role"] == "reviewer"]) == 3
