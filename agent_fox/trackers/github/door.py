"""The door to GitHub: every question and every write that a tracker needs, one request each, and nothing of when.

Paths are made from the repository we were told and from numbers; an address in an answer is used only to tell where
an issue is now. What goes wrong is DoorTrouble with what it means for a delivery.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import parse_qsl, quote, urlsplit

import requests
from github import Auth
from pydantic import ValidationError

from agent_fox.system import clock
from agent_fox.trackers.github import answers, trouble
from agent_fox.trackers.github.answers import Absent, Answer, RemoteComment, RemoteIssue
from agent_fox.trackers.github.trouble import DoorTrouble
from agent_fox.trackers.github.wire import Wire, hub
from agent_fox.trackers.protocol import Held, Unsure

if TYPE_CHECKING:
    from agent_fox.trackers.github.repository import Address

__all__ = ["Absent", "Door", "DoorTrouble", "RemoteComment", "RemoteIssue", "opened"]

Value = TypeVar("Value")

LONGEST_LABEL = 50
MOST_PAGES = 1000
LARGEST_LIST = 256 * 1024**2
LABEL_COLOR = "6f42c1"
LABEL_TEXT = "Filed by agent-fox"


def nothing() -> None:
    """Before a write, where nobody keeps a rate."""


@dataclass
class Door:
    """One repository, asked and written to with one credential.

    `before_write` is called before each single write and may raise to prevent it. `told_login` is who we are, where it
    is known already.
    """

    wire: Wire = field(repr=False)
    address: Address
    before_write: Callable[[], None] = field(default=nothing, repr=False)
    told_login: str = ""
    _home: str = field(default="", init=False)
    _moved: dict[int, RemoteIssue | None] = field(default_factory=dict, init=False)
    _labels: set[str] = field(default_factory=set, init=False)

    @property
    def repository(self) -> str:
        """Where issues are filed now: the repository's newer name once GitHub has named it."""
        return self._home or self.address.repository

    def login(self) -> str:
        """Our login; empty where it is unknown."""
        self.told_login = self.told_login or self.wire.login()
        if not self.told_login:
            answer = self.wire.read("/user")
            self.told_login = self.value(answers.whoever_in, answer).login if answer.is_fine else ""
        return self.told_login

    def issue(self, number: int) -> RemoteIssue | Absent:
        """An issue, or why there is none. One that was moved to a repository of the same owner is followed."""
        answer = self.wire.read(self.path(f"/issues/{number}"))
        if answer.is_elsewhere and answer.status == 404 and self._found_home():
            answer = self.wire.read(self.path(f"/issues/{number}"))
        if answer.is_redirect or (answer.is_elsewhere and answer.status in (403, 404)):
            self._moved[number] = None
            return Absent.MOVED
        if answer.status == 404:
            return Absent.NONE
        if answer.status == 410 and "disabled" not in answer.words.lower():
            return Absent.GONE
        issue = self.value(answers.issue_in, self.fine(answer))
        if issue.number != number and not answer.is_elsewhere:
            raise trouble.unreadable(is_write=False, now=self.wire.now())
        return self._noted(number, issue)

    def newest(self) -> int:
        """The newest number that the list shows, of an issue or a pull request; 0 where it shows none."""
        query = {"state": "all", "sort": "created", "direction": "desc", "per_page": "1"}
        answer = self.fine(self.wire.read(self.path("/issues"), query), is_about_all=True)
        return max((issue.number for issue in self.value(answers.issues_in, answer)), default=0)

    def issues(self, creator: str, state: str = "all") -> tuple[RemoteIssue, ...]:
        """All issues of a creator (empty: of everybody), the newest first; pull requests are left out."""
        query = {"state": state, "sort": "created", "direction": "desc", "per_page": "100"}
        asked = query | ({"creator": creator} if creator else {})
        issues: dict[int, RemoteIssue] = {}
        for page in self.pages(self.path("/issues"), asked):
            issues |= {issue.number: issue for issue in self.value(answers.issues_in, page)}
        newest_first = sorted(issues.values(), key=lambda issue: issue.number, reverse=True)
        return tuple(issue for issue in newest_first if not issue.is_pull)

    def comments(self, number: int) -> tuple[RemoteComment, ...]:
        """All comments of an issue, the oldest first."""
        comments: dict[int, RemoteComment] = {}
        for page in self.pages(f"{self._issue_path(number)}/comments", {"per_page": "100"}, is_about_all=False):
            comments |= {comment.id: comment for comment in self.value(answers.comments_in, page)}
        return tuple(comments.values())

    def create(
        self, title: str, body: str, labels: tuple[str, ...] = (), more: Mapping[str, object] | None = None
    ) -> RemoteIssue:
        """File an issue; `more` holds further members of GitHub's request, such as `assignees`."""
        asked = {"title": title, "body": body, "labels": list(labels), **(more or {})}
        answer = self.write("POST", "/issues", asked)
        return self.value(answers.issue_in, self.fine(answer, is_about_all=True), is_write=True)

    def comment(self, number: int, body: str) -> RemoteComment:
        answer = self.fine(self._send("POST", f"{self._issue_path(number)}/comments", {"body": body}))
        return self.value(answers.comment_in, answer, is_write=True)

    def edit_comment(self, number: int, comment_id: int, body: str) -> None:
        issues = self._issue_path(number).rpartition("/")[0]
        self.fine(self._send("PATCH", f"{issues}/comments/{comment_id}", {"body": body}))

    def edit_issue(self, number: int, changes: Mapping[str, str]) -> None:
        """Write `title`, `body` or both anew."""
        self.fine(self._send("PATCH", self._issue_path(number), changes))

    def set_state(self, number: int, state: str, reason: str | None, changes: Mapping[str, str] | None = None) -> None:
        """Close (`completed`, `not_planned`, `duplicate`) or open, with `changes` of title and body. Older servers do
        not know duplicates."""
        path = self._issue_path(number)
        asked = {"state": state, **({"state_reason": reason} if reason else {}), **(changes or {})}
        answer = self._send("PATCH", path, asked)
        if answer.status == 422 and reason == "duplicate":
            answer = self._send("PATCH", path, {"state": state, "state_reason": "not_planned"})
        self.fine(answer)

    def add_sub_issue(self, parent: int, child: RemoteIssue) -> None:
        """Put an issue below another; that it is there already is fine."""
        answer = self._send("POST", f"{self._issue_path(parent)}/sub_issues", {"sub_issue_id": child.id})
        words = answer.words.lower()
        if not (answer.status == 422 and ("duplicate" in words or "already" in words)):
            self.fine(answer)

    def ensure_labels(self, names: tuple[str, ...]) -> tuple[str, ...]:
        """Those that exist or could be made. An issue without its labels is better than none."""
        return tuple(name for name in names if name in self._labels or self._ensured(name))

    def ask(self, rest: str, query: Mapping[str, str] | None = None) -> Answer:
        """GET below the repository, `rest` being quoted; what GitHub refuses is an Answer."""
        return self.wire.read(self.path(rest), query)

    def default_branch(self) -> str:
        """The branch that changes go to where nobody says otherwise."""
        return self.value(answers.repository_in, self.fine(self.ask(""))).default_branch

    def commit_url(self, sha: str) -> str:
        return f"{self.address.web}/{self.repository}/commit/{quote(sha, safe='')}"

    def blob_url(self, sha: str, path: str, line: int) -> str:
        where = f"{self.address.web}/{self.repository}/blob/{quote(sha, safe='')}/{quote(path)}"
        return f"{where}#L{line}" if line > 0 else where

    def _ensured(self, name: str) -> bool:
        if not 0 < len(name) <= LONGEST_LABEL:
            return False
        there = self.wire.read(self.path(f"/labels/{quote(name, safe='')}")).is_fine
        if there or self._made(name):
            self._labels.add(name)
        return name in self._labels

    def _made(self, name: str) -> bool:
        """Whether the label could be made. In doubt it is left out of this issue, for the doubt is not the issue's."""
        asked = {"name": name, "color": LABEL_COLOR, "description": LABEL_TEXT}
        try:
            answer = self._send("POST", self.path("/labels"), asked)
        except DoorTrouble as error:
            if isinstance(error.delivery, Unsure):
                return False
            raise
        return answer.is_fine or (answer.status == 422 and "already_exists" in answer.words)

    def path(self, rest: str = "") -> str:
        owner, _, name = self.repository.partition("/")
        return f"/repos/{quote(owner, safe='')}/{quote(name, safe='')}{rest}"

    def _issue_path(self, number: int) -> str:
        """Where an issue is now, as far as was seen. Raises DoorTrouble for one that was moved to another owner."""
        moved = self._moved.get(number)
        if number not in self._moved:
            return self.path(f"/issues/{number}")
        if moved is None:
            remedy = "adopt it or another issue (`agent-fox issues adopt`), then run `agent-fox issues sync`"
            raise DoorTrouble(Held(f"issue #{number} was moved to where we do not write", remedy))
        owner, _, name = moved.repository.partition("/")
        return f"/repos/{quote(owner, safe='')}/{quote(name, safe='')}/issues/{moved.number}"

    def _noted(self, number: int, found: RemoteIssue) -> RemoteIssue | Absent:
        """Remember where an issue is now, if it is not where it was."""
        if (found.repository.lower(), found.number) == (self.repository.lower(), number):
            self._moved.pop(number, None)
            return found
        is_ours = _owner(found.repository) == _owner(self.address.repository)
        self._moved[number] = found if is_ours else None
        return found if is_ours else Absent.MOVED

    def write(self, verb: str, rest: str, body: Mapping[str, object]) -> Answer:
        """Write below the repository. If it has a new name, GitHub did nothing and said so: then once more, there."""
        answer = self._send(verb, self.path(rest), body)
        if answer.is_redirect and self._found_home():
            answer = self._send(verb, self.path(rest), body)
        return answer

    def _found_home(self) -> bool:
        """Whether the repository has a new name below the same owner; taken over if so."""
        answer = self.wire.read(self.path())
        if not answer.is_fine:
            return False
        name = self.value(answers.repository_in, answer).full_name
        is_new = name.lower() != self.repository.lower() and _owner(name) == _owner(self.address.repository)
        self._home = name if is_new else self._home
        return is_new

    def _send(self, verb: str, path: str, body: Mapping[str, object]) -> Answer:
        self.before_write()
        return self.wire.write(verb, path, body)

    def pages(self, path: str, query: dict[str, str], is_about_all: bool = True) -> Iterator[Answer]:
        """Every page of a list. Of the address of the next page only the query is used."""
        asked, size = [query], 0
        while len(asked) <= MOST_PAGES and size <= LARGEST_LIST:
            answer = self.fine(self.wire.read(path, asked[-1]), is_about_all)
            yield answer
            following = _next(answer)
            if following is None:
                return
            if asked[-1] | following in asked:
                break
            asked.append(asked[-1] | following)
            size += len(answer.body)
        raise DoorTrouble(Held(f"the list at {path} has no end", trouble.DOCTOR))

    def fine(self, answer: Answer, is_about_all: bool = False) -> Answer:
        """The answer, if it is no refusal. `is_about_all`: a refusal holds for the whole repository."""
        if answer.is_fine:
            return answer
        refusal = trouble.of_answer(answer, is_write=False, now=self.wire.now())
        raise trouble.generally(refusal) if is_about_all and answer.status != 422 else refusal

    def value(self, read: Callable[[Answer], Value], answer: Answer, is_write: bool = False) -> Value:
        try:
            return read(answer)
        except ValidationError:
            raise trouble.unreadable(is_write, self.wire.now()) from None


def opened(
    auth: Auth.Auth | str,
    address: Address,
    now: Callable[[], str] = clock.now,
    pause: Callable[[float], None] = time.sleep,
    before_write: Callable[[], None] = nothing,
    login: str = "",
) -> Door:
    """A door with a credential, or with a token as text. Nothing is asked yet."""
    credential = Auth.Token(auth) if isinstance(auth, str) else auth
    return Door(Wire(hub(credential, address), now, pause), address, before_write, login)


def _next(answer: Answer) -> dict[str, str] | None:
    """The query of the next page; None at the last, empty where its address is none."""
    for link in requests.utils.parse_header_links(answer.headers.get("link", "")):
        if link.get("rel") == "next":
            with suppress(ValueError):
                return dict(parse_qsl(urlsplit(link.get("url", "")).query))
            return {}
    return None


def _owner(repository: str) -> str:
    return repository.partition("/")[0].lower()
