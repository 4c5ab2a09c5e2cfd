"""A value as the JSON document that leaves the process, the one way that is done. Reading is pydantic's: ADR 0058."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import fields
from enum import Enum

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


def to_document(value: object, text: Callable[[str], str] | None = None) -> Json:
    """The value in JSON's own types: a dataclass is an object with its fields in order, a sequence a list, a set a
    sorted list, a word of an enumeration its value. `text` is applied to every text but names.

    Raises TypeError for what JSON has no form for, such as bytes or a path.
    """
    match value:
        case Enum():
            return to_document(value.value, text)
        case str():
            return text(value) if text else value
        case None | bool() | int() | float():
            return value
        case Mapping():
            return {str(name): to_document(each, text) for name, each in value.items()}
        case list() | tuple() | Set():
            return [to_document(each, text) for each in (sorted(value) if isinstance(value, Set) else value)]
    return to_object(value, text=text)


def to_object(
    value: object, *, only: Iterable[str] = (), without: Iterable[str] = (), text: Callable[[str], str] | None = None
) -> dict[str, Json]:
    """A dataclass as an object: all fields, `only` these and in this order (properties too), or all `without` some."""
    names = only or [each.name for each in fields(value) if each.name not in without]  # type: ignore[arg-type]
    return {name: to_document(getattr(value, name), text) for name in names}
