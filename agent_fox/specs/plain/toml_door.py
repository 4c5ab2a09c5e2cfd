"""A plain TOML spec at the door: pydantic models, and where tables, keys and texts stand, as far as the text shows. An
unknown key is an error, and a text alone stands for a table. What they mean is not here."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from agent_fox.core.regex import regex

if TYPE_CHECKING:
    from agent_fox.specs.files import TextFile

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


Location = tuple[str | int, ...]

_HEADER = regex(r"^[ \t]*\[{1,2}[ \t]*(?:[\w.]{1,80}\.)?(\w[\w-]{0,79})[ \t]*\]", re.MULTILINE)
_KEY = regex(r"(?:^|[{,])[ \t]*\"?([\w-]{1,80})\"?[ \t]*=", re.MULTILINE)
_SHOWN, _NEAR = 40, 20_000


class TomlPlaces:
    """Offsets into a file's text; -1 is nowhere. The text is gone through once, however often is asked."""

    def __init__(self, file: TextFile) -> None:
        self._where, self._text = file.where, file.text
        self._begins = [0, *(match.end() for match in re.finditer("\n", file.text))]
        self._headers, self._keys = _offsets(_HEADER, file.text), _offsets(_KEY, file.text)

    def at(self, offset: int) -> str:
        """`path:line`, or the path alone for nowhere."""
        return f"{self._where}:{bisect_right(self._begins, offset)}" if offset >= 0 else self._where

    def of(self, location: Location) -> int:
        """Down the location, each key or table below the one before it."""
        offset = -1
        for key, index in _steps(location):
            place = self._next(key, index, offset)
            offset = place if place >= 0 else offset
        return offset

    def tables(self, key: str, texts: Iterable[str]) -> Iterator[int]:
        """Where each table of a list begins to say its text: below its header, or after the table before it."""
        header = near = -1
        for index, text in enumerate(texts):
            place = self.of((key, index))
            near = self._find(text, place if place != header else near)
            header = place
            yield near

    def items(self, texts: Iterable[str], near: int) -> Iterator[int]:
        """Where texts stand that follow each other, the first at or after a place; the last place where one can't be
        seen."""
        for text in texts:
            near = self._find(text, near)
            yield near

    def _next(self, key: str, index: int, after: int) -> int:
        """The `index`th `[[key]]` after an offset, or `key = ` in its line or below; -1 where there is none."""
        headers, keys = self._headers.get(key, ()), self._keys.get(key, ())
        place = bisect_right(headers, after) + index
        if place < len(headers):
            return headers[place]
        place = bisect_left(keys, self._begins[max(bisect_right(self._begins, after) - 1, 0)])
        return keys[place] if place < len(keys) else -1

    def _find(self, text: str, after: int) -> int:
        first, start = text.split("\n", 1)[0][:_SHOWN], max(after, 0)
        position = self._text.find(first, start, start + _NEAR) if first else -1
        return position if position >= 0 else after


def _offsets(pattern: re.Pattern[str], text: str) -> dict[str, list[int]]:
    offsets: defaultdict[str, list[int]] = defaultdict(list)
    for match in pattern.finditer(text):
        offsets[match[1]].append(match.start())
    return dict(offsets)


def _steps(location: Location) -> Iterator[tuple[str, int]]:
    for here, after in zip(location, (*location[1:], ""), strict=True):
        if isinstance(here, str):
            yield here, after if isinstance(after, int) else 0
