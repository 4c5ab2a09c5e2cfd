"""The fake GitHub itself: a state machine that answers requests by GitHub's rules, and the faults put in its way.

A double for the service, for tests and demonstrations alone. It calls nobody and knows no HTTP: `server` and `mount`
bring requests to it. Everything that was asked, written and said is kept, so that tests can demand it was right.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, replace

from agent_fox.testing.github.access import actor
from agent_fox.testing.github.endpoints import Call, Knobs, Written
from agent_fox.testing.github.faults import Break, Fault, Say, spoilt
from agent_fox.testing.github.limits import Limits, Write
from agent_fox.testing.github.notices import Notice, notices
from agent_fox.testing.github.people import Person
from agent_fox.testing.github.routes import answered
from agent_fox.testing.github.shown import Show
from agent_fox.testing.github.state import App, Grant, Issue, Repository, Role, Token, World
from agent_fox.testing.github.wire import Answer, Manner, Refusal, Request

REPOSITORY, TOKEN, LOGIN = "octo/project", "ghp_fake", "fox-bot"


@dataclass(slots=True)
class Exchange:
    """One request and what it was answered, spoilt or not."""

    at: float
    request: Request
    answer: Answer


@dataclass(slots=True)
class Hooks:
    """Called with each request before it is answered, and after. What they raise reaches the client's code."""

    before: Callable[[Request], None] | None = None
    after: Callable[[Request, Answer], None] | None = None


class GitHubFake:
    """A GitHub with one repository and one token to begin with; `clock` tells seconds since 1970.

    `faults` strike first of all, in their order; `knobs` go wrong for long; `limits` count what was asked; `said` holds
    every text that was written with the API. Safe to be asked by several threads: `lock` is held meanwhile.
    """

    def __init__(
        self,
        clock: Callable[[], float] = time.time,
        repository: str = REPOSITORY,
        token: str = TOKEN,
        login: str = LOGIN,
        faults: Iterable[Fault] = (),
    ) -> None:
        self.world = World(clock)
        self.repository = self.world.add_repository(repository)
        self.token = Token(self.world.account(login))
        self.world.tokens[token] = self.token
        self.faults = list(faults)
        self.knobs, self.limits, self.hooks = Knobs(), Limits(), Hooks()
        self.written: list[Written] = []
        self.exchanges: list[Exchange] = []
        self.lock = threading.RLock()

    @property
    def clock(self) -> Callable[[], float]:
        return self.world.clock

    def answer(self, request: Request) -> Answer:
        """What reaches the one who asked. Never raises but what a hook raises."""
        if self.hooks.before is not None:
            self.hooks.before(request)
        with self.lock:
            answer = self._answer(request)
            self.exchanges.append(Exchange(self.clock(), request, answer))
        if self.hooks.after is not None:
            self.hooks.after(request, answer)
        return answer

    def _answer(self, request: Request) -> Answer:
        fault = next((each for each in self.faults if each.strikes(request)), None)
        if fault is None:
            answer = self._true(request)
        elif fault.what.is_applied:
            answer = spoilt(self._true(request), fault.what)
        else:
            self._count_unapplied(request, fault.what)
            answer = spoilt(None, fault.what)
        self.limits.note_answer(request, answer, self.clock())
        return answer

    def _count_unapplied(self, request: Request, what: Break | Say) -> None:
        """What comes to nothing has been asked nevertheless, unless there was no connection."""
        if not (isinstance(what, Break) and what.manner is Manner.REFUSED):
            with suppress(Refusal):
                self.limits.spend(request, self.clock())

    def _true(self, request: Request) -> Answer:
        """What GitHub answers where nothing is broken."""
        try:
            self.limits.spend(request, self.clock())
            show = Show(self.world, request.base, request.pages)
            who = actor(self.world, request)
            answer = answered(Call(self.world, self.knobs, self.written, request, who, show), self.limits)
        except Refusal as no:
            answer = no.answer()
        return replace(answer, headers={**self.limits.headers(), **answer.headers})

    def person(self, login: str = "alex", *, is_bot: bool = False, repository: Repository | None = None) -> Person:
        """Somebody who acts in the repository, or in another one."""
        return Person(self.world, repository or self.repository, self.world.account(login, is_bot=is_bot))

    def add_repository(self, full_name: str) -> Repository:
        return self.world.add_repository(full_name)

    def rename(self, full_name: str) -> None:
        """The repository gets another name; the old one leads on."""
        self.world.renamed[self.repository.full_name.lower()] = self.repository.id
        self.repository.owner, _, self.repository.name = full_name.partition("/")

    def add_token(self, secret: str, login: str, role: Role = Role.WRITE, grant: Grant = Grant.WRITE) -> Token:
        made = self.world.tokens[secret] = Token(self.world.account(login), role, grant)
        return made

    def add_app(self, number: int = 7, slug: str = "fox-app", installation: int = 70) -> App:
        """A GitHub App that is installed in the repository; it writes as `SLUG[bot]`."""
        account = self.world.account(f"{slug}[bot]", is_bot=True, app=number)
        made = self.world.apps[number] = App(number, slug, installation, account)
        return made

    @property
    def issues(self) -> tuple[Issue, ...]:
        """The issues of the repository, without pull requests, in order."""
        return tuple(issue for issue in self.repository.issues.values() if not issue.is_pull)

    @property
    def writes(self) -> tuple[Write, ...]:
        return tuple(self.limits.writes)

    @property
    def violations(self) -> tuple[str, ...]:
        """What GitHub would take offence at: writes too fast, or going on when told to wait."""
        return tuple(self.limits.violations)

    @property
    def notices(self) -> tuple[Notice, ...]:
        """Whom and what the texts that were written would notify, link or close."""
        return tuple(notice for text in self.written for notice in notices(text.number, text.text))
