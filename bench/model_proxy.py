"""What the metering proxy adds to a request, and how fast a long answer streams through it; beside no proxy.

The model's server is a made one on loopback. It and the proxy are processes of their own, as in a session.
"""

from __future__ import annotations

import http.client
import json
import re
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from agent_fox.session.agents.proxy.server import ModelProxy
from agent_fox.session.agents.task import Provider
from bench.figures import Aim, Figure, medians
from bench.memory import peak_kilobytes

MEGABYTE = 1_000_000
ADDED = 0.010
"""Seconds that the proxy may add to a request."""

SPEED = 10
"""Megabytes a second to aim for: no model answers so fast."""

FLAT = Aim(ratio=1.3)
ROUNDS = 5
PIECE, CHUNK = 65_536, 16_384
SHORT = 2_000
PROMPT = "x" * 200_000
WORD, KEY = "fox-word-of-the-bench", "sk-of-no-model-at-all"
USAGE = {"input_tokens": 1000, "output_tokens": 1}
START = {"type": "message_start", "message": {"id": "msg_1", "model": "claude-sonnet-4-5", "usage": USAGE}}
DELTA = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": " and so on"}}
END = {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 42}}
PACKAGE_PARENT = Path(__file__).resolve().parents[1]


def event(document: Mapping[str, object]) -> bytes:
    return f"event: {document['type']}\ndata: {json.dumps(document)}\n\n".encode()


def measure(requests: int, size: int) -> Iterator[Figure]:
    """`requests` short ones, and answers of `size` bytes. Both ways take turns; times are medians."""
    with serving("model") as (model, _), serving("proxy", model) as (proxy, pid):
        direct, through = medians(requests, asking(model, SHORT), asking(proxy, SHORT))
        aim = Aim(limit=direct + ADDED)
        yield Figure(f"a request of {len(PROMPT) // 1000} kB by the proxy", through, direct, "no proxy", aim)
        before = peak_kilobytes(pid) / 1024
        direct, through = medians(ROUNDS, asking(model, size), asking(proxy, size))
        aim = Aim(limit=size / MEGABYTE / SPEED)
        yield Figure(f"an answer of {size / MEGABYTE:g} MB by the proxy", through, direct, "no proxy", aim)
        after = peak_kilobytes(pid) / 1024
        yield Figure(f"memory of the proxy, {size / MEGABYTE:g} MB", after, before, "short answers", FLAT, unit="MB")


def asking(url: str, size: int) -> Callable[[], None]:
    """An action that reads one answer to its end. Raises ValueError where it is not the whole one."""
    body = json.dumps({"stream": True, "max_tokens": size, "system": PROMPT})

    def run() -> None:
        connection = http.client.HTTPConnection(url.removeprefix("http://"), timeout=60)
        connection.request("POST", "/v1/messages", body, {"x-api-key": WORD, "Content-Type": "application/json"})
        answer = connection.getresponse()
        told, tail, end = 0, b"", event(END)
        while piece := answer.read1(PIECE):
            told, tail = told + len(piece), (tail + piece[-len(end) :])[-len(end) :]
        connection.close()
        if answer.status != 200 or told < size or tail != end:
            raise ValueError(f"the model's answer {answer.status} has {told} of {size} bytes")

    return run


class Model(BaseHTTPRequestHandler):
    """Answers each request with as many bytes of events as its `max_tokens` asks for."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""

    def do_POST(self) -> None:
        size = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["max_tokens"]
        self.send_response(200)
        for name, value in (("Content-Type", "text/event-stream"), ("Transfer-Encoding", "chunked")):
            self.send_header(name, value)
        self.end_headers()
        deltas = event(DELTA) * (min(CHUNK, size) // len(event(DELTA)) + 1)
        self.chunk(event(START))
        for _ in range(size // len(deltas) + 1):
            self.chunk(deltas)
        self.chunk(event(END))
        self.chunk(b"")

    def chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))


@contextmanager
def serving(*arguments: str) -> Iterator[tuple[str, int]]:
    """A server as a process of its own until the block is left: its address and its pid."""
    command = [sys.executable, "-m", "bench.model_proxy", *arguments]
    with subprocess.Popen(
        command, cwd=PACKAGE_PARENT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout
        found = re.match(r"http://127\.0\.0\.1:\d+$", server.stdout.readline().strip())
        if found is None:
            raise ValueError(f"the {arguments[0]} did not start")
        yield found[0], server.pid


def serve_model() -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Model)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{server.server_address[1]}", flush=True)
    sys.stdin.read()


def serve_proxy(upstream: str) -> None:
    """The events are heard by nobody; a session hears a few of each answer."""
    with ModelProxy(upstream, Provider.ANTHROPIC, KEY, word=WORD, hear=lambda _: None) as proxy:
        print(proxy.url, flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    serve_model() if sys.argv[1] == "model" else serve_proxy(sys.argv[2])
