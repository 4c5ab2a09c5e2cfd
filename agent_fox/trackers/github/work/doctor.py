"""Whether what `[github]` asks for can work here, looked at without writing. What cannot be told is unknown."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.words import listed
from agent_fox.system import git
from agent_fox.trackers.github.checkup import Check, fact
from agent_fox.trackers.github.credentials import RepositoryApp
from agent_fox.trackers.github.trouble import DoorTrouble
from agent_fox.trackers.github.wire import RAISED
from agent_fox.trackers.github.work.codeowners import PLACES
from agent_fox.trackers.github.work.extras import MILESTONES

if TYPE_CHECKING:
    from agent_fox.config import GitHubSettings
    from agent_fox.trackers.github.answers import Place
    from agent_fox.trackers.github.credentials import Credential
    from agent_fox.trackers.github.wire import Wire

WORKFLOW = "ghs_"
"""How tokens of GitHub Apps begin, such as that of a workflow."""


def of_work(settings: GitHubSettings, place: Place, way_in: Credential, wire: Wire, root: Path) -> Iterator[Check]:
    """A check for everything that is switched on; nothing where all is off."""
    may_push = place.permissions.push if place.permissions else None
    if settings.pull_request:
        yield of_permission("pull request", "pull_requests", "Pull requests: read and write", way_in, may_push)
    if settings.checks:
        yield of_checks(way_in, may_push)
    if settings.commands == "write":
        remedy = 'give the role Write, or set `[github] commands = "association"`'
        bad = "only who may push can ask who else may"
        yield fact("commands", may_push, "who may push can be asked", bad, remedy)
    if settings.assign:
        owners = any(git.show(root, "HEAD", name) is not None for name in PLACES)
        remedy = "commit one, or set `[github] assign = false`"
        yield fact("owners", owners, "CODEOWNERS is committed", f"there is no {listed(PLACES)} at HEAD", remedy)
        yield fact("assignees", may_push, "can be set", "GitHub drops them: the role here is less than Write",
                   "give the role Write, or set `[github] assign = false`")  # fmt: skip
    if settings.milestone is not None:
        yield of_milestone(settings.milestone, place, wire)


def of_permission(name: str, permission: str, words: str, way_in: Credential, may_push: bool | None) -> Check:
    """Apps list what they may do; other tokens need the role, and what else they may shows only when they write."""
    remedy = f"give the token or App `{words}`"
    level = app_level(way_in, permission)
    if level is not None:
        return fact(name, level == "write", "the App may write it", f"the App has `{permission}: {level}`", remedy)
    if may_push is False:
        return Check(name, False, "the role here is less than Write", remedy)
    return Check(name, None, "the token does not tell what it may, and nothing was written to try", remedy)


def of_checks(way_in: Credential, may_push: bool | None) -> Check:
    """A token of a person may write commit statuses only, which is enough to go on."""
    level = app_level(way_in, "checks")
    if level == "write":
        return Check("checks", True, "the App may write check runs")
    remedy = "use an App with `Checks: read and write`, or a workflow with `permissions: checks: write`"
    if level is not None:
        return Check("checks", False, f"the App has `checks: {level}`: commit statuses are tried instead", remedy)
    if way_in.secret.startswith(WORKFLOW):
        return Check("checks", None, "whether the workflow may write checks shows when it writes", remedy)
    if may_push is False:
        less = "neither check runs nor commit statuses: the role here is less than Write"
        return Check("checks", False, less, remedy)
    return Check("checks", True, "as commit statuses: only an App may write check runs")


def of_milestone(wanted: str, place: Place, wire: Wire) -> Check:
    remedy = "correct `[github] milestone`, or open the milestone"
    try:
        answer = wire.read(f"/repos/{place.full_name}/milestones", {"state": "open", "per_page": "100"})
        titles = [milestone.title for milestone in MILESTONES.validate_json(answer.body)] if answer.is_fine else None
    except (DoorTrouble, ValueError):
        titles = None
    if titles is None:
        return Check("milestone", None, "the milestones cannot be read", remedy)
    return fact("milestone", wanted in titles, wanted, f"there is no open milestone {wanted!r}", remedy)


def app_level(way_in: Credential, permission: str) -> str | None:
    """What an App may do of it; None for any other credential, or where that cannot be read."""
    if not isinstance(way_in.auth, RepositoryApp):
        return None
    try:
        return way_in.auth.may().get(permission, "none")
    except RAISED:
        return None
