"""A model's server for tests of the metering proxy: real sockets, answers written by the test, every request kept."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from agent_fox.session.agents.events import Event, Tokens, Trouble, Used
from agent_fox.session.agents.proxy.server import ModelProxy, fresh_word
from agent_fox.session.agents.proxy.shared import ProxyLimits
from agent_fox.session.agents.task import Provider

KEY = "sk-real-0123456789"
SOON = 10.0


@dataclass(frozen=True)
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Answering(BaseHTTPRequestHandler):
    """What a test's answer function gets: the helpers write real HTTP."""

    protocol_version = "HTTP/1.1"
    body: bytes = b""

    def log_message(self, format: str, *args: object) -> None:
        pass

    def plain(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, *events: object, end: bool = True) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for event in events:
            self.chunk(f"data: {json.dumps(event)}\n\n".encode())
        if end:
            self.chunk(b"")

    def chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()


Answer = Callable[[Answering], None]


@dataclass
class Upstream:
    url: str
    asked: list[Asked] = field(default_factory=list)


@contextlib.contextmanager
def upstream(answer: Answer) -> Iterator[Upstream]:
    """A server that answers every request by `answer`, until the block is left."""
    found = Upstream("")

    class Handler(Answering):
        def serve(self) -> None:
            self.close_connection = True
            self.body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
            found.asked.append(Asked(self.command, self.path, dict(self.headers.items()), self.body))
            with contextlib.suppress(OSError):
                answer(self)

        do_GET = do_POST = serve

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield found
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@dataclass
class House:
    """A proxy in front of an upstream, and all that was heard of it."""

    proxy: ModelProxy
    word: str
    upstream: Upstream
    provider: Provider
    events: list[Event]
    notes: list[str]

    @property
    def used(self) -> list[tuple[Tokens, str]]:
        """The last count of each message, in order of first mention."""
        last = {event.message: (event.tokens, event.model) for event in self.events if isinstance(event, Used)}
        return list(last.values())

    @property
    def troubles(self) -> list[Trouble]:
        return [event for event in self.events if isinstance(event, Trouble)]

    def connect(self) -> HTTPConnection:
        return HTTPConnection("127.0.0.1", self.port, timeout=SOON)

    @property
    def port(self) -> int:
        return int(self.proxy.url.rpartition(":")[2])

    def credential(self) -> dict[str, str]:
        bearer = self.provider is Provider.OPENAI
        return {"Authorization": f"Bearer {self.word}"} if bearer else {"x-api-key": self.word}

    def ask(
        self, path: str, body: bytes | None = b"{}", method: str = "POST", headers: dict[str, str] | None = None
    ) -> tuple[HTTPResponse, bytes]:
        """One request with the word of the launch, and its whole answer."""
        connection = self.connect()
        with contextlib.closing(connection):
            connection.request(method, path, body, self.credential() if headers is None else headers)
            response = connection.getresponse()
            return response, response.read()

    def raw(self, data: bytes) -> bytes:
        """All that comes back for these very bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=SOON) as connection:
            connection.sendall(data)
            return b"".join(iter(lambda: connection.recv(65536), b""))


@contextlib.contextmanager
def house(
    answer: Answer,
    provider: Provider = Provider.ANTHROPIC,
    *,
    below: str = "",
    why_not: Callable[[], str | None] = lambda: None,
    limits: ProxyLimits | None = None,
    address: str = "",
    is_bearer: bool = False,
) -> Iterator[House]:
    """A proxy with `answer` behind it, or with `address`. `below` is the path of the upstream's base."""
    events: list[Event] = []
    notes: list[str] = []
    word = fresh_word()
    limits = limits or ProxyLimits(connect=5, idle=5, request=5, most=32)
    with upstream(answer) as behind:
        proxy = ModelProxy(
            address or behind.url + below,
            provider,
            KEY,
            word=word,
            hear=events.append,
            note=notes.append,
            why_not=why_not,
            is_bearer=is_bearer,
            limits=limits,
        )
        with proxy:
            yield House(proxy, word, behind, provider, events, notes)


ANTHROPIC_STREAM: tuple[object, ...] = (
    {
        "type": "message_start",
        "message": {
            "id": "msg_1",
            "model": "claude-opus-5-5",
            "usage": {
                "input_tokens": 100,
                "cache_creation_input_tokens": 20,
                "cache_read_input_tokens": 3000,
                "output_tokens": 1,
            },
        },
    },
    {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "hello"}},
    {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 42}},
    {"type": "message_stop"},
)
ANTHROPIC_USED = (Tokens(100, 42, 3000, 20), "claude-opus-5-5")
