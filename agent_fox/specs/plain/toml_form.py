"""A plain TOML file as a spec. Which keys there are stands in toml_models."""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from agent_fox.core.spec import Criterion, Dependency, Group, Problem, Requirement, Spec, Subtask, TaskState
from agent_fox.specs.documents import about
from agent_fox.specs.files import TextFile, error, left_by_a_merge, warning
from agent_fox.specs.id_ranges import PartIndex, index_of
from agent_fox.specs.plain.normal_form import coder_text, of_subtasks
from agent_fox.specs.plain.requirements import free_id
from agent_fox.specs.plain.toml_models import Criteria, TomlGroup, TomlRequirement, TomlSpec, TomlTask, keys_at
from agent_fox.specs.test_writers import mark_test_writers

_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)")
_DEEP_KEY = re.compile(
    r"(?:\.[ \t]{0,4}[\"']?[\w-]{1,100}[\"']?[ \t]{0,4}){32}"
)  # tomllib takes minutes over thousands
_CHECKPOINT = re.compile(r"[\W_]{0,8}(?:final\s+)?checkpoint\b", re.IGNORECASE)
_SHOWN = 80
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

Location = tuple[str | int, ...]


def read_plain_toml(file: TextFile, documents: dict[str, str]) -> tuple[Spec | None, tuple[Problem, ...]]:
    """The spec of a file; none where it is no TOML, or has keys or values that nobody knows."""
    name = PurePosixPath(file.where).stem
    lines = _Lines(file)
    conflict = left_by_a_merge(file)
    if conflict is not None:
        return None, about(name, [conflict])
    deep = _DEEP_KEY.search(file.text)
    if deep is not None:
        where = lines.at(file.text.count("\n", 0, deep.start()) + 1)
        return None, about(name, [error(where, "a key of so many parts is none of a spec; take it out")])
    try:
        model = TomlSpec.model_validate(tomllib.loads(file.text))
    except ValidationError as wrong:
        return None, about(name, (_problem(one, lines) for one in wrong.errors(include_url=False)))
    except (tomllib.TOMLDecodeError, RecursionError) as broken:
        at = _AT_LINE.search(str(broken))
        where = lines.at(int(at[1])) if at else file.where
        return None, about(name, [error(where, f"is not TOML: {_AT_LINE.sub('', str(broken)).strip()}; correct it")])
    reading = _Reading(lines)
    return reading.spec(name, model, documents), about(name, reading.problems)


@dataclass(slots=True)
class _Lines:
    """Where things stand in a file, as far as its text shows."""

    file: TextFile
    lines: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lines = self.file.text.split("\n")

    def at(self, line: int) -> str:
        return f"{self.file.where}:{line}" if line else self.file.where

    def place(self, location: Location) -> str:
        """Down the location, each key or table below the one before it."""
        line = 0
        for key, index in _steps(location):
            line = self._next(key, index, line) or line
        return self.at(line)

    def _next(self, key: str, index: int, after: int) -> int:
        """The line of the `index`th `[[key]]` after a line, or of `key = `; 0 where there is none."""
        table = re.compile(rf"[ \t]*\[{{1,2}}[ \t]*(?:[\w.]{{1,80}}\.)?{re.escape(key)}[ \t]*\]")
        headers = [n for n, text in enumerate(self.lines[after:], after + 1) if table.match(text)]
        if index < len(headers):
            return headers[index]
        value = re.compile(rf"(?:.*[{{,])?[ \t]*\"?{re.escape(key)}\"?[ \t]*=")
        start = max(after - 1, 0)
        return next((n for n, text in enumerate(self.lines[start:], start + 1) if key in text and value.match(text)), 0)

    def text(self, text: str, after: str) -> str:
        """The line in which a text begins, at or after a place; that place where it can't be seen."""
        start = max(int(after.rpartition(":")[2]) - 1, 0) if after != self.file.where else 0
        first = text.split("\n", 1)[0][:40]
        found = (n for n, line in enumerate(self.lines[start:], start + 1) if first and first in line)
        line = next(found, 0)
        return self.at(line) if line else after


def _steps(location: Location) -> Iterator[tuple[str, int]]:
    for here, after in zip(location, (*location[1:], ""), strict=True):
        if isinstance(here, str):
            yield here, after if isinstance(after, int) else 0


def _problem(one: ErrorDetails, lines: _Lines) -> Problem:
    location = one["loc"]
    shown = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location).removeprefix(".")[
        :_SHOWN
    ]
    if one["type"] == "extra_forbidden":
        known = keys_at(location[:-1])
        nearest = difflib.get_close_matches(str(location[-1])[:_SHOWN], known, n=1, cutoff=0.0)
        what = f"{shown} is no key of a spec; the nearest is {nearest[0]} (known here: {', '.join(known)})"
        return error(lines.place(location), what)
    place = lines.place(location[:-1] if one["type"] == "missing" else location)
    return error(place, f"{shown}: {_WORDS.get(one['type'], one['msg'])}")


