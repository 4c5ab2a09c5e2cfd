"""A small real world for session tests: a repository with one commit, and orders to launch in it."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from agent_fox.core.ids import Archetype
from agent_fox.session.order import Agent, LaunchOrder
from agent_fox.testing.worlds import first_commit

FILES = {
    "src/app.py": "print('one')\n",
    "README.md": "hello\n",
    ".gitignore": "ignored/\n*.log\n.env\n",
    "specs/01_app/tasks.md": "# Tasks\n\n- [ ] 1. Build it\n  - [ ] 1.1 Write\n",
    "specs/01_app/requirements.md": "# Requirements\n",
    ".agent-fox/config.toml": "# ours\n",
}

LAUNCH = f"launch-{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
"""What is left of a launch is ended by its name: tests that run at the same time need names of their own."""


def sh(where: Path, *argv: str) -> str:
    return subprocess.run(argv, cwd=where, check=True, capture_output=True, text=True).stdout.strip()


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def make_repo(root: Path, files: dict[str, str] | None = None) -> Path:
    root.mkdir(parents=True)
    write(root, FILES if files is None else files)
    first_commit(root, "Ada", with_ignored=True)
    return root


def make_order(repo: Path, **changes: Any) -> LaunchOrder:  # noqa: ANN401 - fields of many types
    """A coder's first launch at HEAD; `changes` are fields of the order."""
    root = repo.parent
    launch = changes.get("launch", LAUNCH)
    plain = LaunchOrder(
        launch=launch,
        node_id="01_app:1",
        node_uid="01_app:coder:1",
        spec_name="01_app",
        archetype=Archetype.CODER,
        mode=None,
        group=1,
        run="run-1",
        attempt=1,
        reading=1,
        pinned=sh(repo, "git", "rev-parse", "HEAD"),
        repo=repo,
        state=root / "state" / launch,
        log=root / "logs" / f"{launch}.log",
        agent=Agent(timeout=60),
        brief_markdown="# Do it\n",
        brief_json={
            "node": "01_app:1",
            "requirements": [{"id": "01-REQ-1.1", "text": "It works."}],
            "failing": [],
        },
        spec_places=("specs",),
        message="build the app",
    )
    return replace(plain, **changes)


def agent(*argv: str, **changes: Any) -> Agent:  # noqa: ANN401 - fields of many types
    return replace(Agent(command=argv, timeout=60), **changes)


def shell(script: str, **changes: Any) -> Agent:  # noqa: ANN401 - fields of many types
    """An agent that is a shell script."""
    return agent("sh", "-e", "-c", script, **changes)


def python(code: str, **changes: Any) -> Agent:  # noqa: ANN401 - fields of many types
    return agent(sys.executable, "-I", "-S", "-c", code, **changes)


def never_told(pid: int, start_time: str) -> None:
    """For tests that do not ask who was started."""
