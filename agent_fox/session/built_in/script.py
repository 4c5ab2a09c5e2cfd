"""Reading a script of the scripted backend and finding a session's step. The format is told in `scripted`."""

from __future__ import annotations

import json
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    Tag,
    TypeAdapter,
    ValidationError,
)

from agent_fox.session.built_in.scripted_agent import ACTIONS
from agent_fox.system.adapters import adapter


class ScriptError(ValueError):
    """A script that cannot be used. The message names the file, the place in it, and what is wrong."""


class _Strict(BaseModel, defer_build=True):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Write(_Strict):
    write: str
    text: str
    executable: bool = False


class Append(_Strict):
    append: str
    text: str


class Replace(_Strict):
    replace: str
    old: str = Field(min_length=1)
    new: str


class Delete(_Strict):
    delete: str


class Run(_Strict):
    run: list[str] = Field(min_length=1)
    allow_failure: bool = False


class Sleep(_Strict):
    sleep: float = Field(ge=0)


class Print(_Strict):
    print: str


class Complain(_Strict):
    complain: str


class Verdicts(_Strict):
    verdicts: str | dict[str, str]
    evidence: str = ""


class Fail(_Strict):
    fail: Literal["authentication", "rate limit", "overload", "network", "disk full"]


def _kind(action: Any) -> str | None:  # noqa: ANN401 - what a file holds before it is checked
    names = action if isinstance(action, dict) else getattr(type(action), "model_fields", ())
    return next((name for name in ACTIONS if name in names), None)


Action = Annotated[
    Annotated[Write, Tag("write")]
    | Annotated[Append, Tag("append")]
    | Annotated[Replace, Tag("replace")]
    | Annotated[Delete, Tag("delete")]
    | Annotated[Run, Tag("run")]
    | Annotated[Sleep, Tag("sleep")]
    | Annotated[Print, Tag("print")]
    | Annotated[Complain, Tag("complain")]
    | Annotated[Verdicts, Tag("verdicts")]
    | Annotated[Fail, Tag("fail")],
    Discriminator(_kind),
]


def _as_list(value: Any) -> Any:  # noqa: ANN401 - what a file holds before it is checked
    return [value] if isinstance(value, int) else value


Numbers = Annotated[list[int] | None, BeforeValidator(_as_list)]


class Step(_Strict):
    """What one session does. `attempt` and `reading` None: any."""

    node: str = "*"
    attempt: Numbers = None
    reading: Numbers = None
    actions: list[Action] = []
    cost_usd: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    summary: str | None = None
    exit: int = 0

    def fits(self, node: str, attempt: int, reading: int) -> bool:
        is_node = fnmatchcase(node, self.node)
        return is_node and attempt in (self.attempt or [attempt]) and reading in (self.reading or [reading])

    def document(self) -> dict[str, Any]:
        """What the player reads; only what was given in each action, for its keys say what it is."""
        return self.model_dump() | {"actions": [action.model_dump() for action in self.actions]}


class Script(_Strict):
    step: list[Step] = []


_SCRIPT = adapter(lambda: TypeAdapter(Script))


def read_script(path: Path) -> Script:
    """Read a script, TOML or JSON by its ending. Raises ScriptError."""
    try:
        raw = path.read_text(encoding="utf-8")
        return _SCRIPT.validate_python(json.loads(raw) if path.suffix == ".json" else tomllib.loads(raw))
    except OSError as error:
        raise ScriptError(f"script {path}: {error.strerror}; correct `script` or create the file") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ScriptError(f"script {path}: {place}: {first['msg']}") from error
    except ValueError as error:
        raise ScriptError(f"script {path}: {error}") from error


def step_for(script: Script, node: str, attempt: int, reading: int) -> Step | None:
    """The first step that fits, or None."""
    return next((step for step in script.step if step.fits(node, attempt, reading)), None)
