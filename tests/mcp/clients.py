"""Clients of the servers, which are started as a person starts them; what they are told, and what is left running."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import TypeVar

import anyio
from mcp.client import Client
from mcp.client.session import ListRootsFnT
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

from agent_fox.mcp.answers import ERROR_KEY
from tests.cli.program import PROGRAM, SOURCE

MODES = ("legacy", "2026-07-28")
T = TypeVar("T")
Asking = Callable[[Client], Awaitable[T]]


def environment(home: Path, **variables: str) -> dict[str, str]:
    """What the program is started with: our Python first on PATH."""
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    return {"HOME": str(home), "PATH": path, "PYTHONPATH": str(SOURCE), **variables}


def served(
    folder: Path,
    ask: Asking[T],
    *words: str,
    variables: Mapping[str, str],
    mode: str = "legacy",
    roots: ListRootsFnT | None = None,
) -> T:
    """Let a client ask `agent-fox mcp WORDS`, which is started in the folder with these variables."""
    started = StdioServerParameters(
        command=PROGRAM[0], args=[*PROGRAM[1:], "mcp", *words], env=dict(variables), cwd=folder
    )

    async def main() -> T:
        async with Client(stdio_client(started), mode=mode, list_roots_callback=roots) as client:
            return await ask(client)

    return anyio.run(main)


def text(result: CallToolResult) -> str:
    (only,) = result.content
    assert isinstance(only, TextContent)
    return only.text


def error_code(result: CallToolResult) -> str:
    assert result.is_error, text(result)
    assert result.structured_content is None
    assert result.meta is not None
    return str(result.meta[ERROR_KEY]["code"])


def children_of(pid: int) -> list[int]:
    """The processes that `pid` started and that still run."""
    return [int(file.parent.name) for file in Path("/proc").glob("[0-9]*/stat") if _parent(file) == pid]


def _parent(stat: Path) -> int | None:
    try:
        state, parent = stat.read_text().rpartition(")")[2].split()[:2]
    except OSError:  # it has ended while we looked
        return None
    return None if state == "Z" else int(parent)
