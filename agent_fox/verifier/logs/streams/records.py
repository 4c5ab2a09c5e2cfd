"""JSON values of unknown shape: each field as the type that it should have, or nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TypeAlias

_DECODER = json.JSONDecoder(strict=False)

Record: TypeAlias = "dict[str, object]"


def record_of(line: str) -> Record | None:
    """The object that a line of text holds; None where it holds anything else."""
    if not (line := line.strip()).startswith("{"):
        return None
    try:
        value, end = _DECODER.raw_decode(line)
    except (ValueError, RecursionError):
        return None
    return record(value) if end == len(line) else None


def record(value: object) -> Record:
    return value if isinstance(value, dict) else {}


def records(value: object) -> Iterator[Record]:
    """The objects of an array."""
    return (each for each in value if isinstance(each, dict)) if isinstance(value, list) else iter(())


def texts(value: object) -> list[str]:
    """The texts of an array."""
    return [each for each in value if isinstance(each, str)] if isinstance(value, list) else []


def found(entry: Record, places: str) -> object:
    """The value at the first of the places that holds one. Of an array it is the first element's."""
    for place in places.split("|"):
        value: object = entry
        for key in place.split("."):
            value = record(next(records(value), {}) if isinstance(value, list) else value).get(key)
        if value or (value == 0 and value is not False):
            return value
    return None


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


def number(value: object) -> int | None:
    """A position, from 1; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None
