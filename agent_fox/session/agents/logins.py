"""Logins of a person: read where the person's own programs keep them, refreshed here, and kept from the agent.

A session's program gets a word of its launch; the metering proxy puts the token into each request. A token that is
about to end is exchanged for a new one, which is written back, for what it was exchanged with is void then and the
person's own programs read the same file. One of many that ask at once does that, over processes too.
"""

from __future__ import annotations

import base64
import fcntl
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agent_fox.core.late import late_module
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.session.agents.proxy.model_side import LoginError, Opening
from agent_fox.session.infrastructure import Infrastructure
from agent_fox.system.files import replace_file

if TYPE_CHECKING:
    import requests
else:
    requests = late_module("requests")

MARGIN = 300.0
"""Seconds before its end in which a token is exchanged."""

TOKEN_URL = "AGENT_FOX_TOKEN_URL"
"""The variable of a person's environment that says where tokens are exchanged, where a company has its own place."""

TIMEOUT = 30.0
LARGEST_BUNDLE = 64 * 1024 * 1024

_CLIENT = regex(r'OAUTH_CLIENT_(ID|SECRET) = "([^"\s]{8,200})"')


@dataclass(frozen=True, slots=True)
class LoginKind:
    """Where a program keeps the login of whoever uses it, and how it is used.

    `folder` is below the home, or named by `variable`. `tokens` is the key of the object that holds them (empty: the
    whole file), `access`, `refresh` and `ends` are keys in it; without `ends` the token itself tells when it ends.
    `account` is a key whose value goes into the header `account_header`. `client` is the program's own id at
    `token_url`; empty: it stands in the program. `headers` go with every request. `service`: whose paths
    may be asked at `upstream`, where these are not what the provider answers people with a key.
    """

    name: str
    command: str
    folder: str
    variable: str
    file: str
    upstream: str
    token_url: str
    tokens: str = ""
    access: str = "access_token"
    refresh: str = "refresh_token"
    ends: str = ""
    client: str = ""
    is_form: bool = False
    account: str = ""
    account_header: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    service: str = ""

    def path(self, variables: Mapping[str, str]) -> Path | None:
        """The file, None where this person has none."""
        if not variables.get("HOME"):
            return None
        folder = Path(variables.get(self.variable) or Path(variables["HOME"]) / self.folder)
        return folder / self.file if (folder / self.file).is_file() else None


@dataclass(frozen=True, slots=True)
class Tokens:
    """What stands in the file. `ends` in seconds of the clock, infinite where nothing tells it."""

    access: str = field(repr=False)
    refresh: str = field(default="", repr=False)
    ends: float = float("inf")
    account: str = ""


