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

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, get_args

from pydantic import Field, JsonValue

from agent_fox.testing.scripted import script as scripted
from agent_fox.testing.scripted.script import (
    Append,
    Complain,
    Delete,
    Print,
    Replace,
    Run,
    Sleep,
    Strict,
    Verdicts,
    Write,
    one_of,
    read_script,
)

Times = Annotated[int, Field(ge=1)] | Literal["always"]


class Mcp(Strict):
    mcp: str = Field(min_length=1)
    arguments: dict[str, JsonValue] = Field(default_factory=dict)


class Tool(Strict):
    tool: str = Field(min_length=1)
    arguments: dict[str, JsonValue] = Field(default_factory=dict)


class Say(Strict):
    say: str


class Answer(Strict):
    answer: dict[str, JsonValue]


class Status(Strict):
    status: int = Field(ge=400, le=599)
    body: str | None = None
    times: Times = 1


class Drop(Strict):
    drop: Literal[True]
    times: Times = 1


class Garbage(Strict):
    garbage: str
    times: Times = 1


class Hang(Strict):
    hang: float = Field(ge=0)
    stage: Literal["before", "stream"] = "before"
    times: Times = "always"


class Fail(Strict):
    fail: Literal["authentication", "rate limit", "overload", "network"]
    times: Times = "always"


Obstacle = Status | Drop | Garbage | Hang | Fail | Sleep
"""What stands in the way of an answer."""

Ending = Say | Answer | Verdicts
"""What ends a model's work, as far as it goes."""

Deed = Write | Append | Replace | Delete | Run | Mcp | Tool
"""What a model does by calling a tool."""

if TYPE_CHECKING:
    Action = Deed | Ending | Print | Complain | Obstacle
else:
    Action = one_of(*get_args(Deed), *get_args(Ending), Print, Complain, *get_args(Obstacle))


class Step(scripted.Step):
    """What the model does in one session."""

    actions: list[Action] = []  # type: ignore[assignment]  # noqa: RUF012 - more kinds; pydantic copies it


Script = scripted.Script[Step]


def read_model_script(path: Path) -> Script:
    """Read a script of a model. Raises ScriptError."""
    return read_script(path, Step, "name a script that exists")
