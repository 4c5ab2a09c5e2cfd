"""A value of any dataclass in which each field differs from all others, for tests of documents. Nothing ran."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import sys
import types
import typing
from collections.abc import Mapping
from enum import Enum
from importlib import import_module
from pathlib import Path
from zlib import crc32

T = typing.TypeVar("T")


def filled(kind: type[T], **given: object) -> T:
    """Texts are the names of their fields, with a letter beyond ASCII; numbers are made of names; a list has one item.

    `given`: fields that are to hold something else. A field that is optional holds something.
    """
    return _dataclass(kind, given)


def _dataclass(kind: type[T], given: Mapping[str, object]) -> T:
    hints = typing.get_type_hints(kind, localns=_names_beside(kind))
    return kind(
        **{
            each.name: given[each.name] if each.name in given else _value(hints[each.name], each.name)
            for each in dataclasses.fields(kind)  # type: ignore[arg-type] # only dataclasses are asked for
            if each.init
        }
    )


def _names_beside(kind: type) -> dict[str, object]:
    """What its module imports from others, for types alone too."""
    module = sys.modules[kind.__module__]
    imports = [node for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.ImportFrom)]
    return vars(module) | {
        each.asname or each.name: getattr(import_module(node.module), each.name)
        for node in imports
        for each in node.names
        if node.module and hasattr(import_module(node.module), each.name)
    }


def _value(hint: object, name: str) -> object:
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _value(next(each for each in arguments if each is not type(None)), name)
    if origin is typing.Literal:
        return arguments[0]
    if origin in (tuple, list, frozenset):
        items = arguments if origin is tuple and arguments[-1] is not Ellipsis else arguments[:1]
        return origin(_value(each, f"{name}_{at}") for at, each in enumerate(items))
    if origin in (dict, Mapping):
        return {_value(arguments[0], f"{name}_key"): _value(arguments[1], name)}
    return _plain(hint, name)


def _plain(hint: object, name: str) -> object:
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _dataclass(hint, {})
    if isinstance(hint, type) and issubclass(hint, Enum):
        return list(hint)[-1]
    number = crc32(name.encode()) % 1000
    values: dict[object, object] = {bool: True, int: number, float: number + 0.5, Path: Path(f"/{name}")}
    return values.get(hint, f"{name} é")
