"""Writing to GitHub: issues, comments and states, each once. Where to, and what is to be said, is decided elsewhere."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.trackers.desk import Desk, TooSoon
from agent_fox.trackers.github import reading
from agent_fox.trackers.github.door import Absent, Door, DoorTrouble, RemoteComment, RemoteIssue
from agent_fox.trackers.github.marker import Marker
from agent_fox.trackers.protocol import Effect, Held, Retry, Unsure
from agent_fox.trackers.status_block import Current, Seal, current, framed, told_edits

if TYPE_CHECKING:
    from agent_fox.trackers.github.journal import Journal
    from agent_fox.trackers.github.search import Search, Waits
    from agent_fox.trackers.text.pages import Written

NOT_FOUND = 404
SEAL_DIGITS = 32


@dataclass(frozen=True, slots=True)
class Talk:
    """The comments of an issue as they were read. `number` is how we call the issue."""

    number: int
    issue: RemoteIssue
    comments: tuple[RemoteComment, ...]

    @property
    def is_whole(self) -> bool:
        """Whether the reading shows as many comments as the issue has."""
        return len(self.comments) >= self.issue.comments


def issue_note(op: str) -> str:
    """The journal's name for the writing of an issue."""
    return f"issue {op}"


@dataclass(frozen=True)
class Scribe:
    """Writes through a door, with notes at a desk, marks with a key."""

    door: Door
    desk: Desk
    key: bytes
    search: Search

    @property
    def journal(self) -> Journal:
        return self.search.journal

    def talk(self, number: int, issue: RemoteIssue) -> Talk:
        """The issue with its comments; marks that strangers have copied are none."""
        comments = self.door.comments(number)
        return Talk(number, issue, reading.by_us(comments, issue, self.search.creators(), self.key))

    def create(
        self, effect: Effect, page: Written, labels: Sequence[str], previous: int,
        more: Mapping[str, object] | None = None,
    ) -> RemoteIssue:  # fmt: skip
        """File an issue, and remember its number before anything else can go wrong. `more` are members of GitHub's
        request."""
        there = self.door.ensure_labels(tuple(labels))
        block = framed(page.title, page.status, self.seal(effect.fingerprint)) + "\n" if page.status else ""
        above = f"Earlier: #{previous}\n\n" if previous else ""
        text = Marker(effect.fingerprint, effect.id).above(f"{block}{above}{page.body}", self.key)
        send: Callable[[], RemoteIssue] = lambda: self.door.create(page.title, text, there, more)  # noqa: E731 - a write, to be sent once
        self._note_login(self.search.creator())
        issue = self.journal.once(issue_note(effect.id), int(effect.before), send, lambda made: made.number)
        self.remember(effect.fingerprint, issue.number)
        self.desk.note_newest(issue.number)
        self.desk.remember("login", issue.creator)
        self._note_login(issue.creator)
        return issue

    def _note_login(self, login: str) -> None:
        """Before it writes: what it wrote is ours, whoever we are later."""
        if login and not self.desk.recall(f"login {login}"):
            self.desk.remember(f"login {login}", login)

    def current(self, talk: Talk, fingerprint: str, page: Written) -> Current:
        """What to write into the issue, as it stands just now, so that its title and its block say what is so."""
        issue = self.door.issue(talk.number) if page.status else Absent.NONE
        if isinstance(issue, Absent):
            return Current()
        return current(issue.body, issue.title, page.title, page.status, self.seal(fingerprint))

    def edits_told(self, talk: Talk, edited: Sequence[str]) -> str:
        """What a person should know of edits that are left alone; each is told once."""
        new = [name for name in edited if not self.desk.recall(f"edited {name} {talk.number}")]
        for name in new:
            self.desk.remember(f"edited {name} {talk.number}", "told")
        return told_edits(new)

    def seal(self, fingerprint: str) -> Seal:
        def seal(text: str) -> str:
            signed = f"agent-fox status\0{fingerprint}\0{text}".encode(errors="replace")
            return hmac.new(self.key, signed, hashlib.sha256).hexdigest()[:SEAL_DIGITS]

        return seal

    def remember(self, fingerprint: str, number: int) -> None:
        """This is the issue of the cause, whatever becomes of its marker."""
        if self.desk.recall(f"filed {fingerprint}") != str(number):
            self.desk.remember(f"filed {fingerprint}", str(number))

    def withdraw(self, fingerprint: str, number: int) -> None:
        """Note, before it is done, that closing this issue as not planned is our doing and no person's."""
        self.desk.remember(f"withdrawn {fingerprint}", str(number))

    def is_withdrawn(self, fingerprint: str, number: int, state: str) -> bool:
        """Whether it was closed as not planned by us. Once it is open, closing it so is a person's doing again."""
        name = f"withdrawn {fingerprint}"
        if self.desk.recall(name) != str(number):
            return False
        if state == "open":
            self.desk.remember(name, "")
        return state != "open"

    def say(self, talk: Talk, fingerprint: str, texts: Mapping[str, str], is_rewritten: bool = False) -> Waits | None:
        """Write each text, by the operation that it is of, unless it stands. None where all of them stand now.

        `is_rewritten`: one that stands with another text is written anew in its place.
        """
        there = reading.ops_in(talk.comments, fingerprint, self.key)
        for op, text in texts.items():
            body = Marker(fingerprint, op).above(text, self.key)
            if op in there:
                if is_rewritten and _plain(there[op].body) != _plain(body):
                    self.door.edit_comment(talk.number, there[op].id, body)
                continue
            waits = self._say(talk, f"comment {talk.number} {fingerprint} {op}", body, is_rewritten)
            if waits is not None:
                return waits
        return None

    def _say(self, talk: Talk, note: str, body: str, is_rewritten: bool) -> Waits | None:
        """A comment that the reading does not show."""
        stands = self.journal.stands(note)
        if stands is not None and (not is_rewritten or self._is_rewritten(talk.number, stands, body)):
            return None
        sent = self.journal.sent(note)
        if sent is not None:
            if not talk.is_whole:
                return Unsure("the list of comments lags: it shows fewer than there are")
            waits = self.search.still_in_doubt(note, sent)
            if waits is not None:
                return waits
        self.journal.once(note, 0, lambda: self.door.comment(talk.number, body), lambda made: made.id)
        return None

    def _is_rewritten(self, number: int, comment: int, body: str) -> bool:
        """False where a person has deleted it."""
        try:
            self.door.edit_comment(number, comment, body)
        except DoorTrouble as trouble:
            if trouble.status != NOT_FOUND:
                raise
            return False
        return True

    def complete(self, talk: Talk, effect: Effect, more: Sequence[str]) -> tuple[str, Waits | None]:
        """What belongs to an issue that is filed: comments with the rest of its text, and its place below another.

        Gives what could not be done and a person should know. Nothing that goes wrong here means that it is not filed.
        """
        try:
            parts = {f"{effect.id}/{place}": text for place, text in enumerate(more, 2)}
            waits = self.say(talk, effect.fingerprint, parts)
            if waits is None and effect.parent and self.desk.has_filed(effect.parent):
                self.door.add_sub_issue(int(effect.parent), talk.issue)
        except TooSoon as early:
            return "", Unsure(str(early), early.until)
        except DoorTrouble as trouble:
            return _about(trouble.delivery)
        return "", waits


def _about(trouble: Held | Retry | Unsure) -> tuple[str, Waits | None]:
    match trouble:
        case Held(reason, _, is_general=False):
            return f"filed, but not all of it: {reason}", None
        case Held(reason):
            return "", Unsure(f"filed, but not all of it: {reason}")
        case Retry(reason, until):
            return "", Unsure(f"filed, but not all of it: {reason}", until)
        case Unsure():
            return "", trouble


def _plain(text: str) -> str:
    return text.replace("\r\n", "\n").strip()
