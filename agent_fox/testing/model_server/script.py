"""The script of the model server: what the scripted backend plays, and what only a model can do. Plays nothing.

    {mcp = "run_unit_tests", arguments = {}}     # the offered tool whose name ends so
    {tool = "Bash", arguments = {command = "x"}} # this very tool, offered or not
    {say = "text"}                               # a final answer; later actions are played if the talk goes on
    {answer = {findings = []}}                   # the same as JSON, by the structured answer where there is one
    {status = 529, body = "...", times = 2}      # an HTTP error; `times` counts per ticket, default 1
    {drop = true}                                # the answer is cut in its middle
    {garbage = "<html>"}                         # an answer that is none
    {hang = 30, stage = "before"}                # seconds of silence, before the headers or in the "stream"
    {fail = "rate limit"}                        # as the scripted backend has it; always, or `times`

In place of a number, `times = "always"`. What was met by a ticket (node, attempt, reading) stays met when the
session is launched again. `print` and `complain` are words before the next turn. `cost_usd`, `exit` and
`allow_failure` are no model's to decide and have no effect. `input_tokens` and `output_tokens` are those of every
single answer of the step.
"""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, JsonValue, Tag, TypeAdapter, ValidationError

from agent_fox.session.built_in import script as scripted
from agent_fox.session.built_in.script import (
    Append,
    Complain,
    Delete,
    Print,
    Replace,
    Run,
    ScriptError,
    Sleep,
    Verdicts,
    Write,
)

Times = Annotated[int, Field(ge=1)] | Literal["always"]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Mcp(_Strict):
    mcp: str = Field(min_length=1)
    arguments: dict[str, JsonValue] = {}


class Tool(_Strict):
    tool: str = Field(min_length=1)
    arguments: dict[str, JsonValue] = {}


class Say(_Strict):
    say: str


class Answer(_Strict):
    answer: dict[str, JsonValue]


class Status(_Strict):
    status: int = Field(ge=400, le=599)
    body: str | None = None
    times: Times = 1


class Drop(_Strict):
    drop: Literal[True]
    times: Times = 1


class Garbage(_Strict):
    garbage: str
    times: Times = 1


class Hang(_Strict):
    hang: float = Field(ge=0)
    stage: Literal["before", "stream"] = "before"
    times: Times = "always"


class Fail(_Strict):
    fail: Literal["authentication", "rate limit", "overload", "network"]
    times: Times = "always"


Obstacle = Status | Drop | Garbage | Hang | Fail | Sleep
"""What stands in the way of an answer."""

Ending = Say | Answer | Verdicts
"""What ends a model's work, as far as it goes."""

Deed = Write | Append | Replace | Delete | Run | Mcp | Tool
"""What a model does by calling a tool."""

_KINDS: tuple[type[BaseModel], ...] = (
    *(Write, Append, Replace, Delete, Run, Mcp, Tool, Say, Answer, Verdicts, Print, Complain),
    *(Status, Drop, Garbage, Hang, Fail, Sleep),
)
_NAMES = {kind.__name__.lower(): kind for kind in _KINDS}


def _kind(action: Any) -> str | None:  # noqa: ANN401 - what a file holds before it is checked
    if isinstance(action, BaseModel):
        return type(action).__name__.lower()
    return next((name for name in _NAMES if name in action), None) if isinstance(action, dict) else None


Action = Annotated[
    Annotated[Write, Tag("write")]
    | Annotated[Append, Tag("append")]
    | Annotated[Replace, Tag("replace")]
    | Annotated[Delete, Tag("delete")]
    | Annotated[Run, Tag("run")]
    | Annotated[Mcp, Tag("mcp")]
    | Annotated[Tool, Tag("tool")]
    | Annotated[Say, Tag("say")]
    | Annotated[Answer, Tag("answer")]
    | Annotated[Verdicts, Tag("verdicts")]
    | Annotated[Print, Tag("print")]
    | Annotated[Complain, Tag("complain")]
    | Annotated[Status, Tag("status")]
    | Annotated[Drop, Tag("drop")]
    | Annotated[Garbage, Tag("garbage")]
    | Annotated[Hang, Tag("hang")]
    | Annotated[Fail, Tag("fail")]
    | Annotated[Sleep, Tag("sleep")],
    Discriminator(_kind),
]


class Step(scripted.Step):
    """What the model does in one session."""

    actions: list[Action] = []  # type: ignore[assignment]  # noqa: RUF012 - more kinds; pydantic copies it


class Script(_Strict):
    step: list[Step] = []

    def fitting(self, node: str, attempt: int, reading: int) -> tuple[int, Step] | None:
        """The first step that fits, and its place in the script."""
        return next((found for found in enumerate(self.step) if found[1].fits(node, attempt, reading)), None)


_SCRIPT = TypeAdapter(Script)


def read_model_script(path: Path) -> Script:
    """Read a script, TOML or JSON by its ending. Raises ScriptError."""
    try:
        raw = path.read_text(encoding="utf-8")
        return _SCRIPT.validate_python(json.loads(raw) if path.suffix == ".json" else tomllib.loads(raw))
    except OSError as error:
        raise ScriptError(f"script {path}: {error.strerror}; name a script that exists") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ScriptError(f"script {path}: {place}: {first['msg']}") from error
    except ValueError as error:
        raise ScriptError(f"script {path}: {error}") from error