@dataclass(slots=True)
class Login:
    """One login for the requests of one session, from any thread. `program` is the agent's, which may tell its id."""

    kind: LoginKind
    file: Path
    program: str = ""
    token_url: str = ""
    _refused: str = field(default="", repr=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def opening(self) -> Opening:
        """What the next request carries. Raises LoginError."""
        tokens = self.current()
        account = ((self.kind.account_header, tokens.account),) if tokens.account else ()
        return Opening((("authorization", f"Bearer {tokens.access}"), *account, *self.kind.headers), tokens.access)

    def refuse(self, token: str) -> None:
        """The model's side does not take this token: it is exchanged before the next request, whenever it ends."""
        self._refused = token

    def current(self) -> Tokens:
        """A token that can be used now, exchanged where the one in the file is about to end. Raises LoginError."""
        tokens = self.read()
        if not self.is_stale(tokens):
            return tokens
        with self._lock, locked(self.file):
            tokens = self.read()  # another session may have done it while we waited
            if not self.is_stale(tokens):
                return tokens
            try:
                return self.exchange(tokens)
            except LoginError as error:
                if error.kind is not Infrastructure.AUTHENTICATION and tokens.ends > time.time():
                    return tokens
                raise

    def is_stale(self, tokens: Tokens) -> bool:
        return tokens.ends <= time.time() + MARGIN or tokens.access == self._refused

    def read(self) -> Tokens:
        kind = self.kind
        held = tokens_in(self.document(), kind)
        access, refresh = held.get(kind.access), held.get(kind.refresh)
        if not isinstance(access, str) or not usable(access):
            raise LoginError(f"the {kind.name} login in {self.file} holds no token; log in again: {kind.command}")
        account = held.get(kind.account) if kind.account else ""
        kept = account if isinstance(account, str) and (not account or usable(account)) else ""
        return Tokens(access, refresh if isinstance(refresh, str) else "", ends_of(held, kind, access), kept)

    def document(self) -> dict[str, Any]:
        try:
            document = json.loads(self.content())
        except ValueError:
            raise self.unreadable("it is no JSON") from None
        return document if isinstance(document, dict) else {}

    def content(self) -> bytes:
        try:
            return self.file.read_bytes()
        except OSError as error:
            raise self.unreadable(error.strerror or "") from None

    def unreadable(self, why: str) -> LoginError:
        kind = self.kind
        return LoginError(f"the {kind.name} login in {self.file} cannot be read ({why}); log in again: {kind.command}")

    def exchange(self, tokens: Tokens) -> Tokens:
        """New tokens for old ones, written to the file. Raises LoginError."""
        kind = self.kind
        if not tokens.refresh:
            raise LoginError(f"the {kind.name} login has ended, and holds nothing to renew it: {kind.command}")
        asked = {"grant_type": "refresh_token", "refresh_token": tokens.refresh, **client_of(kind, self.program)}
        document = self.document()
        self.write(self.content(), "is not renewed, for it")  # what cannot be written now could not be afterwards
        given = answer_of(kind, self.token_url or kind.token_url, asked)
        held = tokens_in(document, kind)
        held[kind.access] = given["access_token"]
        held[kind.refresh] = given.get("refresh_token") or tokens.refresh
        if isinstance(given.get("id_token"), str) and "id_token" in held:
            held["id_token"] = given["id_token"]
        if kind.ends:
            held[kind.ends] = int((time.time() + seconds_of(given)) * 1000)
        else:
            document["last_refresh"] = datetime.now(UTC).isoformat().replace("+00:00", "Z")
        whole = json.dumps(document, indent=2).encode()
        self.write(whole, f"is renewed, the old one is void, and (log in again: {kind.command}) the new one")
        return self.read()

    def write(self, content: bytes, what: str) -> None:
        """Raises LoginError."""
        try:
            replace_file(self.file.resolve(), content, 0o600)
        except OSError as error:
            words = f"the {self.kind.name} login {what} cannot be written to {self.file}: {error.strerror}"
            raise LoginError(words) from None


def tokens_in(document: dict[str, Any], kind: LoginKind) -> dict[str, Any]:
    held = document.get(kind.tokens) if kind.tokens else document
    return held if isinstance(held, dict) else {}


def usable(token: str) -> bool:
    """Whether a header can hold it."""
    return bool(token) and token.isascii() and token.isprintable() and " " not in token


def seconds_of(given: Mapping[str, Any]) -> float:
    """How long a new token holds; an hour where nothing usable is said."""
    seconds = given.get("expires_in")
    if isinstance(seconds, (int, float)) and not isinstance(seconds, bool) and seconds > 0:
        return float(seconds)
    return 3600.0


def ends_of(held: Mapping[str, Any], kind: LoginKind, token: str) -> float:
    """When a token ends: told beside it in milliseconds, or by itself (the `exp` of a JSON Web Token)."""
    ends = held.get(kind.ends) if kind.ends else None
    if isinstance(ends, (int, float)) and not isinstance(ends, bool):
        return ends / 1000
    try:
        claims = json.loads(base64.urlsafe_b64decode(f"{token.split('.')[1]}==="))
        return float(claims["exp"])
    except (IndexError, KeyError, TypeError, ValueError):
        return float("inf")


def client_of(kind: LoginKind, program: str) -> dict[str, str]:
    """The id under which the program asks for tokens; Google's stands in the files of the program beside it."""
    if kind.client:
        return {"client_id": kind.client}
    folder = Path(os.path.realpath(program)).parent if program else None
    for path in sorted(folder.glob("*.js")) if folder is not None and folder.is_dir() else ():
        if path.stat().st_size <= LARGEST_BUNDLE:
            client = dict(_CLIENT.findall(path.read_text(encoding="utf-8", errors="replace")))
            if len(client) == 2:
                return {"client_id": client["ID"], "client_secret": client["SECRET"]}
    why = f"the {kind.name} login has to be renewed, which only {kind.command!r} can"
    raise LoginError(f"{why}: start it once, then run again")


def answer_of(kind: LoginKind, url: str, asked: Mapping[str, str]) -> dict[str, Any]:
    """What the token's server gives. Raises LoginError: of the network where it does not answer, else of the login."""
    parts = urlsplit(url)
    if parts.scheme != "https" and parts.hostname not in ("127.0.0.1", "::1", "localhost"):
        raise LoginError(f"{TOKEN_URL} is no https:// address, and a login is sent nowhere else")
    try:
        form, document = (asked, None) if kind.is_form else (None, asked)
        answer = requests.post(url, data=form, json=document, timeout=TIMEOUT, allow_redirects=False)
    except requests.RequestException as error:
        raise LoginError(f"{url} does not answer ({type(error).__name__})", Infrastructure.NETWORK) from None
    if answer.status_code >= 500 or answer.status_code == 429:
        raise LoginError(f"{url} answered with {answer.status_code}", Infrastructure.NETWORK)
    given: dict[str, Any] = {}
    with suppress(ValueError):
        given = read if isinstance(read := answer.json(), dict) else {}
    token = given.get("access_token")
    if answer.status_code != 200 or not isinstance(token, str) or not usable(token):
        why = f"the {kind.name} login is not taken any more ({url} answered with {answer.status_code})"
        raise LoginError(f"{why}; log in again: {kind.command}")
    return given


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """One process at a time, by a lock on the file's folder: the file itself is replaced. Raises LoginError."""
    with ExitStack() as stack:
        try:
            handle = os.open(file.resolve().parent, os.O_RDONLY)
            stack.callback(os.close, handle)
            fcntl.flock(handle, fcntl.LOCK_EX)
        except OSError as error:
            why = f"{file.parent} cannot be locked, so the login there is not renewed"
            raise LoginError(f"{why}: {error.strerror}") from None
        yield
