"""Configuration files as settings: layout and order count for nothing. Which change matters is a table's affair."""

from __future__ import annotations

import configparser
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

Settings = Mapping[str, tuple[str, ...]]
"""Dotted path to its values: one for a scalar, all for a list."""

MOST_DEEP = 40

_INI = (".ini", ".cfg")
_INI_NAMES = (".coveragerc", ".flake8", ".pylintrc", "pylintrc")
_JSON_NAMES = (".eslintrc", ".nycrc", ".mocharc")


class BadSettings(ValueError):
    """The file can't be parsed; the message names the format."""


def settings_of(path: str, text: str) -> Settings:
    """The settings of a TOML, JSON (comments allowed) or INI file; none for another kind. Raises BadSettings."""
    pure = PurePosixPath(path)
    try:
        if pure.suffix == ".toml":
            return dict(_flat(tomllib.loads(text), ()))
        if pure.suffix in (".json", ".jsonc") or pure.name in _JSON_NAMES:
            return dict(_flat(_json(text), ()))
        if pure.suffix in _INI or pure.name in _INI_NAMES:
            return dict(_ini(text))
    except (ValueError, configparser.Error, RecursionError) as error:
        raise BadSettings(f"{pure.name} can't be parsed") from error
    return {}


def _json(text: str) -> object:
    if not text.strip():
        return {}
    try:
        return json.loads(text)
    except ValueError:
        without = re.sub(r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda found: found[1] or "", text, flags=re.DOTALL)
        return json.loads(re.sub(r",(\s*[}\]])", r"\1", without))


def _ini(text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.read_string(text)
    for section in parser.sections():
        for key, value in parser.items(section):
            yield f"{section}.{key}", tuple((value or "").split("\n")) if "\n" in (value or "") else (value or "",)


def _flat(node: object, path: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    if len(path) > MOST_DEEP:
        raise BadSettings("nested too deeply")
    if isinstance(node, dict):
        for key, value in node.items():
            yield from _flat(value, (*path, str(key)))
    elif isinstance(node, list):
        yield ".".join(path), tuple(json.dumps(each, sort_keys=True, default=str).strip('"') for each in node)
    else:
        yield ".".join(path), (str(node).lower() if isinstance(node, bool) else str(node),)
