"""A plain TOML file as a spec: its tables, as `keys.toml` has them, where they stand as far as the text shows, and what
they say. An unknown key is an error, and a text alone stands for a table."""

from __future__ import annotations

import re
import tomllib
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

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
from agent_fox.specs.word_tables import tables_in

_AT_LINE = regex(r"\(at line (\d+), column \d+\)")
_DEEP_KEY = regex(r"(?:\.[ \t]{0,4}[\"']?[\w-]{1,100}[\"']?[ \t]{0,4}){32}")  # tomllib takes minutes over thousands
_HEADER = regex(r"^[ \t]*\[{1,2}[ \t]*(?:[\w.]{1,80}\.)?(\w[\w-]{0,79})[ \t]*\]", re.MULTILINE)
_KEY = regex(r"(?:^|[{,])[ \t]*\"?([\w-]{1,80})\"?[ \t]*=", re.MULTILINE)
_SHOWN, _BEGINNING, _NEAR = 80, 40, 20_000
_Location = tuple[str | int, ...]
_Table = dict[str, Any]
_KEYS: Mapping[str, dict[str, str]] = tables_in(Path(__file__).with_name("keys.toml"))
_VALUES: Mapping[str, Container[object]] = {"state": [*TaskState], "number": range(1, 1_000_000)}
_KINDS: dict[str, tuple[type, object, str]] = {
    "text": (str, "", "a text in quotes"),
    "words": (str, "", "a text in quotes"),
    "state": (str, "open", f"one of {', '.join(TaskState)}"),
    "yes": (bool, False, "true or false"),
    "number": (int, None, "a whole number from 1 to 999,999"),
    "texts": (list, (), "a list"),
    "commands": (dict, {}, "a table"),
}
"""What a value is, what stands for one that is left out, and what belongs there. `words` must be there, not empty."""


def keys_at(location: _Location) -> list[str]:
    """The keys of the table in that place, such as `("groups", 0, "tasks", 2)`."""
    return sorted(_KEYS[next((part for part in reversed(location) if isinstance(part, str)), "file")])


def read_plain_toml(file: TextFile, documents: dict[str, str]) -> tuple[tuple[Spec, ...], tuple[Problem, ...]]:
    """The spec of a file; none where it is no TOML, or has keys or values that nobody knows."""
    name = PurePosixPath(file.where).stem
    places = _Places(file)
    wrong = left_by_a_merge(file)
    if wrong is None and (deep := _DEEP_KEY.search(file.text)) is not None:
        wrong = error(places.at(deep.start()), "a key of so many parts is none of a spec; take it out")
    if wrong is not None:
        return (), about(name, [wrong])
    try:
        given = tomllib.loads(file.text)
    except (tomllib.TOMLDecodeError, RecursionError) as broken:
        at = _AT_LINE.search(str(broken))
        where = f"{file.where}:{at[1]}" if at else file.where
        return (), about(name, [error(where, f"is not TOML: {_AT_LINE.sub('', str(broken)).strip()}; correct it")])
    door = _Door(places)
    whole = door.table("file", given, ())
    reading = _Reading(places)
    specs = () if door.problems else (reading.spec(name, whole, documents),)
    return specs, about(name, door.problems or reading.problems)


