"""Where the integration branch stands by the state: that is what sessions start from and what work lands on.

The branch is agent-fox's own. Where it stands elsewhere, it is put back, and nothing that was on it is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.store import sessions
from agent_fox.system import git, git_refs

if TYPE_CHECKING:
    from sqlite_utils import Database

    from agent_fox.session.workspaces.landing import Integration

STRAYS = "refs/agent-fox/strays/"
"""Below it, what the branch was moved to by others, by the first digits of the commit."""

TRIES = 3
DIGITS = 12


@dataclass(frozen=True, slots=True)
class Moved:
    """The branch was not where the state says: what was found and done. `is_kept`: it stays where it was found."""

    told: str
    is_kept: bool = False


def expected(db: Database, integration: Integration) -> str:
    """The commit to start from and to land on. Raises GitError where neither state nor branch has one."""
    tip = sessions.recorded_tip(db) or git.commit_of(integration.repo, integration.ref)
    if tip is None:
        raise git.GitError(f"the branch {integration.branch} is gone; run again, which makes it from HEAD")
    return tip


def hold(db: Database, integration: Integration) -> Moved | None:
    """Put the branch back where it was moved or deleted by anybody but us; None where it stands right.

    With `accepts_foreign`, commits on top of the recorded tip become part of it instead. Raises GitError.
    """
    known = sessions.recorded_tip(db)
    if known is None:
        return None
    current = git_refs.place_of(integration.repo, integration.ref)
    if current == known:
        return None
    if integration.accepts_foreign and _is_on_top(integration, known, current):
        sessions.note_tip(db, str(current))
        return Moved(
            f"{_what(integration, current)}; its commits are kept, and work lands on top of them", is_kept=True
        )
    kept = _keep(integration, known, current)
    _put_back(integration, known)
    return Moved(f"{_what(integration, current)}; it was put back to {known[:DIGITS]}{kept}")


def _is_on_top(integration: Integration, known: str, found: str | None) -> bool:
    is_commit = found is not None and not found.startswith("->")
    return is_commit and git.is_ancestor(integration.repo, known, str(found))


def _what(integration: Integration, found: str | None) -> str:
    if found is None:
        return f"the branch {integration.branch} was deleted by somebody else"
    if found.startswith("->"):
        return f"the branch {integration.branch} was made to point to {found.removeprefix('-> ')} by somebody else"
    return f"the branch {integration.branch} was moved to {found[:DIGITS]} by somebody else"


def _keep(integration: Integration, known: str, found: str | None) -> str:
    """Keep what would be lost by putting the branch back; says where."""
    if found is None or found.startswith("->") or git.is_ancestor(integration.repo, found, known):
        return ""
    return f", and what was there is kept as {_aside(integration, found)}"


def _aside(integration: Integration, commit: str) -> str:
    stray = f"{STRAYS}{commit[:DIGITS]}"
    git.set_ref(integration.repo, stray, commit)
    return stray


def _put_back(integration: Integration, known: str) -> None:
    _clear_the_way(integration)
    for _ in range(TRIES):
        if git_refs.put_back(integration.repo, integration.ref, known):
            return
    raise git.GitError(f"{integration.branch} is moved again and again; stop what moves it, then run again")


def _clear_the_way(integration: Integration) -> None:
    """A branch whose name is a folder of ours, or the other way round, was made when ours was gone: it gives way."""
    for ref, place in git_refs.references(integration.repo).items():
        is_rival = ref.startswith(f"{integration.ref}/") or integration.ref.startswith(f"{ref}/")
        if is_rival and not place.startswith("->"):
            _aside(integration, place)
        if is_rival:
            git.delete_ref(integration.repo, ref)


def after_a_crash(db: Database, integration: Integration) -> Moved | None:
    """Before a crashed run goes on: the branch must contain what the sessions under way were launched on.

    Commits that a person put on top since are kept, and so is a branch that is elsewhere while nothing is under way.
    """
    known, current = sessions.recorded_tip(db), git_refs.place_of(integration.repo, integration.ref)
    if known is None or _is_on_top(integration, known, current) or not sessions.is_under_way(db):
        return None
    return hold(db, integration)
