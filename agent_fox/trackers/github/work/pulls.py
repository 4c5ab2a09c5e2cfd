"""The pull request of the integration branch: opened once as a draft, its block kept current, never merged or closed.

Nothing else in it is ours: a person's title, and what stands outside of the block, stay. Where a person opened it, or
has changed the block, a comment is kept current instead. GitHub has one open pull request for two branches at most, so
one whose answer was lost is found again, or refused the second time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from agent_fox.core.late import adapter
from agent_fox.core.values import dataclass
from agent_fox.trackers.github import reading
from agent_fox.trackers.github.answers import MOST_ISSUES, Absent
from agent_fox.trackers.github.door import DoorTrouble
from agent_fox.trackers.github.trouble import SYNC
from agent_fox.trackers.github.work.checks import is_refusal
from agent_fox.trackers.protocol import Delivery, Done, Effect, Held, Moot, Retry
from agent_fox.trackers.status_block import current, framed, has_block

if TYPE_CHECKING:
    from agent_fox.trackers.github.answers import Answer
    from agent_fox.trackers.github.scribe import Scribe
    from agent_fox.trackers.text.pages import Written

TARGET = "pull"
IN_A_COMMENT = "kept current in a comment: the pull request is a person's, or its block was edited"
LACKS = "give the token or App `Pull requests: read and write`, or set `[github] pull_request = false`"


class _Branch(BaseModel, defer_build=True):
    model_config = ConfigDict(frozen=True)
    ref: str
    sha: str


class _User(BaseModel, defer_build=True):
    model_config = ConfigDict(frozen=True)
    login: str = Field(default="", max_length=200)


class Pull(BaseModel, defer_build=True):
    """A pull request as GitHub answers with it."""

    model_config = ConfigDict(frozen=True)

    number: int = Field(gt=0, le=MOST_ISSUES)
    title: str
    body: str | None = None
    state: Literal["open", "closed"]
    merged_at: str | None = None
    user: _User | None = None
    head: _Branch
    base: _Branch
    html_url: str = ""

    @property
    def creator(self) -> str:
        return self.user.login if self.user else ""


_PULLS = adapter(lambda: TypeAdapter(list[Pull]))


@dataclass(frozen=True, slots=True)
class Proposal:
    """What an effect wants proposed: the branch and, unless it is the default, the one that it is to go to."""

    head: str
    base: str
    title: str
    text: str
    fingerprint: str
    slot: str


@dataclass(frozen=True)
class Pulls:
    """Keeps pull requests through a scribe. `write` makes the text of an effect."""

    scribe: Scribe
    write: Callable[[Effect], Written]

    def deliver(self, effect: Effect) -> Delivery:
        """Raises DoorTrouble, LeaseLost and TooSoon, at any step: all may be done again."""
        _, head, base = (*effect.target.split(":"), "")[:3]
        page = self.write(effect)
        wanted = Proposal(head, base, page.title, page.body.strip(), effect.fingerprint, effect.slot or effect.id)
        try:
            return self.find_or_open(wanted)
        except DoorTrouble as trouble:
            raise apart(trouble) from None

    def find_or_open(self, wanted: Proposal) -> Delivery:
        pulls = self.listed(wanted)
        is_open = next((pull for pull in pulls if pull.state == "open"), None)
        if is_open is not None:
            return self.keep(wanted, is_open)
        refused = next((pull for pull in pulls[:1] if pull.merged_at is None), None)
        if refused is not None:
            return Moot(f"a person has closed pull request #{refused.number}; it is kept current once it is open again")
        return self.open_draft(wanted)

    def listed(self, wanted: Proposal) -> tuple[Pull, ...]:
        """All pull requests of the branch, the newest first."""
        owner = self.scribe.door.repository.partition("/")[0]
        asked = {"head": f"{owner}:{wanted.head}", "state": "all", "sort": "created", "direction": "desc"}
        asked |= {"per_page": "100"} | ({"base": wanted.base} if wanted.base else {})
        door = self.scribe.door
        answer = door.fine(door.ask("/pulls", asked))
        pulls: list[Pull] = door.value(lambda given: _PULLS.validate_json(given.body), answer)
        return tuple(pull for pull in pulls if pull.head.ref == wanted.head)

    def open_draft(self, wanted: Proposal) -> Delivery:
        door = self.scribe.door
        asked = {
            "title": wanted.title,
            "head": wanted.head,
            "base": wanted.base or door.default_branch(),
            "body": framed(wanted.title, wanted.text, self.scribe.seal(wanted.fingerprint)),
            "draft": True,
        }
        answer = door.write("POST", "/pulls", asked)
        refusal = None if answer.is_fine else meaning_of_refusal(answer, wanted)
        if refusal is not None:
            return refusal
        pull = door.value(lambda given: Pull.model_validate_json(given.body), door.fine(answer), is_write=True)
        self.scribe.remember(wanted.fingerprint, pull.number)
        self.scribe.desk.note_newest(pull.number)
        return Done(str(pull.number), pull.html_url)

    def keep(self, wanted: Proposal, pull: Pull) -> Delivery:
        self.scribe.remember(wanted.fingerprint, pull.number)
        is_ours = any(reading.is_same(pull.creator, login) for login in self.scribe.search.creators())
        block = current(pull.body or "", pull.title, wanted.title, wanted.text, self.scribe.seal(wanted.fingerprint))
        if not is_ours or not has_block(pull.body or "") or "block" in block.edited:
            return self.comment(wanted, pull)
        texts = {"title": block.title, "body": block.body}
        changes = {name: text for name, text in texts.items() if text is not None}
        if changes:
            self.scribe.door.fine(self.scribe.door.write("PATCH", f"/pulls/{pull.number}", changes))
        return Done(str(pull.number), pull.html_url)

    def comment(self, wanted: Proposal, pull: Pull) -> Delivery:
        issue = self.scribe.door.issue(pull.number)
        if isinstance(issue, Absent):
            return Retry(f"pull request #{pull.number} is {issue.value}, which is not believed at once")
        talk = self.scribe.talk(pull.number, issue)
        waits = self.scribe.say(talk, wanted.fingerprint, {wanted.slot: f"{wanted.text}\n"}, is_rewritten=True)
        return waits or Done(str(pull.number), pull.html_url, note=IN_A_COMMENT)


def meaning_of_refusal(answer: Answer, wanted: Proposal) -> Delivery | None:
    """What it means that no pull request is opened, as far as GitHub says so in words; None for any other refusal."""
    words = answer.words.lower()
    if answer.status != 422:
        return None
    if "no commits between" in words:
        return Moot(f"{wanted.head} holds nothing that is not in {wanted.base or 'the default branch'}")
    if "already exists" in words:
        return Retry("the list of pull requests lags: it does not show one that is open")
    if "draft" in words:
        remedy = "open the pull request yourself: a comment in it is then kept current"
        return Held("the repository has no draft pull requests", f"{remedy}; {SYNC}")
    if "head" in words or "base" in words:
        remedy = f"push {wanted.head} (`[git] push` does so at the end of a run) and look at `[github] base`; {SYNC}"
        return Held(f"GitHub does not have both branches ({answer.words})", remedy)
    return None


def apart(trouble: DoorTrouble) -> DoorTrouble:
    """A refusal holds for the pull request alone: issues go on."""
    if not is_refusal(trouble):
        return trouble
    return DoorTrouble(Held(trouble.delivery.reason, f"{LACKS}; {SYNC}"), trouble.status)
