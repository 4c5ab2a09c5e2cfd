"""The fake on loopback, for clients in any process: sockets and threads. `fake` makes answers, `page` pages."""

from __future__ import annotations

import socket
import struct
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from agent_fox.testing.github.fake import GitHubFake
from agent_fox.testing.github.page import page
from agent_fox.testing.github.wire import Answer, Manner, Request
from agent_fox.testing.github.wire import request as read_request

HOST = "127.0.0.1"
IDLE_SECONDS = 60.0
LONGEST_SILENCE = 60.0
"""How long an answer that never comes is kept back."""
_POLL, _JOIN = 0.05, 5.0
_RESET = struct.pack("ii", 1, 0)


class _Listening(ThreadingHTTPServer):
    """Threads that end with the process."""

    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """A connection that breaks is the client's affair; anything else must be seen."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection. A subclass names the fake."""

    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    fake: GitHubFake
    stop: threading.Event
    after: Callable[[], None]

    def do_GET(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        base = f"http://{self.headers.get('Host') or HOST}"
        asked = read_request(self.command, base + self.path, dict(self.headers.items()), body)
        self._deliver(page(self.fake, asked) or self._answer(asked))

    do_HEAD = do_POST = do_PATCH = do_PUT = do_DELETE = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the fake remembers everything."""

    def _answer(self, asked: Request) -> Answer:
        answer = self.fake.answer(asked)
        if asked.is_write:
            type(self).after()
        return answer

    def _deliver(self, answer: Answer) -> None:
        match answer.manner:
            case Manner.WHOLE:
                self._send(answer, answer.body, len(answer.body))
            case Manner.HALVED:
                self._send(answer, answer.body[: len(answer.body) // 2], len(answer.body) // 2)
            case Manner.CUT:
                self._send(answer, answer.body[: len(answer.body) // 2], len(answer.body))
                self.close_connection = True
            case Manner.TIMED_OUT:
                self.stop.wait(LONGEST_SILENCE)
                self.close_connection = True
            case Manner.DROPPED:
                self.close_connection = True
            case Manner.REFUSED:
                self._reset()

    def _send(self, answer: Answer, body: bytes, length: int) -> None:
        self.send_response(answer.status)
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length))
        self.end_headers()
        self.wfile.write(body)

    def _reset(self) -> None:
        """As near to a connection refused as one who has taken it can come."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        self.close_connection = True


@contextmanager
def serve(fake: GitHubFake, port: int = 0, after: Callable[[], None] = lambda: None) -> Iterator[str]:
    """Serve until the end of the block; its address, without a path. `after` is called after each write.

    Raises OSError where the port is taken.
    """
    stop = threading.Event()
    values = {"fake": fake, "stop": stop, "after": staticmethod(after)}
    listening = _Listening((HOST, port), type("FakeHandler", (_Handler,), values))
    thread = threading.Thread(target=listening.serve_forever, args=(_POLL,), daemon=True)
    thread.start()
    try:
        yield f"http://{HOST}:{listening.server_address[1]}"
    finally:
        stop.set()
        listening.shutdown()
        listening.server_close()
        thread.join(_JOIN)
