"""What our agent class for mini-swe-agent reports, as events."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, JsonValue, TypeAdapter, ValidationError

from agent_fox.core.late import adapter
from agent_fox.session.agents import events
from agent_fox.session.agents.command_line import Reader, shown
from agent_fox.session.agents.signatures import kind_of
from agent_fox.session.infrastructure import Infrastructure

SUBMITTED = "Submitted"

_NETWORK = frozenset(
    {
        *("httpx.ConnectError", "httpx.ConnectTimeout", "httpx.ReadError", "httpx.ReadTimeout", "httpx.WriteError"),
        *("httpx.RemoteProtocolError", "httpcore.ConnectError", "httpcore.RemoteProtocolError"),
        *("builtins.ConnectionRefusedError", "builtins.ConnectionResetError", "openai.APIConnectionError"),
        *("openai.APITimeoutError", "litellm.exceptions.Timeout", "json.decoder.JSONDecodeError"),
    }
)
"""Python's errors that say what came of a request, wherever they stand among the errors that it was wrapped in."""


class _Details(BaseModel, defer_build=True):
    cached_tokens: int | None = None


class _Usage(BaseModel, defer_build=True):
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None
    prompt_tokens_details: _Details | None = None

    @property
    def tokens(self) -> events.Tokens:
        details = self.prompt_tokens_details or _Details()
        read = self.cache_read_input_tokens or details.cached_tokens or 0
        written = self.cache_creation_input_tokens or 0
        return events.Tokens(max(self.prompt_tokens - read - written, 0), self.completion_tokens, read, written)


class _Function(BaseModel, defer_build=True):
    name: str | None = None
    arguments: str = ""


class _Call(BaseModel, defer_build=True):
    id: str = ""
    function: _Function


class _Words(BaseModel, defer_build=True):
    content: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(BaseModel, defer_build=True):
    message: _Words


class _Response(BaseModel, defer_build=True):
    id: str = ""
    model: str | None = None
    usage: _Usage | None = None
    choices: list[_Choice] = []


class Line(BaseModel, defer_build=True):
    """One line; `type` says which of the fields there are."""

    type: Literal["began", "turn", "trouble", "message"]
    model: str = ""
    status: int | None = None
    errors: list[str] = []
    text: str = ""
    role: str | None = None
    content: JsonValue = None
    call: str | None = None
    interrupt: str | None = None
    exception: str | None = None
    response: _Response | None = None
    cost: float = 0.0
    returncode: int | None = None
    exit_status: str | None = None
    submission: str = ""


_ARGUMENTS: TypeAdapter[dict[str, object]] = adapter(lambda: TypeAdapter(dict[str, object]))


@dataclass(slots=True)
class MiniReader(Reader):
    """One process of the program."""

    model: str = ""
    has_begun: bool = False
    number: int = 0
    """Of the answers of the model so far."""
    open_calls: list[str] = field(default_factory=list)

    def odd(self, text: str) -> events.Event:
        """Before it has begun, the program itself may print what it likes."""
        return events.Unreadable(text) if self.has_begun else events.Beat()

    def events_of(self, text: str) -> Iterator[events.Event]:
        line = Line.model_validate_json(text)
        match line.type:
            case "began":
                self.model, self.has_begun = line.model, True
                yield events.Began(model=line.model)
            case "turn":
                yield events.Turn()
            case "trouble":
                yield events.Trouble(line.text, kind_of_failure(line.status, line.errors))
            case "message" if line.role == "exit":
                yield from self._ended(line)
            case "message":
                yield from self._message_events(line)

    def _message_events(self, line: Line) -> Iterator[events.Event]:
        if line.response is not None:
            yield from self._answer(line.response)
        if line.interrupt is not None:  # one call is not of its format, and none of an answer's calls is run
            for call in self.open_calls:
                yield events.Answered(call, shown(_text(line.content)), is_error=True, is_refused=True)
            self.open_calls.clear()
        elif line.call is not None:
            if line.call in self.open_calls:
                self.open_calls.remove(line.call)
            is_error = bool(line.returncode or line.exception)
            yield events.Answered(line.call, shown(_text(line.content)), is_error)
        else:
            yield events.Beat()

    def _answer(self, response: _Response) -> Iterator[events.Event]:
        self.number += 1
        if response.usage is not None:
            name = f"{self.number} {response.id}".strip()
            yield events.Used(name, response.usage.tokens, response.model or self.model)
        for choice in response.choices:
            if (words := choice.message.content or "").strip():
                yield events.Spoke(words)
            for call in choice.message.tool_calls or ():
                self.open_calls.append(call.id)
                given: dict[str, object] = {"arguments": call.function.arguments}
                with suppress(ValidationError):
                    given = _ARGUMENTS.validate_json(call.function.arguments)
                yield events.Called(call.function.name or "", given, call.id)

    def _ended(self, line: Line) -> Iterator[events.Event]:
        """Each end is one that the program chose; only a submission is the agent's."""
        status = line.exit_status or "without a reason"
        if line.submission.strip():
            yield events.Spoke(line.submission)
        text = line.submission or line.exception or _text(line.content)
        cost = line.cost or None
        yield events.Finished(text, is_error=status != SUBMITTED, reason=status, cost_usd=cost, model=self.model)

    def complaint(self, text: str) -> Iterable[events.Event]:
        """Standard error adds nothing to the reported events."""
        return ()


def kind_of_failure(status: int | None, errors: Iterable[str]) -> Infrastructure | None:
    """What was broken: by what happened to the connection first, for the status is then the program's own guess."""
    short = {f"{name.partition('.')[0]}.{name.rpartition('.')[2]}" for name in errors}
    return Infrastructure.NETWORK if _NETWORK & {*short, *errors} else kind_of(status)


def _text(content: JsonValue) -> str:
    return content if isinstance(content, str) else "" if content is None else json.dumps(content)
