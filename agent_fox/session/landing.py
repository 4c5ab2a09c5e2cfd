"""Landing a coder's work on the integration branch: first the merge as a commit, no branch moved; then the
move.

When each may happen, and what is written down between the two, is the engine's to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from agent_fox.system import git, git_objects
from agent_fox.system.git_objects import Conflict

__all__ = ["Conflict", "Landing", "build_landing", "move"]


@dataclass(frozen=True, slots=True)
class Landing:
    """A commit ready to become the branch's tip, and the tip it was built on."""

    base: str
    commit: str


def build_landing(repo: Path, tip: str, work_commit: str, message: str) -> Landing | Conflict:
    """The work on top of `tip`: itself where it grew there, else a merge commit. Raises GitError; moves
    nothing.
    """
    if git.is_ancestor(repo, work_commit, tip):
        return Landing(tip, tip)
    if git.is_ancestor(repo, tip, work_commit):
        return Landing(tip, work_commit)
    merged = git_objects.merge(repo, tip, work_commit)
    if isinstance(merged, Conflict):
        return merged
    commit = git_objects.commit_tree(repo, merged.tree, [tip, work_commit], message, git.identity(repo))
    return Landing(tip, commit)


def move(repo: Path, branch: str, new: str, old: str) -> bool:
    """Move `branch` from `old` to `new`; safe to repeat. True also where the branch contains `new` already.

    False: somebody else moved it. Raises GitError where git cannot move it (a lock that stays).
    """
    ref = f"refs/heads/{branch}"
    if git.move_ref(repo, ref, new, old):
        return True
    return git.is_ancestor(repo, new, ref)
