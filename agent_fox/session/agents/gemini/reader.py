"""What Gemini CLI prints with `--output-format stream-json`, and what it keeps of a session, as events."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import BaseModel, JsonValue, ValidationError

from agent_fox.core.regex import regex
from agent_fox.session.agents import events
from agent_fox.session.agents.command_line import Reader, shown
from agent_fox.session.agents.private_files import Growing
from agent_fox.session.agents.signatures import hint_of, kind_of
from agent_fox.session.infrastructure import Infrastructure

LONGEST_TROUBLE = 400
"""Characters of a line of standard error that an event keeps."""

OURS = "mcp_verifier_"
"""Before the name of a tool of our server, which is told as other programs name it."""

REFUSALS = frozenset({"tool_not_registered", "policy_violation"})
STOPPED_BY_HOOK = "Agent execution blocked: "
UNSERVED = "MCP issues detected."
"""All that is told of a server of tools that cannot be reached; there is never any other than ours."""

_STATUS = regex(r"[1-5]\d\d", re.ASCII)
_TRIED = regex(r"Attempt \d+ failed with status (\w+)")
_GIVEN_UP = regex(r"Error when talking to Gemini API ")
_FIELD = regex(r"\s+(?:\[?cause\]?: \{ )?(?:status|code): '?(\w+)'?")
_BROKEN_OFF = regex(r"\[API Error: (?:exception TypeError: fetch failed|terminated\b|Incomplete JSON segment)")
"""All that is told of a connection that was refused, cut, or brought something else than answers."""

_IN_JSON = regex(r"\"(?:code|reason|status|type)\"\s*:\s*\"?(\w+)")


LARGEST = 64 * 1024 * 1024
"""Bytes of a session's file that are looked at."""

_SESSION = regex(r"[0-9a-f]{8}-[0-9a-f-]{27}")


class Failure(BaseModel, defer_build=True):
    type: str = ""
    message: str = ""


class Counts(BaseModel, defer_build=True):
    total_tokens: int = 0
    input_tokens: int = 0
    cached: int = 0

    @property
    def tokens(self) -> events.Tokens:
        """Thoughts are in the total only, and are paid as output."""
        fresh = self.input_tokens - self.cached
        return events.Tokens(max(fresh, 0), max(self.total_tokens - self.input_tokens, 0), max(self.cached, 0))


class Stats(BaseModel, defer_build=True):
    models: dict[str, Counts] = {}


class Line(BaseModel, defer_build=True):
    """One line; `type` says which of the fields there are."""

    type: str
    timestamp: JsonValue = ""
    session_id: str = ""
    model: str = ""
    role: str | None = None
    content: str = ""
    tool_name: str | None = None
    tool_id: str | None = None
    parameters: dict[str, object] = {}
    status: str = ""
    output: str = ""
    error: Failure | None = None
    message: str = ""
    stats: Stats | None = None


class Numbers(BaseModel, defer_build=True):
    input: int = 0
    output: int = 0
    cached: int = 0
    thoughts: int = 0
    tool: int = 0


class Kept(BaseModel, defer_build=True):
    id: str
    timestamp: str = ""
    tokens: Numbers
    model: str = ""


@dataclass(slots=True)
class Transcript:
    """The session as the program keeps it in its home: the only place where each message's tokens stand. `began` is
    when this process of the session did.
    """

    home: Path
    session: str = ""
    began: str = ""
    file: Growing = field(default_factory=lambda: Growing(LARGEST, LARGEST))
    seen: set[str] = field(default_factory=set)
    spent: dict[str, events.Tokens] = field(default_factory=dict)
    """events.Tokens told so far, by model."""

    def begin(self, session: str, began: str) -> None:
        """Name the session, and when this process of it began, as the program tells times: ISO 8601, in UTC."""
        self.session, self.began = session if _SESSION.fullmatch(session) else "", began

    def used(self) -> Iterator[events.Used]:
        """The messages of this process that came since the last look."""
        pattern = f".gemini/tmp/*/chats/session-*-{self.session[:8]}.jsonl"
        for path in sorted(self.home.glob(pattern))[:1] if self.session else ():
            for line in self.file.lines(path):
                with suppress(ValidationError):
                    message = Kept.model_validate_json(line)
                    if message.id not in self.seen and message.timestamp >= self.began:
                        self.seen.add(message.id)
                        yield self._spent(message)

    def _spent(self, message: Kept) -> events.Used:
        """Thoughts are paid as output; what a cache held is part of the input."""
        counts = message.tokens
        fresh, written = counts.input + counts.tool - counts.cached, counts.output + counts.thoughts
        tokens = events.Tokens(max(fresh, 0), max(written, 0), max(counts.cached, 0))
        self.spent[message.model] = self.spent.get(message.model, events.Tokens()) + tokens
        return events.Used(message.id, tokens, message.model)


