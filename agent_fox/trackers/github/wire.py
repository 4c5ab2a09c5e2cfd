"""One request to GitHub over PyGithub, and its answer. What to ask, and what an answer is good for, is not here.

Nothing below repeats a request: readings are repeated here a few times, a write never. Nobody follows a redirection
but `read`, and only within the same host.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, runtime_checkable
from urllib.parse import parse_qsl, urlsplit

import github
import requests
import urllib3
from github import Auth
from github.Requester import HTTPRequestsConnectionClass, HTTPSRequestsConnectionClass, RequestsResponse
from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_exponential

from agent_fox.system import clock
from agent_fox.system.clock import later
from agent_fox.system.redaction.masking import MASK
from agent_fox.trackers.github import trouble
from agent_fox.trackers.github.answers import Answer, is_json
from agent_fox.trackers.github.bounds import Bounded, set_bounds
from agent_fox.trackers.github.trouble import DoorTrouble, Flaky
from agent_fox.trackers.protocol import Retry

if TYPE_CHECKING:
    from agent_fox.trackers.github.repository import Address

TIMEOUT = 15
READINGS = 3
HOPS = 3

# All that PyGithub, requests and urllib3 raise. RuntimeError is PyGithub's word for odd redirections; RecursionError,
# which is one too, for too many.
RAISED = (
    github.GithubException,
    github.BadAttributeException,
    requests.RequestException,
    urllib3.exceptions.HTTPError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    AssertionError,
    RuntimeError,
    OSError,
)
_SHOWN = {301: 308, 202: 200}
"""PyGithub follows a 301 with whatever was asked, and asks again after a 202: it is shown another status."""

_HEADERS = {"Accept": "application/vnd.github+json"}


def hub(auth: Auth.Auth, address: Address) -> github.Github:
    """PyGithub, set so that it repeats nothing, waits for nothing and asks for nothing by itself."""
    return github.Github(
        auth=auth,
        base_url=address.base_url,
        timeout=TIMEOUT,
        user_agent="agent-fox",
        per_page=100,
        retry=urllib3.Retry(0, read=False),
        seconds_between_requests=None,
        seconds_between_writes=None,
        lazy=True,
        api_version="2022-11-28",
    )


@runtime_checkable
class KnowsItself(Protocol):
    """A credential that knows our login."""

    def login(self) -> str: ...


class _Tls(HTTPSRequestsConnectionClass):
    def getresponse(self) -> RequestsResponse:
        return _unfollowed(super().getresponse())


class _Plain(HTTPRequestsConnectionClass):
    def getresponse(self) -> RequestsResponse:
        return _unfollowed(super().getresponse())


def _unfollowed(response: RequestsResponse) -> RequestsResponse:
    response.status = _SHOWN.get(response.status, response.status)
    return response


def _connection(requester: github.Requester.Requester) -> _Tls | _Plain:
    kind = _Tls if requester.scheme == "https" else _Plain
    port = urlsplit(requester.base_url).port
    never = urllib3.Retry(0, read=False)
    line = kind(requester.hostname, port, timeout=TIMEOUT, retry=never)
    set_bounds(line.session, Bounded(max_retries=never))
    return line


@dataclass
class Wire:
    """A line to one GitHub with one credential. `strikes` counts the limits met since the last success.

    Once GitHub has asked to wait, nothing more is asked before that time.
    """

    hub: github.Github = field(repr=False)
    now: Callable[[], str] = clock.now
    pause: Callable[[float], None] = time.sleep
    strikes: int = field(default=0, init=False)
    _limit: DoorTrouble | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self._line = _connection(self.hub.requester)

    def read(self, path: str, query: Mapping[str, str] | None = None) -> Answer:
        """GET, following redirections within the host. What GitHub refuses is an Answer; DoorTrouble where there is
        none that can be read."""
        again = Retrying(
            stop=stop_after_attempt(READINGS),
            wait=wait_exponential(multiplier=0.5, max=4),
            retry=retry_if_exception_type(Flaky),
            sleep=self.pause,
            reraise=True,
        )
        answer = again(self._read, path, dict(query or {}))
        for _ in range(HOPS):
            if not (answer.is_redirect and self._is_here(answer.headers["location"])):
                break
            there = urlsplit(answer.headers["location"])
            asked = dict(parse_qsl(there.query) or query or {})
            response = again(self._read, there.path.removeprefix(self._prefix), asked)
            answer = replace(response, is_elsewhere=True)
        return answer

    def write(self, verb: str, path: str, body: Mapping[str, object]) -> Answer:
        """Send once. What GitHub refuses is an Answer; DoorTrouble where it may be out, or a limit is met."""
        self._renew()
        return self._checked(self._ask(verb, path, {}, body), is_write=True)

    def _read(self, path: str, query: dict[str, str]) -> Answer:
        return self._checked(self._ask("GET", path, query, None), is_write=False)

    def _ask(self, verb: str, path: str, query: dict[str, str], body: Mapping[str, object] | None) -> Answer:
        self._obey()
        requester = self.hub.requester
        sent = None if body is None else dict(body)
        try:
            secret = requester.auth.token if requester.auth else ""
            status, headers, text = requester.requestJson(verb, path, query, dict(_HEADERS), sent, self._line)
        except github.GithubException as error:
            raise self._of_refusal(error) from None
        except RAISED as error:
            raise trouble.of_error(error, is_write=body is not None, now=self.now()) from None
        without = text.replace(secret, MASK) if secret else text
        return Answer(status, {name: str(value) for name, value in headers.items()}, without)

    def _obey(self) -> None:
        """Raises DoorTrouble before the time that GitHub gave. A time further away than any limit was given before the
        clock jumped back."""
        limit, now = self._limit, self.now()
        if limit is None or not isinstance(limit.delivery, Retry):
            return
        if now < limit.delivery.not_before <= later(now, trouble.LONGEST_WAIT):
            raise DoorTrouble(limit.delivery, limit.status)

    def _renew(self) -> None:
        """Have a token that is valid before a write, so that its renewal is no part of what may be out."""
        try:
            _ = self.hub.requester.auth and self.hub.requester.auth.token
        except github.GithubException as error:
            raise self._of_refusal(error) from None
        except RAISED as error:
            raise trouble.of_error(error, is_write=False, now=self.now()) from None

    def login(self) -> str:
        """Who an App is; empty where the credential does not know."""
        auth: object = self.hub.requester.auth
        if not isinstance(auth, KnowsItself):
            return ""
        try:
            return auth.login()
        except github.GithubException as error:
            raise self._of_refusal(error) from None
        except RAISED as error:
            raise trouble.of_error(error, is_write=False, now=self.now()) from None

    def _of_refusal(self, error: github.GithubException) -> DoorTrouble:
        """PyGithub raises only where an App's token is asked for: then nothing can be done at all."""
        headers = {name.lower(): str(value) for name, value in (error.headers or {}).items()}
        message = error.data.get("message") if isinstance(error.data, dict) else None
        answer = Answer(error.status, headers, json.dumps({"message": message if isinstance(message, str) else ""}))
        return trouble.of_app(answer, self.now(), self.strikes)

    def _checked(self, answer: Answer, is_write: bool) -> Answer:
        if trouble.is_limit(answer):
            self.strikes += 1
            self._limit = trouble.of_answer(answer, is_write, self.now(), self.strikes - 1)
            raise self._limit
        if answer.status >= 500 or answer.status in (401, 408):
            raise trouble.of_answer(answer, is_write, self.now())
        if answer.is_fine and not is_json(answer):
            raise trouble.unreadable(is_write, self.now())
        if answer.is_fine:
            self.strikes = 0
        return answer

    @property
    def _prefix(self) -> str:
        return urlsplit(self.hub.requester.base_url).path.rstrip("/")

    def _is_here(self, location: str) -> bool:
        """Whether an address is on the host that we talk to; then the token may be shown there."""
        try:
            here, there = urlsplit(self.hub.requester.base_url), urlsplit(location)
        except ValueError:
            return False
        return not there.netloc or (there.scheme, there.netloc) == (here.scheme, here.netloc)
