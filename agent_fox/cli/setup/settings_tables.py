"""The settings as rows for people, read from the models' own schema. No setting is named here."""

from __future__ import annotations

import json
from collections.abc import Iterator

from pydantic import BaseModel, ConfigDict, Field

from agent_fox.config import Settings
from agent_fox.core.values import dataclass

PLACEHOLDERS = {"specs": "NAME", "plans": "NAME", "places": "TAG", "nodes": '"SPEC:GROUP"'}
_KINDS = {"boolean": "true or false", "integer": "whole number", "number": "number", "string": "text"}


class Schema(BaseModel, defer_build=True):
    """As much of JSON Schema as the settings need."""

    model_config = ConfigDict(populate_by_name=True)

    type: str = ""
    description: str = ""
    default: object = None
    enum: tuple[str, ...] = ()
    minimum: float | None = None
    maximum: float | None = None
    above: float | None = Field(default=None, alias="exclusiveMinimum")
    properties: dict[str, Schema] = {}
    items: Schema | None = None
    named: Schema | bool | None = Field(default=None, alias="additionalProperties")
    choices: tuple[Schema, ...] = Field(default=(), alias="anyOf")
    ref: str = Field(default="", alias="$ref")
    models: dict[str, Schema] = Field(default={}, alias="$defs")


@dataclass(frozen=True, slots=True)
class Row:
    """One setting. `default` is its TOML text, empty where it is unset or inherited."""

    key: str
    kind: str
    default: str
    description: str


@dataclass(frozen=True, slots=True)
class SettingsTable:
    """One table of the file: `path` as it stands between the brackets of `header`, and its own keys.

    `inherits` holds where keys left out are those of a wider table.
    """

    path: str
    header: str
    about: str
    rows: tuple[Row, ...]
    inherits: bool


def tables() -> tuple[SettingsTable, ...]:
    """Every table that has keys of its own, in the order of the models."""
    whole = Schema.model_validate(Settings.model_json_schema())
    walk = _Walk(whole.models)
    return tuple(table for table in walk.below("", whole, inherits=False) if table.rows)


@dataclass(frozen=True, slots=True)
class _Walk:
    models: dict[str, Schema]

    def table(self, path: str, ref: str, *, inherits: bool, header: str = "[{}]") -> Iterator[SettingsTable]:
        model = self.models[ref.rsplit("/", 1)[-1]]
        plain = {key: schema for key, schema in model.properties.items() if not _table_ref(schema)}
        rows = tuple(_row(key, schema, inherits=inherits) for key, schema in plain.items())
        yield SettingsTable(path, header.format(path), model.description, rows, inherits)
        if isinstance(model.named, Schema) and model.named.ref:
            yield from self.table(f"{path}.{PLACEHOLDERS[path]}", model.named.ref, inherits=True)
        yield from self.below(f"{path}.", model, inherits=inherits)

    def below(self, prefix: str, model: Schema, *, inherits: bool) -> Iterator[SettingsTable]:
        """The tables in the properties of `model`: tables, tables by name, lists of tables."""
        for key, schema in model.properties.items():
            path = f"{prefix}{key}"
            if schema.ref:
                yield from self.table(path, schema.ref, inherits=inherits)
            elif isinstance(schema.named, Schema) and schema.named.ref:
                yield from self.table(f"{path}.{PLACEHOLDERS[key]}", schema.named.ref, inherits=True)
            elif schema.items and schema.items.ref:
                yield from self.table(path, schema.items.ref, inherits=True, header="[[{}]]")


def _table_ref(schema: Schema) -> str:
    named = schema.named.ref if isinstance(schema.named, Schema) else ""
    return schema.ref or named or (schema.items.ref if schema.items else "")


def _row(key: str, schema: Schema, *, inherits: bool) -> Row:
    default = "" if inherits or schema.default is None else json.dumps(schema.default)
    return Row(key, _kind(schema), default, schema.description)


def _kind(schema: Schema) -> str:
    """What may stand there, in words."""
    if schema.enum:
        return " or ".join(f'"{word}"' for word in schema.enum)
    if schema.choices:
        return " or ".join(_kind(choice) for choice in schema.choices if choice.type != "null")
    if schema.items and schema.items.enum:
        return "list of names"
    if schema.items:
        return f"list of ({_kind(schema.items)})" if schema.items.choices else f"list of {_kind(schema.items)}s"
    if isinstance(schema.named, Schema):
        return f"table of {_kind(schema.named)}s"
    return f"{_KINDS[schema.type]}{_limit(schema)}"


def _limit(schema: Schema) -> str:
    if schema.above is not None:
        return f" above {schema.above:g}"
    least = "" if schema.minimum is None else f" from {schema.minimum:g}"
    return least if schema.maximum is None else f"{least} to {schema.maximum:g}"
