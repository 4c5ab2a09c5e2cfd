"""The JSON schemas that clients are given: flat where they say what to send, short where they say what comes back."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, JsonValue, TypeAdapter

from agent_fox.core.late import adapter
from agent_fox.mcp.inputs import Arguments

MOST_NAMED_MODULES = 50
"""With more modules than this the schema names none of them: a list that long is read by nobody."""

_JSON_OBJECT = adapter(lambda: TypeAdapter(dict[str, JsonValue]))


def schema_of(arguments: type[Arguments], modules: Sequence[str] = ()) -> dict[str, JsonValue]:
    """The JSON schema of a tool's arguments, flat and without null; `modules` are named in it where they are few."""
    made = _JSON_OBJECT.validate_python(arguments.model_json_schema())
    fields: dict[str, JsonValue] = {name: _plain(field) for name, field in _object(made.get("properties")).items()}
    if "module" in fields and 0 < len(modules) <= MOST_NAMED_MODULES:
        names: list[JsonValue] = [*modules]
        fields["module"] = {"type": "string", "enum": names, "description": _object(fields["module"])["description"]}
    schema: dict[str, JsonValue] = {"type": "object", "properties": fields, "additionalProperties": False}
    return schema | {key: made[key] for key in ("required",) if key in made}


def output_schema_of(document: type[BaseModel]) -> dict[str, JsonValue]:
    """The JSON schema of an answer, without what only a reader of our sources needs: every list of tools carries it."""
    made = _JSON_OBJECT.validate_python(document.model_json_schema(mode="serialization"))
    short = _object(_without_words(made, is_schema=True))
    return short | {"title": document.__name__}


def _without_words(value: JsonValue, *, is_schema: bool) -> JsonValue:
    """`is_schema`: the keys are the schema's own, and not names of properties or definitions."""
    if isinstance(value, list):
        return [_without_words(part, is_schema=True) for part in value]
    if not isinstance(value, dict):
        return value
    kept = {key: part for key, part in value.items() if not (is_schema and key in ("title", "description"))}
    return {
        key: _without_words(part, is_schema=not (is_schema and key in ("properties", "$defs")))
        for key, part in kept.items()
    }


def _plain(field: JsonValue) -> dict[str, JsonValue]:
    """A field without its title, its null and the default that says null: some clients read none of them."""
    shown = _object(field)
    choices = shown.get("anyOf")
    if isinstance(choices, list):
        shown = shown | next(choice for choice in map(_object, choices) if choice.get("type") != "null")
    return {key: value for key, value in shown.items() if key not in ("anyOf", "title", "default")}


def _object(value: JsonValue) -> dict[str, JsonValue]:
    return value if isinstance(value, dict) else {}
