"""Where we keep what is ours about a repository, in it and outside of it: names alone. Nothing is made here."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path

STATE = Path(".agent-fox") / "state.db"
LOCK = Path(".agent-fox") / "run.lock"
LOGS = Path(".agent-fox") / "logs"
ISSUES = Path(".agent-fox") / "issues"
REPORT = Path(".agent-fox") / "report.html"
"""In the repository, from its root."""

IGNORED = ("state.db*", "logs/", "crash.log", "run.lock", "report.html")
"""What git is to leave alone in our folder."""
IGNORED_BY_ITSELF = "".join(f"{name}\n" for name in (*IGNORED, ".gitignore"))
"""The list as it is written where a person has made none; `init` puts one that can be committed in its place."""


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


def caches_in(folder: Path) -> Path:
    """Where caches of build tools are kept that `verify` of a repository fills and reads, by profile."""
    return folder / "caches"


def run_caches_in(folder: Path) -> Path:
    """Where a run keeps what build tools compiled of the commit that it began with. No profile has this name."""
    return caches_in(folder) / "_runs"


def file_name(name: str) -> str:
    """A node's id as part of a file name. Where more than colons is replaced, a digest tells `a b` from `a-b`."""
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
    is_clear = plain == name.replace(":", "-")
    return plain if is_clear else f"{plain}~{hashlib.sha256(name.encode()).hexdigest()[:8]}"
