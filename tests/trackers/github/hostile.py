"""A server that is no GitHub and means no good, on loopback: it sends whatever bytes a test gives it."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field

from agent_fox.trackers.github.door import Door, opened
from agent_fox.trackers.github.repository import Address

TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
Send = Callable[[bytes], object]


@dataclass
class Hostile:
    """What it was asked, headers and all, and how it answers: `behave` is given the request and a way to send."""

    behave: Callable[[str, Send], object]
    heard: list[str] = field(default_factory=list)
    url: str = ""

    def door(self) -> Door:
        return opened(TOKEN, Address(self.url, "octo", "project"), pause=lambda _: None)


def answer(body: bytes, status: str = "200 OK", headers: str = "") -> bytes:
    more = f"{headers}\r\n" if headers else ""
    return f"HTTP/1.1 {status}\r\nConnection: close\r\n{more}Content-Length: {len(body)}\r\n\r\n".encode() + body


@contextmanager
def hostile(behave: Callable[[str, Send], object]) -> Iterator[Hostile]:
    server = Hostile(behave)

    class Handler(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            lines = iter(self.rfile.readline, b"\r\n")
            asked = b"".join(line for line in lines if line).decode("latin-1")
            server.heard.append(asked)
            with suppress(OSError):  # the other side has had enough
                server.behave(asked, self.wfile.write)

    listening = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler)
    listening.daemon_threads = True
    thread = threading.Thread(target=listening.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    server.url = f"http://127.0.0.1:{listening.server_address[1]}"
    try:
        yield server
    finally:
        listening.shutdown()
        listening.server_close()
        thread.join(5)


@contextmanager
def saying(body: bytes, status: str = "200 OK", headers: str = "") -> Iterator[Hostile]:
    """One that answers everything alike."""
    with hostile(lambda _, send: send(answer(body, status, headers))) as server:
        yield server
