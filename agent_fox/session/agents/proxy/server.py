"""A metering proxy on loopback between one agent's program and its model. It holds the real key; the program does not.

The program gets a word of this launch as its key. Whoever else in the session reads that word (a shell, an MCP server)
can ask the model through this proxy while the session lasts, is metered, and can do nothing else with the key: only
requests that generate, count or list models go through, not files, batches, fine-tuning or administration. What
stands in a request's body is not judged.

Covered: Anthropic Messages, OpenAI Responses and Chat Completions, Gemini, each with a key of the provider's own kind
in its usual header or with a person's login (see `logins`), Bedrock and Vertex AI by their SDKs' chains (see `clouds`),
subagents and killed sessions included. Not covered: programs that sign their own requests or ignore the base address
they are given, WebSockets, HTTPS_PROXY (it is not read), and an answer that never tells what it used: one that broke
off, one in the background, a Chat Completions stream without `include_usage`. Of a broken Anthropic answer the input
counts. What is missing is told in a note. Requests that run at the same time may pass a ceiling together.
"""

from __future__ import annotations

import secrets
import socket
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from http.server import ThreadingHTTPServer
from types import TracebackType
from typing import TYPE_CHECKING

from agent_fox.session.agents.proxy.gate import Gate, credential
from agent_fox.session.agents.proxy.model_side import Key, Upstream, usable_key
from agent_fox.session.agents.proxy.request import Request
from agent_fox.session.agents.proxy.shared import ProxyLimits, Shared, Telling

if TYPE_CHECKING:
    from agent_fox.session.agents.events import Event
    from agent_fox.session.agents.proxy.model_side import Access
    from agent_fox.session.agents.task import Provider

DEFAULT_LIMITS = ProxyLimits()

_LOOK_EVERY = 0.1
_CLOSE_WITHIN = 5.0

_Incoming = socket.socket | tuple[bytes, socket.socket]


def fresh_word() -> str:
    """A key for one launch that nobody can guess."""
    return f"fox-{secrets.token_urlsafe(32)}"


class ModelProxy:
    """Serves while its block is open; leaving the block ends every request.

    `hear` gets what is used, what fails and signs of life, `note` sentences for the report; both are called from one
    thread at a time. `why_not` gives a reason to refuse a further request, or None. `is_bearer`: the key is a gateway's
    token; `service`: whose paths may be asked where these are not the provider's own. Raises ValueError for an upstream
    or a key that cannot be used.
    """

    def __init__(
        self,
        upstream: str,
        provider: Provider,
        key: str | Access,
        *,
        word: str,
        hear: Callable[[Event], None],
        note: Callable[[str], None] = lambda _: None,
        why_not: Callable[[], str | None] = lambda: None,
        is_bearer: bool = False,
        service: str = "",
        limits: ProxyLimits = DEFAULT_LIMITS,
    ) -> None:
        if isinstance(key, str):
            key = Key((credential(provider, usable_key(key, provider), is_bearer=is_bearer),), key)
        gate = Gate(provider, word, limits.largest, service)
        self._shared = Shared(gate, Upstream(upstream), key, Telling(hear, note), why_not, limits)
        self._server = _Server(self._shared)

    @property
    def url(self) -> str:
        """What stands in for the upstream's address."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> ModelProxy:
        threading.Thread(target=self._server.serve_forever, args=(_LOOK_EVERY,), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._shared.sockets.close()
        self._server.shutdown()
        self._server.server_close()
        self._server.wait(_CLOSE_WITHIN)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self._places = threading.BoundedSemaphore(shared.limits.most)
        super().__init__(("127.0.0.1", 0), partial(Request, shared))

    def process_request(self, request: _Incoming, client_address: object) -> None:
        """Waits for a place: whoever comes meanwhile waits in the listener's queue."""
        while not self._places.acquire(timeout=_LOOK_EVERY):
            if self._shared.sockets.are_closing.is_set():
                return self.shutdown_request(request)
        return super().process_request(request, client_address)

    def process_request_thread(self, request: _Incoming, client_address: object) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: _Incoming, client_address: object) -> None:
        """No traceback: standard error is the session's."""
        error = sys.exception()
        if not isinstance(error, OSError):
            self._shared.tell.note(f"a request to the model failed in the metering proxy: {type(error).__name__}")

    def wait(self, seconds: float) -> None:
        """Until every request has ended, or the time is over."""
        end = time.monotonic() + seconds
        for _ in range(self._shared.limits.most):
            if not self._places.acquire(timeout=max(0.0, end - time.monotonic())):
                return
