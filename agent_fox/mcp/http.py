"""The server over streamable HTTP: who may speak to it, from where, and how much at once. What is said is not here."""

from __future__ import annotations

import hmac
import signal
import socket
from pathlib import Path

import anyio
import uvicorn
from mcp.server.mcpserver import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from agent_fox.core.values import dataclass
from agent_fox.mcp.runs import Runs
from agent_fox.mcp.server import build_server, quieten
from agent_fox.mcp.toolbox import Toolbox

PATH = "/mcp"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
LARGEST_BODY = 256 * 1024
"""Bytes of one request: the longest arguments have a few thousand characters."""

MOST_SESSIONS = 32
SESSION_IDLE_SECONDS = 900.0
SHUTDOWN_SECONDS = 5


@dataclass(frozen=True, slots=True)
class Door:
    """Where to listen, and the token that every request must carry.

    names: further names that clients reach the server by; Host and Origin must be one of them, or the bound address.
    """

    token: str
    host: str = "127.0.0.1"
    port: int = 0
    names: tuple[str, ...] = ()


class TokenRequired:
    """Every request must carry the token; a request without it learns nothing, not even which paths there are."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._expected = f"bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._is_known(Headers(scope=scope)):
            await self._app(scope, receive, send)
            return
        refused = JSONResponse(
            {"error": "invalid_token", "error_description": "a bearer token is required"},
            status_code=401,
            headers={"WWW-Authenticate": 'Bearer error="invalid_token"'},
        )
        await refused(scope, receive, send)

    def _is_known(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        return hmac.compare_digest(f"{scheme.lower()} {given.strip()}".encode(), self._expected)


def application(server: MCPServer, door: Door, port: int) -> ASGIApp:
    """The server as an ASGI application that is reached at `port`."""
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        max_request_body_size=LARGEST_BODY,
        max_sessions=MOST_SESSIONS,
        session_idle_timeout=SESSION_IDLE_SECONDS,
        transport_security=_known_places(door, port),
    )
    return TokenRequired(app, door.token)


def listen(door: Door) -> socket.socket:
    """A socket that listens at the door's address. Raises OSError."""
    family = socket.AF_INET6 if ":" in door.host else socket.AF_INET
    return socket.create_server((door.host, door.port), family=family)


def serve_http(box: Toolbox, version: str, door: Door, listening: socket.socket, state: Path | None = None) -> None:
    """Serve a verifier over a socket that `listen` gave; blocking, until a signal."""
    server = build_server(box, version, Runs(), state)
    quieten()
    anyio.run(_serve, server, door, listening)


async def _serve(server: MCPServer, door: Door, listening: socket.socket) -> None:
    """Serve until SIGINT, SIGTERM or SIGHUP: then open calls are stopped and waited for."""
    signal.signal(signal.SIGHUP, lambda _number, _frame: signal.raise_signal(signal.SIGTERM))
    port = listening.getsockname()[1]
    config = uvicorn.Config(
        application(server, door, port),
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    await uvicorn.Server(config).serve(sockets=[listening])


def address(host: str, port: int) -> str:
    """The URL that clients use."""
    return f"http://{_bracketed(host)}:{port}{PATH}"


def _known_places(door: Door, port: int) -> TransportSecuritySettings:
    """Host and Origin as they must be: a page of the web that was led here by its own name is refused."""
    own = LOOPBACK if door.host in LOOPBACK else (door.host,)
    hosts = [f"{_bracketed(name)}:{port}" for name in own] + [
        form for name in door.names for form in (name, f"{name}:{port}")
    ]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{host}" for host in hosts for scheme in ("http", "https")],
    )


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host
