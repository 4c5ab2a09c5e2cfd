"""The server for the conformance suite, as a process: ours, with the suite's fixtures beside the scripted verifier.

The suite can't send a token, so it is added here to every request; everything behind that is as it always is. Its
first line of output is its address.
"""

from __future__ import annotations

import secrets
import sys

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from agent_fox.mcp.http import Door, address, application, listen
from tests.mcp.conformance_fixtures import add_fixtures
from tests.mcp.scripted import ScriptedToolbox, scripted_server


def with_token(app: ASGIApp, token: str) -> ASGIApp:
    """The application for a client that knows no token."""
    header = (b"authorization", f"Bearer {token}".encode())

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        known = {**scope, "headers": [*scope["headers"], header]} if scope["type"] == "http" else scope
        await app(known, receive, send)

    return call


def main() -> None:
    door = Door(secrets.token_urlsafe())
    with listen(door) as listening:
        port = listening.getsockname()[1]
        app = application(add_fixtures(scripted_server(ScriptedToolbox())), door, port)
        sys.stdout.write(f"{address(door.host, port)}\n")
        sys.stdout.flush()
        server = uvicorn.Server(uvicorn.Config(with_token(app, door.token), log_level="warning"))
        server.run(sockets=[listening])


if __name__ == "__main__":
    main()
