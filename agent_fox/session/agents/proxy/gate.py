"""Which requests the metering proxy lets through: the launch's word, few paths, framing that reads in one way only.

A path is matched as it was sent: nothing is decoded or shortened, so that what was allowed is what is forwarded.
"""

from __future__ import annotations

import hmac
import json
import re
import tomllib
from collections.abc import Iterable, Mapping
from email.message import Message
from functools import cache
from pathlib import Path
from urllib.parse import parse_qsl, urlencode

from pydantic import BaseModel

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.session.agents.task import Provider

KEY_HEADER = {Provider.ANTHROPIC: "x-api-key", Provider.OPENAI: "Authorization", Provider.GEMINI: "x-goog-api-key"}

_QUERY = regex(r"[\w.~:@!$'*+,;=&%/()-]*", re.ASCII)

_ERRORS = {400: "invalid_request_error", 401: "authentication_error", 403: "permission_error"}
_GEMINI_ERRORS = {400: "FAILED_PRECONDITION", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED"}


class Service(BaseModel, defer_build=True):
    """What may be asked of one, each kind of request with examples: POST that generates, POST that counts or begins,
    GET that lists.
    """

    generates: re.Pattern[str]
    counts: re.Pattern[str]
    lists: re.Pattern[str]
    passes: Mapping[str, tuple[str, ...]]
    refused: Mapping[str, tuple[str, ...]]


class Table(BaseModel, defer_build=True):
    """What `gate.toml` holds."""

    credentials: frozenset[str]
    query_credentials: frozenset[str]
    not_passed: frozenset[str]
    services: dict[str, Service]


@cache
def table() -> Table:
    return Table.model_validate(tomllib.loads(Path(__file__).with_name("gate.toml").read_text(encoding="utf-8")))


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer of our own. `note` is a sentence for the report, empty where there is nothing to report."""

    status: int
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Passage:
    """A request that may go through. `target` is below the upstream's base; `size` of the body in bytes."""

    target: str
    size: int
    generates: bool


@dataclass(frozen=True, slots=True)
class Gate:
    """What one launch may ask of its provider; requests carry its `word`, with a body of at most `largest` bytes."""

    provider: Provider
    word: str
    largest: int
    service: str = ""
    """That of the model's side, where it is not its provider's own."""

    def judge(self, method: str, target: str, headers: Message) -> Passage | Refusal:
        """Whether a request goes through. `target` is the second word of its first line."""
        size = size_of(headers)
        if isinstance(size, Refusal):
            return size
        path, _, query = target.partition("?")
        if not self._is_known(headers, query):
            note = f"a request without this session's key was refused: {method[:10]} {path[:100]!r}"
            return Refusal(401, "the key of this request is not that of this session", note)
        if size > self.largest:
            return Refusal(413, f"the request has {size} bytes; at most {self.largest} may be sent", "")
        service = table().services[self.service or self.provider]
        generates = method == "POST" and fits(service.generates, path)
        harmless = {"POST": service.counts, "GET": service.lists}.get(method)
        is_known = generates or (harmless is not None and fits(harmless, path))
        if not is_known or not _QUERY.fullmatch(query):
            note = f"a request beside the model was refused: {method[:10]} {path[:100]!r}"
            return Refusal(403, "only requests to the model go through here", note)
        secret = table().query_credentials
        kept = urlencode([(name, value) for name, value in _pairs(query) if name.lower() not in secret])
        return Passage(f"{path}?{kept}" if kept else path, size, generates)

    def _is_known(self, headers: Message, query: str) -> bool:
        """All words are compared, and each in constant time."""
        given = [*_words(headers), *(value for name, value in _pairs(query) if name == "key")]
        return any(
            [hmac.compare_digest(value.encode("utf-8", "surrogateescape"), self.word.encode()) for value in given]
        )


def size_of(headers: Message) -> int | Refusal:
    """Bytes of the body. Refused: whatever two programs could read in two ways."""
    lengths = headers.get_all("content-length", [])
    if headers.defects or headers.get_payload():
        return Refusal(400, "a header line is not of the form `name: value`")
    if any(not value.isprintable() for value in headers.values()):
        return Refusal(400, "a header is continued on a second line or holds a control character")
    if "transfer-encoding" in headers:
        return Refusal(411, "a body needs one Content-Length, and no Transfer-Encoding")
    if len(lengths) > 1 or not all(re.fullmatch(r"[0-9]{1,15}", length) for length in lengths):
        return Refusal(400, "Content-Length is not one number")
    return int(lengths[0]) if lengths else 0


def passed_on(headers: Message) -> list[tuple[str, str]]:
    """The headers that go through, in either direction: no credentials, nothing of the connection itself."""
    named = {name.strip().lower() for value in headers.get_all("connection", []) for name in value.split(",")}
    dropped = table().credentials | table().not_passed | named
    return [
        (name, value)
        for name, value in headers.items()
        if name.lower() not in dropped and not name.lower().startswith("proxy-")
    ]


def credential(provider: Provider, key: str, *, is_bearer: bool = False) -> tuple[str, str]:
    """The header in which the provider expects the key, or a gateway its token."""
    if is_bearer:
        return "authorization", f"Bearer {key}"
    return KEY_HEADER[provider], f"Bearer {key}" if provider is Provider.OPENAI else key


def error_body(provider: Provider, status: int, text: str) -> bytes:
    """An error in the provider's own form."""
    kind = _ERRORS.get(status, "api_error")
    match provider:
        case Provider.ANTHROPIC:
            body: object = {"type": "error", "error": {"type": kind, "message": text}}
        case Provider.OPENAI:
            body = {"error": {"message": text, "type": kind, "param": None, "code": None}}
        case Provider.GEMINI:
            body = {"error": {"code": status, "message": text, "status": _GEMINI_ERRORS.get(status, "UNAVAILABLE")}}
    return json.dumps(body).encode()


def fits(pattern: re.Pattern[str], path: str) -> bool:
    return path.isascii() and pattern.fullmatch(path) is not None


def _words(headers: Message) -> Iterable[str]:
    for name in ("x-api-key", "x-goog-api-key", "api-key"):
        yield from headers.get_all(name, [])
    for value in headers.get_all("authorization", []):
        scheme, _, word = value.partition(" ")
        if scheme.lower() == "bearer":
            yield word.strip()


def _pairs(query: str) -> list[tuple[str, str]]:
    return parse_qsl(query[:8192], keep_blank_values=True)
