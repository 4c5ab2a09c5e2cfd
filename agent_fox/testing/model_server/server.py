"""The server itself: its socket, its threads, its end. Answers are made in `handler`."""

from __future__ import annotations

import socket
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from http.server import ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Self

from agent_fox.testing.model_server.handler import Handler, Stage
from agent_fox.testing.model_server.records import Exchange, Records, opened
from agent_fox.testing.model_server.script import Script, read_model_script

HOST = "127.0.0.1"
_POLL, _JOIN = 0.05, 5.0


class _Listening(ThreadingHTTPServer):
    """Threads that end with the process, and connections that can all be closed."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(self, port: int, handler: type[Handler]) -> None:
        super().__init__((HOST, port), handler)
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()

    def finish_request(self, request: socket.socket | tuple[bytes, socket.socket], client_address: object) -> None:
        assert isinstance(request, socket.socket)  # it is a pair for datagrams alone
        with self._lock:
            self._open.add(request)
        try:
            super().finish_request(request, client_address)
        finally:
            with self._lock:
                self._open.discard(request)

    def handle_error(self, request: object, client_address: object) -> None:
        """A connection that breaks is the client's affair; anything else must be seen."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]

    def close_connections(self) -> None:
        with self._lock:
            still = list(self._open)
        for connection in still:
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class ModelServer:
    """A model on loopback that plays a script. A context manager; it serves from `with` to its end.

    `script` is a file or a script that was read; `record` a file that gets one JSON object a request. Raises
    ScriptError for a bad script, OSError where the port is taken or the file cannot be written.
    """

    def __init__(self, script: Path | Script, *, port: int = 0, record: Path | None = None) -> None:
        read = read_model_script(script) if isinstance(script, Path) else script
        self._file = opened(record) if record else None
        self._stage = Stage(read, Records(self._file))
        handler = type("StagedHandler", (Handler,), {"stage": self._stage})
        self._listening = _Listening(port, handler)
        self._thread = threading.Thread(target=self._listening.serve_forever, args=(_POLL,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stage.stop.set()
        self._listening.shutdown()
        self._listening.close_connections()
        self._listening.server_close()
        self._thread.join(_JOIN)
        self._stage.records.wait_for(lambda all: all_ended(all), _JOIN)
        if self._file is not None:
            self._file.close()

    @property
    def url(self) -> str:
        """Where it listens, without a path."""
        return f"http://{HOST}:{self._listening.server_address[1]}"

    @property
    def requests(self) -> tuple[Exchange, ...]:
        """Everything asked so far, in the order of arrival; what is being answered too."""
        return self._stage.records.all()

    def wait_for(self, predicate: Callable[[tuple[Exchange, ...]], bool], seconds: float) -> bool:
        """Wait until this is true of the requests; whether it became so in time."""
        return self._stage.records.wait_for(predicate, seconds)


def all_ended(exchanges: tuple[Exchange, ...]) -> bool:
    """Whether no request is being answered."""
    return all(exchange.ended is not None for exchange in exchanges)
