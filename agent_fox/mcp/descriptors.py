"""The whole description of the server for clients, as one document, so that no change of it goes unseen."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from importlib.resources import files

import anyio
from mcp.server.mcpserver import MCPServer
from mcp_types import Tool
from pydantic import BaseModel, JsonValue, TypeAdapter

from agent_fox.core.late import adapter
from agent_fox.mcp.catalogue import VERSION

FOLDER = "descriptors"
_DOCUMENT = adapter(lambda: TypeAdapter(dict[str, JsonValue]))


def describe(server: MCPServer) -> dict[str, JsonValue]:
    """Tools, resource templates, prompts and instructions, as they go over the wire; output schemas once each."""
    return anyio.run(_describe, server)


def snapshot() -> dict[str, JsonValue]:
    """What was written down for this version, of a workspace without modules and with run_format_apply allowed."""
    text = (files("agent_fox.mcp") / FOLDER / f"verifier-{VERSION}.json").read_text(encoding="utf-8")
    return _DOCUMENT.validate_json(text)


def as_text(described: dict[str, JsonValue]) -> str:
    """The document as its file has it."""
    return json.dumps(described, indent=2, ensure_ascii=False) + "\n"


async def _describe(server: MCPServer) -> dict[str, JsonValue]:
    tools = await server.list_tools()
    outputs = {_name_of(tool.output_schema): tool.output_schema for tool in tools}
    return {
        "version": VERSION,
        "name": server.name,
        "instructions": server.instructions,
        "tools": [_plain_tool(tool) for tool in tools],
        "outputSchemas": _DOCUMENT.validate_python(outputs),
        "resourceTemplates": _plain(await server.list_resource_templates()),
        "prompts": _plain(await server.list_prompts()),
    }


def _plain_tool(tool: Tool) -> dict[str, JsonValue]:
    """A tool; its output schema, which several tools share, by name."""
    plain: dict[str, JsonValue] = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
    return plain | {"outputSchema": _name_of(tool.output_schema)}


def _name_of(schema: Mapping[str, object] | None) -> str:
    return str((schema or {}).get("title", ""))


def _plain(models: Sequence[BaseModel]) -> list[JsonValue]:
    return [model.model_dump(mode="json", by_alias=True, exclude_none=True) for model in models]
