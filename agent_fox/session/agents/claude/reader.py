"""What the lines of Claude Code's `stream-json` mean. Decides nothing about a session's success.

Tokens: lines of type `assistant` say that one token was put out. The true numbers are in the partial messages, in
`message_start` and `message_delta`, and are counted from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated

from pydantic import AliasChoices, BeforeValidator, Field, JsonValue

from agent_fox.session.agents import events
from agent_fox.session.agents.command_line import Reader, read_object, shown
from agent_fox.session.agents.shapes import Count, Many, Shape, Word
from agent_fox.session.agents.signatures import kind_of
from agent_fox.session.infrastructure import Infrastructure

COMPLETED = "completed"
HOOK_CAP = "stop-hook-block-cap"
"""The notice that a stop hook has held the session back too often and is not asked any more."""

SYNTHETIC = "<synthetic>"
"""The model's name in messages that the program has written itself."""

CALLS = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
NOT_OFFERED = "<tool_use_error>Error: No such tool available"

_UNTOLD = frozenset({"", "unknown", "server_error"})
"""What the program calls an error of the connection as well: it is one where there is no status."""


class Usage(Shape):
    """Tokens of one message, or of one model over the whole session. What a later line leaves out stays as it was."""

    input: Count | None = Field(default=None, validation_alias=AliasChoices("input_tokens", "inputTokens"))
    output: Count | None = Field(default=None, validation_alias=AliasChoices("output_tokens", "outputTokens"))
    read: Count | None = Field(
        default=None, validation_alias=AliasChoices("cache_read_input_tokens", "cacheReadInputTokens")
    )
    written: Count | None = Field(
        default=None, validation_alias=AliasChoices("cache_creation_input_tokens", "cacheCreationInputTokens")
    )

    def over(self, before: events.Tokens) -> events.Tokens:
        counts = (self.input, self.output, self.read, self.written)
        return events.Tokens(*(old if new is None else new for new, old in zip(counts, before.counts, strict=True)))


class Block(Shape):
    """One part of a message: words, a call, or a call's answer."""

    type: str
    text: Word = ""
    id: Word = ""
    name: Word = ""
    input: dict[str, JsonValue] = Field(default_factory=dict)
    tool_use_id: Word = ""
    content: JsonValue = None
    is_error: bool | None = None

    @property
    def shown(self) -> str:
        """What the model was shown of a tool's answer."""
        if isinstance(self.content, str):
            return self.content
        parts = self.content if isinstance(self.content, list) else []
        texts = [part["text"] for part in parts if isinstance(part, dict) and "text" in part]
        return "\n".join(text for text in texts if isinstance(text, str))


def _blocks(value: object) -> object:
    """A message's content may be plain text."""
    return [{"type": "text", "text": value}] if isinstance(value, str) else value


class Message(Shape):
    id: Word = ""
    model: Word = ""
    content: Annotated[tuple[Block, ...], BeforeValidator(_blocks), Field(strict=False)] = ()
    usage: Usage = Usage()


class Happening(Shape):
    """An event of the model's own stream."""

    type: str
    message: Message | None = None
    usage: Usage = Usage()


class Assistant(Shape):
    message: Message
    error: Word = ""
    is_api_error_message: bool = False
    api_error_status: int | None = None
    api_error_type: Word = ""


class Decision(Shape):
    decision: Word = ""


class ResultMeta(Shape):
    id: str
    permission_decision: Annotated[Decision, BeforeValidator(lambda value: {} if value is None else value)] = Decision()


class User(Shape):
    message: Message
    tool_result_meta: Many[ResultMeta] = ()


class Server(Shape):
    name: str
    status: Word = ""


class System(Shape):
    subtype: Word = ""
    session_id: Word = ""
    model: Word = ""
    tools: Many[str] = ()
    mcp_servers: Many[Server] = ()
    key: Word = ""
    attempt: int = 0
    max_retries: int = 0
    retry_delay_ms: float = 0
    error_status: int | None = None
    error: JsonValue = None


class Result(Shape):
    subtype: Word = ""
    session_id: Word = ""
    is_error: bool = False
    terminal_reason: str | None = None
    api_error_status: int | None = None
    api_error_type: Word = ""
    result: str | None = None
    errors: Many[str] = ()
    structured_output: dict[str, JsonValue] | None = None
    total_cost_usd: Annotated[float, Field(ge=0)] | None = None
    model_usage: dict[str, Usage] = Field(default={}, alias="modelUsage")


def kind_of_failure(status: int | None, *names: str) -> Infrastructure | None:
    """What was broken, by the HTTP status and by the API's and the program's own names for the error."""
    telling = [name for name in names if name not in _UNTOLD]
    return kind_of(status, *telling) if telling or status is not None else Infrastructure.NETWORK


