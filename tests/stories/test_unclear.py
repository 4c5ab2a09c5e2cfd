"""A verifier that cannot speak is asked again on a budget of its own; the coders are never charged for it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.testing.worlds import Req, World, git, issue_files, landed, rows
from tests.stories.scene import (
    NOT_PROVEN,
    PROVEN,
    briefed,
    causes,
    coders,
    decisions,
    outcomes,
    report,
    run,
)

REQS = [Req("01-REQ-1.1", 1), Req("01-REQ-1.2", 1)]
WHOLE = {"01-REQ-1.1": "PASS", "01-REQ-1.2": "PASS"}
UNCLEAR = {
    "prose": "I could not run the tests.",
    "praise": "All good: PASS, PASS, PASS.",
    "nothing": "nothing",
    "crash": "crash",
    "no rows": '{"verdicts": [], "overall_verdict": "PASS"}',
    "no rows, overall FAIL": '{"verdicts": [], "overall_verdict": "FAIL"}',
    "a requirement missing": report({"01-REQ-1.1": "PASS"}),
    "another word": report({**WHOLE, "01-REQ-1.2": "PASS (mostly)"}),
    "foreign ids": report({"07-REQ-1.1": "PASS", "07-REQ-1.2": "PASS"}),
    "overall FAIL over rows that pass": report(WHOLE, overall="FAIL"),
    "cut off": report(WHOLE)[:-20],
    "a whole answer, then a cut one": report(WHOLE) + "\nWait:\n" + report(WHOLE)[:60],
    "a changed source": "change",
}


@pytest.mark.parametrize("said", UNCLEAR.values(), ids=UNCLEAR)
def test_the_verifier_is_read_again_and_no_coder_is(tmp_path: Path, said: str) -> None:
    root = World({"01_calc": REQS}, verifier_says={"01_calc/1/1": said}).build(tmp_path)
    run(root, ends=PROVEN)
    assert coders(root) == {"01_calc:1": 1}
    assert decisions(root, "01_calc:2") == ["Reread", "Accept"]


def test_a_verifier_that_never_speaks_is_not_a_pass(tmp_path: Path) -> None:
    says = {f"01_calc/1/{n}": "all good, trust me" for n in range(1, 9)}
    root = World({"01_calc": REQS}, verifier_says=says).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert coders(root) == {"01_calc:1": 1}
    assert decisions(root, "01_calc:2") == ["Reread", "Block"]
    assert causes(root) == [("01_calc:2", "no clear verdict")]
    assert outcomes(root) == {"01_calc:2": "escalated"}
    assert len(issue_files(root)) == 1


def test_the_issue_says_of_each_requirement_what_it_asks_for_and_why_nothing_is_clear(tmp_path: Path) -> None:
    said = report({"01-REQ-1.1": "PASS", "01-REQ-1.2": "UNKNOWN"}, evidence="no module named pytest")
    root = World({"01_calc": REQS}, verifier_says={f"01_calc/1/{n}": said for n in (1, 2)}).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    (issue,) = (path.read_text() for path in issue_files(root))
    asked = (root / ".agent-fox" / "specs" / "01_calc" / "requirements.md").read_text()
    (sentence,) = (line.partition("] ")[2] for line in asked.splitlines() if "[01-REQ-1.2]" in line)
    assert f"\n01-REQ-1.2: {sentence}\n    no module named pytest\n" in issue


def test_a_verifier_that_hangs_spends_a_reading(tmp_path: Path) -> None:
    root = World({"01_calc": REQS}, verifier_says={"01_calc/1/1": "hang"}).build(tmp_path)
    run(root, ends=PROVEN, AGENT_FOX__AGENTS__VERIFIER__TIMEOUT="2")
    ends = "SELECT reading, status, end_kind FROM sessions WHERE archetype = 'verifier' ORDER BY id"
    assert rows(root, ends)[0][:2] == (1, "failed")
    assert "timed" in str(rows(root, ends)[0][2])
    assert decisions(root, "01_calc:2") == ["Reread", "Accept"]


@pytest.mark.parametrize("said", ["write", "change"])
def test_nothing_that_a_verifier_writes_reaches_the_branch(tmp_path: Path, said: str) -> None:
    root = World({"01_calc": REQS}, verifier_says={"01_calc/1/1": said}).build(tmp_path)
    run(root, ends=PROVEN)
    assert "verifier-was-here.txt" not in git(root, "log", "--all", "--name-only", "--format=")
    assert landed(root, "README.md") == "a story\n"
    assert not (root / "verifier-was-here.txt").exists()


def test_silence_about_one_requirement_beside_a_fail_blames_only_the_fail(tmp_path: Path) -> None:
    reqs = [Req("01-REQ-1.1", 1, right_at=2), Req("01-REQ-2.1", 2)]
    says = {"01_calc/1/1": report({"01-REQ-1.1": "FAIL"}, "it is wrong")}
    root = World({"01_calc": reqs}, verifier_says=says).build(tmp_path)
    run(root, ends=PROVEN)
    assert coders(root) == {"01_calc:1": 2, "01_calc:2": 1}
    assert briefed(root, "01_calc:1", 2) == {"01-REQ-1.1": "it is wrong"}


def test_the_next_reading_is_the_next_stronger_verifiers(tmp_path: Path) -> None:
    says = {"01_calc/1/1": "all good, trust me"}
    root = World({"01_calc": REQS}, verifier_says=says).build(tmp_path)
    with (root / ".agent-fox" / "config.toml").open("a") as settings:
        settings.write('\n[[agents.verifier.rungs]]\nlabel = "strong"\nenvironment = { STRONG = "yes" }\n')
    run(root, ends=PROVEN)
    sessions = rows(root, "SELECT reading, rung FROM sessions WHERE node_id = '01_calc:2' ORDER BY id")
    assert sessions == [(1, 0), (2, 1)]
    (steps,) = rows(root, "SELECT steps FROM decisions WHERE kind = 'Reread'")[0]
    assert json.loads(str(steps))[0]["rung"] == 1
