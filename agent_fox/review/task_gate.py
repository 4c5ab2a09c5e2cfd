"""What a review task is to the close-out gate: a finding that blocks, unless its work is verified as it stands."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from sqlite_utils import Database

from agent_fox.core.close_out import Check, Finding, Severity
from agent_fox.review.recheck import changed_since
from agent_fox.review.tasks import DIGITS, PREFIX, Word, standing
from agent_fox.store.state import StateError
from agent_fox.system.git import GitError

_TASK = re.compile(rf"{PREFIX}[0-9a-f]{{{DIGITS}}}")

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
        said = f"changed since it was verified: {', '.join(changed)}; have it reviewed again by todoCompleteAndVerify"
        yield _block(Check.REVIEW_CHANGED, said)


def _block(check: Check, detail: str) -> Finding:
    return Finding(check, Severity.BLOCK, detail)
