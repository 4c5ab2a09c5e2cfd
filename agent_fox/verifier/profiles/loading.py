"""Profiles from TOML: the built-in ones, by name, and any other text. What a profile may say is in `model`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from pydantic import ValidationError

from agent_fox.core.late import late_module
from agent_fox.system.toml_tables import Toml, explain
from agent_fox.verifier.profiles.contradictions import contradictions
from agent_fox.verifier.profiles.model import Profile

if TYPE_CHECKING:
    from agent_fox.core import words
else:
    words = late_module("agent_fox.core.words")

LARGEST = 256 * 1024  # bytes of a profile's text
_DATA = "data"
_EXTENDS = "extends"


class ProfileError(ValueError):
    """A profile that cannot be used: what is wrong, where, and what is nearest to what was meant."""


class UnknownProfile(LookupError):
    """An id that no profile has; its text names the nearest."""

    def __init__(self, id: str, known: Iterable[str]) -> None:
        near = words.nearest(id, known)
        super().__init__(f"there is no profile {id!r}; the nearest is {near!r}" if near else f"no profile {id!r}")


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


def read_profile(text: str, shown: str) -> Profile:
    """The profile in a TOML text, which complaints call `shown`. Raises ProfileError."""
    return profile_of(_table(text, shown), shown)


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
