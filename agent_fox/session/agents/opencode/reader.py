"""What the lines of `opencode run --format json` mean, with those of our plugin. Decides nothing about success.

The program's own lines come some time after the facts, and not at all where it is killed meanwhile: what counts is told
by our plugin too, and the first of both is taken. No last line says how it ended: `end` does, by what was read and by
the exit status.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated

from pydantic import Field, JsonValue

from agent_fox.core.regex import regex
from agent_fox.session.agents import events
from agent_fox.session.agents.command_line import Reader, read_object, shown
from agent_fox.session.agents.shapes import Count, Shape, Word
from agent_fox.session.agents.signatures import hint_of, kind_of
from agent_fox.session.infrastructure import Infrastructure

STOP = "stop"
COMPLETED = "completed"
UNKNOWN = "unknown"
"""What the program calls the end of a model's answer that gave no reason for it: it was cut."""

REPEATED = ": repeat "
UNGUARDED = "its guard or its plugin was not loaded, so that the workspace's own settings may have counted"
REFUSALS = ("Model tried to call unavailable tool", "The user has specified a rule which prevents", "Refused: ")
_ERROR_TYPE = regex(r'"(?:type|code)"\s*:\s*"(\w{1,60}_(?:error|key|quota|exceeded|found))"')


class Cache(Shape):
    read: Count = 0
    write: Count = 0


class Counts(Shape):
    """Tokens of one step. `input` is without what a cache gave or got, `output` without what was reasoned."""

    input: Count = 0
    output: Count = 0
    reasoning: Count = 0
    cache: Cache = Cache()

    @property
    def tokens(self) -> events.Tokens:
        return events.Tokens(self.input, self.output + self.reasoning, self.cache.read, self.cache.write)


class State(Shape):
    """How a tool's call ended."""

    status: Word = ""
    input: dict[str, JsonValue] = Field(default_factory=dict)
    output: Word = ""
    error: Word = ""


class Part(Shape):
    id: Word = ""
    text: Word = ""
    tool: Word = ""
    call: Word = Field(default="", alias="callID")
    state: State = State()
    reason: Word = ""
    tokens: Counts = Counts()
    cost: Annotated[float, Field(ge=0, strict=False)] = 0.0


class ErrorData(Shape):
    message: Word = ""
    status: int | None = Field(default=None, alias="statusCode")
    body: Word = Field(default="", alias="responseBody")


class Error(Shape):
    name: Word = ""
    data: ErrorData = ErrorData()


class PluginLine(Shape):
    """A line of our plugin."""

    event: str
    model: Word = ""
    tool: Word = ""
    call: Word = ""
    arguments: dict[str, JsonValue] = Field(default_factory=dict)
    status: int | None = None
    name: Word = ""
    code: Word = ""
    message: Word = ""
    attempt: int = 0
    wait: Annotated[float, Field(strict=False)] = 0.0
    after: Annotated[float, Field(ge=0, strict=False)] | None = None
    why: Word = ""
    part: Part = Part()