class _Reading:
    """Turns the models into values; collects places and problems."""

    def __init__(self, lines: _Lines) -> None:
        self.lines = lines
        self.places: dict[str, str] = {}
        self.implied: set[str] = set()
        self.problems: list[Problem] = []

    def spec(self, name: str, model: TomlSpec, documents: dict[str, str]) -> Spec:
        requirements = tuple(self._requirements(model.requirements))
        index = index_of(requirements, "")
        groups = tuple(self._group(n, group, index) for n, group in enumerate(model.groups, 1))
        rows = tuple(
            Dependency(row.spec, row.group, row.before_group, self.lines.place(("depends_on", n)), row.archived)
            for n, row in enumerate(model.depends_on)
        )
        return Spec(
            name=name,
            dialect="plain",
            path=self.lines.file.where,
            title=model.title or name,
            requirements=requirements,
            groups=tuple(replace(one, text=coder_text(one)) for one in mark_test_writers(groups)),
            dependencies=rows,
            test_commands=dict(model.test_commands),
            documents=documents,
            implied=frozenset(self.implied),
            places=self.places,
        )

    def _requirements(self, models: list[TomlRequirement]) -> Iterator[Requirement]:
        taken = {model.id for model in models if model.id}
        for place, model in enumerate(models, 1):
            identifier = self._id(model.id, str(place), taken)
            at = self._place(("requirements", place - 1), model.title or model.text)
            if self._declares(identifier, at):
                criteria = self._criteria(model.criteria, model, identifier, "")
                edges = self._criteria(model.edge_cases, model, identifier, "E")
                yield Requirement(identifier, model.title or model.text, model.text, criteria, edges)

    def _criteria(self, models: Criteria, above: TomlRequirement, own: str, letter: str) -> tuple[Criterion, ...]:
        """What the requirement says itself counts for each of its criteria."""
        taken = {model.id for model in models if model.id}
        found = []
        for place, model in enumerate(models, 1):
            identifier = self._id(model.id, f"{own}.{letter}{place}", taken)
            if self._declares(identifier, self.lines.text(model.text, self.places[own])):
                found.append(Criterion(identifier, f"{above.text}\n{model.text}" if above.text else model.text))
        return tuple(found)

    def _id(self, written: str, counted: str, taken: set[str]) -> str:
        if written:
            return written
        identifier = free_id(counted, taken)
        self.implied.add(identifier)
        taken.add(identifier)
        return identifier

    def _declares(self, identifier: str, at: str) -> bool:
        if identifier in self.places:
            what = f"{identifier} stands twice: here and in {self.places[identifier]}. Give one of them another id"
            self.problems.append(error(at, what))
            return False
        self.places[identifier] = at
        return True

    def _place(self, location: Location, text: str) -> str:
        return self.lines.text(text, self.lines.place(location))

    def _group(self, number: int, model: TomlGroup, index: PartIndex) -> Group:
        at = self.places[f"group {number}"] = self._place(("groups", number - 1), model.title)
        subtasks = tuple(self._subtask(f"{number}.{n}", task, index, at) for n, task in enumerate(model.tasks, 1))
        named = dict.fromkeys((*self._ids(model.requirements, index, at), *of_subtasks(subtasks)))
        return Group(
            number,
            model.title,
            TaskState(model.state),
            model.optional,
            subtasks=subtasks,
            requirements=tuple(named),
            parallel=model.parallel,
            is_checkpoint=model.checkpoint or _CHECKPOINT.match(model.title) is not None,
        )

    def _subtask(self, number: str, model: TomlTask, index: PartIndex, group: str) -> Subtask:
        at = self.places[f"task {number}"] = self.lines.text(model.title, group)
        return Subtask(
            number,
            model.title,
            TaskState(model.state),
            model.optional,
            self._ids(model.requirements, index, at),
            tuple(model.details),
            model.parallel,
            tuple(model.after),
        )

    def _ids(self, written: Iterable[str], index: PartIndex, at: str) -> tuple[str, ...]:
        ids: list[str] = []
        for name in written:
            found, unknown = ((), (name,)) if not name.strip() else index.expand(name)
            ids += index.names.get(name, found)
            if (unknown or not found) and name not in index.names:
                what = f"names {', '.join(unknown) or name!r}: no such requirement in this spec. Correct the id"
                self.problems.append(warning(at, what))
        return tuple(dict.fromkeys(ids))
