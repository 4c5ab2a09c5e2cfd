"""`backend = ["checks", "command"]`: tests and a model judge together, and neither can overturn the other's FAIL."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.testing.worlds import NEVER, Req, World, agent_table, commit_all, issue_files, rows
from tests.stories.scene import NOT_PROVEN, PROVEN, coders, decisions, report, run, verdicts

SUITE = """
import pathlib
cases = []
for number in (1, 2):
    proof = pathlib.Path(f"proof/01-REQ-{number}.1.txt")
    text = proof.read_text() if proof.exists() else "absent"
    failure = "" if text == "right" else f'<failure message="assert {text!r}"/>'
    cases.append(f'<testcase classname="suite" name="proof_{number}" time="0">{failure}</testcase>')
pathlib.Path("report.xml").write_text(f'<testsuite name="suite" tests="2">{"".join(cases)}</testsuite>')
raise SystemExit("failure" in "".join(cases))
"""
VERIFY = '[verify]\ncommands = ["python3 suite.py"]\nreports = ["report.xml"]\n'
PASSES = report({"01-REQ-1.1": "PASS", "01-REQ-2.1": "PASS"})


def build(folder: Path, world: World, backend: str) -> Path:
    table = agent_table("verifier", f'"{folder / "tools" / "story.json"}"')
    world.settings = table.replace('backend = "command"', f"backend = {backend}") + VERIFY + world.settings
    root = world.build(folder)
    (root / "suite.py").write_text(SUITE)
    (root / ".gitignore").write_text("report.xml\n")
    commit_all(root, "a suite")
    return root


def test_both_pass_and_it_is_proven(tmp_path: Path) -> None:
    world = World({"01_calc": [Req("01-REQ-1.1", 1), Req("01-REQ-2.1", 2)]})
    root = build(tmp_path, world, '["checks", "command"]')
    run(root, ends=PROVEN)
    assert decisions(root, "01_calc:3") == ["Accept"]


def test_a_models_pass_does_not_overturn_a_failing_test(tmp_path: Path) -> None:
    says = {f"01_calc/{n}/1": PASSES for n in (1, 2, 3)}
    world = World({"01_calc": [Req("01-REQ-1.1", 1), Req("01-REQ-2.1", 2, right_at=2)]}, verifier_says=says)
    root = build(tmp_path, world, '["checks", "command"]')
    run(root, ends=PROVEN)
    assert coders(root) == {"01_calc:1": 1, "01_calc:2": 2}
    failed = "SELECT requirement_id FROM verification_results WHERE verdict = 'FAIL'"
    assert rows(root, failed) == [("01-REQ-2.1",)]


def test_a_models_fail_counts_although_the_tests_pass(tmp_path: Path) -> None:
    says = {"01_calc/1/1": report({"01-REQ-1.1": "FAIL", "01-REQ-2.1": "PASS"}, "the test asserts nothing")}
    world = World({"01_calc": [Req("01-REQ-1.1", 1), Req("01-REQ-2.1", 2)]}, verifier_says=says)
    root = build(tmp_path, world, '["checks", "command"]')
    run(root, ends=NOT_PROVEN, AGENT_FOX__RETRY__ATTEMPTS="1")
    assert verdicts(root) == {"01-REQ-1.1": "FAIL", "01-REQ-2.1": "PASS"}


@pytest.mark.parametrize("said", ["crash", "no idea", "nothing"])
def test_a_judge_that_is_missing_is_not_outvoted(tmp_path: Path, said: str) -> None:
    says = {f"01_calc/1/{n}": said for n in (1, 2)}
    world = World({"01_calc": [Req("01-REQ-1.1", 1), Req("01-REQ-2.1", 2)]}, verifier_says=says)
    root = build(tmp_path, world, '["checks", "command"]')
    run(root, ends=NOT_PROVEN)
    assert decisions(root, "01_calc:3") == ["Reread", "Block"]
    assert coders(root) == {"01_calc:1": 1, "01_calc:2": 1}


def test_the_same_failing_test_is_one_cause_for_all_requirements_it_stands_for(tmp_path: Path) -> None:
    world = World({"01_calc": [Req("01-REQ-1.1", 1, NEVER), Req("01-REQ-2.1", 2, NEVER)]})
    root = build(tmp_path, world, '"checks"')
    run(root, ends=NOT_PROVEN, AGENT_FOX__RETRY__ATTEMPTS="1")
    (issue,) = issue_files(root)
    assert "01-REQ-1.1" in issue.read_text()
    assert "01-REQ-2.1" in issue.read_text()
