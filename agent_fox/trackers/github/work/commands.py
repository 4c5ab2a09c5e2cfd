"""Commands in comments on our issues, and who may give them. Nothing is carried out here, and nothing else of a comment
is read: it is never an instruction to an agent."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

from pydantic import BaseModel, ConfigDict

from agent_fox.system.clock import later
from agent_fox.trackers.desk import LeaseLost, TooSoon
from agent_fox.trackers.github import marker
from agent_fox.trackers.github.trouble import DoorTrouble
from agent_fox.trackers.protocol import Held, Retry
from agent_fox.trackers.upkeep import Command, Commands, Known

if TYPE_CHECKING:
    from typing import Literal

    from agent_fox.trackers.github.answers import RemoteComment, RemoteIssue
    from agent_fox.trackers.github.scribe import Scribe
    from agent_fox.trackers.upkeep import Trouble

NAME = "/agent-fox"
MAY_WRITE = ("admin", "maintain", "write")
ASSOCIATED = ("OWNER", "MEMBER", "COLLABORATOR")
SETTLED_SECONDS = 120.0
"""An issue that changed less long ago is read again: times on GitHub are whole seconds, and clocks differ."""
LONGEST_WORDS, LONGEST_BELOW = 500, 40_000
MOST_WORDS = 5
NOT_FOUND = 404


class _Permission(BaseModel, defer_build=True):
    model_config = ConfigDict(frozen=True)
    permission: str


def answer_to(comment: str) -> str:
    """The fingerprint that the answer to a comment is marked with."""
    return f"command:{comment}"


@dataclass(frozen=True)
class Reader:
    """Reads through a scribe. `who` is whose commands are carried out, as `[github] commands` says."""

    scribe: Scribe
    who: Literal["write", "association"]
    permissions: dict[str, str] = field(default_factory=dict)

    def read(self, known: Iterable[Known]) -> Commands:
        commands: list[Command] = []
        seen: dict[str, str] = {}
        trouble: Trouble | None = None
        try:
            for issue, fingerprint in self.changed(known):
                talk = self.scribe.talk(issue.number, issue)
                commands += self.commands_in(talk.comments, str(issue.number), fingerprint)
                if talk.is_whole and issue.updated_at < later(self.scribe.desk.now(), -SETTLED_SECONDS):
                    seen[_name(issue.number)] = issue.updated_at
        except DoorTrouble as error:
            trouble = error.delivery
        except LeaseLost as lost:
            trouble = Retry(str(lost), is_general=True)
        except TooSoon as early:
            trouble = Retry(str(early), early.until, is_general=True)
        return Commands(tuple(commands), trouble, tuple(seen.items()))

    def changed(self, known: Iterable[Known]) -> Iterator[tuple[RemoteIssue, str]]:
        """Issues of ours that have changed since they were read last."""
        desk = self.scribe.desk
        causes = {int(each.number): each.fingerprint for each in known if each.number.isdecimal()}
        if not causes:
            return
        for issue in self.scribe.search.issues():
            fingerprint = causes.get(issue.number, "")
            is_ours = bool(fingerprint) and desk.recall(f"filed {fingerprint}") == str(issue.number)
            if is_ours and issue.comments and desk.recall(_name(issue.number)) != issue.updated_at:
                yield issue, fingerprint

    def commands_in(self, comments: Iterable[RemoteComment], number: str, fingerprint: str) -> Iterator[Command]:
        marks = {comment.id: marker.read(comment.body, self.scribe.key) for comment in comments}
        answered = {mark.fp for mark in marks.values() if mark is not None}
        for comment in comments:
            lines = comment.body.replace("\r\n", "\n").lstrip("\n ").split("\n", 1)
            words = lines[0][:LONGEST_WORDS].split()
            is_command = words[:1] == [NAME] and not comment.is_bot and marks[comment.id] is None
            is_read = answer_to(str(comment.id)) in answered or bool(self.scribe.desk.recall(f"command {comment.id}"))
            if is_command and not is_read:
                below = "".join(lines[1:])[:LONGEST_BELOW]
                yield Command(
                    id=str(comment.id),
                    number=number,
                    fingerprint=fingerprint,
                    author=comment.author,
                    words=tuple(words[1 : MOST_WORDS + 1]),
                    below=below,
                    refusal=self.refusal(comment),
                )

    def refusal(self, comment: RemoteComment) -> str:
        """Why a comment is not to be carried out, whatever it asks for; empty where it may be."""
        if comment.updated_at > comment.created_at:
            return "this comment was edited before it was read, and nobody can tell by whom; write a new one"
        allowed: Callable[[RemoteComment], str] = self.by_permission if self.who == "write" else self.by_association
        return allowed(comment)

    def by_association(self, comment: RemoteComment) -> str:
        if comment.association in ASSOCIATED:
            return ""
        return "only owners, members and collaborators of this repository may ask for it"

    def by_permission(self, comment: RemoteComment) -> str:
        if comment.author not in self.permissions:
            self.permissions[comment.author] = self.permission_of(comment.author)
        permission = self.permissions[comment.author]
        return "" if permission in MAY_WRITE else permission or "only who may write to this repository may ask for it"

    def permission_of(self, login: str) -> str:
        """What somebody may do here; where that cannot be told, why, in words. Raises DoorTrouble for what passes."""
        door = self.scribe.door
        answer = door.ask(f"/collaborators/{quote(login, safe='')}/permission")
        if answer.status == NOT_FOUND:
            return ""
        try:
            given = door.value(lambda given: _Permission.model_validate_json(given.body), door.fine(answer)).permission
        except DoorTrouble as trouble:
            if not isinstance(trouble.delivery, Held):
                raise
            remedy = '`[github] commands = "association"` asks for no such permission'
            return f"whether you may write here cannot be told ({trouble.delivery.reason}); {remedy}"
        return given if given in MAY_WRITE else ""


def _name(number: int) -> str:
    return f"comments read {number}"
