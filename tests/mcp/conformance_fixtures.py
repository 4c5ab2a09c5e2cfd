"""What the conformance suite expects any server under test to offer, so that it can test how a server answers.

The server it is added to is ours: its transport, its token, its checks of names, its middleware.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Annotated

import anyio
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    TextContent,
    TextResourceContents,
)
from pydantic import Field

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
SILENCE = base64.b64decode("UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=")
STEP = 0.05
DESCRIPTION = "A fixture of the conformance suite."


def add_fixtures(server: MCPServer) -> MCPServer:
    """The server with the suite's tools, resources and prompts beside its own."""
    tools: dict[str, Callable[..., object]] = {
        "test_simple_text": simple_text,
        "test_image_content": image,
        "test_audio_content": audio,
        "test_embedded_resource": embedded,
        "test_multiple_content_types": mixed,
        "test_error_handling": error,
        "test_tool_with_progress": progress,
    }
    for name, tool in tools.items():
        server.add_tool(tool, name=name, description=DESCRIPTION, structured_output=False)
    _add_resources(server)
    _add_prompts(server)
    return server


def simple_text() -> str:
    return "This is a simple text response for testing."


def image() -> ImageContent:
    return ImageContent(type="image", data=base64.b64encode(PIXEL).decode(), mime_type="image/png")


def audio() -> AudioContent:
    return AudioContent(type="audio", data=base64.b64encode(SILENCE).decode(), mime_type="audio/wav")


def embedded() -> EmbeddedResource:
    return _resource("test://embedded-resource", "text/plain", "This is an embedded resource content.")


def mixed() -> list[ContentBlock]:
    inner = _resource("test://mixed-content-resource", "application/json", '{"test":"data","value":123}')
    return [TextContent(type="text", text="Multiple content types test:"), image(), inner]


def error() -> str:
    raise ToolError("This tool intentionally returns an error for testing")


async def progress(context: Context) -> str:
    for done in (0, 50, 100):
        await context.report_progress(done, 100)
        await anyio.sleep(STEP)
    return "done"


def _resource(uri: str, mime_type: str, text: str) -> EmbeddedResource:
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=mime_type, text=text))


def _add_resources(server: MCPServer) -> None:
    def text() -> str:
        return "This is the content of the static text resource."

    def binary() -> bytes:
        return PIXEL

    def data(id: str) -> str:
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})

    server.resource("test://static-text", description=DESCRIPTION)(text)
    server.resource("test://static-binary", description=DESCRIPTION, mime_type="image/png")(binary)
    server.resource("test://template/{id}/data", description=DESCRIPTION, mime_type="application/json")(data)


def _add_prompts(server: MCPServer) -> None:
    def simple() -> str:
        return "This is a simple prompt for testing."

    def with_arguments(
        arg1: Annotated[str, Field(description=DESCRIPTION)], arg2: Annotated[str, Field(description=DESCRIPTION)]
    ) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    def with_resource(resourceUri: Annotated[str, Field(description=DESCRIPTION)]) -> list[ContentBlock]:
        inner = _resource(resourceUri, "text/plain", "Embedded resource content for testing.")
        return [inner, TextContent(type="text", text="Please process the embedded resource above.")]

    def with_image() -> list[ContentBlock]:
        return [image(), TextContent(type="text", text="Please analyze the image above.")]

    server.prompt("test_simple_prompt", description=DESCRIPTION)(simple)
    server.prompt("test_prompt_with_arguments", description=DESCRIPTION)(with_arguments)
    server.prompt("test_prompt_with_embedded_resource", description=DESCRIPTION)(with_resource)
    server.prompt("test_prompt_with_image", description=DESCRIPTION)(with_image)
