"""A plain TOML file as a spec: its tables as models, where they stand as far as the text shows, and what they say. An
unknown key is an error, and a text alone stands for a table."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from agent_fox.core.regex import regex
from agent_fox.core.spec import Criterion, Dependency, Group, Problem, Requirement, Spec, Subtask, TaskState
from agent_fox.core.words import did_you_mean
from agent_fox.specs.collected import Declarations
from agent_fox.specs.common.id_ranges import PartIndex, index_of
from agent_fox.specs.common.task_lists import CHECKPOINT, mark_test_writers, named_by
from agent_fox.specs.document import Markdown, about
from agent_fox.specs.files import TextFile, error, left_by_a_merge, warning
from agent_fox.specs.plain.normal_form import coder_text
from agent_fox.specs.plain.requirements import STANDS_TWICE, FreeIds

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_AT_LINE = regex(r"\(at line (\d+), column \d+\)")
_DEEP_KEY = regex(r"(?:\.[ \t]{0,4}[\"']?[\w-]{1,100}[\"']?[ \t]{0,4}){32}")  # tomllib takes minutes over thousands
_HEADER = regex(r"^[ \t]*\[{1,2}[ \t]*(?:[\w.]{1,80}\.)?(\w[\w-]{0,79})[ \t]*\]", re.MULTILINE)
_KEY = regex(r"(?:^|[{,])[ \t]*\"?([\w-]{1,80})\"?[ \t]*=", re.MULTILINE)
_SHOWN, _BEGINNING, _NEAR = 80, 40, 20_000
_WORDS = {
    "string_type": "a text in quotes belongs here",
    "bool_type": "true or false belongs here",
    "int_type": "a whole number belongs here",
    "list_type": "a list belongs here",
    "dict_type": "a table belongs here",
    "model_type": "a text or a table belongs here",
    "model_attributes_type": "a text or a table belongs here",
    "missing": "this key is missing",
    "string_too_short": "an empty text says nothing",
}
_State = Literal["open", "in_progress", "done", "skipped"]
_Location = tuple[str | int, ...]


def _text_as(key: str) -> BeforeValidator:
    """A text alone stands for a table with that key."""
    return BeforeValidator(lambda value: {key: value} if isinstance(value, str) else value)


class _Model(BaseModel, defer_build=True):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Criterion(_Model):
    text: str = Field(min_length=1)
    id: str = ""


_Criteria = list[Annotated[_Criterion, _text_as("text")]]


class _Requirement(_Model):
    title: str = ""
    text: str = ""
    id: str = ""
    criteria: _Criteria = Field(default_factory=list)
    edge_cases: _Criteria = Field(default_factory=list)

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if not (self.title.strip() or self.text.strip() or self.criteria or self.edge_cases):
            raise PydanticCustomError("says_nothing", "a requirement says nothing: give it a title or a text")
        return self


class _Task(_Model):
    title: str = Field(min_length=1)
    details: list[str] = Field(default_factory=list)
    requirements: list[str] = Field(default_factory=list)
    state: _State = "open"
    optional: bool = False
    parallel: bool = False
    after: list[str] = Field(default_factory=list)


class _Group(_Model):
    title: str = Field(min_length=1)
    tasks: list[Annotated[_Task, _text_as("title")]] = Field(default_factory=list)
    requirements: list[str] = Field(default_factory=list)
    state: _State = "open"
    optional: bool = False
    parallel: bool = False
    checkpoint: bool = False


class _Dependency(_Model):
    spec: str = Field(min_length=1)
    group: int | None = Field(default=None, ge=1, le=999_999)
    before_group: int | None = Field(default=None, ge=1, le=999_999)
    archived: bool = False


class _File(_Model):
    title: str = ""
    depends_on: list[Annotated[_Dependency, _text_as("spec")]] = Field(default_factory=list)
    requirements: list[Annotated[_Requirement, _text_as("title")]] = Field(default_factory=list)
    groups: list[Annotated[_Group, _text_as("title")]] = Field(default_factory=list)
    test_commands: dict[str, str] = Field(default_factory=dict)


_TABLES: dict[object, type[BaseModel]] = {
    "requirements": _Requirement, "criteria": _Criterion, "edge_cases": _Criterion, "groups": _Group, "tasks": _Task,
    "depends_on": _Dependency,
}  # fmt: skip


def keys_at(location: _Location) -> list[str]:
    """The keys of the table in that place, such as `("groups", 0, "tasks", 2)`."""
    names = [part for part in location if isinstance(part, str)]
    return sorted(_TABLES.get(names[-1] if names else "", _File).model_fields)


def read_plain_toml(file: TextFile, documents: dict[str, str]) -> tuple[tuple[Spec, ...], tuple[Problem, ...]]:
    """The spec of a file; none where it is no TOML, or has keys or values that nobody knows."""
    name = PurePosixPath(file.where).stem
    places = _Places(file)
    wrong = [problem for problem in (left_by_a_merge(file),) if problem is not None]
    if not wrong and (deep := _DEEP_KEY.search(file.text)) is not None:
        wrong = [error(places.at(deep.start()), "a key of so many parts is none of a spec; take it out")]
    if wrong:
        return (), about(name, wrong)
    try:
        model = _File.model_validate(tomllib.loads(file.text))
    except ValidationError as invalid:
        return (), about(name, (_problem(row, places) for row in invalid.errors(include_url=False)))
    except (tomllib.TOMLDecodeError, RecursionError) as broken:
        at = _AT_LINE.search(str(broken))
        where = f"{file.where}:{at[1]}" if at else file.where
        return (), about(name, [error(where, f"is not TOML: {_AT_LINE.sub('', str(broken)).strip()}; correct it")])
    reading = _Reading(places)
    return (reading.spec(name, model, documents),), about(name, reading.problems)


def _problem(one: ErrorDetails, places: _Places) -> Problem:
    location, kind = one["loc"], one["type"]
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    shown = "".join(parts).removeprefix(".")[:_SHOWN]
    where = places.at(places.of(location[:-1] if kind == "missing" else location))
    if kind != "extra_forbidden":
        return error(where, f"{shown}: {_WORDS.get(kind, one['msg'])}")
    known = keys_at(location[:-1])
    hint = did_you_mean(str(location[-1])[:_SHOWN], known)
    return error(where, f"{shown} is no key of a spec{hint} (known here: {', '.join(known)})")


class _Places:
    """Offsets into a file's text; -1 is nowhere. The text is gone through once, however often is asked."""

    def __init__(self, file: TextFile) -> None:
        self.where, self._text = file.where, file.text
        self._begins = [0, *(match.end() for match in re.finditer("\n", file.text))]
        self._headers, self._keys = _offsets(_HEADER, file.text), _offsets(_KEY, file.text)

    def line(self, offset: int) -> int:
        return bisect_right(self._begins, max(offset, 0))

    def at(self, offset: int) -> str:
        """`path:line`, or the path alone for nowhere."""
        return f"{self.where}:{self.line(offset)}" if offset >= 0 else self.where

    def of(self, location: _Location) -> int:
        """Down the location, each key or table below the one before it: the `index`th `[[key]]`, or `key = ` in the
        line of what stands above it or below."""
        offset = -1
        for key, index in zip(location, (*location[1:], ""), strict=True):
            headers, keys = self._headers.get(key, ()), self._keys.get(key, ())
            place = bisect_right(headers, offset) + (index if isinstance(index, int) else 0)
            if place < len(headers):
                offset = headers[place]
                continue
            place = bisect_left(keys, self._begins[max(bisect_right(self._begins, offset) - 1, 0)])
            offset = keys[place] if place < len(keys) else offset
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

    def _find(self, text: str, after: int) -> int:
        first, start = text.split("\n", 1)[0][:_BEGINNING], max(after, 0)
        position = self._text.find(first, start, start + _NEAR) if first else -1
        return position if position >= 0 else after


