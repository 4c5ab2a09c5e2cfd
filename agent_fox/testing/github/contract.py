"""Holds exchanges against GitHub's own description of its API (OpenAPI 3.0): requests, and answers.

Needs `jsonschema`, which the package itself does not. The description is stricter here than it says: a member that it
does not name is a problem too, in requests (GitHub drops it in silence) and in answers (a fake must invent nothing).
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from datetime import datetime
from functools import cached_property
from pathlib import Path
from urllib.parse import unquote

import requests
from jsonschema import Draft202012Validator, FormatChecker  # type: ignore[import-untyped]
from pydantic import JsonValue

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.testing.github.wire import Request
from agent_fox.testing.github.wire import request as read_request

Schema = JsonValue
EVERYWHERE = {301, 307, 400, 401, 403, 404, 410, 422, 429, 500, 502, 503, 504}
"""What GitHub answers to anything, by its pages on troubleshooting, rates and redirects; operations seldom name it."""
MOST_PER_PAGE = 100
NO_CONTENT = 204
_MOVED = regex(r"/repositories/\d+(?=/|$)")
_WORDS = 150
_SCALARS: dict[str, Callable[[str], JsonValue]] = {"integer": int, "number": float}


@dataclass(frozen=True, slots=True)
class Operation:
    """A method and the path it stands at, as the description has them."""

    method: str
    path: str
    holds: Mapping[str, JsonValue]

    @property
    def pattern(self) -> re.Pattern[str]:
        return re.compile(re.sub(r"\\\{(\w+)\\\}", r"(?P<\1>[^/]+)", re.escape(self.path)))


@dataclass(frozen=True)
class Description:
    """GitHub's description, read: schemas turned into JSON Schema, where null is a type like others."""

    whole: Mapping[str, JsonValue]
    _validators: dict[str, Draft202012Validator] = field(default_factory=dict)
    _known: dict[bytes, tuple[str, ...]] = field(default_factory=dict)

    @cached_property
    def operations(self) -> tuple[tuple[Operation, re.Pattern[str]], ...]:
        paths = self.whole["paths"]
        assert isinstance(paths, dict)
        all = [Operation(method, path, _object(at)) for path in paths for method, at in _object(paths[path]).items()]
        all.sort(key=lambda each: each.path.count("{"))
        return tuple((each, each.pattern) for each in all)

    @cached_property
    def components(self) -> JsonValue:
        schemas = _object(_object(self.whole["components"])["schemas"])
        return {"schemas": {name: plain(schema) for name, schema in schemas.items()}}

    def problems(self, value: JsonValue, schema: Schema) -> tuple[str, ...]:
        """What is wrong with a value; what was looked at once is remembered."""
        key = json.dumps(schema, sort_keys=True)
        items = _object(schema).get("items") if isinstance(value, list) else None
        if isinstance(value, list) and items is not None:
            return tuple(f"[{n}]{problem}" for n, item in enumerate(value) for problem in self.problems(item, items))
        known = hashlib.sha256(f"{key}\0{json.dumps(value, sort_keys=True)}".encode()).digest()
        if known not in self._known:
            self._known[known] = tuple(
                _problem_text(error) for error in self._validator(key, schema).iter_errors(value)
            )
        return self._known[known]

    def _validator(self, key: str, schema: Schema) -> Draft202012Validator:
        if key not in self._validators:
            whole = _object(plain(schema)) | {"components": self.components}
            self._validators[key] = Draft202012Validator(whole, format_checker=_FORMATS)
        return self._validators[key]

    def resolved(self, value: JsonValue) -> dict[str, JsonValue]:
        """A part of the description, or what it refers to."""
        schema = _object(value)
        while "$ref" in schema:
            _, _, kind, name = str(schema["$ref"]).split("/")
            schema = _object(_object(_object(self.whole["components"])[kind])[name])
        return schema


def read_description(file: Path) -> Description:
    """Raises OSError, ValueError."""
    return Description(json.loads(file.read_text(encoding="utf-8")))


def _object(value: JsonValue) -> dict[str, JsonValue]:
    assert isinstance(value, dict), value
    return value


def plain(schema: Schema, *, is_part: bool = False) -> Schema:
    """A schema of OpenAPI 3.0 as JSON Schema: `nullable` adds null, wherever it stands; objects are closed.

    One that `is_part` of another (`allOf`) stays open: the other part names the rest.
    """
    if isinstance(schema, list):
        return [plain(part, is_part=is_part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: _inner(name, value) for name, value in schema.items() if name != "nullable"}
    if "properties" in made and "additionalProperties" not in made and not is_part:
        made["additionalProperties"] = False
    return {"anyOf": [made, {"type": "null"}]} if schema.get("nullable") is True else made


def _inner(name: str, value: JsonValue) -> JsonValue:
    match name, value:
        case "properties", dict():
            return {inner: plain(schema) for inner, schema in value.items()}
        case "allOf", _:
            return plain(value, is_part=True)
        case "enum" | "required" | "default", _:
            return value
        case _:
            return plain(value)


def _problem_text(error: object) -> str:
    path, message = getattr(error, "absolute_path", ()), str(getattr(error, "message", error))
    short = message if len(message) <= 2 * _WORDS else f"{message[:_WORDS]} ... {message[-_WORDS:]}"
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path) + f": {short}"


def _is_time(value: object) -> bool:
    if not isinstance(value, str):
        return True
    return bool(re.search(r"(Z|[+-]\d\d:\d\d)$", value)) and "T" in value and datetime.fromisoformat(value) is not None


def _is_address(value: object) -> bool:
    return not isinstance(value, str) or bool(re.match(r"[a-z][a-z0-9+.-]*:\S+$", value))


