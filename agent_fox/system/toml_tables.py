"""TOML files and environment variables as one table, and pydantic's complaints about it in a person's words.

What the settings are, and what they mean, is not here.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from operator import eq
from pathlib import Path
from typing import TYPE_CHECKING, get_args, get_type_hints

from pydantic import BaseModel, ValidationError

from agent_fox.core.late import late_module
from agent_fox.core.values import dataclass

if TYPE_CHECKING:
    from agent_fox.core import words
else:
    words = late_module("agent_fox.core.words")

Toml = dict[str, object]
Keys = tuple[str | int, ...]  # where a value stands: names of tables, places in lists
SECRET_TABLE = "environment"  # what stands below it is taken as written, and never shown
_ALLOWED = "allowed is "
_SHOWN = 60  # characters of a wrong value that a complaint repeats
_WORDS = {
    "bool_type": "true or false",
    "int_type": "a whole number",
    "float_type": "a number",
    "string_type": "a text",
    "string_too_short": "a text that is not empty",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
}


class TableError(ValueError):
    """A file or variable that is no TOML, or cannot be read: one line."""


def read_table(file: Path, shown: Path) -> Toml:
    """The file's content, `{}` where there is none. Raises TableError, which calls the file `shown`."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        return {}
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise TableError(f"{shown}: this is not TOML: {error}") from error
    except OSError as error:
        raise TableError(f"{shown}: cannot be read: {error.strerror}") from error


def put_variables(table: Toml, prefix: str, environ: Mapping[str, str]) -> dict[Keys, str]:
    """Set in `table` what variables such as `PREFIX_A__B=1` say about `a.b`; their names by place.

    Values are TOML (number, true, "text", list, inline table), or else text as it stands. Raises TableError.
    """
    return {_put(table, name, prefix, environ[name]): name for name in sorted(environ) if name.startswith(prefix)}


def _put(table: Toml, variable: str, prefix: str, text: str) -> Keys:
    keys: list[str] = []
    *outer, last = variable.removeprefix(prefix).split("__")
    for part in outer:
        keys.append(_spelled(part, table, keys))
        below = table.setdefault(keys[-1], {})
        if not isinstance(below, dict):
            raise TableError(f"environment variable {variable}: {'.'.join(keys)} is a value, not a table")
        table = below
    value = text if keys[-1:] == [SECRET_TABLE] else _parsed(text)
    keys.append(_spelled(last, table, keys))
    table[keys[-1]] = value
    return tuple(keys)


def _spelled(part: str, table: Toml, outer: list[str]) -> str:
    """A key in lower case, or as the file spells it; names of variables stay as they are."""
    if outer[-1:] == [SECRET_TABLE]:
        return part
    return next((key for key in table if key.lower() == part.lower()), part.lower())


def _parsed(text: str) -> object:
    try:
        table = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    is_plain = isinstance(table.get("value"), bool | int | float | str | list | dict)
    return table["value"] if is_plain and len(table) == 1 else text


def explain(
    error: ValidationError, model: type[BaseModel], table: Toml, variables: Mapping[Keys, str], file: Path
) -> str:
    """All that is wrong, in one line: place, key, value, and what is allowed or the nearest known key."""
    troubles: dict[Keys, list[str]] = {}
    for detail in error.errors(include_url=False):
        keys = _existing(detail["loc"], table)
        is_unknown = detail["type"] == "extra_forbidden"
        text = _unknown(keys, model) if is_unknown else _allowed(detail["type"], detail["msg"])
        troubles.setdefault(keys, []).append(text)
    source = _Source(table, variables, file)
    return "; ".join(f"{source.quote(keys)}: {_either(texts)}" for keys, texts in troubles.items())


@dataclass(frozen=True, slots=True)
class _Source:
    table: Toml
    variables: Mapping[Keys, str]
    file: Path

    def quote(self, keys: Keys) -> str:
        """The place and what stands there; values below `environment` are not shown."""
        over = (name for at, name in self.variables.items() if all(map(eq, at, keys)))
        names = (f"environment variable {name}" for name in over)
        shown = "(not shown)" if SECRET_TABLE in keys else json.dumps(_at(keys, self.table), default=str)
        shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
        return f"{next(names, self.file)}: {_dotted(keys)} = {shown}"


def _existing(location: Keys, table: Toml) -> Keys:
    """The part of pydantic's location that is there in the file: without names of types and branches."""
    lengths = range(len(location), 0, -1)
    return next((location[:n] for n in lengths if _at(location[:n], table) is not None), location[:1])


def _at(keys: Keys, table: Toml) -> object:
    """The value in that place, None where there is none."""
    value: object = table
    for key in keys:
        match value:
            case dict() if key in value:
                value = value[key]
            case list() if isinstance(key, int) and key < len(value):
                value = value[key]
            case _:
                return None
    return value


def _unknown(keys: Keys, model: type[BaseModel]) -> str:
    """What a person may have meant by an unknown key, and what else is known in that table."""
    known = sorted(field.alias or name for name, field in _table_class(keys[:-1], model).model_fields.items())
    near = words.nearest(str(keys[-1]), known)
    hint = f"; did you mean {_dotted((*keys[:-1], near))}?" if near else ""
    return f"unknown setting{hint} (known here: {', '.join(known)})"


def _table_class(keys: Keys, model: type[BaseModel]) -> type[BaseModel]:
    """The class of the table in that place, which exists."""
    table: type[BaseModel] = model
    inner: object = model
    for key in keys:
        inner = _annotation(str(key), table) if inner is table else get_args(inner)[-1]
        if isinstance(inner, type) and issubclass(inner, BaseModel):
            table = inner
    return table


def _annotation(key: str, table: type[BaseModel]) -> object:
    """What may stand under a key of a table; one that is no field's is a name, where the table has those."""
    field = table.model_fields.get(key)
    return field.annotation if field is not None else get_args(get_type_hints(table)["__pydantic_extra__"])[-1]


def _either(texts: list[str]) -> str:
    """What the branches of one type allow."""
    return " or ".join(texts).replace(f" or {_ALLOWED}", " or ")


def _dotted(keys: Keys) -> str:
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in keys).removeprefix(".")


def _allowed(kind: str, message: str) -> str:
    """What may stand there, or a validator's own sentence."""
    if kind == "value_error":
        return message.removeprefix("Value error, ")
    return f"{_ALLOWED}{_WORDS.get(kind) or message.removeprefix('Input should be ')}"
