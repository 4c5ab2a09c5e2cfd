"""The shapes of opencode's lines, and of those that our plugin adds. What is not named here is not looked at."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, JsonValue

from agent_fox.session.agents.events import Tokens


def _empty_for_none(value: object) -> object:
    return "" if value is None else value


Word = Annotated[str, BeforeValidator(_empty_for_none)]
Count = Annotated[int, Field(ge=0)]


class _Shape(BaseModel, defer_build=True):
    model_config = ConfigDict(extra="ignore", frozen=True, allow_inf_nan=False, strict=True)


class Cache(_Shape):
    read: Count = 0
    write: Count = 0


class Counts(_Shape):
    """Tokens of one step. `input` is without what a cache gave or got, `output` without what was reasoned."""

    input: Count = 0
    output: Count = 0
    reasoning: Count = 0
    cache: Cache = Cache()

    @property
    def tokens(self) -> Tokens:
        return Tokens(self.input, self.output + self.reasoning, self.cache.read, self.cache.write)


class State(_Shape):
    """How a tool's call ended."""

    status: Word = ""
    input: dict[str, JsonValue] = {}
    output: Word = ""
    error: Word = ""


class Part(_Shape):
    id: Word = ""
    text: Word = ""
    tool: Word = ""
    call: Word = Field(default="", alias="callID")
    state: State = State()
    reason: Word = ""
    tokens: Counts = Counts()
    cost: Annotated[float, Field(ge=0, strict=False)] = 0.0


class Step(_Shape):
    """A line about a part of a message: the program's own."""

    part: Part


class ErrorData(_Shape):
    message: Word = ""
    status: int | None = Field(default=None, alias="statusCode")
    body: Word = Field(default="", alias="responseBody")


class Error(_Shape):
    name: Word = ""
    data: ErrorData = ErrorData()


class Failure(_Shape):
    error: Error


class Told(_Shape):
    """A line of our plugin."""

    event: str
    model: Word = ""
    tool: Word = ""
    call: Word = ""
    arguments: dict[str, JsonValue] = {}
    status: int | None = None
    name: Word = ""
    code: Word = ""
    message: Word = ""
    attempt: int = 0
    wait: Annotated[float, Field(strict=False)] = 0.0
    after: Annotated[float, Field(ge=0, strict=False)] | None = None
    why: Word = ""
    part: Part = Part()
