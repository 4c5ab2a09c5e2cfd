"""What an issue is filed with beside its text: people to mend it, a milestone, a type. What cannot be had is said, and
the issue is filed without it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict, TypeAdapter

from agent_fox.core.late import adapter
from agent_fox.core.values import dataclass
from agent_fox.core.words import counted, listed
from agent_fox.system import git
from agent_fox.trackers.github.work.codeowners import LARGEST, PLACES, ranked, read_owners

if TYPE_CHECKING:
    from agent_fox.config import GitHubSettings
    from agent_fox.trackers.github.door import Door
    from agent_fox.trackers.github.work.codeowners import Owners
    from agent_fox.trackers.protocol import Effect

MOST_ASSIGNEES = 10
MOST_NAMED = 5


class _Milestone(BaseModel, defer_build=True):
    model_config = ConfigDict(frozen=True)
    number: int
    title: str


MILESTONES = adapter(lambda: TypeAdapter(list[_Milestone]))


@dataclass(frozen=True, slots=True)
class Given:
    """Members of the request that files an issue, and in words what of the settings could not be had."""

    members: dict[str, object] = field(default_factory=dict)
    lacks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Extras:
    """By the settings of the repository at `root`. Its owners are those of the person's own HEAD: what agents write
    there assigns nobody."""

    settings: GitHubSettings
    root: Path

    def of(self, effect: Effect, door: Door) -> Given:
        """Raises DoorTrouble where GitHub cannot be asked now."""
        members: dict[str, object] = {}
        lacks: list[str] = []
        for name, value, lack in (self.assignees(effect, door), self.open_milestone(door), self.issue_type()):
            members |= {name: value} if value else {}
            lacks += lack
        return Given(members, tuple(lacks))

    def issue_type(self) -> tuple[str, object, list[str]]:
        return "type", self.settings.issue_type, []

    def open_milestone(self, door: Door) -> tuple[str, object, list[str]]:
        wanted = self.settings.milestone
        if wanted is None:
            return "milestone", None, []
        answer = door.ask("/milestones", {"state": "open", "per_page": "100"})
        known: list[_Milestone] = (
            door.value(lambda given: MILESTONES.validate_json(given.body), answer) if answer.is_fine else []
        )
        number = next((milestone.number for milestone in known if milestone.title == wanted), None)
        return "milestone", number, [] if number else [f"no open milestone {wanted!r}"]

    def assignees(self, effect: Effect, door: Door) -> tuple[str, object, list[str]]:
        if not self.settings.assign or not effect.work:
            return "assignees", None, []
        owners, paths, lacks = self.owners_at_head(), set(self.touched(effect)), []
        if owners is None:
            return "assignees", None, [f"no CODEOWNERS ({listed(PLACES)}) is committed, so nobody is assigned"]
        named = ranked(owners, paths)
        people = [owner.removeprefix("@") for owner in named if owner.startswith("@") and "/" not in owner]
        others = [owner for owner in named if not (owner.startswith("@") and "/" not in owner)]
        unknown = [login for login in people if not door.ask(f"/assignees/{quote(login, safe='')}").is_fine]
        if others:
            lacks.append(f"issues cannot be assigned to teams and addresses: {_few(others)}")
        if unknown:
            lacks.append(f"cannot be assigned here: {_few(unknown)}")
        if not named:
            lacks.append(f"nobody owns {counted(len(paths), 'file')} that the failing work touched")
        return "assignees", [login for login in people if login not in unknown][:MOST_ASSIGNEES], lacks

    def owners_at_head(self) -> Owners | None:
        files = (git.show(self.root, "HEAD", place) for place in PLACES)
        content = next((file for file in files if file is not None), None)
        if content is None or len(content) > LARGEST:
            return None
        return read_owners(content.decode("utf-8", "replace"))

    def touched(self, effect: Effect) -> Iterator[str]:
        """The files that the commits of the failing work changed; a commit that is gone touches nothing."""
        for commit in effect.work:
            span = (f"{commit}^1", commit)
            answer = git.call(self.root, "diff", "-z", "--name-only", "--no-renames", *span, "--", allowed=(0, 128))
            yield from filter(None, answer.out.decode("utf-8", "surrogateescape").split("\0"))


def _few(names: list[str]) -> str:
    """Names as they are, without the sign that would call somebody."""
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(name.removeprefix("@") for name in names[:MOST_NAMED]) + more
