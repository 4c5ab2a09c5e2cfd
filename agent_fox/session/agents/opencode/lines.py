"""The shapes of opencode's lines, and of those that our plugin adds. What is not named here is not looked at."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, JsonValue

from agent_fox.session.agents.events import Tokens
from agent_fox.session.agents.shapes import Count, Shape, Word


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
    def tokens(self) -> Tokens:
        return Tokens(self.input, self.output + self.reasoning, self.cache.read, self.cache.write)


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


class Step(Shape):
    """A line about a part of a message: the program's own."""

    part: Part


class ErrorData(Shape):
    message: Word = ""
    status: int | None = Field(default=None, alias="statusCode")
    body: Word = Field(default="", alias="responseBody")


class Error(Shape):
    name: Word = ""
    data: ErrorData = ErrorData()


class Failure(Shape):
    error: Error


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
