"""The program as a person starts it: a process of its own, in a folder, with a small environment."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from agent_fox.testing import prefork
from agent_fox.testing.worlds import first_commit

PROGRAM = [sys.executable, "-m", "agent_fox.cli.main"]
SOURCE = Path(__file__).resolve().parents[2]


def start(where: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `agent-fox ARGUMENTS` in `where`; its exit code and output."""
    environment = {"PATH": os.environ["PATH"], "HOME": str(where), "PYTHONPATH": str(SOURCE), **variables}
    return prefork.run(arguments, cwd=where, env=environment, timeout=60)


def said(done: subprocess.CompletedProcess[str]) -> str:
    """The one line on standard error of a command that failed for a reason a person can act on."""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    return lines[0]


def repository(root: Path) -> Path:
    """A git repository with one commit."""
    (root / "README.md").write_text("a project\n")
    first_commit(root)
    return root
