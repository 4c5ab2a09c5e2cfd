"""Profiles made smaller: by what a person allows, then by what a repository asks. And what differs between two."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import Field, ValidationError

from agent_fox.config import Count, Flag, Seconds, Table
from agent_fox.core.ids import digest_of
from agent_fox.core.values import dataclass
from agent_fox.system.toml_tables import Toml, explain
from agent_fox.verifier.ground.request import Refused
from agent_fox.verifier.ground.results import Tool  # noqa: TC001 - pydantic reads it
from agent_fox.verifier.profiles.loading import profile_of
from agent_fox.verifier.profiles.model import Command, Inside, NetworkProfile, Profile

WIDENED = "profile_widened"
_MOST_DIFFERENCES = 200
_SHOWN = "verify.profile"


@dataclass(frozen=True, slots=True)
class Allowed:
    """The most that a person lets a profile do, whatever it or a repository says.

    write_folders: None leaves those of the profile. exclude: globs that a repository may take out of what is source.
    """

    network: NetworkProfile = NetworkProfile.NONE
    format_apply: bool = False
    max_seconds: float = 1800.0
    write_folders: tuple[str, ...] | None = None
    exclude: tuple[str, ...] = ()


class Narrowing(Table):
    """What a repository may say about the profile it is verified by: only less."""

    without: list[Tool] = Field(default=[], description="Tools that are not to be used here.")
    max_seconds: Seconds | None = Field(default=None, description="A lower time limit for every command.")
    seconds: dict[Tool, Seconds] = Field(default={}, description="A lower time limit for one tool.")
    output_bytes: Count | None = Field(default=None, description="A lower limit of what a command may print.")
    network: NetworkProfile | None = Field(default=None, description="`none` forbids the resolving step.")
    format_apply: Flag | None = Field(default=None, description="`false` forbids `run_format_apply`.")
    write_folders: list[Inside] | None = Field(default=None, description="Fewer folders that builds may write.")
    include: list[Inside] = Field(default=[], description="More that is source, such as committed generated code.")
    exclude: list[Inside] = Field(default=[], description="Less that is source: only what was allowed beforehand.")


def narrowed(profile: Profile, table: Toml, allowed: Allowed) -> Profile:
    """The profile as far as a person allows it and a repository's table asks for it.

    Raises Refused for a table that cannot be read, or that asks for more than there is; it says what, and why not.
    """
    asked = _read(table)
    capped = _capped(profile, allowed)
    for text in _widening(capped, asked, allowed):
        raise Refused(WIDENED, f"{_SHOWN}: {text}; a repository may only narrow what was allowed")
    return _applied(capped, asked)


def fingerprint(profile: Profile) -> str:
    """A hash (hex) of all that a profile says: the same for the same profile, whatever file it came from."""
    text = json.dumps(profile.model_dump(mode="json"), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return digest_of(text)


def difference(old: Profile, new: Profile) -> tuple[str, ...]:
    """What differs between two profiles, one line each, in the words of their files. Empty where they are the same."""
    before, after = (dict(_leaves("", each.model_dump(mode="json"))) for each in (old, new))
    lines = [_difference(key, before.get(key), after.get(key)) for key in sorted({*before, *after})]
    differing = [line for line in lines if line]
    left = len(differing) - _MOST_DIFFERENCES
    return (*differing[:_MOST_DIFFERENCES], f"and {left} more") if left > 0 else tuple(differing)


def _read(table: Toml) -> Narrowing:
    try:
        return Narrowing.model_validate(table)
    except ValidationError as error:
        raise Refused("profile_invalid", explain(error, Narrowing, table, {}, Path(_SHOWN))) from error


def _capped(profile: Profile, allowed: Allowed) -> Profile:
    """What of a profile a person allows."""
    policy = profile.policy
    folders = policy.write_folders
    if allowed.write_folders is not None:
        folders = [folder for folder in folders if folder in allowed.write_folders]
    changes = {
        "network": _less(policy.network, allowed.network),
        "allow_source_mutation": policy.allow_source_mutation and allowed.format_apply,
        "write_folders": folders,
    }
    capped = profile.model_copy(update={"policy": policy.model_copy(update=changes)})
    return _limited(capped, {}, min(profile.max_seconds, allowed.max_seconds))


def _widening(profile: Profile, asked: Narrowing, allowed: Allowed) -> Iterator[str]:
    policy = profile.policy
    if asked.network and _less(policy.network, asked.network) is not asked.network:
        yield f"network = {asked.network!s} is more than {policy.network!s}"
    if asked.format_apply and not policy.allow_source_mutation:
        yield "format_apply = true, and no formatter is allowed to change source"
    if asked.max_seconds and asked.max_seconds > profile.max_seconds:
        yield f"max_seconds = {asked.max_seconds:g} is more than {profile.max_seconds:g}"
    if asked.output_bytes and asked.output_bytes > profile.output.output_bytes:
        yield f"output_bytes = {asked.output_bytes} is more than {profile.output.output_bytes}"
    for tool, seconds in asked.seconds.items():
        most = max((command.seconds for command in profile.commands.get(tool, [])), default=0.0)
        if seconds > most:
            yield f"seconds.{tool} = {seconds:g} is more than {most:g}"
    yield from (
        f"write_folders: {each} is not among them"
        for each in asked.write_folders or ()
        if each not in policy.write_folders
    )
    yield from (f"exclude: {each} would be source no more" for each in asked.exclude if each not in allowed.exclude)


def _applied(profile: Profile, asked: Narrowing) -> Profile:
    policy, source, output = profile.policy, profile.source, profile.output
    permits = policy.allow_source_mutation and asked.format_apply is not False
    folders = policy.write_folders if asked.write_folders is None else asked.write_folders
    network = policy.network if asked.network is None else asked.network
    changes: dict[str, object] = {
        "commands": {tool: command for tool, command in profile.commands.items() if tool not in asked.without},
        "unavailable": profile.unavailable
        | dict.fromkeys(asked.without, "the repository's configuration leaves it out"),
        "policy": policy.model_copy(
            update={"network": network, "allow_source_mutation": permits, "write_folders": folders}
        ),
        "source": source.model_copy(
            update={"include": [*source.include, *asked.include], "exclude": [*source.exclude, *asked.exclude]}
        ),
        "output": output.model_copy(update={"output_bytes": asked.output_bytes or output.output_bytes}),
    }
    most = asked.max_seconds or profile.max_seconds
    smaller = _limited(profile.model_copy(update=changes), asked.seconds, most)
    return profile_of(smaller.model_dump(mode="json", exclude_none=True), _SHOWN)


def _limited(profile: Profile, seconds: dict[Tool, float], most: float) -> Profile:
    """With no command above these limits."""
    printed = profile.output.output_bytes
    commands = {
        tool: [_limited_command(each, min(seconds.get(tool, most), most), printed) for each in command]
        for tool, command in profile.commands.items()
    }
    return profile.model_copy(update={"commands": commands, "max_seconds": most})


def _limited_command(command: Command, seconds: float, printed: int) -> Command:
    changes = {"seconds": min(command.seconds, seconds), "output_bytes": min(command.output_bytes, printed)}
    return command.model_copy(update=changes)


def _less(one: NetworkProfile, other: NetworkProfile) -> NetworkProfile:
    return NetworkProfile.NONE if NetworkProfile.NONE in (one, other) else one


def _leaves(place: str, value: object) -> Iterator[tuple[str, str]]:
    """Every value of a nested table, with where it stands. A list of texts is one value."""
    match value:
        case dict():
            for key, below in value.items():
                yield from _leaves(f"{place}.{key}".removeprefix("."), below)
        case [dict(), *_]:
            for at, below in enumerate(value):
                yield from _leaves(f"{place}[{at}]", below)
        case _:
            yield place, json.dumps(value, ensure_ascii=False)


def _difference(key: str, before: str | None, after: str | None) -> str:
    if before == after:
        return ""
    if before is None:
        return f"{key} = {after} is new"
    return f"{key} = {before} is gone" if after is None else f"{key}: {before} becomes {after}"