@dataclass(slots=True)
class GeminiReader(Reader):
    """One process of the program. home: its own, where it keeps the session with each message's tokens.

    It has no `end`: a process that was ended by a signal exits with 0 and without a last word, which is no success.
    """

    home: Path
    session: str = ""
    model: str = ""
    transcript: Transcript = field(init=False)
    words: str = ""
    """What the model has said since its last call of a tool."""
    is_asked: bool = True
    """Whether the model's next word opens a turn."""
    warning: str = ""
    """What the program warned of last, unless the model went on after it."""
    is_giving_up: bool = False
    known: Infrastructure | None = None
    """What standard error says is broken, for the last word on standard output often does not."""

    def __post_init__(self) -> None:
        self.transcript = Transcript(self.home)

    def events_of(self, text: str) -> Iterator[events.Event]:
        match line := Line.model_validate_json(text):
            case Line(type="init", timestamp=str(began)):
                self.session, self.model = line.session_id, line.model
                self.transcript.begin(line.session_id, began)
                yield events.Began(line.session_id, line.model)
            case Line(type="message", role=str(role)):
                if role == "assistant":
                    yield from self._turn()
                    self.words += line.content
                yield events.Beat()
            case Line(type="tool_use", tool_name=str(name)):
                yield from self._turn()
                yield from self._flushed()
                own = name.removeprefix(OURS)
                yield events.Called(
                    name if own == name else f"mcp__verifier__{own}", line.parameters, line.tool_id or ""
                )
            case Line(type="tool_result", tool_id=str(call)):
                self.is_asked = True
                failure = line.error or Failure()
                text = shown(line.output or failure.message)
                yield events.Answered(call, text, line.status != "success", failure.type in REFUSALS)
                yield from self.transcript.used()
            case Line(type="error"):
                yield from self._warned(line.message)
            case Line(type="result", timestamp=str()):
                yield from self._ended(line)
            case _:
                raise ValueError("a line of another format")

    def _turn(self) -> Iterator[events.Event]:
        if self.is_asked:
            self.is_asked, self.warning, self.known = False, "", None
            yield events.Turn()

    def _flushed(self) -> Iterator[events.Event]:
        words, self.words = self.words, ""
        if words.strip():
            yield events.Spoke(words)

    def _warned(self, message: str) -> Iterator[events.Event]:
        """A warning ends the work, though its result may say success, unless the model goes on after it."""
        yield from self._flushed()
        self.is_asked, self.warning = True, message
        if message.startswith(STOPPED_BY_HOOK):
            yield events.Beat()
        else:
            yield events.Trouble(message)

    def _ended(self, line: Line) -> Iterator[events.Event]:
        failure, words = line.error or Failure(), self.words
        is_error = line.status != "success" or bool(self.warning)
        if not is_error:
            yield from self._flushed()
        yield from self.transcript.used()
        yield from self._rest(line)
        if failure.message:
            yield events.Trouble(failure.message, kind_in(failure.message) or self.known, is_final=True)
        text = failure.message or self.warning or words
        reason = failure.type or self.warning or line.status
        yield events.Finished(text, is_error=is_error, reason=reason, session=self.session, model=self.model)

    def _rest(self, line: Line) -> Iterator[events.Event]:
        """Tokens of the requests that are not messages of the session, such as compressing what was said."""
        for model, counts in (line.stats or Stats()).models.items():
            spent = self.transcript.spent.get(model, events.Tokens())
            left = events.Tokens(
                *(max(total - part, 0) for total, part in zip(counts.tokens.counts, spent.counts, strict=True))
            )
            if left != events.Tokens():
                yield events.Used(f"{self.session} {line.timestamp} {model}", left, model)

    def complaint(self, text: str) -> Iterable[events.Event]:
        """Failed requests stand on standard error: each that is repeated, and the last with its fields."""
        if text.startswith(UNSERVED):
            return [events.Began(self.session, self.model, servers={"verifier": "failed"})]
        match = _TRIED.match(text)
        if match:
            self.known = kind_of_failure([match[1]])
            return [events.Trouble(text[:LONGEST_TROUBLE], self.known)]
        if _GIVEN_UP.match(text) or text.startswith("}"):
            self.is_giving_up = not text.startswith("}")
            return []
        match = _FIELD.match(text) if self.is_giving_up else None
        if match is None or (kind := kind_of_failure([match[1]])) is None:
            return []
        self.known = kind
        return [events.Trouble(f"the model's server: {match[1]}{hint_of(None, match[1])}", kind, is_final=True)]


def kind_of_failure(words: Iterable[str]) -> Infrastructure | None:
    """What was broken, by the HTTP status and the names among the words."""
    names = list(words)
    return kind_of(next((int(word) for word in names if _STATUS.fullmatch(word)), None), *names)


def kind_in(message: str) -> Infrastructure | None:
    """What was broken, by the program's own last error."""
    if _BROKEN_OFF.match(message):
        return Infrastructure.NETWORK
    return kind_of_failure(_IN_JSON.findall(message)) if message.startswith("[API Error: {") else None
