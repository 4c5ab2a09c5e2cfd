"""Work that conflicts is not thrown away: the coder's next session gets the unfinished merge as its whole task.

Which session that is follows from the recorded decisions; a reference keeps the work alive as long as it is wanted.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import adapter, late_module
from agent_fox.session.briefs.facts import Conflict as ConflictFacts
from agent_fox.session.order import Unmerged
from agent_fox.store.records import conflicts_kept, last_conflict
from agent_fox.system import git

if TYPE_CHECKING:
    import pydantic
    from sqlite_utils import Database

    from agent_fox.core.ids import Ticket
    from agent_fox.store.sessions import SessionRow
else:
    pydantic = late_module("pydantic")

KEPT = "refs/agent-fox/conflicts/"
"""Below it, work that waits for its merge, by the launch that made it."""

LONGEST_LIST = 20
"""Commit subjects of one side that a session is told."""

_UNMERGED = adapter(lambda: pydantic.TypeAdapter(Unmerged))


def keep(repo: Path, launch: str, work: str) -> None:
    """Keep the commit of conflicting work alive; before the decision that names it is recorded. Repeatable."""
    git.set_ref(repo, KEPT + launch, work)


def forget(repo: Path, launch: str) -> None:
    """The launch that kept work was lost before anything was recorded. Repeatable."""
    git.delete_ref(repo, KEPT + launch)


def facts_of(launch: str, unmerged: Unmerged) -> dict[str, object]:
    """What a Retry or a Block records about the conflict that caused it."""
    return {"conflict": {"work": unmerged.work, "files": list(unmerged.files), "ref": KEPT + launch}}


def unmerged_of(db: Database, ticket: Ticket) -> Unmerged | None:
    """The merge that a coder's session has to finish: its last try was sent back for a conflict. Else None."""
    conflict = last_conflict(db, ticket)
    return _UNMERGED.validate_json(conflict) if conflict else None


def task_of(db: Database, repo: Path, ticket: Ticket) -> Unmerged | None:
    """As `unmerged_of`, as long as the commit is still there: without it the session starts from the tip."""
    unmerged = unmerged_of(db, ticket)
    return unmerged if unmerged and git.commit_of(repo, unmerged.work) else None


def conflict_facts(db: Database, repo: Path, session: SessionRow) -> ConflictFacts | None:
    """What the brief of a session that finishes a merge must say; None for every other session.

    The branch's side are the subjects of what it got since the work began, the other side the work's own. Raises
    GitError.
    """
    unmerged = task_of(db, repo, session.ticket)
    if unmerged is None or session.pinned is None:
        return None
    base = git.merge_base(repo, session.pinned, unmerged.work) or unmerged.work
    sides = (_subjects(repo, base, tip) for tip in (session.pinned, unmerged.work))
    return ConflictFacts(unmerged.files, *sides)


def _subjects(repo: Path, base: str, tip: str) -> tuple[str, ...]:
    """The subjects of the commits that `tip` has and `base` has not, newest first."""
    options = ("log", "--format=%s", "--no-color", "--no-merges", f"--max-count={LONGEST_LIST}")
    lines = git.call(repo, *options, "--end-of-options", f"{base}..{tip}", "--").text.splitlines()
    return tuple(lines)


def tend(db: Database, repo: Path, refs: Mapping[str, str]) -> tuple[str, ...]:
    """Put back the references of wanted work that others moved, remove those of work that is not wanted any more.

    `refs` are the repository's references as they stand. Gives the names of those that were put back. Only references
    that this state's decisions name are touched.
    """
    put_back = []
    for ref, work, is_wanted in conflicts_kept(db):
        if not is_wanted and ref in refs:
            git.delete_ref(repo, ref)
        if is_wanted and refs.get(ref) != work and git.commit_of(repo, work):
            git.set_ref(repo, ref, work)
            put_back.append(ref)
    return tuple(put_back)
