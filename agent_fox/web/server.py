"""The live page on loopback: what it shows is made anew when the state changes, and a browser is told so.

Nothing can be done through it: it answers GET alone, opens the state for reading, and wants a token that only the
person who started it was given, a Host that is its own, and no foreign Origin.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from urllib.parse import urlsplit

import uvicorn
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send

LOOK_EVERY = 0.25
"""Seconds between two looks at whether the state has changed."""
LONGEST_SILENCE = 15.0
"""Seconds after which a line is sent that says nothing, so that both ends notice when the other is gone."""
MOST_LISTENERS = 20
SAFE = {"GET", "HEAD"}
OTHERS, OPENED = {"cross-site", "same-site"}, {"document", None}
"""What a browser says of a request that a page of another site or port makes, and of a link that a person follows."""
HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Content-Security-Policy": "frame-ancestors 'none'; form-action 'none'; base-uri 'none'",
}


class Unavailable(Exception):
    """Why there is no page just now, in a sentence for the person who looks."""


@dataclass
class View:
    """One live page. `make` gives its HTML, or raises Unavailable; `stamp` a value that changes with what it shows.
    Both may take a while and are called in threads. `port` is set when it listens.
    """

    make: Callable[[], str]
    stamp: Callable[[], object]
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    path: str = field(default_factory=lambda: f"/{secrets.token_urlsafe(16)}/")
    """Where the page is. A cookie of this machine goes to all its ports, but only below its path."""
    port: int = 0
    listeners: int = 0
    is_ending: bool = False
    _made: tuple[object, str] | None = None
    _making: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def cookie(self) -> str:
        """Named by the port: cookies of loopback are shared by all ports."""
        return f"agent-fox-{self.port}"

    @property
    def address(self) -> str:
        """What a person opens."""
        return f"http://127.0.0.1:{self.port}/?token={self.token}"

    async def html(self) -> str:
        """The page as the state is now; made once for all who ask."""
        async with self._making:
            now = await asyncio.to_thread(self.stamp)
            if self._made is None or self._made[0] != now:
                self._made = (now, await asyncio.to_thread(self.make))
            return self._made[1]

    async def news(self) -> AsyncIterator[str]:
        """A line for each change of the state, as server-sent events have it."""
        self.listeners += 1
        try:
            last, quiet = await asyncio.to_thread(self.stamp), 0.0
            yield ": here\n\n"
            while not self.is_ending:
                await asyncio.sleep(LOOK_EVERY)
                now, quiet = await asyncio.to_thread(self.stamp), quiet + LOOK_EVERY
                if now != last:
                    last, quiet = now, 0.0
                    yield "data: changed\n\n"
                elif quiet >= LONGEST_SILENCE:
                    quiet = 0.0
                    yield ": still here\n\n"
        finally:
            self.listeners -= 1


class Fence:
    """Refuses every request that is not the person's own: by its method, Host, Origin and token, in this order."""

    def __init__(self, app: ASGIApp, view: View) -> None:
        self.app, self.view = app, view

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self.app(scope, receive, send)
            return
        refused = why_refused(Request(scope), self.view)
        answer: ASGIApp = PlainTextResponse(f"{refused[1]}\n", refused[0], HEADERS) if refused else self.app
        await answer(scope, receive, send)


def why_refused(request: Request, view: View) -> tuple[int, str] | None:
    """The status and the reason; None where the request may pass."""
    own = {f"127.0.0.1:{view.port}", f"localhost:{view.port}"}
    if request.method not in SAFE:
        return 405, "this page can only be looked at"
    if request.headers.get("host", "") not in own:
        return 421, "this page answers to its own address only"
    origin = request.headers.get("origin")
    if origin is not None and (urlsplit(origin).scheme, urlsplit(origin).netloc) not in {
        ("http", host) for host in own
    }:
        return 403, "another site asked for this page"
    is_opened = request.headers.get("sec-fetch-mode") == "navigate" and request.headers.get("sec-fetch-dest") in OPENED
    if request.headers.get("sec-fetch-site") in OTHERS and not is_opened:
        return 403, "another site asked for this page"
    given = request.query_params.get("token") or request.cookies.get(view.cookie) or ""
    if not hmac.compare_digest(given.encode(), view.token.encode()):
        return 401, "open the address that `agent-fox view` printed: it holds the token"
    return None


def application(view: View) -> Starlette:
    """What can be asked for: the way in, the page, and news of it."""

    async def root(request: Request) -> Response:
        if "token" in request.query_params:  # so that the token does not stay in the address
            moved = RedirectResponse(view.path, 303, HEADERS)
            moved.set_cookie(view.cookie, view.token, path=view.path, httponly=True, samesite="strict")
            return moved
        return await nothing(request, None)

    async def nothing(request: Request, error: Exception | None) -> Response:
        return PlainTextResponse(
            "there is nothing here: open the address that `agent-fox view` printed\n", 404, HEADERS
        )

    async def shown(_: Request) -> Response:
        try:
            return HTMLResponse(await view.html(), headers=HEADERS)
        except Unavailable as error:
            return PlainTextResponse(f"{error}\n", 503, HEADERS)

    async def events(_: Request) -> Response:
        if view.listeners >= MOST_LISTENERS:
            return PlainTextResponse("too many pages are open\n", 503, HEADERS)
        return StreamingResponse(view.news(), media_type="text/event-stream", headers=HEADERS)

    places = {"/": root, view.path: shown, f"{view.path}events": events}
    routes = [Route(path, answer, methods=["GET"]) for path, answer in places.items()]
    fence = Middleware(Fence, view=view)
    return Starlette(routes=routes, middleware=[fence], exception_handlers={404: nothing})


def listening(port: int) -> socket.socket:
    """A socket on loopback; port 0 for any that is free. Raises OSError for one that is taken."""
    own = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        own.bind(("127.0.0.1", port))
        own.listen()
    except BaseException:
        own.close()
        raise
    return own


def serve(view: View, own: socket.socket, ready: Callable[[], None]) -> None:
    """Serve until the process is asked to end (INT or TERM). `ready` is called once the page answers."""
    view.port = own.getsockname()[1]

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            view.is_ending = True
            await super().shutdown(sockets)

    config = uvicorn.Config(
        application(view), log_level="critical", access_log=False, server_header=False, date_header=False,
        timeout_graceful_shutdown=1,
    )  # fmt: skip
    with suppress(KeyboardInterrupt):
        Server(config).run(sockets=[own])
