"""What a client may say in a tool call: narrow models, and errors in words. Nothing runs here.

Where the workspace is, which profile counts and what is allowed is never among the arguments: the person who starts
the server says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_fox.mcp.errors import CallRefused

# What a path or a test's name can hold. Whether it fits the project is decided where the command is made.
ModuleName = Annotated[
    str,
    Field(
        description="One module, as detect_build_system names it. Left out: the whole workspace.",
        min_length=1,
        max_length=200,
        pattern=r"^[A-Za-z0-9_.@+][A-Za-z0-9_.@+:/ -]*$",
    ),
]
Selector = Annotated[
    str,
    Field(
        description="One test, as its runner names it: tests/test_cart.py::test_total, CartTest#total, cart::totals.",
        min_length=1,
        max_length=200,
        pattern=r"^[^\s\x00-\x1f\x7f-][^\x00-\x1f\x7f]*$",
    ),
]
ArtifactUri = Annotated[
    str,
    Field(
        description="The log to read again: the artifact's uri, as an earlier result names it.",
        min_length=1,
        max_length=500,
        pattern=r"^artifact://[A-Za-z0-9._~%/-]+$",
    ),
]
ToolWord = Annotated[
    str,
    Field(
        description="Whose log it is, such as pytest, maven, cargo or tsc.",
        min_length=1,
        max_length=40,
        pattern=r"^[A-Za-z0-9_.+-]+$",
    ),
]
RunName = Annotated[
    str,
    Field(
        description="The run. Left out: this server's.",
        min_length=1,
        max_length=100,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$",
    ),
]
AttemptNumber = Annotated[int, Field(description="The attempt in that run. Left out: the latest.", ge=1, le=1_000_000)]


class Arguments(BaseModel, defer_build=True):
    """The arguments of a tool. A name that is not known is refused, and so is a value of another type."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class NoArguments(Arguments):
    """Nothing can be chosen."""


class ModuleArguments(Arguments):
    """Which part of the workspace."""

    module: ModuleName | None = None


class SelectedArguments(ModuleArguments):
    """Which test, of which part."""

    selector: Selector


class LogArguments(Arguments):
    """Which log, and how to read it."""

    artifact: ArtifactUri
    tool: ToolWord


class ReportArguments(Arguments):
    """Which report."""

    run: RunName | None = None
    attempt: AttemptNumber | None = None


_Model = TypeVar("_Model", bound=Arguments)


def read_arguments(model: type[_Model], given: Mapping[str, object]) -> _Model:
    """The arguments of a call. Raises CallRefused, which says what is wrong with each."""
    try:
        return model.model_validate(dict(given))
    except ValidationError as error:
        wrong = "; ".join(f"{'.'.join(map(str, problem['loc']))}: {problem['msg']}" for problem in error.errors()[:3])
        known = ", ".join(model.model_fields) or "none"
        raise CallRefused("invalid_arguments", f"{wrong} (arguments: {known})") from error
