"""`plan --red` and `lint --run`: what each requirement's tests do before an agent is paid. Real git, real pytest."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import said, start

TESTS = """\
import greet


def test_01_REQ_1_1_greets():
    assert greet.greet("Ada") == "Hello, Ada!"


def test_01_REQ_1_2_shouts():
    assert greet.shout("Ada") == "ADA"


def test_01_REQ_1_3_waves():
    assert (greet.greet("Ada") == "waves", "it does")
"""
PRODUCT = 'def greet(name):\n    return f"Hello, {name}!"\n\n\ndef shout(name):\n    return name\n'
GREET = """\
### Requirement 1: Greeting
1. [01-REQ-1.1] WHEN a name is given, THE greeter SHALL greet it.
2. [01-REQ-1.2] WHEN it shouts, THE greeter SHALL use capitals.
3. [01-REQ-1.3] WHEN it leaves, THE greeter SHALL wave.
4. [01-REQ-1.4] WHEN there is nobody, THE greeter SHALL be silent.
"""
ONE = "### Requirement 1: Text\n1. [{id}] THE text SHALL read well.\n"
TASKS = "## Tasks\n- [ ] 1. Build it\n  - [ ] 1.1 Do so\n    - _Requirements: {ids}_\n"
COMMANDS = "## Test Commands\n- Spec tests: `{line}`\n\n"
CONFIG = """\
[plan]
pre_review = false
audit_review = false
[agents.coder]
command = ["true"]
[agents.verifier]
backend = "checks"
[specs.02_text.agents.verifier]
backend = "command"
command = ["true"]
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A spec with a requirement of each kind, one that a model judges, and one whose command is not there."""
    specs = tmp_path / "specs"
    files = {
        tmp_path / "greet.py": PRODUCT,
        tmp_path / "tests" / "test_greet.py": TESTS,
        tmp_path / "pytest.ini": "[pytest]\npythonpath = .\n",
        tmp_path / ".gitignore": "__pycache__/\n.pytest_cache/\n",
        tmp_path / ".agent-fox" / "config.toml": CONFIG,
        specs / "01_greet" / "requirements.md": GREET,
        specs / "01_greet" / "tasks.md": COMMANDS.format(line=f"{sys.executable} -m pytest -q tests")
        + TASKS.format(ids="01-REQ-1.1, 01-REQ-1.2, 01-REQ-1.3, 01-REQ-1.4"),
        specs / "02_text" / "requirements.md": ONE.format(id="02-REQ-1.1"),
        specs / "02_text" / "tasks.md": TASKS.format(ids="02-REQ-1.1"),
        specs / "03_far" / "requirements.md": ONE.format(id="03-REQ-1.1"),
        specs / "03_far" / "tasks.md": COMMANDS.format(line="no-such-runner tests") + TASKS.format(ids="03-REQ-1.1"),
    }
    for path, text in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    who = ["-c", "user.name=t", "-c", "user.email=t@t"]
    for words in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-qm", "start"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)
    return tmp_path


def test_it_is_told_which_requirements_have_no_test_that_can_fail_before_an_agent_is_paid(root: Path) -> None:
    (root / "greet.py").write_text("what is not committed does not count\n")
    done = start(root, "plan", "--red", "--json")
    assert done.returncode == 2, done.stderr
    greet, text, far = json.loads(done.stdout)["red"]
    assert {one["id"]: (one["now"], one["can_fail"]) for one in greet["requirements"]} == {
        "01-REQ-1.1": ("green already", True),
        "01-REQ-1.2": ("red now", True),
        "01-REQ-1.3": ("cannot fail", False),
        "01-REQ-1.4": ("no test names it", False),
    }
    assert "greet.py:2" in greet["requirements"][0]["why"]
    assert "'Ada' == 'ADA'" in greet["requirements"][1]["why"]
    assert (text["judges"], text["requirements"]) == (["command"], [])
    (one,) = far["requirements"]
    assert (one["now"], one["can_fail"], "no-such-runner" in one["why"]) == ("not known", False, True)
    assert not (root / ".agent-fox" / "state.db").exists()


def test_lint_tells_it_too_for_the_specs_that_are_named(root: Path) -> None:
    done = start(root, "lint", "--run", "specs/02_text", "specs/03_far")
    assert done.returncode == 2, done.stderr
    lines = done.stdout.splitlines()
    assert "02_text: verified by command: no tests are asked for" in lines
    assert "03_far: 1 not known; 1 without a test that can fail" in lines
    assert lines[-1] == "1 not known; 1 without a test that can fail"
    assert start(root, "lint", "--run", "specs/02_text").returncode == 0


@pytest.mark.parametrize("words", [("plan", "--red", "--format", "markdown"), ("lint", "--run", "--format", "sarif")])
def test_forms_that_have_no_place_for_it_are_refused(root: Path, words: tuple[str, ...]) -> None:
    assert "is shown as text or with --json" in said(start(root, *words))
