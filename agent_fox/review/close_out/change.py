"""What a task changed, by git: from a base commit to the files as they are, or to a commit. Nothing is judged."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from agent_fox.core.ledger.close_out_scope import Touched
from agent_fox.session.gates.close_out_change import shown, touched_between
from agent_fox.system import git, git_objects
from agent_fox.system.git import GitError
from agent_fox.verifier.policy.change_under_check import changed_paths


def touched_since(root: Path, base: str, commit: str | None, but: Collection[str] = ()) -> tuple[Touched, ...]:
    """Every path that is different since `base`, except `but`. Raises GitError.

    Without `commit` those are the paths of HEAD, of the index and of the files, untracked ones too: what is committed
    counts although it is ignored, and what is hidden from `git status` counts although nobody sees it there: only what
    `.gitignore` hides in the base, and caches of tools, are no part of a change.
    """
    committed = touched_between(root, base, git.commit_of(root, commit or "HEAD") or "")
    if commit is not None:
        return tuple(touched for touched in committed if touched.path not in but)
    known = {touched.path for touched in committed}
    paths = {*changed_paths(root, base), *_staged(root)}
    own = [Touched(shown(path), _link(root / path)) for path in paths if shown(path) not in known]
    return tuple(sorted(touched for touched in {*committed, *own} if touched.path not in but))


def _staged(root: Path) -> list[str]:
    """Paths that the next commit would change."""
    return git.call(root, "diff-index", "--cached", "--name-only", *git_objects.ALL, "-z", "HEAD", "--").records


def is_committed(root: Path, but: Collection[str]) -> bool:
    """Whether HEAD has everything that lies there, `but` these paths."""
    head = git.head(root)
    return head is not None and all(shown(path) in but for path in {*changed_paths(root, head), *_staged(root)})


def _link(path: Path) -> str:
    return shown(str(path.readlink())) if path.is_symlink() else ""


def base_commit(root: Path, named: str, commit: str | None, but: Collection[str] = ()) -> str:
    """The commit that a change is counted from: where it left `said`, or the empty tree if `said` is its id. `but`:
    paths that are no part of a change.

    Raises GitError, also where a commit would be compared with itself: who looks at nothing can find nothing.
    """
    tip = git.commit_of(root, commit or "HEAD")
    if tip is None:
        raise GitError(f"{commit or 'HEAD'} names no commit; commit first")
    if named == _empty_tree(root):
        return named
    base = git.commit_of(root, named)
    if base is None:
        raise GitError(f"{named!r} names no commit; give --base a branch, tag or commit that is fetched")
    left = git.merge_base(root, base, tip)
    if left is None:
        raise GitError(f"{named} and {commit or 'HEAD'} share no commit here; fetch their whole history")
    if left == tip and (commit is not None or is_committed(root, but)):
        raise GitError(
            f"{commit or 'HEAD, with the files as they are,'} has nothing that {named} has not, "
            "and a gate that looked at nothing is no pass; give --base a commit from before the work"
        )
    return left


def _empty_tree(root: Path) -> str:
    """The id of a tree without files: what a first commit is compared with."""
    return git.call(root, "hash-object", "-t", "tree", "--stdin").text
