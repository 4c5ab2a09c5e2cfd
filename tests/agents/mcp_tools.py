"""A server of tools for the sessions of real agents, in the place of the verifier's."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

MCP_SERVER = """
import socket
import sys

import uvicorn
from mcp.server.mcpserver import MCPServer

token, record = sys.argv[1], sys.argv[2]
is_rich = "rich" in sys.argv
server = MCPServer("verifier", instructions="Use them." if is_rich else None)


def note(text):
    with open(record, "a") as file:
        file.write(text + "\\n")


@server.tool()
def run_unit_tests(scope: str = "all") -> str:
    "Run the unit tests."
    note("run_unit_tests " + scope)
    return "3 passed"


@server.tool()
def erase_everything() -> str:
    "Not allowed to the session."
    note("erase_everything")
    return "erased"


if is_rich:

    @server.resource("notes://all", description="Notes.")
    def notes() -> str:
        note("a resource")
        return "notes"


inner = server.streamable_http_app()


async def guarded(scope, receive, send):
    if scope["type"] == "http" and dict(scope["headers"]).get(b"authorization") != b"Bearer " + token.encode():
        await send({"type": "http.response.start", "status": 401, "headers": []})
        await send({"type": "http.response.body", "body": b""})
        return
    await inner(scope, receive, send)


listener = socket.socket()
listener.bind(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
uvicorn.Server(uvicorn.Config(guarded, log_level="error")).run(sockets=[listener])
"""
"""A real MCP server over HTTP that wants a token, and writes down what was called.

A rich one has instructions and a resource too.
"""


@dataclass(frozen=True)
class Tools:
    """Where it is, the token that it wants, and the file in which it writes what was called."""

    url: str
    token: str
    record: Path

    @property
    def door(self) -> Mapping[str, str]:
        """The fields of a session's door."""
        return {"mcp_url": self.url, "mcp_token": self.token}

    @property
    def called(self) -> list[str]:
        return self.record.read_text(encoding="utf-8").splitlines() if self.record.exists() else []


@contextmanager
def served(folder: Path, *more: str) -> Iterator[Tools]:
    """A server that writes its record into this folder. more: "rich" for a rich one."""
    token, record = "token-of-the-verifier", folder / "called.txt"
    command = (sys.executable, "-c", MCP_SERVER, token, str(record), *more)
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield Tools(f"http://127.0.0.1:{int(server.stdout.readline())}/mcp", token, record)
        finally:
            server.kill()


@pytest.fixture
def tools(tmp_path: Path) -> Iterator[Tools]:
    with served(tmp_path) as found:
        yield found
