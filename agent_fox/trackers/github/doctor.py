"""What filing on GitHub needs, looked at one by one, without writing anything. What cannot be found out is unknown.

Least permission: a fine-grained token or an App with `Issues: read and write` and `Metadata: read`; in GitHub Actions
`permissions: issues: write`; a classic token with the scope `public_repo`, or `repo` for a private repository.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import github
from pydantic import ValidationError

from agent_fox.system import clock
from agent_fox.trackers.github import answers, trouble
from agent_fox.trackers.github.checkup import Check, fact
from agent_fox.trackers.github.credentials import Credential, RepositoryApp, credential
from agent_fox.trackers.github.marker_key import VARIABLE, key_file, marker_key
from agent_fox.trackers.github.repository import Address, address_of
from agent_fox.trackers.github.trouble import DoorTrouble, SetupTrouble
from agent_fox.trackers.github.wire import RAISED, Wire, hub
from agent_fox.trackers.github.work.doctor import of_work

if TYPE_CHECKING:
    from agent_fox.config import GitHubSettings, TrackerSettings
    from agent_fox.trackers.github.answers import Answer, Place

LEAST = "give it `Issues: read and write` and `Metadata: read` (in GitHub Actions `permissions: issues: write`)"
MOST_SKEW = 60.0
LEAST_LEFT = 50


def examine(
    settings: TrackerSettings,
    root: Path,
    environ: Mapping[str, str],
    now: Callable[[], str] = clock.now,
    pause: Callable[[float], None] = time.sleep,
    github: GitHubSettings | None = None,
) -> tuple[Check, ...]:
    """Every check that makes sense; what hangs on one that failed is left out."""
    return (*_setup(settings, root, environ, now, pause, github), _key(environ))


def _setup(
    settings: TrackerSettings,
    root: Path,
    environ: Mapping[str, str],
    now: Callable[[], str],
    pause: Callable[[float], None],
    github: GitHubSettings | None,
) -> Iterator[Check]:
    try:
        address = address_of(settings, root)
    except SetupTrouble as error:
        yield Check("repository", False, error.reason, error.remedy)
        return
    yield Check("repository", True, f"{address.repository} at {address.base_url}")
    try:
        way_in = credential(settings, address, root, environ)
    except SetupTrouble as error:
        yield Check("token", False, error.reason, f"{error.remedy}; {LEAST}")
        return
    yield Check("token", True, f"from {way_in.source}")
    wire = Wire(hub(way_in.auth, address), now, pause)
    yield from _asked(settings, address, way_in, wire, root, github)


def _asked(
    settings: TrackerSettings, address: Address, found: Credential, wire: Wire, root: Path,
    github: GitHubSettings | None,
) -> Iterator[Check]:  # fmt: skip
    """What GitHub itself answers."""
    try:
        answer = wire.read(f"/repos/{address.repository}")
    except DoorTrouble as error:
        yield from _unanswered(error)
        return
    yield Check("host", True, f"{address.host} answers")
    yield Check("accepted", True, "the token is accepted")
    yield _login(settings, wire)
    yield from _of_the_repository(answer, found, wire, address, root, github)
    yield _rate(answer)
    yield _clock(answer, wire.now())


def _unanswered(error: DoorTrouble) -> Iterator[Check]:
    """The first question was not answered: by whose fault?"""
    reason = error.delivery.reason.partition(trouble.AGAIN)[0]
    remedy = getattr(error.delivery, "remedy", trouble.NETWORK)
    if error.status == 0 or error.status >= 500:
        yield Check("host", False, reason, remedy)
        return
    yield Check("host", True, "it answers")
    if error.status in (403, 429):
        yield Check("rate", False, reason, f"wait until {getattr(error.delivery, 'not_before', '')}")
    else:
        yield Check("accepted", False, reason, remedy)


def _login(settings: TrackerSettings, wire: Wire) -> Check:
    remedy = "set `[tracker] login` to the name under which the token writes (such as `github-actions[bot]`)"
    if settings.login:
        return Check("login", True, f"{settings.login}, as `[tracker] login` says")
    try:
        login = wire.login() or _whoever(wire.read("/user"))
    except DoorTrouble as error:
        return Check("login", None, error.delivery.reason, remedy)
    return Check("login", True, login) if login else Check("login", None, "the token cannot tell who it is", remedy)


def _whoever(answer: Answer) -> str:
    try:
        return answers.whoever_in(answer).login if answer.is_fine else ""
    except ValidationError:
        return ""


def _of_the_repository(
    answer: Answer, found: Credential, wire: Wire, address: Address, root: Path, github: GitHubSettings | None
) -> Iterator[Check]:
    if not answer.is_fine:
        held = trouble.held(answer)
        yield Check("visible", False, held.reason, held.remedy)
        return
    try:
        place = answers.repository_in(answer)
    except ValidationError:
        yield Check("visible", None, "the answer has not the form of GitHub's", "look at `[tracker] base_url`")
        return
    yield _named(place, address)
    yield fact("issues", place.has_issues, "issues are on", "issues are off", "switch them on in its settings")
    is_active = None if place.archived is None else not place.archived
    yield fact("active", is_active, "not archived", "archived: nothing can be written", "unarchive it")
    yield _reading(wire, place)
    yield _writing(answer, place, found)
    yield _labels(place)
    if github is not None:
        yield from of_work(github, place, found, wire, root)


def _named(place: Place, address: Address) -> Check:
    if place.full_name.lower() != address.repository.lower():
        remedy = f'set `[tracker] repository = "{place.full_name}"`'
        return Check("visible", True, f"the repository is called {place.full_name} now", remedy)
    kind = {True: "private", False: "public", None: "visible"}[place.private]
    return Check("visible", True, f"{place.full_name}, {kind}")


def _reading(wire: Wire, place: Place) -> Check:
    """Whether issues can be read: without it nothing can be filed once only."""
    try:
        answer = wire.read(f"/repos/{place.full_name}/issues", {"state": "all", "per_page": "1"})
    except DoorTrouble as error:
        return Check("reading", None, error.delivery.reason, "try again")
    if answer.is_fine:
        return Check("reading", True, "issues can be read")
    held = trouble.held(answer)
    return Check("reading", False, held.reason, held.remedy)


def _writing(answer: Answer, place: Place, found: Credential) -> Check:
    """Apps and classic tokens list what they may do; for a fine-grained token only a write would show it."""
    if isinstance(found.auth, RepositoryApp):
        return _app_may(found.auth)
    scopes = {scope.strip() for scope in answer.headers.get("x-oauth-scopes", "").split(",") if scope.strip()}
    if not scopes:
        return Check("writing", None, "cannot check write access without writing", LEAST)
    may = "repo" in scopes or ("public_repo" in scopes and place.private is False)
    detail = f"scopes of the token: {', '.join(sorted(scopes))}"
    return fact("writing", may, detail, detail, "add the scope `public_repo`, or `repo` for a private repository")


def _app_may(app: RepositoryApp) -> Check:
    try:
        level = app.may().get("issues", "none")
    except RAISED as error:
        return Check("writing", None, f"the App's permissions cannot be read: {_kind(error)}", LEAST)
    return fact("writing", level == "write", "the App may write issues", f"the App has `issues: {level}`", LEAST)


def _labels(place: Place) -> Check:
    remedy = "give the role Triage or Write, or leave it so: issues are found without labels"
    if place.permissions is None:
        return Check("labels", None, "GitHub does not tell whether labels can be set", remedy)
    may = place.permissions.may_label
    return (
        Check("labels", True, "can be set")
        if may
        else Check("labels", False, "GitHub drops them: the role here is less than Triage", remedy)
    )


def _rate(answer: Answer) -> Check:
    left, most = answer.headers.get("x-ratelimit-remaining", ""), answer.headers.get("x-ratelimit-limit", "")
    if not (left.isascii() and left.isdigit()):
        return Check("rate", None, "the server tells no limit", "")
    remedy = "wait; the limit is counted for each hour, and everything that uses this token uses it"
    detail = f"{left} of {most or '?'} requests left in this hour"
    return fact("rate", int(left[:9]) >= LEAST_LEFT, detail, detail, remedy)


def _clock(answer: Answer, now: str) -> Check:
    ours = datetime.fromisoformat(now).astimezone(UTC).timestamp()
    if "date" not in answer.headers:
        return Check("clock", None, "the server tells no time", "")
    skew = ours - trouble.github_time(answer, now)
    side = "ahead of" if skew > 0 else "behind"
    detail = f"{abs(skew):.0f} s {side} the server's"
    return fact("clock", abs(skew) <= MOST_SKEW, detail, detail, "set the clock: an App's tokens hang on it")


def _key(environ: Mapping[str, str]) -> Check:
    """The key that our marks in issues are signed with. On another machine without it, our issues are a stranger's."""
    path = key_file(environ)
    if not environ.get(VARIABLE) and not path.exists():
        return Check("key", True, f"{path} is made when it is first needed")
    try:
        marker_key(environ)
    except SetupTrouble as error:
        return Check("key", False, error.reason, error.remedy)
    return Check("key", True, f"from {VARIABLE if environ.get(VARIABLE) else path}")


def _kind(error: BaseException) -> str:
    return f"{error.status}" if isinstance(error, github.GithubException) else type(error).__name__
