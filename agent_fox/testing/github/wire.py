"""What goes over the wire to the fake GitHub and back, without any HTTP: requests, answers, and refusals."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import field
from enum import StrEnum
from urllib.parse import SplitResult, parse_qsl, urlsplit

from pydantic import JsonValue

from agent_fox.core.values import dataclass

DOCUMENTATION = "https://docs.github.com/rest"
ENTERPRISE = "/api/v3"


class Manner(StrEnum):
    """How an answer reaches the one who asked, if it does."""

    WHOLE = "whole"
    CUT = "cut"
    """The connection ends in the middle of the body."""
    HALVED = "halved"
    """Half of the body, with a length that agrees: a proxy's doing."""
    DROPPED = "dropped"
    """The connection ends before the answer."""
    TIMED_OUT = "timed out"
    REFUSED = "refused"
    """No connection at all."""


@dataclass(frozen=True, slots=True)
class Request:
    """One request. `base` is what all addresses of the API begin with, `path` what follows; names of headers are small.

    `query` holds the last value of each name.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""
    base: str = "https://api.github.com"

    @property
    def is_write(self) -> bool:
        return self.method not in ("GET", "HEAD")

    @property
    def pages(self) -> str:
        """Where pages for people lie that belong to this API."""
        return self.base.replace("//api.", "//", 1).removesuffix(ENTERPRISE)

    def read(self) -> dict[str, JsonValue]:
        """The object in the body. Raises Refusal 400 as GitHub does for what is no JSON."""
        try:
            document = json.loads(self.body or b"{}")
            json.dumps(document, ensure_ascii=False).encode("utf-8")
        except ValueError:
            raise Refusal(400, "Problems parsing JSON") from None
        if not isinstance(document, dict):
            raise Refusal(400, "Body should be a JSON object")
        return document


def request(method: str, url: str, headers: Mapping[str, str], body: bytes) -> Request:
    """A request as a client sends it to a whole address."""
    parts = urlsplit(url)
    prefix = ENTERPRISE if parts.path.startswith(f"{ENTERPRISE}/") else ""
    return Request(
        method,
        parts.path[len(prefix) :],
        dict(parse_qsl(parts.query, keep_blank_values=True)),
        {name.lower(): value for name, value in headers.items()},
        body,
        f"{parts.scheme}://{_host(parts)}{prefix}",
    )


def _host(parts: SplitResult) -> str:
    """The host, with the port where it is not the usual one."""
    usual = {"https": 443, "http": 80}.get(parts.scheme)
    return parts.netloc.removesuffix(f":{usual}")


@dataclass(frozen=True, slots=True)
class Answer:
    """One answer; `manner` tells what becomes of it on its way."""

    status: int
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    manner: Manner = Manner.WHOLE

    def read(self) -> JsonValue:
        document: JsonValue = json.loads(self.body)
        return document


def answer(status: int, value: JsonValue, headers: Mapping[str, str] | None = None) -> Answer:
    """An answer in JSON."""
    kind = {"Content-Type": "application/json; charset=utf-8"}
    return Answer(status, json.dumps(value).encode(), kind | dict(headers or {}))


class Refusal(Exception):
    """What is asked is not done. Becomes an answer with GitHub's words for it."""

    def __init__(
        self,
        status: int,
        message: str,
        errors: list[dict[str, str]] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.message, self.errors, self.headers = status, message, errors, headers or {}

    def answer(self) -> Answer:
        body: dict[str, JsonValue] = {"message": self.message, "documentation_url": DOCUMENTATION}
        if self.errors is not None:
            body["errors"] = [dict(error) for error in self.errors]
        elif self.status != 422:
            body["status"] = str(self.status)
        return answer(self.status, body, self.headers)


def not_found() -> Refusal:
    return Refusal(404, "Not Found")


def invalid(resource: str, field_name: str, code: str, message: str = "") -> Refusal:
    """422 as GitHub words it."""
    error = {"resource": resource, "field": field_name, "code": code}
    return Refusal(422, "Validation Failed", [error | ({"message": message} if message else {})])