_FORMATS = FormatChecker(formats=())
_FORMATS.checks("date-time", raises=ValueError)(_is_time)
_FORMATS.checks("uri", raises=ValueError)(_is_address)


@dataclass(slots=True)
class Checked:
    """What was seen: how many exchanges, of which operations, and what is wrong with them.

    `unreadable` counts answers that were no JSON; those are a problem unless faults are put in their way on purpose.
    """

    description: Description
    is_tolerant: bool = False
    exchanges: int = 0
    unreadable: int = 0
    operations: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)

    def asked(self, request: Request) -> Operation | None:
        """Look at a request; the operation that it is, if the description has it."""
        self.exchanges += 1
        path = _MOVED.sub("/repos/OWNER/NAME", unquote(request.path), count=1)
        match = self._operation(request.method, path)
        if match is None:
            self._note(request, "no such operation in the description")
            return None
        operation, named = match
        self.operations[f"{operation.method} {operation.path}"] += 1
        for problem in (*self._parameters(operation, named, request), *self._body(operation, request)):
            self._note(request, f"request{problem}")
        return operation

    def answered(self, request: Request, operation: Operation, status: int, kind: str, body: bytes) -> None:
        """Look at an answer."""
        for problem in self._answer(operation, status, kind, body):
            self._note(request, f"answer {status}{problem}")

    def _note(self, request: Request, problem: str) -> None:
        self.problems.append(f"{request.method} {request.path} {problem}")

    def _operation(self, method: str, path: str) -> tuple[Operation, Mapping[str, str]] | None:
        for operation, pattern in self.description.operations:
            hit = pattern.fullmatch(path)
            if hit is not None and operation.method == method.lower():
                return operation, hit.groupdict()
        return None

    def _parameters(self, operation: Operation, named: Mapping[str, str], request: Request) -> Iterator[str]:
        listed = operation.holds.get("parameters", [])
        assert isinstance(listed, list)
        described = {str(each["name"]): each for each in map(self.description.resolved, listed)}
        for name, text in {**named, **request.query}.items():
            if name not in described:
                yield f": no such parameter: {name}"
                continue
            schema = self.description.resolved(described[name]["schema"])
            yield from (
                f" parameter {name}{problem}" for problem in self.description.problems(_scalar(text, schema), schema)
            )
        if int(request.query.get("per_page", "1")) > MOST_PER_PAGE:
            yield f": more than {MOST_PER_PAGE} on a page"

    def _body(self, operation: Operation, request: Request) -> Iterator[str]:
        described = operation.holds.get("requestBody")
        if described is None:
            if request.body:
                yield ": has a body, and none is described"
            return
        wanted = self.description.resolved(described)
        if not request.body:
            if wanted.get("required") is True:
                yield ": has no body"
            return
        try:
            value = json.loads(request.body)
        except ValueError:
            yield ": the body is no JSON"
            return
        yield from (f" body{problem}" for problem in self.description.problems(value, _schema(wanted)))

    def _answer(self, operation: Operation, status: int, kind: str, body: bytes) -> Iterator[str]:
        responses = _object(operation.holds["responses"])
        described = self.description.resolved(responses[str(status)]) if str(status) in responses else None
        if described is None and status not in EVERYWHERE:
            yield ": no such status is described"
            return
        if status >= 500:
            return
        if status == NO_CONTENT:
            yield from (": has a body, and none is described",) if body else ()
            return
        try:
            value = json.loads(body)
        except ValueError:
            self.unreadable += 1
            if not self.is_tolerant:
                yield ": the body is no JSON"
            return
        if not kind.startswith("application/json"):
            yield f": is of type {kind!r}"
        schema = _schema(described) if described is not None and "content" in described else _ERROR
        yield from self.description.problems(value, schema)


_ERROR: dict[str, JsonValue] = {
    "anyOf": [
        {"$ref": "#/components/schemas/basic-error"},
        {"$ref": "#/components/schemas/validation-error"},
    ]
}
"""What a no looks like."""


def _schema(described: dict[str, JsonValue]) -> Schema:
    return _object(_object(described["content"])["application/json"])["schema"]


def _scalar(text: str, schema: dict[str, JsonValue]) -> JsonValue:
    """A parameter as the type it is meant to be, where it can be."""
    try:
        return _SCALARS.get(str(schema.get("type")), str)(text)
    except ValueError:
        return text


@contextmanager
def checked(description: Description, *, is_tolerant: bool = False) -> Iterator[Checked]:
    """While this lasts, every exchange of `requests` is looked at. What was wrong stands in `problems` then.

    `is_tolerant`: answers that are no JSON are counted only, since faults put there make such.
    """
    seen = Checked(description, is_tolerant)
    original = requests.Session.send

    def send(self: requests.Session, request: requests.PreparedRequest, **values: object) -> requests.Response:
        asked = prepared(request)
        operation = seen.asked(asked)
        response = original(self, request, **values)
        if operation is not None:
            kind = response.headers.get("Content-Type", "")
            seen.answered(asked, operation, response.status_code, kind, response.content)
        return response

    requests.Session.send = send  # type: ignore[method-assign]
    try:
        yield seen
    finally:
        requests.Session.send = original  # type: ignore[method-assign]


def prepared(request: requests.PreparedRequest) -> Request:
    """A request of `requests` as the fake reads it."""
    body = request.body or b""
    sent = body.encode() if isinstance(body, str) else bytes(body)  # type: ignore[arg-type]  # no streams here
    headers = {str(name): str(value) for name, value in request.headers.items()}
    return read_request(request.method or "", request.url or "", headers, sent)
