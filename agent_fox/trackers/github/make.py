"""The tracker of a repository on GitHub, put together from settings, git remote and surroundings. Asks GitHub nothing.

What is missing is no error here: such a tracker holds everything, and says what to do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.system import git
from agent_fox.system.redaction.masking import redact, secret_values
from agent_fox.trackers.github.credentials import credential
from agent_fox.trackers.github.door import Door, opened
from agent_fox.trackers.github.marker_key import marker_key
from agent_fox.trackers.github.repository import Address, address_of
from agent_fox.trackers.github.tracker import GitHubTracker
from agent_fox.trackers.github.trouble import SYNC, SetupTrouble
from agent_fox.trackers.github.work.extras import Extras
from agent_fox.trackers.protocol import Delivery, Effect, Held, Tracker
from agent_fox.trackers.text.pages import written
from agent_fox.trackers.text.pen import Style
from agent_fox.trackers.text.template import TemplateTrouble, read_template
from agent_fox.trackers.upkeep import Known, Seeing

if TYPE_CHECKING:
    from agent_fox.config import GitHubSettings, TrackerSettings

_COMMIT = regex(r"[0-9a-f]{7,64}")


@dataclass(frozen=True, slots=True)
class Unready:
    """Stands where no tracker can be made: everything is held, and nothing is lost. `place` is empty where it is
    unknown, too."""

    held: Held
    place: str = ""
    name: str = "github"

    def newest(self) -> str:
        return ""

    def deliver(self, effect: Effect) -> Delivery:
        return self.held

    def adopt(self, number: int, fingerprint: str) -> Delivery:
        return self.held

    def look(self, known: Iterable[Known]) -> Seeing:
        return Seeing(trouble=self.held)

    def sweep(self) -> Seeing:
        return Seeing(trouble=self.held)


def github_tracker(
    settings: TrackerSettings, root: Path, environ: Mapping[str, str], github: GitHubSettings | None = None
) -> Tracker:
    """Never raises for what a person has not set up (yet)."""
    try:
        address = address_of(settings, root)
    except SetupTrouble as error:
        return Unready(error.held)
    try:
        return _tracker(settings, address, root, environ, github)
    except SetupTrouble as error:
        return Unready(error.held, address.place)
    except TemplateTrouble as error:
        remedy = f"mend the template or unset `[tracker] template`, {SYNC}"
        return Unready(Held(str(error), remedy, is_general=True), address.place)


def _tracker(
    settings: TrackerSettings, address: Address, root: Path, environ: Mapping[str, str], github: GitHubSettings | None
) -> GitHubTracker:
    way_in = credential(settings, address, root, environ)
    door = opened(way_in.auth, address, login=settings.login or "")
    key = marker_key(environ)
    secrets = (*secret_values(environ), key.hex(), *([way_in.secret] if way_in.secret else []))
    write = partial(written, style=style_of(settings, root, secrets, door))
    extras = Extras(github, root) if github else None
    return GitHubTracker(door=door, settings=settings, key=key, write=write, extras=extras)


def style_of(settings: TrackerSettings, root: Path, secrets: Sequence[str], door: Door) -> Style:
    """How issues are written here, with `secrets` masked. Raises TemplateTrouble."""
    is_there = partial(is_pushed, root, settings.remote)
    return Style(
        commit_url=lambda sha: door.commit_url(sha) if is_there(sha) else "",
        blob_url=lambda sha, path, line: door.blob_url(sha, path, line) if is_there(sha) else "",
        template=None if settings.template is None else read_template(root / settings.template),
        mask=(lambda text: redact(text, secrets)),
    )


def is_pushed(root: Path, remote: str, sha: str) -> bool:
    """Whether a branch of the remote holds a commit, as far as git knows: a link to any other leads nowhere."""
    if not _COMMIT.fullmatch(sha):
        return False
    branches = f"refs/remotes/{remote}/"
    try:
        references = git.call(root, "for-each-ref", "--count=1", f"--contains={sha}", branches, allowed=(0, 129))
    except git.GitError:
        return False
    return references.status == 0 and bool(references.text)