class _Door:
    """Gives tables with all of their keys, and collects what is wrong with them."""

    def __init__(self, places: _Places) -> None:
        self.places = places
        self.problems: list[Problem] = []

    def table(self, name: str, given: object, at: _Location) -> _Table:
        if not isinstance(given, dict):
            self._refuse(at, ": a text or a table belongs here")
            return {}
        before, known = len(self.problems), _KEYS[name]
        table = {key: self._value(kind, given.get(key), (*at, key)) for key, kind in known.items()}
        for key in (key for key in given if key not in known):
            hint = did_you_mean(key[:_SHOWN], sorted(known))
            self._refuse((*at, key), f" is no key of a spec{hint} (known here: {', '.join(sorted(known))})")
        says = [value.strip() if isinstance(value, str) else value for key, value in table.items() if key != "id"]
        if name == "requirements" and before == len(self.problems) and not any(says):
            self._refuse(at, ": a requirement says nothing: give it a title or a text")
        return table

    def _value(self, kind: str, given: object, at: _Location) -> object:
        """The value of a key. Of a list of tables, such as `groups/title`, a text alone is one with that key."""
        name, _, alone = kind.partition("/")
        wanted, usual, words = _KINDS["texts" if alone else kind]
        each = dict(enumerate(given)) if isinstance(given, list) else given if isinstance(given, dict) else {}
        is_known = kind not in _VALUES or given in _VALUES[kind]
        if given is None and kind == "words":
            self._refuse(at, ": this key is missing", at[:-1])
        elif given is not None and not (type(given) is wanted and is_known):
            self._refuse(at, f": {words} belongs here")
        elif kind == "words" and given == "":
            self._refuse(at, ": an empty text says nothing")
        elif alone:
            rows = ((place, {alone: row} if isinstance(row, str) else row) for place, row in each.items())
            return [self.table(name, row, (*at, place)) for place, row in rows]
        elif kind in ("texts", "commands"):
            for key in (key for key, value in each.items() if not isinstance(value, str)):
                self._refuse((*at, key), ": a text in quotes belongs here")
        return usual if given is None else given

    def _refuse(self, at: _Location, what: str, place: _Location | None = None) -> None:
        parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in at)
        shown = "".join(parts).removeprefix(".")[:_SHOWN]
        self.problems.append(error(self.places.at(self.places.of(at if place is None else place)), f"{shown}{what}"))


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
        """Where texts stand that follow each other, from a place on; the last place where one can't be seen."""
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
    """Turns the tables into values; collects places and problems."""

    doubled = STANDS_TWICE

    def __init__(self, file: _Places) -> None:
        super().__init__(Markdown(file.where, ()))
        self.file = file
        self.tasks: dict[str, str] = {}

    def spec(self, name: str, table: _Table, documents: dict[str, str]) -> Spec:
        expected = self.read(self._requirements(table["requirements"]))
        index = index_of(expected.requirements, "")
        places = self.file.tables("groups", (group["title"] for group in table["groups"]))
        numbered = enumerate(zip(table["groups"], places, strict=True), 1)
        groups = tuple(self._group(number, group, place, index) for number, (group, place) in numbered)
        rows = enumerate(table["depends_on"])
        return Spec(
            name=name,
            dialect="plain",
            path=self.file.where,
            title=table["title"] or name,
            requirements=expected.requirements,
            groups=tuple(replace(group, text=coder_text(group)) for group in mark_test_writers(groups)),
            dependencies=tuple(self._dependency(row, ("depends_on", place)) for place, row in rows),
            test_commands=dict(table["test_commands"]),
            documents=documents,
            implied=expected.implied,
            places=expected.places | self.tasks,
        )

    def _dependency(self, row: _Table, location: _Location) -> Dependency:
        where = self.file.at(self.file.of(location))
        return Dependency(row["spec"], row["group"], row["before_group"], where, row["archived"])

    def _requirements(self, tables: Sequence[_Table]) -> Iterator[Requirement]:
        places = self.file.tables("requirements", (each["title"] or each["text"] for each in tables))
        for name, table, place in self._named("", tables, places):
            title, text = table["title"], table["text"]
            criteria = self._criteria(table["criteria"], text, f"{name}.", place)
            edges = self._criteria(table["edge_cases"], text, f"{name}.E", place)
            yield Requirement(name, title or text, text, criteria, edges)

    def _criteria(self, tables: Sequence[_Table], above: str, head: str, near: int) -> tuple[Criterion, ...]:
        """What the requirement says itself counts for each of its criteria."""
        named = self._named(head, tables, self.file.items((each["text"] for each in tables), near))
        return tuple(Criterion(name, f"{above}\n{each['text']}" if above else each["text"]) for name, each, _ in named)

    def _named(self, head: str, tables: Sequence[_Table], places: Iterable[int]) -> Iterator[tuple[str, _Table, int]]:
        """Each with its own id, or the next that is free; not one whose id stands elsewhere."""
        free = FreeIds(head, (each["id"] for each in tables if each["id"]))
        for count, (table, place) in enumerate(zip(tables, places, strict=True), 1):
            name = table["id"] or free.at(count)
            self.implied |= set() if table["id"] else {name}
            if self.declares(name, self.file.line(place)):
                yield name, table, place

    def _group(self, number: int, table: _Table, place: int, index: PartIndex) -> Group:
        at = self.tasks[f"group {number}"] = self.file.at(place)
        subtasks: list[Subtask] = []
        places = self.file.items((task["title"] for task in table["tasks"]), place)
        for count, (task, there) in enumerate(zip(table["tasks"], places, strict=True), 1):
            where = self.tasks[f"task {number}.{count}"] = self.file.at(there)
            ids, state = self._ids(task["requirements"], index, where), TaskState(task["state"])
            more = (tuple(task["details"]), task["parallel"], tuple(task["after"]))
            subtasks.append(Subtask(f"{number}.{count}", task["title"], state, task["optional"], ids, *more))
        return Group(
            number,
            table["title"],
            TaskState(table["state"]),
            table["optional"],
            subtasks=tuple(subtasks),
            requirements=named_by(self._ids(table["requirements"], index, at), subtasks),
            parallel=table["parallel"],
            is_checkpoint=table["checkpoint"] or CHECKPOINT.match(table["title"]) is not None,
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
