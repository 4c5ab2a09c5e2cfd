"""Profiles from TOML: the built-in ones, by name, and any other text. What a profile may say is in `model`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from itertools import chain
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING

from pydantic import ValidationError

from agent_fox.core.late import late_module
from agent_fox.system.toml_tables import Toml, explain
from agent_fox.verifier.ground.request import Refused
from agent_fox.verifier.ground.results import Tool
from agent_fox.verifier.profiles.model import WITHOUT_COMMAND, Command, Lists, NetworkProfile, Profile, Values
from agent_fox.verifier.profiles.templates import list_name, list_names, names_of, value_names
from agent_fox.verifier.projects.skipping import refuse_skipping

if TYPE_CHECKING:
    from agent_fox.core import words
else:
    words = late_module("agent_fox.core.words")

LARGEST = 256 * 1024  # bytes of a profile's text
_DATA = "data"
_EXTENDS = "extends"


class ProfileError(ValueError):
    """A profile that cannot be used: what is wrong, where, and what may be meant."""


class UnknownProfile(LookupError):
    """An id that no profile has; its text names what may be meant."""

    def __init__(self, id: str, known: Iterable[str]) -> None:
        names = sorted(known)
        hint = words.did_you_mean(id, names, f"; there are: {', '.join(names)}")
        super().__init__(f"there is no profile {id!r}{hint}")


@cache
def built_in() -> Mapping[str, Profile]:
    """The profiles that come with the package, by id."""
    folder = files(__package__) / _DATA
    texts = {entry.name: entry.read_text("utf-8") for entry in folder.iterdir() if entry.name.endswith(".toml")}
    return collect({name: texts[name] for name in sorted(texts)})


def load_profile(id: str) -> Profile:
    """The built-in profile of that id. Raises UnknownProfile."""
    profiles = built_in()
    if id not in profiles:
        raise UnknownProfile(id, profiles)
    return profiles[id]


def collect(texts: Mapping[str, str]) -> Mapping[str, Profile]:
    """The profiles in several texts, by id; one may extend another of them. Raises ProfileError."""
    tables = {shown: _table(text, shown) for shown, text in texts.items()}
    by_id = {str(table.get("id")): table for table in tables.values()}
    profiles: dict[str, Profile] = {}
    for shown, table in tables.items():
        profile = profile_of(_extended(table, by_id, shown), shown)
        if profile.id in profiles:
            raise ProfileError(f"{shown}: the id {profile.id!r} is taken already")
        profiles[profile.id] = profile
    return MappingProxyType(profiles)


def profile_of(table: Toml, shown: str) -> Profile:
    """The profile that a table describes. Raises ProfileError."""
    try:
        profile = Profile.model_validate(table)
    except ValidationError as error:
        raise ProfileError(explain(error, Profile, table, {}, Path(shown))) from error
    wrong = contradictions(profile)
    if wrong:
        raise ProfileError(f"{shown}: {'; '.join(wrong)}")
    return profile


def _table(text: str, shown: str) -> Toml:
    if len(text.encode()) > LARGEST:
        raise ProfileError(f"{shown}: a profile has at most {LARGEST} bytes")
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise ProfileError(f"{shown}: this is not TOML: {error}") from error


def _extended(table: Toml, by_id: Mapping[str, Toml], shown: str) -> Toml:
    """The table, with what it leaves out taken from the one it extends. Tables are merged, lists are replaced."""
    if _EXTENDS not in table:
        return table
    base = by_id.get(str(table[_EXTENDS]))
    if base is None or _EXTENDS in base:
        raise ProfileError(f"{shown}: extends = {table[_EXTENDS]!r} names no profile that extends none itself")
    return merged(base, {key: value for key, value in table.items() if key != _EXTENDS})


def merged(base: Toml, over: Toml) -> Toml:
    result = dict(base)
    for key, value in over.items():
        below = result.get(key)
        result[key] = merged(below, value) if isinstance(below, dict) and isinstance(value, dict) else value
    return result


def contradictions(profile: Profile) -> tuple[str, ...]:
    """Everything that is wrong with a profile beyond its form, one sentence each."""
    problems = [*_of_policy(profile)]
    for tool, commands in profile.commands.items():
        for number, command in enumerate(commands):
            place = f"commands.{tool}[{number}]"
            problems += [f"{place}: {text}" for text in _of_command(profile, tool, command)]
    return tuple(problems)


def _of_policy(profile: Profile) -> Iterator[str]:
    for folder in profile.policy.write_folders:
        if not {f"{folder}/", f"{folder}/**", folder} & set(profile.source.exclude):
            yield f"policy.write_folders: {folder} may be written, so source.exclude has to name it"
    yield from (f"commands.{tool}: this tool runs no command" for tool in profile.commands if tool in WITHOUT_COMMAND)
    if profile.resolve:
        yield from (f"resolve: {text}" for text in _of_program(profile, profile.resolve.argv))


def _of_command(profile: Profile, tool: Tool, command: Command) -> Iterator[str]:
    yield from _of_rights(profile, tool, command)
    for argv in (*command.before, command.argv):
        yield from _of_program(profile, argv)
        yield from _of_skipping(tool, argv, {**profile.environment, **command.environment})
    yield from _of_holes(profile, command)
    yield from _of_selector(tool, command)
    yield from _of_reports(command)


def _of_rights(profile: Profile, tool: Tool, command: Command) -> Iterator[str]:
    if command.changes_source and not tool.may_change_source:
        yield "it changes source, which this tool only reads"
    if tool.may_change_source and not command.changes_source:
        yield "this tool changes source, so say changes_source = true"
    if command.idle is not None and not tool.runs_tests:
        yield "idle tells of tests that did not run, and this tool runs none"
    if command.network and profile.policy.network is NetworkProfile.NONE:
        yield "it needs a network, and policy.network is none"
    if command.seconds > profile.max_seconds:
        yield f"seconds = {command.seconds:g} is more than max_seconds = {profile.max_seconds:g}"
    if command.output_bytes > profile.output.output_bytes:
        yield "output_bytes is more than the profile's own output.output_bytes"


def _of_program(profile: Profile, argv: list[str]) -> Iterator[str]:
    names = value_names(argv[:1])
    if argv[0] != "".join(f"{{{name}}}" for name in names) or not names <= set(profile.programs):
        yield f"{argv[0]!r} is no program of this profile; write one of its programs in braces"
        return
    for choice in profile.programs[next(iter(names))]:
        yield from _of_skipping(Tool.COMPILE, [choice], {})


def _of_skipping(tool: Tool, argv: list[str], environment: dict[str, str]) -> Iterator[str]:
    program = argv[0].strip("{}")
    try:
        refuse_skipping(tool, (program, *argv[1:]), environment)
    except Refused as refused:
        yield str(refused)


def _of_holes(profile: Profile, command: Command) -> Iterator[str]:
    elements = list(_elements(command))
    own = {Lists.MODULE: command.module, Lists.WHOLE: command.whole, Lists.FILES: command.files}
    used = list_names(elements)
    yield from (
        f"{{{name}...}} is used, but {name} is empty" for name, parts in own.items() if name in used and not parts
    )
    yield from (
        f"{name} is given, but {{{name}...}} is not in argv"
        for name, parts in own.items()
        if parts and name not in used
    )
    yield from (f"{{{name}...}} is not known" for name in sorted(used - set(Lists)))
    yield from (
        f"{element!r}: a list stands alone" for element in elements if list_names([element]) and not list_name(element)
    )
    known = {*Values, *profile.programs}
    yield from (f"{{{name}}} is not known" for name in sorted(value_names(elements) - known))
    if command.module and Values.MODULE not in value_names(command.module):
        yield "module does not say {module}"
    if Values.ADVISORIES in value_names(elements) and not command.needs:
        yield "it reads {advisories}, so say in needs which"


def _of_selector(tool: Tool, command: Command) -> Iterator[str]:
    selects = Lists.SELECTION in names_of(command.argv)
    if (tool is Tool.SELECTED_TEST) != (command.selector is not None):
        yield f"a selector is for {Tool.SELECTED_TEST}, and it cannot do without"
    if selects != (command.selector is not None) or selects != bool(command.path or command.name):
        yield "selector, {selection...} in argv, and path or name belong together"
    if command.path and Values.PATH not in value_names(command.path):
        yield "path does not say {path}"
    if command.name and not {Values.NAME, Values.PATTERN} & value_names(command.name):
        yield "name says neither {name} nor {pattern}"


def _of_reports(command: Command) -> Iterator[str]:
    for glob in command.reports:
        path = PurePosixPath(glob)
        if path.is_absolute() or ".." in path.parts:
            yield f"reports: {glob!r} is outside the workspace"
        if value_names([glob]) - {Values.REPORTS} or ("{" in glob and not glob.startswith("{reports}/")):
            yield f"reports: {glob!r} may begin with {{reports}}/, and hold no other value"
    writes = Values.REPORTS in value_names(_elements(command))
    if any("{reports}" in glob for glob in command.reports) and not writes:
        yield "reports are looked for in {reports}, but nothing is told to write there"


def _elements(command: Command) -> Iterable[str]:
    """All text of a command with holes in it."""
    parts = (command.argv, *command.before, command.module, command.whole, command.path, command.name)
    return chain(*parts, command.environment.values())
