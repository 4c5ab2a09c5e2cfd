"""What GitHub answers, as values. An answer is not trusted: one without the right form is a ValueError."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from agent_fox.core.json_text import NotJson, read_json
from agent_fox.core.late import adapter
from agent_fox.core.values import dataclass
from agent_fox.system.redaction.masking import redact

MOST_ISSUES = 10**9
"""A number beyond it would be believed to be the newest for ever, and real ones not be looked for."""
LONGEST_LINK = 2_000
NO_CONTENT = 204
LONGEST_WORDS = 20_000


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer as it came. The names of headers are in lower case; `is_elsewhere` after a redirection."""

    status: int
    headers: Mapping[str, str]
    body: str
    is_elsewhere: bool = False

    @property
    def is_fine(self) -> bool:
        return 200 <= self.status < 300

    @property
    def is_redirect(self) -> bool:
        return self.status in (301, 302, 303, 307, 308) and bool(self.headers.get("location"))

    @property
    def words(self) -> str:
        """What GitHub says is wrong, on one line; empty where it says nothing that can be read."""
        try:
            message = _Refusal.model_validate_json(self.body)
        except ValueError:
            return ""
        whole = redact("; ".join([message.message, *(_words(error) for error in message.errors[:9])])[:LONGEST_WORDS])
        return " ".join("".join(char if char.isprintable() else " " for char in whole).split())[:300]


class Absent(StrEnum):
    """Why there is no issue of a number."""

    NONE = "not found"
    GONE = "deleted"
    MOVED = "moved to where we may not write"


@dataclass(frozen=True, slots=True)
class RemoteIssue:
    """An issue as GitHub has it now. `url` is for people; `repository` is where it is now, as OWNER/NAME."""

    number: int
    id: int
    title: str
    body: str
    state: str
    state_reason: str | None
    creator: str
    is_pull: bool
    is_locked: bool
    comments: int
    created_at: str
    closed_at: str
    url: str
    repository: str
    assignees: tuple[str, ...] = ()
    updated_at: str = ""


@dataclass(frozen=True, slots=True)
class RemoteComment:
    """A comment as GitHub has it now."""

    id: int
    body: str
    author: str
    is_bot: bool
    created_at: str
    url: str
    updated_at: str = ""
    association: str = ""


class _Wire(BaseModel, defer_build=True):
    model_config = ConfigDict(strict=True, frozen=True)


class _Refusal(_Wire):
    message: str = ""
    errors: list[str | dict[str, object]] = []


class _User(_Wire):
    login: str = Field(default="", max_length=200)
    type: str = ""


class _Issue(_Wire):
    number: int = Field(gt=0, le=MOST_ISSUES)
    id: int = Field(gt=0, lt=2**63)
    title: str
    body: str | None = None
    state: Literal["open", "closed"]
    state_reason: str | None = None
    user: _User | None = None
    pull_request: dict[str, object] | None = None
    locked: bool = False
    comments: int = Field(default=0, ge=0)
    assignees: list[_User] = []
    created_at: str = ""
    updated_at: str = ""
    closed_at: str | None = None
    html_url: str = ""
    repository_url: str = Field(pattern=r"/repos/[^/\s]+/[^/\s]+$")


class _Comment(_Wire):
    id: int = Field(gt=0, lt=2**63)
    body: str | None = None
    user: _User | None = None
    author_association: str = ""
    created_at: str = ""
    updated_at: str = ""
    html_url: str = ""


class Permissions(_Wire):
    """What the asker may do in a repository, according to the repository's own answer."""

    admin: bool = False
    maintain: bool = False
    push: bool = False
    triage: bool = False
    pull: bool = False

    @property
    def may_label(self) -> bool:
        return self.admin or self.maintain or self.push or self.triage


class Place(_Wire):
    """A repository."""

    full_name: str = Field(pattern=r"^[^/\s]+/[^/\s]+$")
    has_issues: bool | None = None
    archived: bool | None = None
    private: bool | None = None
    default_branch: str = ""
    permissions: Permissions | None = None


class Whoever(_Wire):
    """A user, or an App where there is a slug."""

    login: str = ""
    slug: str = ""


_ISSUES = adapter(lambda: TypeAdapter(list[_Issue]))
_COMMENTS = adapter(lambda: TypeAdapter(list[_Comment]))


def issue_in(answer: Answer) -> RemoteIssue:
    return _issue(_Issue.model_validate_json(answer.body))


def issues_in(answer: Answer) -> tuple[RemoteIssue, ...]:
    return tuple(_issue(issue) for issue in _ISSUES.validate_json(answer.body))


def comment_in(answer: Answer) -> RemoteComment:
    return _comment(_Comment.model_validate_json(answer.body))


def comments_in(answer: Answer) -> tuple[RemoteComment, ...]:
    return tuple(_comment(comment) for comment in _COMMENTS.validate_json(answer.body))


def repository_in(answer: Answer) -> Place:
    return Place.model_validate_json(answer.body)


def whoever_in(answer: Answer) -> Whoever:
    return Whoever.model_validate_json(answer.body)


def is_json(answer: Answer) -> bool:
    """Whether the body is whole: a body that was cut is not JSON, and with status 204 there is none."""
    if answer.status == NO_CONTENT:
        return not answer.body
    try:
        read_json(answer.body)
    except NotJson:
        return False
    return True


def time_of(text: str | None) -> str:
    """A time in the form of `clock.now`; empty where there is none that can be read."""
    try:
        moment = datetime.fromisoformat(text or "")
        aware = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        return ""
    return aware.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _issue(issue: _Issue) -> RemoteIssue:
    return RemoteIssue(
        number=issue.number,
        id=issue.id,
        title=issue.title,
        body=issue.body or "",
        state=issue.state,
        state_reason=issue.state_reason,
        creator=issue.user.login if issue.user else "",
        is_pull=issue.pull_request is not None,
        is_locked=issue.locked,
        comments=issue.comments,
        created_at=time_of(issue.created_at),
        closed_at=time_of(issue.closed_at),
        url=_link(issue.html_url),
        repository="/".join(issue.repository_url.split("/")[-2:]),
        assignees=tuple(user.login for user in issue.assignees),
        updated_at=time_of(issue.updated_at),
    )


def _comment(comment: _Comment) -> RemoteComment:
    user = comment.user or _User()
    is_bot = user.type == "Bot" or user.login.endswith("[bot]")
    return RemoteComment(
        id=comment.id,
        body=comment.body or "",
        author=user.login,
        is_bot=is_bot,
        created_at=time_of(comment.created_at),
        url=_link(comment.html_url),
        updated_at=time_of(comment.updated_at),
        association=comment.author_association,
    )


def _link(url: str) -> str:
    is_one = url.startswith(("https://", "http://")) and url.isprintable() and " " not in url
    return url if is_one and len(url) <= LONGEST_LINK else ""


def _words(error: str | dict[str, object]) -> str:
    if isinstance(error, str):
        return error
    message = error.get("message")
    named = " ".join(str(error[name]) for name in ("resource", "field", "code") if error.get(name))
    return f"{named}: {message}" if message and named else str(message or named)
