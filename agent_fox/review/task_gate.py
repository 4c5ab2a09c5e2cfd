"""What a review task is to the close-out gate: a finding that blocks, unless its work is verified as it stands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.ledger.close_out import Check, Finding, Severity
from agent_fox.core.regex import regex
from agent_fox.review.changes import Limits
from agent_fox.review.recheck import changed_since
from agent_fox.review.repositories import read_registered
from agent_fox.review.task_commit import apart
from agent_fox.review.tasks import DIGITS, PREFIX, Word, standing
from agent_fox.store.reviews import task_row
from agent_fox.store.state import StateError
from agent_fox.system.git import GitError

if TYPE_CHECKING:
    from sqlite_utils import Database

MOST_PATHS = 5

_TASK = regex(rf"{PREFIX}[0-9a-f]{{{DIGITS}}}")

CHECKS = {
    Word.UNKNOWN: Check.REVIEW_UNKNOWN,
    Word.REGISTERED: Check.REVIEW_REGISTERED,
    Word.REJECTED: Check.REVIEW_REJECTED,
    Word.FAILED: Check.REVIEW_FAILED,
    Word.CLEARED: Check.REVIEW_CLEARED,
    Word.DAMAGED: Check.REVIEW_DAMAGED,
}


def is_review_task(task_id: str) -> bool:
    """Whether this is the id of a review task."""
    return _TASK.fullmatch(task_id) is not None


def review_findings(db: Database | None, state: Path, task_id: str) -> Iterator[Finding]:
    """Why a review task may not be closed; nothing where a reviewer said OK to the files as they are."""
    if db is None:
        yield _block(Check.REVIEW_UNKNOWN, f"there is no state that knows the task: {state}")
        return
    stands = standing(db, task_id)
    if not stands.is_verified:
        yield _block(CHECKS[stands.word], stands.reason)
        return
    try:
        changed = changed_since(state, [task_id])[task_id]
    except (GitError, StateError, OSError) as error:
        yield _block(Check.REVIEW_CHANGED, f"it cannot be told whether the files are those that were verified: {error}")
        return
    if changed:
        what = f"changed since it was verified: {', '.join(changed)}; have it reviewed again by todoCompleteAndVerify"
        yield _block(Check.REVIEW_CHANGED, what)


def commit_findings(db: Database, root: Path, task_id: str, commit: str) -> Iterator[Finding]:
    """Why a verified task says nothing about a commit; nothing where the files that were reviewed are the commit's."""
    row, new_file = task_row(db, task_id), standing(db, task_id).data.get("new_file")
    repos = {repo.path: repo for repo in read_registered(row.repositories)} if row else {}
    path = str(root.resolve())
    if path not in repos:
        yield _block(Check.REVIEW_CHANGED, f"the review is about {', '.join(repos)}, not about {path}; ask there")
        return
    limits = Limits(new_file=new_file) if isinstance(new_file, int) else Limits()
    try:
        paths = apart(repos, path, commit, limits)
    except (GitError, OSError) as error:
        yield _block(Check.REVIEW_CHANGED, f"it cannot be told whether {commit} holds what was verified: {error}")
        return
    if paths:
        yield _block(Check.REVIEW_CHANGED, _apart(paths, commit))


def _apart(paths: Sequence[str], commit: str) -> str:
    more = f" and {len(paths) - MOST_PATHS} more" if len(paths) > MOST_PATHS else ""
    return (
        f"the files that were verified are not those of {commit}: {', '.join(paths[:MOST_PATHS])}{more}; commit what "
        "was verified, or check that commit out and have it reviewed by todoCompleteAndVerify"
    )


def _block(check: Check, detail: str) -> Finding:
    return Finding(check, Severity.BLOCK, detail)
