"""What codex's lines mean: its events on standard output, its own trace on standard error.

Tool calls come from the trace, which has all of them, also those that its sandbox stopped; their arguments and answers
from the record of the session. Tokens come from the trace request by request, and are summed up at the end of a turn.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import JsonValue

from agent_fox.core.json_text import json_object
from agent_fox.session.agents import events
from agent_fox.session.agents.codex.record import Record
from agent_fox.session.agents.codex.trace import REFUSED, Traced, traced, why_failed
from agent_fox.session.agents.command_line import Reader, shown
from agent_fox.session.agents.shapes import Count, Shape
from agent_fox.session.infrastructure import Infrastructure, recognise

if TYPE_CHECKING:
    from agent_fox.session.agents.task import AgentTask

LONGEST_REASON = 400
"""Characters of codex's own words for an error that are kept."""

REFUSALS = ("Command blocked by PreToolUse hook", "unsupported call", "patch rejected", "exec_command failed")
"""How codex's words begin for a call that it did not let run."""

NO_NAMESPACE = "functions"
"""Where codex's own tools are."""

UNSERVED = "required MCP servers failed to initialize"
"""In the last words of a codex that could not reach the verifier's tools, and so has not begun."""


class Usage(Shape):
    """Tokens of the whole thread so far. What was read from a cache or written to one is part of the input."""

    input_tokens: Count = 0
    cached_input_tokens: Count = 0
    cache_write_input_tokens: Count = 0
    output_tokens: Count = 0


class Item(Shape):
    """One thing that happened in a turn; `type` says which of the fields there are."""

    id: str = ""
    type: str = ""
    text: str = ""
    command: str = ""
    aggregated_output: str = ""
    status: str = ""
    server: str = ""
    tool: str = ""
    arguments: JsonValue = None


class Error(Shape):
    message: str = ""


class Line(Shape):
    """One event of codex's own output."""

    type: str
    thread_id: str = ""
    message: str = ""
    item: Item = Item()
    usage: Usage | None = None
    error: Error = Error()


