"""What the lines of `opencode run --format json` mean, with those of our plugin. Decides nothing about success.

The program's own lines come some time after the facts, and not at all where it is killed meanwhile: what counts is told
by our plugin too, and the first of both is taken. No last line says how it ended: `end` does, by what was read and by
the exit status.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from agent_fox.core.regex import regex
from agent_fox.session.agents import events
from agent_fox.session.agents.command_line import Reader, read_object, shown
from agent_fox.session.agents.opencode import lines
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


class OpencodeReader(Reader):
    """Reads one process. Remembers which calls it has reported, and what the end has to say."""

    def __init__(self) -> None:
        self._session = ""
        self._model = ""
        self._is_guarded = False
        self._calls: set[str] = set()
        self._answered: set[str] = set()
        self._texts: list[str] = []
        self._reason = ""
        self._tokens: dict[str, events.Tokens] = {}
        self._cost = 0.0
        self._trouble: events.Trouble | None = None
        self._failure = ""
        self._has_given_up = False

    def end(self, exit_status: int | None) -> events.Finished | None:
        if not self._session and not self._failure:
            return None
        failure = self._why_failed(exit_status)
        return events.Finished(
            text="\n".join(self._texts),
            is_error=bool(failure),
            reason=failure or COMPLETED,
            session=self._session,
            cost_usd=self._cost or None,
            tokens=sum(self._tokens.values(), events.Tokens()) if self._tokens else None,
            model=self._model,
        )

    def _why_failed(self, exit_status: int | None) -> str:
        """In words; empty where it ended as it should."""
        if not self._is_guarded:
            return UNGUARDED
        if self._failure:
            return self._failure
        if self._reason != STOP:
            return f"the model's last answer ended with {self._reason!r}" if self._reason else "it ended in mid-answer"
        return "" if exit_status == 0 else "it ended badly"

    def events_of(self, text: str) -> Iterator[events.Event]:
        raw = read_object(text)
        session = raw.get("sessionID")
        if isinstance(session, str) and session and not self._session:
            self._session = session
            yield events.Began(session, self._model)
        match raw.get("type"):
            case "agent_fox":
                yield from self._of_plugin(lines.PluginLine.model_validate(raw))
            case "step_start":
                self._reason, self._texts = "", []
                yield events.Turn()
            case "text" | "tool_use" | "step_finish" as kind:
                yield from self._part(kind, lines.Step.model_validate(raw).part)
            case "error":
                yield self._failed(lines.Failure.model_validate(raw).error)
            case str():
                yield events.Beat()
            case _:
                raise ValueError("a line without a type")

    def _of_plugin(self, line: lines.PluginLine) -> Iterator[events.Event]:
        match line.event:
            case "guarded":
                self._is_guarded = True
                yield events.Beat()
            case "unguarded":
                self._failure = UNGUARDED
                yield events.Beat()
            case "asked":
                if line.model and line.model != self._model:
                    self._model = line.model
                    yield events.Began(self._session, line.model)
                else:
                    yield events.Beat()
            case "call":
                yield from self._called(line.tool, line.arguments, line.call)
            case "ended" | "finished" as kind:
                yield from self._part(kind, line.part)
            case "refused":
                yield self._troubled(_refusal(line), kind_of(line.status, line.name), line.after)
            case "unreached":
                yield self._troubled(
                    f"request to the model failed (no answer, {line.code or line.name or 'no reason given'})",
                    Infrastructure.NETWORK,
                )
            case "retry":
                yield self._again(line)
            case "gave_up":
                self._failure, self._has_given_up = f"gave up: {line.why}", True
                yield self._final(line.why)
            case _:
                yield events.Beat()

    def _called(self, tool: str, arguments: Mapping[str, object], call: str) -> Iterator[events.Event]:
        if call and call in self._calls:
            yield events.Beat()
            return
        self._calls.add(call)
        self._trouble = None
        yield events.Called(tool, dict(arguments), call)

    def _troubled(self, text: str, kind: Infrastructure | None, after: float | None = None) -> events.Trouble:
        self._trouble = events.Trouble(text, kind, self._has_given_up, after)
        return self._trouble

    def _again(self, line: lines.PluginLine) -> events.Trouble:
        """A repeat that no answer of the server explains is one after a silence."""
        trouble = self._trouble or events.Trouble(line.message, Infrastructure.NETWORK)
        text = trouble.text.partition(REPEATED)[0]
        return self._troubled(f"{text}{REPEATED}{line.attempt} in {line.wait:.1f} s", trouble.kind, trouble.retry_after)

    def _final(self, why: str) -> events.Trouble:
        trouble = self._trouble or events.Trouble("no answer", Infrastructure.NETWORK)
        self._trouble = replace(trouble, text=f"{why}: {trouble.text.partition(REPEATED)[0]}", is_final=True)
        return self._trouble

    def _part(self, kind: str, part: lines.Part) -> Iterator[events.Event]:
        match kind:
            case "text":
                self._texts.append(part.text)
                yield events.Spoke(part.text)
            case "tool_use" | "ended":
                yield from self._ended(part)
            case _:
                yield from self._finished(part)

    def _ended(self, part: lines.Part) -> Iterator[events.Event]:
        if part.call not in self._calls:
            yield from self._called(part.tool, part.state.input, part.call)
        if part.call in self._answered:
            yield events.Beat()
            return
        self._answered.add(part.call)
        is_error = part.state.status == "error"
        text = part.state.error if is_error else part.state.output
        yield events.Answered(part.call, shown(text), is_error, is_error and text.startswith(REFUSALS))

    def _finished(self, part: lines.Part) -> Iterator[events.Event]:
        self._reason = part.reason or UNKNOWN
        if part.id in self._tokens:
            yield events.Beat()
            return
        self._tokens[part.id] = part.tokens.tokens
        self._cost += part.cost
        yield events.Used(part.id, part.tokens.tokens, self._model)
        if self._reason == UNKNOWN:
            yield self._troubled("the model's answer ended too early", Infrastructure.NETWORK)
        else:
            self._trouble = None

    def _failed(self, error: lines.Error) -> events.Event:
        text = error.data.message or error.name or "an error without a name"
        self._failure = self._failure or text
        if error.name == "MessageAbortedError":
            return events.Beat()
        error_type = _ERROR_TYPE.search(error.data.body)
        kind = kind_of(error.data.status, error_type[1] if error_type else error.name)
        if kind is None and self._trouble is not None and error.data.status is None:
            kind = self._trouble.kind
        self._trouble = events.Trouble(text, kind, is_final=True)
        return self._trouble


def _refusal(line: lines.PluginLine) -> str:
    words = ", ".join(filter(None, (f"status {line.status}", line.name, line.message)))
    return f"request to the model failed ({words}){hint_of(line.status, line.name)}"
