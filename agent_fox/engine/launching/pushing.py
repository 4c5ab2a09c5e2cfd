"""Pushing the integration branch at the end of a run, where the settings name a remote. Nothing else is ever pushed."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.system import git, git_push
from agent_fox.system.git_push import PushError
from agent_fox.system.redaction.masking import redact

if TYPE_CHECKING:
    from agent_fox.config import GitSettings

DIGITS = 12


def objections(root: Path, settings: GitSettings) -> Iterator[str]:
    """Why nothing may be pushed as the settings stand, in sentences; the remote is not asked."""
    if settings.push is None:
        return
    if not git_push.exists(root, settings.push):
        yield f"[git] push = {settings.push!r}: there is no such remote; add it (git remote add), or take the key out"
        return
    default = git_push.known_default(root, settings.push)
    trouble = protection(settings, default)
    if trouble is not None:
        yield trouble


def protection(settings: GitSettings, default: str | None) -> str | None:
    """Why the integration branch may not be pushed: it is protected, or the remote's default branch."""
    branch = settings.integration_branch
    if branch == default:
        return f"[git] push: {branch} is the default branch of {settings.push}; set another integration_branch"
    protecting = next((pattern for pattern in settings.protected if fnmatchcase(branch, pattern)), None)
    if protecting is not None:
        return f"[git] push: {branch} is protected ({protecting!r} in [git] protected); set another integration_branch"
    return None


@dataclass(frozen=True, slots=True)
class Pushed:
    """What came of a push, in a sentence with its remedy where it has failed."""

    told: str
    has_failed: bool = False


def push(root: Path, settings: GitSettings, commit: str, strange: tuple[str, ...] = ()) -> Pushed | None:
    """Push the branch's tip. None where there was nothing to push, or no remote to push to.

    `strange` are settings and hooks of the repository that changed during the run: git would heed them when it pushes,
    and nobody knows who wrote them.
    """
    if settings.push is None:
        return None
    remedy = f"push it yourself: git push {settings.push} {settings.integration_branch}"
    if strange:
        named = ", ".join(strange)
        why = f"{named} in the folder .git changed during the run"
        return Pushed(f"not pushed, for {why}; look at it, then {remedy}", has_failed=True)
    try:
        return _push(root, settings, settings.push, commit)
    except (PushError, git.GitError) as error:
        return Pushed(f"not pushed to {settings.push}: {redact(str(error))}; {remedy}", has_failed=True)


def _push(root: Path, settings: GitSettings, remote: str, commit: str) -> Pushed | None:
    branch = settings.integration_branch
    there = git_push.ask(root, remote, branch)
    trouble = protection(settings, there.default)
    if trouble is not None:
        raise PushError(trouble)
    if there.commit == commit:
        return None
    git_push.push(root, remote, branch, commit)
    return Pushed(f"pushed {branch} to {remote} ({commit[:DIGITS]})")