@dataclass(slots=True)
class OpencodeReader(Reader):
    """Reads one process. Remembers which calls it has reported, and what the end has to say."""

    session: str = ""
    model: str = ""
    is_guarded: bool = False
    calls: set[str] = field(default_factory=set)
    answered: set[str] = field(default_factory=set)
    texts: list[str] = field(default_factory=list)
    reason: str = ""
    tokens: dict[str, events.Tokens] = field(default_factory=dict)
    cost: float = 0.0
    trouble: events.Trouble | None = None
    failure: str = ""
    has_given_up: bool = False

    def end(self, exit_status: int | None) -> events.Finished | None:
        if not self.session and not self.failure:
            return None
        failure = self._why_failed(exit_status)
        tokens = sum(self.tokens.values(), events.Tokens()) if self.tokens else None
        return events.Finished(
            "\n".join(self.texts), None, bool(failure), failure or COMPLETED, self.session, self.cost or None, tokens,
            self.model,
        )  # fmt: skip

    def _why_failed(self, exit_status: int | None) -> str:
        """In words; empty where it ended as it should."""
        if not self.is_guarded:
            return UNGUARDED
        if self.failure or self.reason == STOP:
            return self.failure or ("" if exit_status == 0 else "it ended badly")
        return f"the model's last answer ended with {self.reason!r}" if self.reason else "it ended in mid-answer"

    def events_of(self, text: str) -> Iterator[events.Event]:
        raw = read_object(text)
        session = raw.get("sessionID")
        if isinstance(session, str) and session and not self.session:
            self.session = session
            yield events.Began(session, self.model)
        match raw.get("type"):
            case "agent_fox":
                yield from self._of_plugin(PluginLine.model_validate(raw))
            case "step_start":
                self.reason, self.texts = "", []
                yield events.Turn()
            case "text" | "tool_use" | "step_finish" as kind:
                yield from self._part(kind, Part.model_validate(raw.get("part")))
            case "error":
                yield self._failed(Error.model_validate(raw.get("error")))
            case str():
                yield events.Beat()
            case _:
                raise ValueError("a line without a type")

    def _of_plugin(self, line: PluginLine) -> Iterator[events.Event]:
        match line.event:
            case "asked" if line.model and line.model != self.model:
                self.model = line.model
                yield events.Began(self.session, line.model)
            case "call":
                yield self._called(line.tool, line.arguments, line.call)
            case "ended" | "finished" as kind:
                yield from self._part(kind, line.part)
            case "refused":
                words = ", ".join(filter(None, (f"status {line.status}", line.name, line.message)))
                text = f"request to the model failed ({words}){hint_of(line.status, line.name)}"
                yield self._troubled(text, kind_of(line.status, line.name), line.after)
            case "unreached":
                why = line.code or line.name or "no reason given"
                yield self._troubled(f"request to the model failed (no answer, {why})", Infrastructure.NETWORK)
            case "retry":  # a repeat that no answer of the server explains is one after a silence
                trouble = self.trouble or events.Trouble(line.message, Infrastructure.NETWORK)
                again = f"{trouble.text.partition(REPEATED)[0]}{REPEATED}{line.attempt} in {line.wait:.1f} s"
                yield self._troubled(again, trouble.kind, trouble.retry_after)
            case "gave_up":
                self.failure, self.has_given_up = f"gave up: {line.why}", True
                trouble = self.trouble or events.Trouble("no answer", Infrastructure.NETWORK)
                text = f"{line.why}: {trouble.text.partition(REPEATED)[0]}"
                self.trouble = replace(trouble, text=text, is_final=True)
                yield self.trouble
            case state:
                self.is_guarded = self.is_guarded or state == "guarded"
                self.failure = UNGUARDED if state == "unguarded" else self.failure
                yield events.Beat()

    def _called(self, tool: str, arguments: Mapping[str, object], call: str) -> events.Event:
        if call and call in self.calls:
            return events.Beat()
        self.calls.add(call)
        self.trouble = None
        return events.Called(tool, dict(arguments), call)

    def _troubled(self, text: str, kind: Infrastructure | None, after: float | None = None) -> events.Trouble:
        self.trouble = events.Trouble(text, kind, self.has_given_up, after)
        return self.trouble

    def _part(self, kind: str, part: Part) -> Iterator[events.Event]:
        match kind:
            case "text":
                self.texts.append(part.text)
                yield events.Spoke(part.text)
            case "tool_use" | "ended":
                yield from self._ended(part)
            case _:
                yield from self._finished(part)

    def _ended(self, part: Part) -> Iterator[events.Event]:
        if part.call not in self.calls:
            yield self._called(part.tool, part.state.input, part.call)
        if part.call in self.answered:
            yield events.Beat()
            return
        self.answered.add(part.call)
        is_error = part.state.status == "error"
        text = part.state.error if is_error else part.state.output
        yield events.Answered(part.call, shown(text), is_error, is_error and text.startswith(REFUSALS))

    def _finished(self, part: Part) -> Iterator[events.Event]:
        self.reason = part.reason or UNKNOWN
        if part.id in self.tokens:
            yield events.Beat()
            return
        self.tokens[part.id] = part.tokens.tokens
        self.cost += part.cost
        yield events.Used(part.id, part.tokens.tokens, self.model)
        self.trouble = None if self.reason != UNKNOWN else self.trouble
        if self.reason == UNKNOWN:
            yield self._troubled("the model's answer ended too early", Infrastructure.NETWORK)

    def _failed(self, error: Error) -> events.Event:
        text = error.data.message or error.name or "an error without a name"
        self.failure = self.failure or text
        if error.name == "MessageAbortedError":
            return events.Beat()
        error_type = _ERROR_TYPE.search(error.data.body)
        kind = kind_of(error.data.status, error_type[1] if error_type else error.name)
        if kind is None and self.trouble is not None and error.data.status is None:
            kind = self.trouble.kind
        self.trouble = events.Trouble(text, kind, is_final=True)
        return self.trouble