class ClaudeReader(Reader):
    """Reads one process. Remembers which messages and calls it has reported."""

    def __init__(self) -> None:
        self._messages: dict[str, events.Used] = {}
        self._streamed: set[str] = set()
        self._calls: set[str] = set()
        self._model = self._streaming = ""
        self._has_given_up = self._is_let_go = False

    def events_of(self, text: str) -> Iterator[events.Event]:
        raw = read_object(text)
        match raw.get("type"):
            case "system":
                yield self._system(System.model_validate(raw))
            case "stream_event":
                yield from self._partial(Happening.model_validate(raw.get("event")))
            case "assistant":
                yield from self._assistant(Assistant.model_validate(raw))
            case "user":
                yield from self._answers(User.model_validate(raw))
            case "result":
                yield from self._result(Result.model_validate(raw))
            case str():
                yield events.Beat()
            case _:
                raise ValueError("a line without a type")

    def _system(self, line: System) -> events.Event:
        if line.subtype == "init":
            self._model = line.model
            servers = {server.name: server.status for server in line.mcp_servers}
            return events.Began(line.session_id, line.model, line.tools, servers)
        if line.subtype != "api_retry":
            self._is_let_go |= line.key == HOOK_CAP
            return events.Beat()
        name, status = line.error if isinstance(line.error, str) else "", line.error_status
        answer = f"status {status}" if status is not None else "no answer"
        how = f"repeat {line.attempt} of {line.max_retries} in {line.retry_delay_ms / 1000:.1f} s"
        text = f"request to the model failed ({answer}, {name or 'unknown'}): {how}"
        return events.Trouble(text, kind_of_failure(status, name))

    def _partial(self, event: Happening) -> Iterator[events.Event]:
        if event.type == "message_start" and event.message is not None:
            self._streaming = event.message.id
            self._streamed.add(event.message.id)
            yield from self._used(event.message.id, event.message.model, event.message.usage)
        elif event.type == "message_delta" and self._streaming:
            yield from self._used(self._streaming, "", event.usage)
        else:
            yield events.Beat()

    def _used(self, message: str, model: str, usage: Usage) -> Iterator[events.Event]:
        before = self._messages.get(message)
        if before is None:
            yield events.Turn()
            before = events.Used(message, events.Tokens(), model or self._model)
        self._messages[message] = used = replace(before, tokens=usage.over(before.tokens))
        yield used

    def _assistant(self, line: Assistant) -> Iterator[events.Event]:
        message = line.message
        if line.error or line.is_api_error_message:
            text = "\n".join(block.text for block in message.content if block.type == "text") or line.error
            yield self._gave_up(text, line.api_error_status, line.api_error_type, line.error)
            return
        if message.model != SYNTHETIC and message.id not in self._streamed:
            yield from self._used(message.id, message.model, message.usage)
        for block in message.content:
            if block.type == "text" and block.text:
                yield events.Spoke(block.text)
            elif block.type in CALLS and (not block.id or block.id not in self._calls):
                self._calls.add(block.id)
                yield events.Called(block.name, block.input, block.id)
            else:
                yield events.Beat()

    def _answers(self, line: User) -> Iterator[events.Event]:
        refused = {meta.id for meta in line.tool_result_meta if meta.permission_decision.decision not in {"", "accept"}}
        answers = [block for block in line.message.content if block.type.endswith("tool_result")]
        for block in answers:
            is_refused = block.tool_use_id in refused or block.shown.startswith(NOT_OFFERED)
            yield events.Answered(block.tool_use_id, shown(block.shown), bool(block.is_error), is_refused)
        if not answers:
            yield events.Beat()

    def _gave_up(self, text: str, status: int | None, *names: str) -> events.Trouble:
        self._has_given_up = True
        return events.Trouble(text, kind_of_failure(status, *names), is_final=True)

    def _result(self, line: Result) -> Iterator[events.Event]:
        reason = line.terminal_reason or line.subtype
        if reason == "api_error" and not self._has_given_up:
            yield self._gave_up(line.result or reason, line.api_error_status, line.api_error_type)
        is_error = line.is_error or line.subtype != "success" or line.terminal_reason not in {None, COMPLETED}
        yield events.Finished(
            line.result or "; ".join(line.errors), line.structured_output, is_error,
            HOOK_CAP if self._is_let_go and not is_error else reason, line.session_id, line.total_cost_usd,
            sum((usage.over(events.Tokens()) for usage in line.model_usage.values()), events.Tokens()), self._model,
        )  # fmt: skip
