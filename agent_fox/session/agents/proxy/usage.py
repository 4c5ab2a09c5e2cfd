"""Reading along in a model's answer: what it used and what went wrong, whole or as server-sent events.

Nothing is held back or changed. What is not of a known form tells nothing; `is_whole` says whether an answer told all
that it used.
"""

from __future__ import annotations

import base64
import json
import struct
from typing import Annotated

from pydantic import AliasChoices, BaseModel, Field, TypeAdapter, ValidationError

from agent_fox.core.late import adapter
from agent_fox.session.agents.events import Event, Tokens, Used
from agent_fox.session.agents.proxy.trouble import ErrorBody, trouble_of

LARGEST_PART = 8 * 1024 * 1024
"""Bytes of one event, or of a plain answer, that are looked into; a larger one is passed on unread."""

_TELLING = (b'"usage', b'"error"')


Count = Annotated[int, Field(ge=0, le=10**12)]


class _Details(BaseModel, defer_build=True):
    cached_tokens: Count | None = None
    cache_write_tokens: Count | None = None


class _Usage(BaseModel, defer_build=True):
    """All protocols' words for counts. OpenAI's and Google's input includes what a cache gave, Anthropic's does not."""

    input_tokens: Count | None = Field(None, validation_alias=AliasChoices("input_tokens", "prompt_tokens"))
    output_tokens: Count | None = Field(None, validation_alias=AliasChoices("output_tokens", "completion_tokens"))
    cache_read_input_tokens: Count | None = None
    cache_creation_input_tokens: Count | None = None
    details: _Details | None = Field(
        None, validation_alias=AliasChoices("input_tokens_details", "prompt_tokens_details")
    )

    def tokens(self, before: Tokens) -> Tokens:
        """The counts, those that are not repeated taken from the ones before."""
        read, write = self.cache_read_input_tokens, self.cache_creation_input_tokens
        included = 0
        if self.details is not None:
            read, write = self.details.cached_tokens, self.details.cache_write_tokens
            included = (read or 0) + (write or 0)
        return Tokens(
            before.input if self.input_tokens is None else max(0, self.input_tokens - included),
            before.output if self.output_tokens is None else self.output_tokens,
            before.cache_read if read is None else read,
            before.cache_write if write is None else write,
        )


class _GeminiUsage(BaseModel, defer_build=True):
    prompt: Count = Field(0, alias="promptTokenCount")
    tools: Count = Field(0, alias="toolUsePromptTokenCount")
    cached: Count = Field(0, alias="cachedContentTokenCount")
    answer: Count = Field(0, alias="candidatesTokenCount")
    thoughts: Count = Field(0, alias="thoughtsTokenCount")

    def tokens(self) -> Tokens:
        return Tokens(max(0, self.prompt + self.tools - self.cached), self.answer + self.thoughts, self.cached)


class _Answer(BaseModel, defer_build=True):
    """An answer or an inner one: Anthropic's `message`, OpenAI's `response`, and that of Gemini with a login."""

    model: str | None = Field(None, validation_alias=AliasChoices("model", "modelVersion"))
    usage: _Usage | None = None
    error: ErrorBody | None = None
    gemini: _GeminiUsage | None = Field(None, alias="usageMetadata")


class _Part(_Answer):
    type: str = ""
    message: _Answer | str | None = None
    response: _Answer | None = None
    code: str | int | None = None


_PARTS: TypeAdapter[list[_Part] | _Part] = adapter(lambda: TypeAdapter(list[_Part] | _Part))


class Listener:
    """Reads along in one answer. `message` names it in the events. Not for several threads at once."""

    def __init__(self, message: str, *, is_stream: bool) -> None:
        self.is_whole = False
        self._message = message
        self._is_stream = is_stream
        self._model = ""
        self._tokens = Tokens()
        self._held = bytearray()
        self._skips = False

    def feed(self, piece: bytes) -> list[Event]:
        """The events of the next bytes."""
        if not self._is_stream:
            self._hold(piece)
            return []
        events: list[Event] = []
        *lines, rest = piece.split(b"\n")
        for line in lines:
            self._hold(line)
            events += self._line()
        self._hold(rest)
        return events

    def end(self) -> list[Event]:
        """What is left at the end of the answer."""
        if self._is_stream:
            return self._line()
        whole = bytes(self._held)
        return [] if self._skips else self._document(whole)

    def _hold(self, piece: bytes) -> None:
        if self._skips or len(self._held) + len(piece) > LARGEST_PART:
            self._skips = True
            self._held.clear()
        else:
            self._held += piece

    def _line(self) -> list[Event]:
        line, skipped = bytes(self._held), self._skips
        self._held.clear()
        self._skips = False
        if skipped or not line.startswith(b"data:") or not any(word in line for word in _TELLING):
            return []
        return self._document(line[len(b"data:") :].strip())

    def _document(self, raw: bytes) -> list[Event]:
        try:
            parsed = _PARTS.validate_json(raw)
        except ValidationError:
            return []
        parts = parsed if isinstance(parsed, list) else [parsed]
        return [event for part in parts for event in self._part(part)]

    def _part(self, part: _Part) -> list[Event]:
        inner = part.response or (part.message if isinstance(part.message, _Answer) else None)
        answer = inner or part
        self._model = answer.model or part.model or self._model
        events: list[Event] = []
        usage = answer.usage or part.usage
        if answer.gemini is not None:
            self._tokens = answer.gemini.tokens()
        elif usage is not None:
            self._tokens = usage.tokens(self._tokens)
        if usage is not None or answer.gemini is not None:
            self.is_whole = part.type != "message_start"
            events.append(Used(self._message, self._tokens, self._model))
        error = answer.error or part.error
        if error is None and part.type == "error" and isinstance(part.message, str):  # OpenAI's, in a stream
            error = ErrorBody(type=str(part.code or ""), message=part.message)
        return [*events, trouble_of(None, error)] if error else events


class EventStream:
    """AWS's framing of the same events: each holds one in Base64. What is no such frame tells nothing.

    Needs botocore, which whoever speaks to Bedrock has.
    """

    def __init__(self) -> None:
        from botocore.eventstream import EventStreamBuffer, ParserError  # type: ignore[import-untyped]  # noqa: PLC0415

        self._buffer = EventStreamBuffer()
        self._failures = (ParserError, struct.error, LookupError, ValueError)
        self._is_broken = False

    def lines(self, piece: bytes) -> bytes:
        """The events that are whole now, as server-sent ones."""
        if self._is_broken:
            return b""
        try:
            self._buffer.add_data(piece)
            return b"".join(self._line(frame.payload) for frame in self._buffer)
        except self._failures:
            self._is_broken = True
            return b""

    @staticmethod
    def _line(payload: bytes) -> bytes:
        try:
            data = base64.b64decode(json.loads(payload)["bytes"])
        except (KeyError, TypeError, ValueError):
            data = payload
        return b"data: " + data.replace(b"\n", b" ") + b"\n"
