"""Adapters whose words stand in a file, `agent.toml` in the adapter's folder: what is known of a program, the words and
variables that it is started with, and the files that it finds in its home.

`${place}` in a word stands for what a session has there. A text that is nothing but a place gets its value, whatever
that is; a value that has none (None) is left out, and with it the array that holds no other, or the option before it. A
table with a `when` is left out where that holds nothing.
"""

from __future__ import annotations

import json
import shlex
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from agent_fox.core.regex import regex
from agent_fox.session.agents.command_line import CommandLine, Facts, Start, direct
from agent_fox.session.agents.private_files import clear, write_new
from agent_fox.session.agents.task import AgentTask, Door, Role
from agent_fox.system.files import remove_tree

_PLACE = regex(r"\$\{(\w+)\}")
_BARE = regex(r"[A-Za-z0-9_-]+")


class Table(BaseModel, defer_build=True):
    """What `agent.toml` holds. `forgets`: paths below the home that an earlier session may have left, each with
    patterns of what stays there. `files`: each is a text, or a table in the form that its name ends in. `cleared`:
    variables that are made empty where a person has them. `coder` and `judge`: places of one kind of role alone.
    """

    model_config = ConfigDict(extra="forbid")
    facts: Facts
    reading: tuple[str, ...]
    writing: tuple[str, ...] = ()
    served: tuple[str, ...] = ()
    start: tuple[tuple[str, ...], ...]
    again: tuple[tuple[str, ...], ...]
    environment: dict[str, str]
    environment_again: dict[str, str] = {}
    cleared: tuple[str, ...] = ()
    forgets: dict[str, tuple[str, ...]] = {}
    files: dict[str, object]
    coder: dict[str, str] = {}
    judge: dict[str, str] = {}


class Described(CommandLine):
    """The adapter of the program that the table in this folder describes."""

    def __init__(self, module: str) -> None:
        self.folder = Path(module).parent
        self.table = Table.model_validate(tomllib.loads(self.beside("agent.toml")))
        self.facts, self.served = self.table.facts, self.table.served

    def beside(self, name: str) -> str:
        return (self.folder / name).read_text(encoding="utf-8")

    def own_tools(self, role: Role) -> tuple[str, ...]:
        return (*self.table.reading, *self.table.writing) if role is Role.CODER else self.table.reading

    def places(self, task: AgentTask, door: Door) -> dict[str, object]:
        """What the places of the table stand for in this session."""
        is_coder = task.role is Role.CODER
        return {
            "program": task.program, "home": str(task.home), "scratch": str(task.scratch), "role": task.role.value,
            "workspace": str(task.workspace), "model": task.model or None, "effort": task.effort or None,
            "turns": task.limits.turns, "system": task.system or None, "arguments": task.arguments,
            "schema": json.dumps(dict(task.schema)) if task.schema is not None else None,
            "model_url": door.model_url, "model_key": door.model_key, "mcp_url": door.mcp_url,
            "authorization": f"Bearer {door.mcp_token}", "mcp_token": door.mcp_token if is_served(task, door) else None,
            "is_served": is_served(task, door), "tools": list(task.tools), "own_tools": list(self.own_tools(task.role)),
            "stop": shlex.join(door.stop_command) if door.stop_command and is_coder else None, "is_coder": is_coder,
            **(self.table.coder if is_coder else self.table.judge),
        }  # fmt: skip

    def access(self, door: Door) -> Mapping[str, str]:
        """Variables that open the way to the model."""
        return {}

    def question(self, prompt: str) -> str:
        """What is written to its standard input."""
        return prompt

    def prepare(self, task: AgentTask, door: Door) -> None:
        places = self.places(task, door)
        for name, kept in self.table.forgets.items():
            clear(task.home / name, kept)
        for name, template in self.table.files.items():
            path, content = task.home / str(fill(name, places)), fill(template, places)
            if content is not None:
                remove_tree(path)
                write_new(path, text_of(path.suffix, content))

    def start(self, task: AgentTask, door: Door) -> Start:
        return self._started(task, door, self.table.start, {}, task.prompt)

    def again(self, task: AgentTask, door: Door, session: str) -> Start:
        start = self._started(task, door, self.table.again, {"session": session}, task.ask_again)
        return replace(start, environment={**start.environment, **self.table.environment_again})

    def _started(
        self, task: AgentTask, door: Door, rows: Sequence[Sequence[str]], more: Mapping[str, object], prompt: str
    ) -> Start:
        places = {**self.places(task, door), **more}
        filled = ((name, fill(value, places)) for name, value in self.table.environment.items())
        environment = {name: str(value) for name, value in filled if value is not None}
        environment |= {name: "" for name in self.table.cleared if name in task.environment}
        argv = tuple(word for row in rows for word in words_of(row, places))
        return Start(argv, {**environment, **self.access(door), **direct(task.environment)}, self.question(prompt))


def is_served(task: AgentTask, door: Door) -> bool:
    """Whether the session has the verifier's tools."""
    return bool(door.mcp_url) and task.role is not Role.REVIEWER


def words_of(row: Sequence[str], places: Mapping[str, object]) -> Iterator[str]:
    """The words of an option, none where one of them has no value. A place may hold several."""
    filled = [fill(word, places) for word in row]
    if None not in filled:
        for word in filled:
            yield from word if isinstance(word, tuple) else (str(word),)


def fill(value: object, places: Mapping[str, object]) -> object:
    """The value with what its places stand for, None where it is left out. Raises KeyError for an unknown place."""
    match value:
        case str():
            place = _PLACE.fullmatch(value)
            return places[place[1]] if place else _PLACE.sub(lambda place: str(places[place[1]]), value)
        case list():
            kept = [each for item in value if (each := fill(item, places)) is not None]
            return kept if kept or not value else None
        case dict():
            if not fill(value.get("when", True), places):
                return None
            named = ((fill(name, places), fill(item, places)) for name, item in value.items() if name != "when")
            return {name: item for name, item in named if item is not None}
    return value


def text_of(suffix: str, content: object) -> str:
    """A file's text; a table is JSON, which is YAML as well, or TOML."""
    if isinstance(content, str):
        return content
    if suffix == ".toml" and isinstance(content, Mapping):
        return toml_of(content)
    return json.dumps(content, indent=1 if suffix == ".json" else None)


def toml_of(tables: Mapping[str, object], above: str = "") -> str:
    """TOML of nested tables, plain values of a table before the tables in it."""
    plain = {name: value for name, value in tables.items() if not isinstance(value, Mapping)}
    lines = [f"{_name(name)} = {_value(value)}\n" for name, value in plain.items()]
    for name, value in tables.items():
        if isinstance(value, Mapping):
            path = f"{above}{_name(name)}"
            lines.append(f"\n[{path}]\n{toml_of(value, f'{path}.')}")
    return "".join(lines)


def _name(name: str) -> str:
    return name if _BARE.fullmatch(name) else _value(name)


def _value(value: object) -> str:
    """JSON's values are those of TOML, but for lone surrogates and the one control character that JSON leaves alone."""
    text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace").decode("utf-8")
    return text.replace("\x7f", "\\u007F")
