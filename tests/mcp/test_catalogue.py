"""What the server offers: that and nothing else, described, hinted, and written down."""

from __future__ import annotations

import re
from collections.abc import Mapping

import anyio
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp_types import Tool
from pydantic import JsonValue, TypeAdapter

from agent_fox.mcp.catalogue import ENTRIES, VERSION
from agent_fox.mcp.descriptors import as_text, describe, snapshot
from agent_fox.mcp.inputs import ModuleArguments, SelectedArguments
from agent_fox.mcp.schemas import MOST_NAMED_MODULES, schema_of
from tests.mcp.scripted import ScriptedToolbox, scripted_server

CATALOGUE = {
    "detect_build_system",
    "run_format_check",
    "run_format_apply",
    "run_lint",
    "run_compile",
    "run_unit_tests",
    "run_selected_test",
    "run_static_policy_checks",
    "run_dependency_tree",
    "run_security_scan",
    "summarize_build_log",
    "read_verification_report",
}
OUTSIDE = re.compile(r"pull|push|merge|issue|commit|branch|review|approve|comment|publish|deploy|shell|exec", re.I)
PLAIN_KEYS = {"type", "description", "minLength", "maxLength", "pattern", "minimum", "maximum", "enum"}


def described(*, may_format: bool = True) -> dict[str, JsonValue]:
    return describe(scripted_server(ScriptedToolbox(may_format=may_format)))


def tools(*, may_format: bool = True) -> list[Tool]:
    return anyio.run(scripted_server(ScriptedToolbox(may_format=may_format)).list_tools)


def fields(schema: Mapping[str, JsonValue]) -> dict[str, dict[str, JsonValue]]:
    return TypeAdapter(dict[str, dict[str, JsonValue]]).validate_python(schema["properties"])


def test_the_catalogue_is_this_and_nothing_else() -> None:
    assert {tool.name for tool in tools()} == CATALOGUE
    assert {tool.name for tool in tools(may_format=False)} == CATALOGUE - {"run_format_apply"}


def test_no_tool_reaches_beyond_the_workspace() -> None:
    assert [entry.name for entry in ENTRIES if OUTSIDE.search(f"{entry.name} {entry.title}")] == []
    assert all(tool.annotations and tool.annotations.open_world_hint is False for tool in tools())


def test_only_the_formatter_says_that_it_writes_source() -> None:
    writing = {tool.name for tool in tools() if tool.annotations and not tool.annotations.read_only_hint}
    assert writing == {"run_format_apply"}
    assert all(entry.changes_source == (entry.name == "run_format_apply") for entry in ENTRIES)


def test_every_tool_and_every_argument_is_described() -> None:
    for tool in tools():
        assert tool.title
        assert len(tool.description or "") > 60
        assert all(field["description"] for field in fields(tool.input_schema).values())


def test_schemas_are_valid_and_arguments_are_such_that_every_client_can_read_them() -> None:
    for tool in tools():
        assert tool.output_schema
        Draft202012Validator.check_schema(tool.output_schema)
        Draft202012Validator.check_schema(tool.input_schema)
        assert tool.input_schema["additionalProperties"] is False
        assert all(set(field) <= PLAIN_KEYS for field in fields(tool.input_schema).values())


@pytest.mark.parametrize("count", [1, MOST_NAMED_MODULES])
def test_the_modules_of_the_workspace_are_named_in_the_schema(count: int) -> None:
    names = [f"module-{number}" for number in range(count)]
    schema = schema_of(SelectedArguments, names)
    assert fields(schema)["module"]["enum"] == names
    assert schema["required"] == ["selector"]


def test_too_many_modules_are_not_named() -> None:
    schema = schema_of(ModuleArguments, [str(number) for number in range(MOST_NAMED_MODULES + 1)])
    assert "enum" not in fields(schema)["module"]


def test_descriptors_change_only_with_their_version() -> None:
    again = f"python -m tests.mcp.write_descriptors writes verifier-{VERSION}.json; raise catalogue.VERSION first"
    assert as_text(described()) == as_text(snapshot()), again