@dataclass(slots=True)
class CodexReader(Reader):
    """One process of codex. `is_failing`: the last request failed, with `kind` if that is known."""

    task: AgentTask
    record: Record = field(init=False)
    model: str = field(init=False)
    session: str = ""
    text: str = ""
    error: str = ""
    refusal: str = ""
    results: dict[str, bool] = field(default_factory=dict)
    kind: Infrastructure | None = None
    is_failing: bool = False
    is_traced: bool = False
    is_over: bool = False

    def __post_init__(self) -> None:
        self.record, self.model = Record(self.task.home / ".codex/sessions"), self.task.model

    def complaint(self, text: str) -> Iterable[events.Event]:
        event = traced(text)
        if event is not None:
            return tuple(self._of_tools(event) if event.name.startswith("codex.tool_") else self._of_requests(event))
        if refusal := REFUSED.fullmatch(text):
            self.refusal = refusal[1]
        if not text.startswith("Error: "):
            return ()
        self.error = text.removeprefix("Error: ")[:LONGEST_REASON]
        return (events.Trouble(self.error, Infrastructure.NETWORK, True),) if UNSERVED in text else ()

    def end(self, exit_status: int | None) -> events.Finished | None:
        return None if self.is_over else self._failed(self.error or "it ended in the middle of its turn")

    def events_of(self, text: str) -> tuple[events.Event, ...]:
        line = Line.model_validate_json(text)
        match line.type:
            case "thread.started":
                self.session = line.thread_id
                return (events.Began(line.thread_id, self.model),)
            case "error":
                self.error = line.message[:LONGEST_REASON]
                return (self._trouble(line.message, False),)
            case "turn.completed":
                return (self._finished(line.usage),)
            case "turn.failed":
                self.is_over = True
                reason = line.error.message[:LONGEST_REASON] or "the turn failed"
                return (self._trouble(line.error.message, True), self._failed(reason))
            case "item.completed" if line.item.type == "agent_message":
                self.text = line.item.text
                return (events.Spoke(line.item.text),)
            case "item.started" | "item.completed" if not self.is_traced:
                return untraced(line.item, line.type == "item.completed")
        return (events.Beat(),)

    def _trouble(self, message: str, is_final: bool) -> events.Trouble:
        """Its kind is what the trace says of the request; the words count only until the trace has said it."""
        kind = self.kind if self.is_failing else recognise(1, f"error: {message}")
        return events.Trouble(message[:LONGEST_REASON], kind, is_final)

    def _finished(self, usage: Usage | None) -> events.Finished:
        self.is_over, spent = True, None
        if usage is not None:
            cached, written = usage.cached_input_tokens, usage.cache_write_input_tokens
            spent = tokens(usage.input_tokens, cached, written, usage.output_tokens)
        answer = json_object(self.text) if self.task.schema is not None else None
        return events.Finished(
            self.text, answer, reason="completed", session=self.session, tokens=spent, model=self.model
        )

    def _failed(self, reason: str) -> events.Finished:
        return events.Finished(self.text, is_error=True, reason=reason, session=self.session, model=self.model)

    def _of_requests(self, event: Traced) -> Iterable[events.Event]:
        failure, total = why_failed(event), event.count("input_token_count")
        match event.name:
            case "codex.conversation_starts":
                self.is_traced = True
                self.model = event.fields.get("slug", "") or self.model
                yield events.Began(event.session, self.model)
            case "codex.api_request" | "codex.sse_event" if failure is not None:
                yield self._note_failure(*failure)
            case "codex.api_request":
                if event.fields.get("endpoint") == "/responses":
                    yield events.Turn()
            case "codex.sse_event" if event.fields.get("event.kind") == "response.completed" and total is not None:
                self.is_failing, self.kind = False, None
                cached, written = event.count("cached_token_count") or 0, event.count("cache_write_token_count") or 0
                spent = tokens(total, cached, written, event.count("output_token_count") or 0)
                yield events.Used(f"{event.session} {event.at}", spent, self.model)
            case _:
                yield events.Beat()

    def _note_failure(self, text: str, kind: Infrastructure | None) -> events.Trouble:
        """A stream that ends early is reported twice; only the first report has the cause."""
        if not self.is_failing or self.kind is None or kind is not None:
            self.kind = kind or self.kind
        self.is_failing = True
        return events.Trouble(text, self.kind)

    def _of_tools(self, event: Traced) -> Iterable[events.Event]:
        call, is_direct = event.fields.get("call_id", ""), event.fields.get("tool_source") == "direct"
        match event.name:
            case "codex.tool_call_received":
                named, space = event.fields.get("tool_name", ""), event.fields.get("tool_namespace", "")
                self.refusal = ""
                tool = named if space in ("", NO_NAMESPACE) else f"{space}__{named}"
                given: Mapping[str, object] = self.record.arguments(event.session, call) if is_direct else {}
                yield events.Called(tool, given, call)
            case "codex.tool_result_ready":
                yield self._answered(event.session, call, is_direct)
            case _:
                if event.name == "codex.tool_result":
                    self.results[call] = event.fields.get("success") == "true"
                yield events.Beat()

    def _answered(self, session: str, call: str, is_direct: bool) -> events.Answered:
        """A call that a hook has stopped, or an interrupt, has an end, but no result."""
        why, self.refusal = self.refusal, ""
        result = self.results.pop(call, None)
        text = "" if result else why
        if not text and is_direct:
            text = self.record.answer(session, call)
        return events.Answered(call, shown(text), not result, not result and why.startswith(REFUSALS))


def untraced(item: Item, is_completed: bool) -> tuple[events.Event, ...]:
    """A call as its item describes it, for a codex that writes no trace."""
    match item.type:
        case "command_execution":
            called = events.Called("exec_command", {"cmd": item.command}, item.id)
        case "file_change":
            called = events.Called("apply_patch", {}, item.id)
        case "mcp_tool_call":
            given = item.arguments if isinstance(item.arguments, dict) else {}
            called = events.Called(f"mcp__{item.server}__{item.tool}", given, item.id)
        case _:
            return (events.Beat(),)
    if is_completed:
        return (events.Answered(item.id, shown(item.aggregated_output), item.status != "completed"),)
    return (called,)


def tokens(total: int, cached: int, written: int, output: int) -> events.Tokens:
    """Counts as OpenAI has them, the cached ones inside of the input, as ours, which have them apart."""
    return events.Tokens(max(0, total - cached - written), output, cached, written)
