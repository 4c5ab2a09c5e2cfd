"""One issue a cause: a failing command and its first error join requirements, across specs too; prose does not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from agent_fox.testing.worlds import Req, World, agent_table, commit_all, issue_files, run_cli
from tests.stories.scene import NOT_PROVEN, PROVEN, report, run

SUITE = """
import pathlib
cases = []
for path in ("01-REQ-1.1", "01-REQ-2.1", "02-REQ-1.1"):
    proof = pathlib.Path("proof") / f"{path}.txt"
    text = proof.read_text().split(" at ")[0] if proof.exists() else "absent"
    failure = "" if text == "right" else f'<failure message="{text}"/>'
    cases.append(f'<testcase classname="suite" name="test_{path}" time="0">{failure}</testcase>')
pathlib.Path("report.xml").write_text(f'<testsuite name="suite" tests="3">{"".join(cases)}</testsuite>')
raise SystemExit("failure" in "".join(cases))
"""
ONE_TRY = "[retry]\nattempts = 1\n"
VERIFY = '[verify]\ncommands = ["python3 suite.py"]\nreports = ["report.xml"]\n'
TWO_SPECS = {"01_calc": [Req("01-REQ-1.1", 1, right_at=2)], "02_more": [Req("02-REQ-1.1", 1, right_at=2)]}


def build(folder: Path, world: World) -> Path:
    """The world with a suite that a verifier without a model runs; requirements find tests by their ids."""
    table = agent_table("verifier", json.dumps(str(folder / "tools" / "story.json")))
    table = table.replace('backend = "command"', 'backend = "checks"')
    root = replace(world, settings=table + VERIFY + ONE_TRY).build(folder)
    (root / "suite.py").write_text(SUITE)
    for tasks in root.glob(".agent-fox/specs/*/tasks.md"):
        tasks.write_text(tasks.read_text().split("## Traceability")[0])
    commit_all(root, "a suite")
    return root


def titles(root: Path, state: str = "open") -> list[str]:
    return [path.name for path in issue_files(root, state)]


def test_two_errors_are_two_causes(tmp_path: Path) -> None:
    world = World({"01_calc": [Req("01-REQ-1.1", 1, 2), Req("01-REQ-2.1", 2)]}, coder_does={"01_calc:2/1": "nothing"})
    root = build(tmp_path, world)
    run(root, ends=NOT_PROVEN)
    first, second = titles(root)
    assert ("01-req-1-1" in first, "01-req-2-1" in first) == (True, False)
    assert ("01-req-1-1" in second, "01-req-2-1" in second) == (False, True)


def test_one_error_in_two_specs_is_one_issue_that_closes_with_the_last_of_them(tmp_path: Path) -> None:
    root = build(tmp_path, World(TWO_SPECS))
    run(root, ends=NOT_PROVEN)
    (issue,) = issue_files(root)
    assert ("01-REQ-1.1" in issue.read_text(), "02-REQ-1.1" in issue.read_text()) == (True, True)
    assert run_cli(root, "reset", "01_calc:1").returncode == 0
    run(root, ends=NOT_PROVEN)
    assert titles(root) == [issue.name]
    assert run_cli(root, "reset", "02_more:1").returncode == 0
    run(root, ends=PROVEN)
    assert (titles(root), titles(root, "closed")) == ([], [issue.name])


def test_prose_joins_nothing_across_specs(tmp_path: Path) -> None:
    same = "tests fail with the very same words"
    says = {
        "01_calc/1/1": report({"01-REQ-1.1": "FAIL"}, same),
        "02_more/1/1": report({"02-REQ-1.1": "FAIL"}, same),
    }
    root = World(TWO_SPECS, verifier_says=says, settings=ONE_TRY).build(tmp_path)
    run(root, ends=NOT_PROVEN)
    assert len(issue_files(root)) == 2
