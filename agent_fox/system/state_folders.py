"""Where we keep what is ours about a repository, in it and outside of it: names alone. Nothing is made here."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

STATE = Path(".agent-fox") / "state.db"
LOCK = Path(".agent-fox") / "run.lock"
LOGS = Path(".agent-fox") / "logs"
ISSUES = Path(".agent-fox") / "issues"
"""In the repository, from its root."""


def default_state(environ: Mapping[str, str]) -> Path:
    """`$XDG_STATE_HOME/agent-fox`, or what stands for it in the person's home."""
    base = environ.get("XDG_STATE_HOME") or str(Path(environ.get("HOME", "~")).expanduser() / ".local" / "state")
    return Path(base) / "agent-fox"


def folder_of(state: Path, root: Path) -> Path:
    """The folder of one repository: two of the same name in different places have two."""
    key = hashlib.sha256(str(root.resolve()).encode()).hexdigest()[:12]
    return state / f"{root.resolve().name}-{key}"


def artifacts_in(folder: Path) -> Path:
    """Where full logs and reports of a repository are kept."""
    return folder / "artifacts"
