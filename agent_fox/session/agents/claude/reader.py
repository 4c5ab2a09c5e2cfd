"""What the lines of Claude Code's `stream-json` mean. Decides nothing about a session's success.

Tokens: lines of type `assistant` say that one token was put out. The true numbers are in the partial messages, in
`message_start` and `message_delta`, and are counted from there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agent_fox.session.agents import events
from agent_fox.session.agents.claude import lines
from agent_fox.session.agents.command_line import Reader, read_object, shown
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
        self._model = ""
        self._streaming = ""
        self._has_given_up = False
        self._is_let_go = False

    def events_of(self, text: str) -> Iterator[events.Event]:
        raw = read_object(text)
        match raw.get("type"):
            case "system":
                yield from self._system(lines.System.model_validate(raw))
            case "stream_event":
                yield from self._partial(lines.Partial.model_validate(raw))
            case "assistant":
                yield from self._assistant(lines.Assistant.model_validate(raw))
            case "user":
                yield from _answers(lines.User.model_validate(raw))
            case "result":
                yield from self._result(lines.Result.model_validate(raw))
            case str():
                yield events.Beat()
            case _:
                raise ValueError("a line without a type")

    def _system(self, line: lines.System) -> Iterator[events.Event]:
        if line.subtype == "init":
            self._model = line.model
            yield events.Began(
                line.session_id, line.model, line.tools, {server.name: server.status for server in line.mcp_servers}
            )
        elif line.subtype == "api_retry":
            yield _retry(line)
        else:
            self._is_let_go |= line.key == HOOK_CAP
            yield events.Beat()

    def _partial(self, line: lines.Partial) -> Iterator[events.Event]:
        event = line.event
        match event.type:
            case "message_start" if event.message is not None:
                self._streaming = event.message.id
                self._streamed.add(event.message.id)
                yield from self._used(event.message.id, event.message.model, event.message.usage)
            case "message_delta" if self._streaming:
                yield from self._used(self._streaming, "", event.usage)
            case _:
                yield events.Beat()

    def _used(self, message: str, model: str, usage: lines.Usage) -> Iterator[events.Event]:
        before = self._messages.get(message)
        if before is None:
            yield events.Turn()
            before = events.Used(message, events.Tokens(), model or self._model)
        self._messages[message] = used = replace(before, tokens=usage.over(before.tokens))
        yield used

    def _assistant(self, line: lines.Assistant) -> Iterator[events.Event]:
        message = line.message
        if line.error or line.is_api_error_message:
            text = "\n".join(block.text for block in message.content if block.type == "text") or line.error
            yield self._gave_up(text, line.api_error_status, line.api_error_type, line.error)
            return
        if message.model != SYNTHETIC and message.id not in self._streamed:
            yield from self._used(message.id, message.model, message.usage)
        for block in message.content:
            yield from self._block(block)

    def _block(self, block: lines.Block) -> Iterator[events.Event]:
        if block.type == "text" and block.text:
            yield events.Spoke(block.text)
        elif block.type in CALLS and (not block.id or block.id not in self._calls):
            self._calls.add(block.id)
            yield events.Called(block.name, block.input, block.id)
        else:
            yield events.Beat()

    def _gave_up(self, text: str, status: int | None, *names: str) -> events.Trouble:
        self._has_given_up = True
        return events.Trouble(text, kind_of_failure(status, *names), is_final=True)

    def _result(self, line: lines.Result) -> Iterator[events.Event]:
        reason = line.terminal_reason or line.subtype
        if reason == "api_error" and not self._has_given_up:
            yield self._gave_up(line.result or reason, line.api_error_status, line.api_error_type)
        is_error = line.is_error or line.subtype != "success" or line.terminal_reason not in {None, COMPLETED}
        yield events.Finished(
            text=line.result or "; ".join(line.errors),
            structured=line.structured_output,
            is_error=is_error,
            reason=HOOK_CAP if self._is_let_go and not is_error else reason,
            session=line.session_id,
            cost_usd=line.total_cost_usd,
            tokens=sum((usage.tokens for usage in line.model_usage.values()), events.Tokens()),
            model=self._model,
        )


def _retry(line: lines.System) -> events.Trouble:
    name = line.error if isinstance(line.error, str) else ""
    answer = f"status {line.error_status}" if line.error_status is not None else "no answer"
    text = f"request to the model failed ({answer}, {name or 'unknown'}): repeat {line.attempt} of {line.max_retries}"
    return events.Trouble(f"{text} in {line.retry_delay_ms / 1000:.1f} s", kind_of_failure(line.error_status, name))


def _answers(line: lines.User) -> Iterator[events.Event]:
    refused = {meta.id for meta in line.tool_result_meta if meta.is_refused}
    answers = [block for block in line.message.content if block.type.endswith("tool_result")]
    for block in answers:
        text = block.shown
        is_refused = block.tool_use_id in refused or text.startswith(NOT_OFFERED)
        yield events.Answered(block.tool_use_id, shown(text), bool(block.is_error), is_refused)
    if not answers:
        yield events.Beat()
