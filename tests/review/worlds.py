"""Repositories, reviewers and desks for tests of independent review. Fake: the reviewers, programs without a model."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from agent_fox.config import ReviewSettings
from agent_fox.engine.doors.reviewing import Desk
from agent_fox.review.reviewer import Reviewer
from agent_fox.testing.worlds import first_commit

TASK = """\
## Add a greeting

### Acceptance Criteria
- `greet(name)` returns a greeting
- it greets the world by default
"""
OK = '{"status": "OK"}'


def git(where: Path, *arguments: str) -> str:
    """Git as a person runs it."""
    who = ["-c", "user.name=A Person", "-c", "user.email=person@example.org", "-c", "protocol.file.allow=always"]
    done = subprocess.run(["git", *who, *arguments], cwd=where, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def repository(root: Path, **files: str) -> Path:
    """A repository with one commit."""
    root.mkdir(parents=True, exist_ok=True)
    for name, text in {"README.md": "a project\n", **files}.items():
        (root / name).write_text(text)
    first_commit(root)
    return root


def program(folder: Path, body: str, name: str = "reviewer") -> Path:
    """A reviewer: a Python program in which `prompt` is what it was given."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text(f"#!{sys.executable}\nimport os, sys, time\nprompt = sys.stdin.read()\n{body}\n")
    file.chmod(0o755)
    return file


def saying(folder: Path, text: str, name: str = "reviewer") -> Path:
    """A reviewer that always prints this."""
    return program(folder, f"sys.stdout.write({text!r})", name)


def reviewer(file: Path, seconds: float = 30.0) -> Reviewer:
    seen = file.stat()
    identity = (seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns)
    return Reviewer((str(file),), identity, {"PATH": os.environ["PATH"]}, seconds)


def desk(root: Path, file: Path, settings: ReviewSettings | None = None, seconds: float = 30.0) -> Desk:
    """A desk for the project at `root`; its home lies beside the reviewer."""
    (root / ".agent-fox").mkdir(exist_ok=True)
    return Desk(
        state=root / ".agent-fox" / "state.db",
        witness=file.parent / "head" / "ledger-head.json",
        home=file.parent / "home",
        password=file.parent / "config" / "review-password.json",
        settings=settings or ReviewSettings(),
        reviewer=reviewer(file, seconds),
        project=str(root),
        here=root,
    )
