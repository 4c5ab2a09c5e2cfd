"""What codex's lines mean: its events on standard output, its own trace on standard error.

Tool calls come from the trace, which has all of them, also those that its sandbox stopped; their arguments and answers
from the record of the session. Tokens come from the trace request by request, and are summed up at the end of a turn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agent_fox.core.json_text import json_object
from agent_fox.session.agents import events
from agent_fox.session.agents.codex.lines import Item, Line, tokens
from agent_fox.session.agents.codex.record import Record
from agent_fox.session.agents.codex.trace import Traced, refused, traced, why_failed
from agent_fox.session.agents.command_line import Reader, shown
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


class CodexReader(Reader):
    """One process of codex."""

    def __init__(self, task: AgentTask) -> None:
        self._is_structured = task.schema is not None
        self._record = Record(task.home / ".codex/sessions")
        self._state = _State(model=task.model)

    def complaint(self, text: str) -> Iterable[events.Event]:
        event = traced(text)
        if event is not None:
            return tuple(_TRACED.get(event.name, _beat)(self, event))
        self._state.refusal = refused(text) or self._state.refusal
        if not text.startswith("Error: "):
            return ()
        self._state.error = text.removeprefix("Error: ")[:LONGEST_REASON]
        return (events.Trouble(self._state.error, Infrastructure.NETWORK, True),) if UNSERVED in text else ()

    def end(self, exit_status: int | None) -> events.Finished | None:
        state = self._state
        if state.is_over:
            return None
        reason = state.error or "it ended in the middle of its turn"
        return events.Finished(state.text, is_error=True, reason=reason, session=state.session, model=state.model)

    def events_of(self, text: str) -> tuple[events.Event, ...]:
        line, state = Line.model_validate_json(text), self._state
        match line.type:
            case "thread.started":
                state.session = line.thread_id
                return (events.Began(line.thread_id, state.model),)
            case "error":
                state.error = line.message[:LONGEST_REASON]
                return (self._trouble(line.message, False),)
            case "turn.completed":
                return (self._finished(line),)
            case "turn.failed":
                return (self._trouble(line.error.message, True), self._failed(line.error.message))
            case "item.started" | "item.completed":
                return self._of_item(line.item, line.type == "item.completed")
        return (events.Beat(),)

    def _trouble(self, message: str, is_final: bool) -> events.Trouble:
        """Its kind is what the trace says of the request; the words count only until the trace has said it."""
        kind = self._state.kind if self._state.is_failing else recognise(1, f"error: {message}")
        return events.Trouble(message[:LONGEST_REASON], kind, is_final)

    def _finished(self, line: Line) -> events.Finished:
        state, usage = self._state, line.usage
        state.is_over = True
        spent = None
        if usage is not None:
            cached, written = usage.cached_input_tokens, usage.cache_write_input_tokens
            spent = tokens(usage.input_tokens, cached, written, usage.output_tokens)
        answer = json_object(state.text) if self._is_structured else None
        return events.Finished(
            state.text, answer, reason="completed", session=state.session, tokens=spent, model=state.model
        )

    def _failed(self, message: str) -> events.Finished:
        state = self._state
        state.is_over = True
        reason = message[:LONGEST_REASON] or "the turn failed"
        return events.Finished(state.text, is_error=True, reason=reason, session=state.session, model=state.model)

    def _of_item(self, item: Item, is_completed: bool) -> tuple[events.Event, ...]:
        if item.type == "agent_message" and is_completed:
            self._state.text = item.text
            return (events.Spoke(item.text),)
        if self._state.is_traced:
            return (events.Beat(),)
        return _untraced(item, is_completed) or (events.Beat(),)

    def _on_start(self, event: Traced) -> Iterable[events.Event]:
        state = self._state
        state.is_traced = True
        state.model = event.fields.get("slug", "") or state.model
        yield events.Began(event.fields.get("conversation.id", ""), state.model)

    def _on_request(self, event: Traced) -> Iterable[events.Event]:
        failure = why_failed(event)
        if failure is not None:
            yield self._note_failure(*failure)
        elif event.fields.get("endpoint") == "/responses":
            yield events.Turn()

    def _on_stream(self, event: Traced) -> Iterable[events.Event]:
        failure, total = why_failed(event), event.count("input_token_count")
        if failure is not None:
            yield self._note_failure(*failure)
        elif event.fields.get("event.kind") == "response.completed" and total is not None:
            self._state.is_failing, self._state.kind = False, None
            spent = _spent(event, total)
            yield events.Used(f"{event.fields.get('conversation.id', '')} {event.at}", spent, self._state.model)
        else:
            yield events.Beat()

    def _note_failure(self, text: str, kind: Infrastructure | None) -> events.Trouble:
        """A stream that ends early is reported twice; only the first report has the cause."""
        state = self._state
        if not state.is_failing or state.kind is None or kind is not None:
            state.kind = kind or state.kind
        state.is_failing = True
        return events.Trouble(text, state.kind)

    def _on_call(self, event: Traced) -> Iterable[events.Event]:
        named, call = event.fields.get("tool_name", ""), event.fields.get("call_id", "")
        space, self._state.refusal = event.fields.get("tool_namespace", ""), ""
        tool = named if space in ("", NO_NAMESPACE) else f"{space}__{named}"
        given: Mapping[str, object] = {}
        if event.fields.get("tool_source") == "direct":
            given = self._record.arguments(event.fields.get("conversation.id", ""), call)
        yield events.Called(tool, given, call)

    def _on_result(self, event: Traced) -> Iterable[events.Event]:
        self._state.results[event.fields.get("call_id", "")] = event.fields.get("success") == "true"
        yield events.Beat()

    def _on_answer(self, event: Traced) -> Iterable[events.Event]:
        """A call that a hook has stopped, or an interrupt, has an end, but no result."""
        call, why = event.fields.get("call_id", ""), self._state.refusal
        result, self._state.refusal = self._state.results.pop(call, None), ""
        is_refused = not result and why.startswith(REFUSALS)
        text = "" if result else why
        if not text and event.fields.get("tool_source") == "direct":
            text = self._record.answer(event.fields.get("conversation.id", ""), call)
        yield events.Answered(call, shown(text), not result, is_refused)


@dataclass(slots=True)
class _State:
    """What is remembered between two lines. `is_failing`: the last request failed, with `kind` if that is known."""

    model: str
    session: str = ""
    text: str = ""
    error: str = ""
    refusal: str = ""
    results: dict[str, bool] = field(default_factory=dict)
    kind: Infrastructure | None = None
    is_failing: bool = False
    is_traced: bool = False
    is_over: bool = False


def _beat(reader: CodexReader, event: Traced) -> Iterable[events.Event]:
    return (events.Beat(),)


_TRACED: Mapping[str, Callable[[CodexReader, Traced], Iterable[events.Event]]] = {
    "codex.conversation_starts": CodexReader._on_start,
    "codex.api_request": CodexReader._on_request,
    "codex.sse_event": CodexReader._on_stream,
    "codex.tool_call_received": CodexReader._on_call,
    "codex.tool_result": CodexReader._on_result,
    "codex.tool_result_ready": CodexReader._on_answer,
}


def _untraced(item: Item, is_completed: bool) -> tuple[events.Event, ...]:
    """A call as its item describes it, for a codex that writes no trace."""
    called = _called(item)
    if called is None:
        return ()
    if is_completed:
        return (events.Answered(item.id, shown(item.aggregated_output), item.status != "completed"),)
    return (called,)


def _called(item: Item) -> events.Called | None:
    match item.type:
        case "command_execution":
            return events.Called("exec_command", {"cmd": item.command}, item.id)
        case "file_change":
            return events.Called("apply_patch", {}, item.id)
        case "mcp_tool_call":
            given = item.arguments if isinstance(item.arguments, dict) else {}
            return events.Called(f"mcp__{item.server}__{item.tool}", given, item.id)
    return None


def _spent(event: Traced, total: int) -> events.Tokens:
    cached, written = event.count("cached_token_count") or 0, event.count("cache_write_token_count") or 0
    return tokens(total, cached, written, event.count("output_token_count") or 0)
