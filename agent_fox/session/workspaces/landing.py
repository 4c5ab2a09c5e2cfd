"""Landing a coder's work on the integration branch: first the commit that will be its tip, no branch moved; then
the move.

When each may happen, and what is written down between the two, is the engine's to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

from agent_fox.core.values import dataclass
from agent_fox.system import git, git_objects
from agent_fox.system.git_objects import Conflict

__all__ = ["Conflict", "Integration", "Landing", "Style", "build_landing", "build_reversal", "move"]


class Style(StrEnum):
    """How work becomes the tip (`[git] landing`).

    MERGE: the work's own commit where it grew on the tip, else a merge commit of both. SQUASH: always one commit whose
    only parent is the tip.
    """

    MERGE = "merge"
    SQUASH = "squash"


@dataclass(frozen=True, slots=True)
class Integration:
    """The branch that work lands on, and how it does. `accepts_foreign`: commits of others on top of it are kept."""

    repo: Path
    branch: str
    style: Style = Style.MERGE
    accepts_foreign: bool = False

    @property
    def ref(self) -> str:
        return f"refs/heads/{self.branch}"


@dataclass(frozen=True, slots=True)
class Landing:
    """A commit ready to become the branch's tip, and the tip it was built on."""

    base: str
    commit: str


def build_landing(
    repo: Path, tip: str, work_commit: str, message: str, style: Style = Style.MERGE
) -> Landing | Conflict:
    """The work on top of `tip`, as `style` has it. Raises GitError; moves nothing.

    The work is one commit on an ancestor of `tip`, so replaying it there and merging it are the same three-way merge.
    """
    if tip in git.parents(repo, work_commit) and is_in(style, repo, work_commit, tip):
        return Landing(tip, work_commit)
    merged = git_objects.merge(repo, tip, work_commit)
    if isinstance(merged, Conflict):
        return merged
    trees = git.tree_of(repo, tip), git.tree_of(repo, work_commit)
    base = git.merge_base(repo, tip, work_commit) if merged.tree in trees else None  # else neither contains the other
    if base == work_commit or (style is Style.SQUASH and merged.tree == trees[0]):
        return Landing(tip, tip)
    if base == tip and is_in(style, repo, work_commit, tip):
        return Landing(tip, work_commit)
    parents = [tip] if style is Style.SQUASH else [tip, work_commit]
    return Landing(tip, git_objects.commit_tree(repo, merged.tree, parents, message, git.identity(repo)))


def build_reversal(repo: Path, tip: str, landings: Sequence[Landing], message: str) -> Landing | Conflict:
    """What landed as `landings`, the newest first, taken off `tip`: one commit on it. Raises GitError; moves nothing.

    Each is a three-way merge, from what it landed as to what stood there before, so that later work of others stays.
    A landing whose commit is its base: nothing of it was left to take off.
    """
    who, at = git.identity(repo), tip
    for landing in landings:
        before = git_objects.commit_tree(repo, git.tree_of(repo, landing.base), [landing.commit], message, who)
        merged = git_objects.merge(repo, at, before)
        if isinstance(merged, Conflict):
            return merged
        at = git_objects.commit_tree(repo, merged.tree, [at], message, who)
    tree = git.tree_of(repo, at)
    if tree == git.tree_of(repo, tip):
        return Landing(tip, tip)
    return Landing(tip, git_objects.commit_tree(repo, tree, [tip], message, who))


def is_in(style: Style, repo: Path, commit: str, tip: str) -> bool:
    """Whether a commit that grew on `tip` may become the tip as it is."""
    return style is Style.MERGE or git.parents(repo, commit) == (tip,)


def move(repo: Path, branch: str, new: str, old: str) -> bool:
    """Move `branch` from `old` to `new`; safe to repeat. True also where the branch contains `new` already.

    False: somebody else moved it. Raises GitError where git cannot move it (a lock that stays).
    """
    ref = f"refs/heads/{branch}"
    if git.move_ref(repo, ref, new, old):
        return True
    return git.is_ancestor(repo, new, ref)
