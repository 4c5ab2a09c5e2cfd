"""The change that a final review reads: what a spec's work touched, from where the run began to what was verified.

Nothing that a coder said is in it. How it is shown is in `session.briefs`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.session.briefs.text import Change
from agent_fox.store import sessions
from agent_fox.system import git
from agent_fox.system.git_diff import diff_of
from agent_fox.system.git_objects import changes_between

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.store.sessions import SessionRow

LONGEST_DIFF = 200_000
"""Characters of the diff in a brief; the rest is one command away in the workspace."""

AT_ONCE = 20
CUT = "\n(cut here; more files have changed)\n"


def change_of(db: Database, repo: Path, session: SessionRow, questions: Iterable[str] = ()) -> Change:
    """What this review is about, as far as git can still tell."""
    commit = session.pinned or ""
    base = base_of(db, repo, session)
    files = changed(repo, base, commit) if base and commit else ()
    touched = touched_by(db, repo, session.spec_name)
    own = tuple(path for path in files if path in touched) or files
    return Change(base, commit, own, diff(repo, base, commit, own), tuple(questions))


def base_of(db: Database, repo: Path, session: SessionRow) -> str:
    """Where the integration branch left the person's own, as it stood when the run began; empty where it never did."""
    head = sessions.head_at_start(db, session.run_id)
    return (git.merge_base(repo, head, session.pinned) or "") if head and session.pinned else ""


def touched_by(db: Database, repo: Path, spec_name: str) -> frozenset[str]:
    """The files that landed work of this spec has changed."""
    landed = sessions.sessions_where(db, "spec_name = ? AND landed_commit IS NOT NULL", [spec_name])
    spans = ((row.base, row.landed) for row in landed if row.base and row.landed)
    return frozenset(path for base, commit in spans if base and commit for path in changed(repo, base, commit))


def changed(repo: Path, base: str, commit: str) -> tuple[str, ...]:
    """The paths that differ between two commits; none where one of them is gone."""
    try:
        return tuple(change.path for change in changes_between(repo, base, commit))
    except git.GitError:
        return ()


def diff(repo: Path, base: str, commit: str, files: Sequence[str]) -> str:
    """The difference in these files as text, cut where it is long; read in parts, so that none is held whole."""
    text = ""
    for start in range(0, len(files), AT_ONCE):
        text += diff_of_some(repo, base, commit, files[start : start + AT_ONCE])
        if len(text) > LONGEST_DIFF:
            return text[:LONGEST_DIFF] + CUT
    return text


def diff_of_some(repo: Path, base: str, commit: str, files: Sequence[str]) -> str:
    try:
        return diff_of(repo, base, commit, files)
    except git.GitError:  # one of the commits is gone
        return ""