def _offsets(pattern: re.Pattern[str], text: str) -> dict[object, list[int]]:
    offsets: defaultdict[object, list[int]] = defaultdict(list)
    for match in pattern.finditer(text):
        offsets[match[1]].append(match.start())
    return dict(offsets)


class _Reading(Declarations):
    """Turns the models into values; collects places and problems."""

    doubled = STANDS_TWICE

    def __init__(self, file: _Places) -> None:
        super().__init__(Markdown(file.where, ()))
        self.file = file
        self.tasks: dict[str, str] = {}

    def spec(self, name: str, model: _File, documents: dict[str, str]) -> Spec:
        expected = self.read(self._requirements(model.requirements))
        index = index_of(expected.requirements, "")
        places = self.file.tables("groups", (group.title for group in model.groups))
        numbered = enumerate(zip(model.groups, places, strict=True), 1)
        groups = tuple(self._group(number, group, place, index) for number, (group, place) in numbered)
        rows = ((row, self.file.at(self.file.of(("depends_on", place)))) for place, row in enumerate(model.depends_on))
        return Spec(
            name=name,
            dialect="plain",
            path=self.file.where,
            title=model.title or name,
            requirements=expected.requirements,
            groups=tuple(replace(group, text=coder_text(group)) for group in mark_test_writers(groups)),
            dependencies=tuple(Dependency(r.spec, r.group, r.before_group, at, r.archived) for r, at in rows),
            test_commands=dict(model.test_commands),
            documents=documents,
            implied=expected.implied,
            places=expected.places | self.tasks,
        )

    def _requirements(self, models: Sequence[_Requirement]) -> Iterator[Requirement]:
        places = self.file.tables("requirements", (model.title or model.text for model in models))
        for name, model, place in self._named("", models, places):
            criteria = self._criteria(model.criteria, model.text, f"{name}.", place)
            edges = self._criteria(model.edge_cases, model.text, f"{name}.E", place)
            yield Requirement(name, model.title or model.text, model.text, criteria, edges)

    def _criteria(self, models: _Criteria, above: str, head: str, near: int) -> tuple[Criterion, ...]:
        """What the requirement says itself counts for each of its criteria."""
        named = self._named(head, models, self.file.items((model.text for model in models), near))
        return tuple(Criterion(name, f"{above}\n{model.text}" if above else model.text) for name, model, _ in named)

    def _named(self, head: str, models: Sequence[Any], places: Iterable[int]) -> Iterator[tuple[str, Any, int]]:
        """Each with its own id, or the next that is free; not one whose id stands elsewhere."""
        free = FreeIds(head, (model.id for model in models if model.id))
        for count, (model, place) in enumerate(zip(models, places, strict=True), 1):
            name = model.id or free.at(count)
            self.implied |= set() if model.id else {name}
            if self.declares(name, self.file.line(place)):
                yield name, model, place

    def _group(self, number: int, model: _Group, place: int, index: PartIndex) -> Group:
        at = self.tasks[f"group {number}"] = self.file.at(place)
        tasks = zip(model.tasks, self.file.items((task.title for task in model.tasks), place), strict=True)
        subtasks = tuple(self._subtask(f"{number}.{n}", task, at, index) for n, (task, at) in enumerate(tasks, 1))
        return Group(
            number,
            model.title,
            TaskState(model.state),
            model.optional,
            subtasks=subtasks,
            requirements=named_by(self._ids(model.requirements, index, at), subtasks),
            parallel=model.parallel,
            is_checkpoint=model.checkpoint or CHECKPOINT.match(model.title) is not None,
        )

    def _subtask(self, number: str, model: _Task, place: int, index: PartIndex) -> Subtask:
        at = self.tasks[f"task {number}"] = self.file.at(place)
        ids, state = self._ids(model.requirements, index, at), TaskState(model.state)
        details, after = tuple(model.details), tuple(model.after)
        return Subtask(number, model.title, state, model.optional, ids, details, model.parallel, after)

    def _ids(self, written: Iterable[str], index: PartIndex, at: str) -> tuple[str, ...]:
        ids: list[str] = []
        for name in written:
            known, unknown = ((), (name,)) if not name.strip() else index.expand(name)
            ids += index.names.get(name, known)
            if (unknown or not known) and name not in index.names:
                what = f"names {', '.join(unknown) or name!r}: no such requirement in this spec. Correct the id"
                self.problems.append(warning(at, what))
        return tuple(dict.fromkeys(ids))
