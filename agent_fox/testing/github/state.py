"""What the fake GitHub remembers: repositories, issues, comments, labels, accounts and tokens. No rules, no HTTP."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace
from datetime import UTC, datetime
from enum import IntEnum
from itertools import count

from agent_fox.core.values import dataclass


class Role(IntEnum):
    """What an account may do in a repository, in ascending order. NONE sees public repositories only."""

    NONE = 0
    READ = 1
    TRIAGE = 2
    WRITE = 3


class Grant(IntEnum):
    """What a token was given for one kind of thing."""

    NONE = 0
    READ = 1
    WRITE = 2


def stamp(at: float) -> str:
    """A time as GitHub writes it."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


@dataclass(frozen=True, slots=True)
class Account:
    """Someone who writes. `app` is the number of the GitHub App whose bot this is."""

    login: str
    id: int
    is_bot: bool = False
    app: int | None = None


@dataclass(slots=True)
class Token:
    """A secret and what it opens: `grant` is for issues. `installation` is set for one that an App was given: no other
    may write check runs, whatever `checks` says."""

    account: Account
    role: Role = Role.WRITE
    grant: Grant = Grant.WRITE
    expires: float | None = None
    installation: int | None = None
    pulls: Grant = Grant.WRITE
    checks: Grant = Grant.WRITE
    statuses: Grant = Grant.WRITE


@dataclass(frozen=True, slots=True)
class App:
    """A GitHub App with one installation."""

    id: int
    slug: str
    installation: int
    account: Account


@dataclass(frozen=True, slots=True)
class Label:
    id: int
    name: str
    color: str = "ededed"
    description: str | None = None


@dataclass(slots=True)
class Comment:
    id: int
    author: Account
    body: str
    created: float
    updated: float


@dataclass(frozen=True, slots=True)
class Face:
    """What of an issue can change, as it was from one moment on."""

    title: str
    body: str | None
    since: float
    state: str = "open"
    reason: str | None = None
    closed: float | None = None
    closed_by: Account | None = None
    labels: tuple[str, ...] = ()
    is_locked: bool = False
    lock_reason: str | None = None


@dataclass(slots=True)
class Pull:
    """What a pull request has beside an issue: its branches, the commit of its head, when it was merged."""

    head: str
    base: str
    sha: str
    is_draft: bool = False
    merged: float | None = None


@dataclass(frozen=True, slots=True)
class Annotation:
    """A remark of a check run at a line of a file."""

    path: str
    line: int
    level: str
    message: str


@dataclass(frozen=True, slots=True)
class CheckRun:
    id: int
    name: str
    sha: str
    external_id: str
    status: str
    conclusion: str | None
    title: str
    summary: str
    at: float
    app: int
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class CommitStatus:
    id: int
    sha: str
    context: str
    state: str
    description: str
    by: Account
    at: float


@dataclass(slots=True)
class Issue:
    """An issue or a pull request, with all the faces it has had. `pull` is None for an issue."""

    number: int
    id: int
    author: Account
    created: float
    faces: list[Face]
    is_pull: bool = False
    comments: list[Comment] = field(default_factory=list)
    children: list[int] = field(default_factory=list)
    parent: int | None = None
    pull: Pull | None = None
    assignees: tuple[str, ...] = ()
    milestone: int | None = None
    type: str = ""

    @property
    def face(self) -> Face:
        return self.faces[-1]

    def face_at(self, at: float) -> Face | None:
        """How it looked then; None where it was not there yet."""
        return next((face for face in reversed(self.faces) if face.since <= at), None)

    def change(self, at: float, **values: object) -> None:
        self.faces.append(replace(self.face, since=at, **values))  # type: ignore[arg-type]  # names are checked at run time

    @property
    def is_open(self) -> bool:
        return self.face.state == "open"


@dataclass(slots=True)
class Repository:
    """A repository. `moved` maps transferred issues to their new places; `deleted` holds numbers; `branches` maps
    names to commits, `roles` logins to what they may do; `milestones` maps numbers to titles.
    """

    id: int
    owner: str
    name: str
    is_private: bool = False
    is_archived: bool = False
    has_issues: bool = True
    issues: dict[int, Issue] = field(default_factory=dict)
    labels: dict[str, Label] = field(default_factory=dict)
    moved: dict[int, tuple[int, int]] = field(default_factory=dict)
    deleted: set[int] = field(default_factory=set)
    last_number: int = 0
    created: float = 0.0
    branches: dict[str, str] = field(default_factory=dict)
    commits: list[str] = field(default_factory=list)
    roles: dict[str, Role] = field(default_factory=dict)
    milestones: dict[int, str] = field(default_factory=dict)
    issue_types: tuple[str, ...] = ()
    check_runs: list[CheckRun] = field(default_factory=list)
    statuses: list[CommitStatus] = field(default_factory=list)
    has_drafts: bool = True
    default_branch: str = "main"

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"

    def role_of(self, login: str) -> Role:
        return Role.WRITE if login == self.owner else self.roles.get(login, Role.NONE)

    def next_number(self) -> int:
        """A number that nothing here has had: issues, pull requests and discussions share them."""
        self.last_number += 1
        return self.last_number


@dataclass(slots=True)
class World:
    """Everything there is, with its clock (seconds since 1970) and its supply of ids."""

    clock: Callable[[], float]
    repositories: dict[int, Repository] = field(default_factory=dict)
    renamed: dict[str, int] = field(default_factory=dict)
    accounts: dict[str, Account] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    apps: dict[int, App] = field(default_factory=dict)
    ids: count[int] = field(default_factory=lambda: count(4_000_000_001))

    def account(self, login: str, *, is_bot: bool = False, app: int | None = None) -> Account:
        """The account of this name, made where there is none."""
        made = Account(login, next(self.ids), is_bot, app)
        return self.accounts.setdefault(login, made)

    def add_repository(self, full_name: str) -> Repository:
        owner, _, name = full_name.partition("/")
        self.account(owner)
        made = Repository(next(self.ids), owner, name, created=self.clock())
        self.repositories[made.id] = made
        return made

    def named(self, full_name: str) -> Repository | None:
        """The repository that is called so now; letters may be of either case."""
        wanted = full_name.lower()
        return next(
            (repository for repository in self.repositories.values() if repository.full_name.lower() == wanted), None
        )

    def issue(self, id: int) -> tuple[Repository, Issue] | None:
        """An issue by its id, wherever it is."""
        matches = (
            (where, issue) for where in self.repositories.values() for issue in where.issues.values() if issue.id == id
        )
        return next(matches, None)

    def write_issue(
        self,
        where: Repository,
        author: Account,
        title: str,
        body: str | None,
        labels: tuple[str, ...] = (),
        *,
        is_pull: bool = False,
    ) -> Issue:
        now = self.clock()
        face = Face(title, body, now, labels=labels)
        made = Issue(where.next_number(), next(self.ids), author, now, [face], is_pull)
        where.issues[made.number] = made
        return made

    def write_comment(self, issue: Issue, author: Account, body: str) -> Comment:
        now = self.clock()
        made = Comment(next(self.ids), author, body, now, now)
        issue.comments.append(made)
        issue.change(now)
        return made

    def set_state(self, issue: Issue, by: Account, state: str, reason: str | None) -> None:
        """Close or open again. A reason counts only where the state changes."""
        now = self.clock()
        if state == issue.face.state:
            return
        if state == "closed":
            issue.change(now, state=state, reason=reason or "completed", closed=now, closed_by=by)
        else:
            issue.change(now, state=state, reason="reopened", closed=None, closed_by=None)
