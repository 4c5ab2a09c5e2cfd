"""A plain TOML spec at the door: pydantic models. An unknown key is an error, and a text alone stands for a table."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

_STATES = Literal["open", "in_progress", "done", "skipped"]


def _text_as(key: str) -> BeforeValidator:
    """A text alone stands for a table with that key."""
    return BeforeValidator(lambda value: {key: value} if isinstance(value, str) else value)


class _Model(BaseModel, defer_build=True):
    model_config = ConfigDict(extra="forbid", strict=True)


class TomlCriterion(_Model):
    text: str = Field(min_length=1)
    id: str = ""


Criteria = list[Annotated[TomlCriterion, _text_as("text")]]


class TomlRequirement(_Model):
    title: str = ""
    text: str = ""
    id: str = ""
    criteria: Criteria = Field(default_factory=list)
    edge_cases: Criteria = Field(default_factory=list)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.title.strip() or self.text.strip() or self.criteria or self.edge_cases):
            raise PydanticCustomError("says_nothing", "a requirement says nothing: give it a title or a text")
        return self


class TomlTask(_Model):
    title: str = Field(min_length=1)
    details: list[str] = Field(default_factory=list)
    requirements: list[str] = Field(default_factory=list)
    state: _STATES = "open"
    optional: bool = False
    parallel: bool = False
    after: list[str] = Field(default_factory=list)


class TomlGroup(_Model):
    title: str = Field(min_length=1)
    tasks: list[Annotated[TomlTask, _text_as("title")]] = Field(default_factory=list)
    requirements: list[str] = Field(default_factory=list)
    state: _STATES = "open"
    optional: bool = False
    parallel: bool = False
    checkpoint: bool = False


class TomlDependency(_Model):
    spec: str = Field(min_length=1)
    group: int | None = Field(default=None, ge=1, le=999_999)
    before_group: int | None = Field(default=None, ge=1, le=999_999)
    archived: bool = False


class TomlSpec(_Model):
    title: str = ""
    depends_on: list[Annotated[TomlDependency, _text_as("spec")]] = Field(default_factory=list)
    requirements: list[Annotated[TomlRequirement, _text_as("title")]] = Field(default_factory=list)
    groups: list[Annotated[TomlGroup, _text_as("title")]] = Field(default_factory=list)
    test_commands: dict[str, str] = Field(default_factory=dict)


_TABLES: dict[str, type[BaseModel]] = {
    "requirements": TomlRequirement,
    "criteria": TomlCriterion,
    "edge_cases": TomlCriterion,
    "groups": TomlGroup,
    "tasks": TomlTask,
    "depends_on": TomlDependency,
}


def keys_at(location: tuple[str | int, ...]) -> list[str]:
    """The keys of the table in that place, such as `("groups", 0, "tasks", 2)`."""
    names = [part for part in location if isinstance(part, str)]
    return sorted((_TABLES[names[-1]] if names and names[-1] in _TABLES else TomlSpec).model_fields)
