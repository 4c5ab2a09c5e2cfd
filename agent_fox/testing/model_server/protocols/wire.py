"""What every protocol offers the server, and what several share."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Protocol

from pydantic import BaseModel, ConfigDict, JsonValue

from agent_fox.testing.model_server.conversation import Conversation, Reply

CHUNK = 60
"""Characters of one piece of a streamed text."""

Document = dict[str, JsonValue]


class Loose(BaseModel):
    """A part of a request, as far as we read it: agents send more than this, and more with every release."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class Wire(Protocol):
    """One protocol. `read` raises pydantic's ValidationError; `model` is what the path says, where it does."""

    @property
    def name(self) -> str: ...

    def read(self, raw: bytes, model: str, *, is_streamed: bool) -> Conversation: ...

    def plain(self, talk: Conversation, reply: Reply) -> Document: ...

    def events(self, talk: Conversation, reply: Reply) -> Iterator[str]: ...

    def error(self, status: int, message: str) -> Document: ...

    def count(self, talk: Conversation) -> Document: ...


def event(document: Mapping[str, object], name: str | None = None) -> str:
    """One server-sent event."""
    data = f"data: {json.dumps(document)}\n\n"
    return f"event: {name}\n{data}" if name else data


def pieces(text: str) -> Iterator[str]:
    """A text as the pieces that it is streamed in."""
    return (text[start : start + CHUNK] for start in range(0, len(text), CHUNK))


def names_in(schema: JsonValue) -> frozenset[str]:
    """The arguments that a tool's JSON Schema names."""
    properties = schema.get("properties") if isinstance(schema, dict) else None
    return frozenset(properties) if isinstance(properties, dict) else frozenset()


def openai_error(status: int, message: str) -> Document:
    """An error as both protocols of OpenAI have it."""
    kinds = {
        401: ("invalid_request_error", "invalid_api_key"),
        429: ("requests", "rate_limit_exceeded"),
        503: ("server_error", "server_is_overloaded"),
    }
    kind, code = kinds.get(status, ("invalid_request_error" if status < 500 else "server_error", None))
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}
