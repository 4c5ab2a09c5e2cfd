"""A plain TOML file as a spec. Which keys there are, and where they stand, is known in toml_door."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from pydantic import ValidationError

from agent_fox.core.regex import regex
from agent_fox.core.spec import Criterion, Dependency, Group, Problem, Requirement, Spec, Subtask, TaskState
from agent_fox.core.words import did_you_mean
from agent_fox.specs.common.id_ranges import PartIndex, index_of
from agent_fox.specs.common.task_lists import CHECKPOINT, named_by
from agent_fox.specs.common.test_writers import mark_test_writers
from agent_fox.specs.document import about
from agent_fox.specs.files import TextFile, error, left_by_a_merge, warning
from agent_fox.specs.plain.normal_form import coder_text
from agent_fox.specs.plain.requirements import FreeIds
from agent_fox.specs.plain.toml_door import (
    Criteria,
    TomlGroup,
    TomlPlaces,
    TomlRequirement,
    TomlSpec,
    TomlTask,
    keys_at,
)

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

_AT_LINE = regex(r"\(at line (\d+), column \d+\)")
_DEEP_KEY = regex(r"(?:\.[ \t]{0,4}[\"']?[\w-]{1,100}[\"']?[ \t]{0,4}){32}")  # tomllib takes minutes over thousands
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


def read_plain_toml(file: TextFile, documents: dict[str, str]) -> tuple[tuple[Spec, ...], tuple[Problem, ...]]:
    """The spec of a file; none where it is no TOML, or has keys or values that nobody knows."""
    name = PurePosixPath(file.where).stem
    places = TomlPlaces(file)
    conflict = left_by_a_merge(file)
    if conflict is not None:
        return (), about(name, [conflict])
    deep = _DEEP_KEY.search(file.text)
    if deep is not None:
        return (), about(
            name, [error(places.at(deep.start()), "a key of so many parts is none of a spec; take it out")]
        )
    try:
        model = TomlSpec.model_validate(tomllib.loads(file.text))
    except ValidationError as wrong:
        return (), about(name, (_problem(row, places) for row in wrong.errors(include_url=False)))
    except (tomllib.TOMLDecodeError, RecursionError) as broken:
        at = _AT_LINE.search(str(broken))
        where = f"{file.where}:{at[1]}" if at else file.where
        return (), about(name, [error(where, f"is not TOML: {_AT_LINE.sub('', str(broken)).strip()}; correct it")])
    reading = _Reading(file.where, places)
    return (reading.spec(name, model, documents),), about(name, reading.problems)


def _problem(one: ErrorDetails, places: TomlPlaces) -> Problem:
    location = one["loc"]
    shown = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in location).removeprefix(".")[
        :_SHOWN
    ]
    if one["type"] == "extra_forbidden":
        known = keys_at(location[:-1])
        hint = did_you_mean(str(location[-1])[:_SHOWN], known)
        what = f"{shown} is no key of a spec{hint} (known here: {', '.join(known)})"
        return error(places.at(places.of(location)), what)
    place = places.of(location[:-1] if one["type"] == "missing" else location)
    return error(places.at(place), f"{shown}: {_WORDS.get(one['type'], one['msg'])}")


class _Reading:
    """Turns the models into values; collects places and problems."""

    def __init__(self, where: str, file: TomlPlaces) -> None:
        self.where, self.file = where, file
        self.places: dict[str, str] = {}
        self.implied: set[str] = set()
        self.problems: list[Problem] = []

    def spec(self, name: str, model: TomlSpec, documents: dict[str, str]) -> Spec:
        requirements = tuple(self._requirements(model.requirements))
        index = index_of(requirements, "")
        groups = tuple(self._groups(model.groups, index))
        rows = tuple(
            Dependency(
                row.spec, row.group, row.before_group, self.file.at(self.file.of(("depends_on", n))), row.archived
            )
            for n, row in enumerate(model.depends_on)
        )
        return Spec(
            name=name,
            dialect="plain",
            path=self.where,
            title=model.title or name,
            requirements=requirements,
            groups=tuple(replace(group, text=coder_text(group)) for group in mark_test_writers(groups)),
            dependencies=rows,
            test_commands=dict(model.test_commands),
            documents=documents,
            implied=frozenset(self.implied),
            places=self.places,
        )

    def _requirements(self, models: list[TomlRequirement]) -> Iterator[Requirement]:
        free = FreeIds("", (model.id for model in models if model.id))
        places = self.file.tables("requirements", (model.title or model.text for model in models))
        for count, (model, place) in enumerate(zip(models, places, strict=True), 1):
            identifier = model.id or self._implied(free.at(count))
            if self._declares(identifier, place):
                criteria = self._criteria(model.criteria, model, f"{identifier}.", place)
                edges = self._criteria(model.edge_cases, model, f"{identifier}.E", place)
                yield Requirement(identifier, model.title or model.text, model.text, criteria, edges)

    def _criteria(self, models: Criteria, above: TomlRequirement, head: str, near: int) -> tuple[Criterion, ...]:
        """What the requirement says itself counts for each of its criteria."""
        free = FreeIds(head, (model.id for model in models if model.id))
        criteria = []
        places = self.file.items((model.text for model in models), near)
        for count, (model, place) in enumerate(zip(models, places, strict=True), 1):
            identifier = model.id or self._implied(free.at(count))
            if self._declares(identifier, place):
                criteria.append(Criterion(identifier, f"{above.text}\n{model.text}" if above.text else model.text))
        return tuple(criteria)

    def _implied(self, identifier: str) -> str:
        self.implied.add(identifier)
        return identifier

    def _declares(self, identifier: str, place: int) -> bool:
        at = self.file.at(place)
        if identifier in self.places:
            what = f"{identifier} stands twice: here and in {self.places[identifier]}. Give one of them another id"
            self.problems.append(error(at, what))
            return False
        self.places[identifier] = at
        return True

    def _groups(self, models: list[TomlGroup], index: PartIndex) -> Iterator[Group]:
        places = self.file.tables("groups", (model.title for model in models))
        for number, (model, place) in enumerate(zip(models, places, strict=True), 1):
            yield self._group(number, model, index, place)

    def _group(self, number: int, model: TomlGroup, index: PartIndex, place: int) -> Group:
        at = self.places[f"group {number}"] = self.file.at(place)
        tasks = zip(model.tasks, self.file.items((task.title for task in model.tasks), place), strict=True)
        subtasks = tuple(self._subtask(f"{number}.{n}", *task, index) for n, task in enumerate(tasks, 1))
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

    def _subtask(self, number: str, model: TomlTask, place: int, index: PartIndex) -> Subtask:
        at = self.places[f"task {number}"] = self.file.at(place)
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
            known, unknown = ((), (name,)) if not name.strip() else index.expand(name)
            ids += index.names.get(name, known)
            if (unknown or not known) and name not in index.names:
                what = f"names {', '.join(unknown) or name!r}: no such requirement in this spec. Correct the id"
                self.problems.append(warning(at, what))
        return tuple(dict.fromkeys(ids))
