"""The judge `checks` in whole runs, on real tests: refused weakening, evidence, what failed before, no network.

The coder is a script that stands for an agent; code, git, pytest and the sandbox are real.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from agent_fox.system.sandbox.bubblewrap import why_missing
from agent_fox.testing.worlds import issue_files, rows, run_cli, wait_until
from tests.stories.scene import NOT_PROVEN, PROVEN, begin, decisions, run, verdicts

REQUIREMENTS = "### Requirement 1: Sum\n1. [01-REQ-1.1] WHEN given prices, `total` SHALL return their sum.\n"
TASKS = (
    "## Test Commands\n- Spec tests: `{python} -m pytest -q tests`\n\n## Tasks\n- [ ] 1. Write cart.py\n"
    "  - [ ] 1.1 Sum\n    - _Requirements: 01-REQ-1.1_\n"
)
TEST = 'from cart import total\n\n\ndef test_total():\n    """01-REQ-1.1"""\n    assert total([1, 2]) == 3\n'
RIGHT = "def total(prices):\n    return sum(prices)\n"
CONFIG = """\
[plan]
pre_review = false
audit_review = false
[agents.coder]
command = [{python}, {agent}]
[agents.verifier]
backend = "checks"
"""
AGENT = """\
import json, os, pathlib
attempt = os.environ["AGENT_FOX_ATTEMPT"]
for path, text in json.loads({steps!r})[attempt].items():
    pathlib.Path(path).write_text(text)
"""


def world(root: Path, steps: dict[str, dict[str, str]], files: dict[str, str] | None = None) -> Path:
    """A repository with one spec, and a coder that writes at each attempt the files given for it."""
    agent = root.parent / "agent.py"
    agent.write_text(AGENT.format(steps=json.dumps(steps)))
    config = CONFIG.format(python=json.dumps(sys.executable), agent=json.dumps(str(agent)))
    spec = ".agent-fox/specs/01_cart"
    base = {
        "tests/test_cart.py": TEST,
        "pytest.ini": "[pytest]\npythonpath = .\n",
        f"{spec}/requirements.md": REQUIREMENTS,
        f"{spec}/tasks.md": TASKS.format(python=sys.executable),
        ".agent-fox/config.toml": config,
        ".gitignore": ".agent-fox/state.db*\n.agent-fox/logs/\n.agent-fox/issues/\n",
    }
    for name, text in {**base, **(files or {})}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    who = ["-c", "user.name=t", "-c", "user.email=t@t"]
    for arguments in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-qm", "start"]):
        subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)
    return root


def evidence(root: Path, requirement: str) -> str:
    """The evidence of the current verdict."""
    found = rows(
        root,
        f"SELECT evidence FROM verification_results WHERE superseded_by IS NULL AND requirement_id = '{requirement}'",
    )
    return str(found[0][0])


def test_a_coder_that_weakens_the_test_is_refused_and_tries_again(tmp_path: Path) -> None:
    weak = {"cart.py": "def total(prices):\n    return 0\n", "tests/test_cart.py": TEST.replace("== 3", ">= 0")}
    root = world(tmp_path / "repo", {"1": weak, "2": {"cart.py": RIGHT}})
    run(root, ends=PROVEN)
    assert decisions(root, "01_cart:1") == ["Retry", "Land"]
    assert verdicts(root) == {"01-REQ-1.1": "PASS"}


def test_the_evidence_of_a_fail_names_command_exit_code_error_and_log(tmp_path: Path) -> None:
    wrong = {"cart.py": "def total(prices):\n    return 7\n"}
    root = world(tmp_path / "repo", {"1": wrong, "2": wrong, "3": wrong})
    run(root, ends=NOT_PROVEN)
    told = evidence(root, "01-REQ-1.1")
    assert re.search(r"-m pytest -q tests` \(exit 1\): assert 7 == 3\nlog: artifact://\w+/\d+/\S+\.log", told), told
    address = re.search(r"artifact://\S+\.log", told)
    assert address is not None
    shown = run_cli(root, "logs", address[0])
    assert "assert 7 == 3" in shown.stdout


def test_an_issue_has_the_end_of_the_log_in_place_of_its_address(tmp_path: Path) -> None:
    wrong = {"cart.py": "def total(prices):\n    return 7\n"}
    root = world(tmp_path / "repo", {"1": wrong, "2": wrong, "3": wrong})
    run(root, ends=NOT_PROVEN)
    (issue,) = issue_files(root)
    text = issue.read_text()
    end = text.partition("<details><summary>The end of the log</summary>\n\n```text\n")[2].partition("```")[0]
    assert "artifact://" not in text
    assert end.rstrip().splitlines()[-1].startswith("1 failed in ")


SLOW = "import time\n" + TEST.replace("    assert", '    print("half way", flush=True)\n    time.sleep(3)\n    assert')


def test_what_tests_print_is_followed_while_the_judge_runs_them(tmp_path: Path) -> None:
    requirement = TASKS.format(python=sys.executable).replace("pytest -q", "pytest -q -s")
    files = {"tests/test_cart.py": SLOW, ".agent-fox/specs/01_cart/tasks.md": requirement}
    root = world(tmp_path / "repo", {"1": {"cart.py": RIGHT}}, files)
    (root.parent / "tools").mkdir()
    running = begin(root)
    wait_until(lambda: "half way" in run_cli(root, "logs", "01_cart:2").stdout, "the judge's tests are seen")
    shown = run_cli(root, "logs", "01_cart:2")
    assert running.wait(60) == PROVEN
    assert shown.stdout.startswith("--- tests, so far\n$ ")
    assert "it is running; -f follows it" in shown.stderr
    whole = run_cli(root, "logs", "01_cart:2").stdout
    assert whole.startswith("$ ")
    assert "--- exit 0" in whole


def test_a_command_of_the_judge_has_no_network(tmp_path: Path) -> None:
    if why_missing():
        pytest.skip(f"no sandbox here: {why_missing()}")
    probe = (
        "import socket\nfrom cart import total\n\n\ndef test_total():\n"
        '    """01-REQ-1.1"""\n    assert total([1, 2]) == 3\n'
        "    names = {name for _, name in socket.if_nameindex()}\n    assert names <= {'lo'}, names\n"
    )
    root = world(tmp_path / "repo", {"1": {"cart.py": RIGHT}}, {"tests/test_cart.py": probe})
    run(root, ends=PROVEN)


def test_another_test_that_failed_before_does_not_hold_the_requirement_back(tmp_path: Path) -> None:
    broken = 'def test_of_the_whole():\n    """01-REQ-1"""\n    assert False, \'broken before\'\n'
    root = world(tmp_path / "repo", {"1": {"cart.py": RIGHT}}, {"tests/test_older.py": broken})
    run(root, ends=PROVEN)
    assert verdicts(root) == {"01-REQ-1.1": "PASS"}
    assert "pre-existing" in str(rows(root, "SELECT note FROM verification_results WHERE superseded_by IS NULL"))
