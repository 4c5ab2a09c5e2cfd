"""A server from its start to its end, for the command line: put together, served, stopped. For HTTP see `http`."""

from __future__ import annotations

from pathlib import Path

import anyio
from pydantic import JsonValue

from agent_fox.mcp import stdio
from agent_fox.mcp.descriptors import describe
from agent_fox.mcp.runs import Runs
from agent_fox.mcp.server import build_server, quieten
from agent_fox.mcp.toolbox import Toolbox


def describe_server(box: Toolbox, version: str, state: Path | None = None) -> dict[str, JsonValue]:
    """What clients are told of the server."""
    return describe(build_server(box, version, Runs(), state))


def serve_stdio(box: Toolbox, version: str, state: Path | None = None) -> None:
    """Serve the process that started this one, until it closes our standard input."""
    anyio.run(_stdio, box, version, state)


async def _stdio(box: Toolbox, version: str, state: Path | None) -> None:
    runs = Runs()
    with stdio.clean_output():
        server = build_server(box, version, runs, state)
    quieten()
    await stdio.serve(server, runs)
