"""Reading a script and finding a session's step. What a script holds stands in `agent`, which plays it."""

from __future__ import annotations

import json
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Generic, Literal, TypeVar, Union

from pydantic import BaseModel, BeforeValidator, ConfigDict, Discriminator, Field, Tag, ValidationError


class ScriptError(ValueError):
    """A script that cannot be used. The message names the file, the place in it, and what is wrong."""


class Strict(BaseModel, defer_build=True):
    """What stands in a script: nothing but what is known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Write(Strict):
    write: str
    text: str
    executable: bool = False


class Append(Strict):
    append: str
    text: str


class Replace(Strict):
    replace: str
    old: str = Field(min_length=1)
    new: str


class Delete(Strict):
    delete: str


class Run(Strict):
    run: list[str] = Field(min_length=1)
    allow_failure: bool = False


class Sleep(Strict):
    sleep: float = Field(ge=0)


class Print(Strict):
    print: str


class Complain(Strict):
    complain: str


class Verdicts(Strict):
    verdicts: str | dict[str, str]
    evidence: str = ""


class Fail(Strict):
    fail: Literal["authentication", "rate limit", "overload", "network", "disk full"]


def one_of(*kinds: type[BaseModel]) -> Any:  # noqa: ANN401 - a type that is made from others
    """The type of an action of one of these kinds. Its kind is the key that is the class's name."""
    named = {kind.__name__.lower(): kind for kind in kinds}

    def kind_of(action: Any) -> str | None:  # noqa: ANN401 - what a file holds before it is checked
        if isinstance(action, BaseModel):
            return type(action).__name__.lower()
        return next((name for name in named if name in action), None) if isinstance(action, dict) else None

    tagged = tuple(Annotated[kind, Tag(name)] for name, kind in named.items())
    return Annotated[Union[tagged], Discriminator(kind_of)]  # noqa: UP007 - kinds that are only known here


if TYPE_CHECKING:
    Action = Write | Append | Replace | Delete | Run | Sleep | Print | Complain | Verdicts | Fail
else:
    Action = one_of(Write, Append, Replace, Delete, Run, Sleep, Print, Complain, Verdicts, Fail)


def _as_list(value: Any) -> Any:  # noqa: ANN401 - what a file holds before it is checked
    return [value] if isinstance(value, int) else value


Numbers = Annotated[list[int] | None, BeforeValidator(_as_list)]


class Step(Strict):
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


StepT = TypeVar("StepT", bound=Step)


class Script(Strict, Generic[StepT]):
    """Steps in their order: the first that fits a session is played."""

    step: list[StepT] = []

    def fitting(self, node: str, attempt: int, reading: int) -> tuple[int, StepT] | None:
        """The first step that fits, and its place in the script."""
        return next((each for each in enumerate(self.step) if each[1].fits(node, attempt, reading)), None)


def read_script(path: Path, step: type[StepT], advice: str = "correct `script` or create the file") -> Script[StepT]:
    """Read a script, TOML or JSON by its ending. Raises ScriptError, with the advice where there is no such file."""
    try:
        raw = path.read_text(encoding="utf-8")
        return Script[step].model_validate(  # type: ignore[valid-type]
            json.loads(raw) if path.suffix == ".json" else tomllib.loads(raw)
        )
    except OSError as error:
        raise ScriptError(f"script {path}: {error.strerror}; {advice}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise ScriptError(f"script {path}: {place}: {first['msg']}") from error
    except ValueError as error:
        raise ScriptError(f"script {path}: {error}") from error
