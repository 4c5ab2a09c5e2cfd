"""How two commits differ, as text and in numbers, without any driver or converter of the person's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agent_fox.core.values import dataclass
from agent_fox.system import git

LARGEST_FILE = "core.bigFileThreshold=256k"
"""A longer file counts as binary: it is named, and its lines are not shown."""

_PLAIN = ("diff", "--no-ext-diff", "--no-textconv", "--no-color", "--no-renames")


@dataclass(frozen=True, slots=True)
class Lines:
    """One file that differs: how many lines were added and removed; none are counted of a binary or very long one."""

    path: str
    added: int
    removed: int
    is_binary: bool = False


def lines_between(repo: Path, base: str, commit: str) -> tuple[Lines, ...]:
    """The files that differ between two commits. Raises GitError."""
    answer = git.call(repo, "-c", LARGEST_FILE, *_PLAIN, "--numstat", "-z", "--end-of-options", base, commit, "--")
    rows = (record.split("\t", 2) for record in answer.records)
    return tuple(
        Lines(path, 0, 0, is_binary=True) if added == "-" else Lines(path, int(added), int(removed))
        for added, removed, path in rows
    )


def diff_of(repo: Path, base: str, commit: str, paths: Sequence[str]) -> str:
    """The difference in these files as text. Raises GitError."""
    literal = (f":(literal){path}" for path in paths)
    answer = git.call(repo, "-c", LARGEST_FILE, *_PLAIN, "--end-of-options", base, commit, "--", *literal)
    return answer.out.decode("utf-8", "replace")
