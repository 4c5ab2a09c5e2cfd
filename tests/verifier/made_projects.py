"""Small real projects in a folder, and what verifies them. Nothing here is faked."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from agent_fox.system.sandbox.bubblewrap import SandboxMode
from agent_fox.testing.worlds import new_repository
from agent_fox.verifier.plans.toolbox import Verifier
from agent_fox.verifier.profiles.context import RunContext
from agent_fox.verifier.profiles.loading import load_profile

PYPROJECT = """\
[project]
name = "cart"
version = "0"
[tool.pytest.ini_options]
pythonpath = ["."]
"""
CART = "def total(prices):\n    return sum(prices)\n"
TEST_CART = """\
from cart import total


def test_total():
    assert total([1, 2]) == 3


def test_empty():
    assert total([]) == 0
"""
MYLINT = r"""
tools = ["flake8"]
kind = "lint_failure"

[[row]]
when = "mylint: "
pattern = 'mylint: (?P<severity>error|warning) (?P<file>[^:]+):(?P<line>\d+) (?P<code>[A-Z]\d+) (?P<message>.*)$'

[[example]]
log = '''
mylint: error a.py:3 M7 a name is used twice
mylint: warning b.py:1 M2 an empty file'''
gives = ["a.py:3: lint_failure: a name is used twice (M7)", "warning: b.py:1: lint_failure: an empty file (M2)"]
"""
LINTER = "#!/bin/sh\necho 'mylint: error cart.py:2 M7 a name is used twice'\nexit 1\n"
PYTHON = {"pyproject.toml": PYPROJECT, "cart.py": CART, "tests/test_cart.py": TEST_CART}


OWN_PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
"""PATH on which the interpreter that runs the tests comes first: it has pytest and ruff, another one may not."""


def write(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


def with_own_linter(root: Path) -> None:
    """The checkout's linter is a script that prints lines which only its own format reads."""
    write(
        root,
        {
            ".flake8": "[flake8]\n",
            ".venv/bin/flake8": LINTER,
            "lint/mylint.toml": MYLINT,
            ".gitignore": ".venv/\n",
        },
    )
    (root / ".venv/bin/flake8").chmod(0o755)


def git(root: Path, *arguments: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "init.defaultBranch=main")
    return subprocess.run(
        ["git", *who, *arguments], cwd=root, check=True, capture_output=True, text=True
    ).stdout.strip()


def committed(root: Path, files: Mapping[str, str], message: str = "first") -> str:
    """Write the files and commit everything; the commit's full id."""
    write(root, files)
    if not (root / ".git").exists():
        new_repository(root)
    git(root, "add", "-A")
    git(root, "commit", "-qm", message)
    return git(root, "rev-parse", "HEAD")


def context(root: Path, profile: str = "python", **fields: object) -> RunContext:
    made = {"run": "run-1", "attempt": 1, "artifacts": root.parent / "artifacts", "sandbox": SandboxMode.AUTO, **fields}
    return RunContext(root=root, profile=load_profile(profile), **made)  # type: ignore[arg-type]


def verifier(root: Path, profile: str = "python", **fields: object) -> Verifier:
    return Verifier(context(root, profile, **fields))
