"""How large an answer may be, and how long it may take from first byte to last. What it says is not looked at."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import requests
from requests.adapters import HTTPAdapter
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, PoolManager
from urllib3.connection import HTTPConnection, HTTPSConnection

if TYPE_CHECKING:
    from urllib3.response import HTTPResponse

LARGEST = 32 * 1024**2
SECONDS = 60.0
CHUNK = 16 * 1024
ENCODINGS = ("", "identity", "gzip", "deflate")


def set_bounds(session: requests.Session, adapter: HTTPAdapter) -> None:
    """Have a session end what is too large, takes too long, or is packed in a way that nobody asked for."""
    session.stream = True
    session.headers["Accept-Encoding"] = "gzip, deflate"
    session.hooks["response"].append(read_whole)
    for scheme in ("https://", "http://"):
        session.mount(scheme, adapter)


def read_whole(response: requests.Response, *_: object, **__: object) -> None:
    """The hook: reads the body, so far as it is bounded. Raises requests.RequestException."""
    response.encoding = "utf-8"
    watch = getattr(getattr(response.raw, "_connection", None), "watch", None)
    pieces, size = [], 0
    try:
        if response.headers.get("content-encoding", "").strip().lower() not in ENCODINGS:
            raise requests.exceptions.ContentDecodingError("an encoding that nobody asked for")
        for piece in response.iter_content(CHUNK):
            size += len(piece)
            if size > LARGEST:
                raise requests.exceptions.ContentDecodingError("larger than any answer of GitHub")
            pieces.append(piece)
    except requests.RequestException:
        response.close()
        raise
    finally:
        if watch is not None:
            watch.cancel()
    response._content = b"".join(pieces)


class _Watched(HTTPConnection):
    """Ends by itself where an answer, its headers too, takes longer than SECONDS.

    A time-out counts anew with each byte.
    """

    watch: threading.Timer | None = None

    def getresponse(self) -> HTTPResponse:  # type: ignore[override]  # as urllib3 has it
        self.watch = threading.Timer(SECONDS, _end, (self.sock,))
        self.watch.daemon = True
        self.watch.start()
        try:
            return super().getresponse()
        except BaseException:
            self.watch.cancel()
            raise


class _WatchedTls(HTTPSConnection, _Watched):
    """The same for https."""


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Watched


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _WatchedTls


def _end(sock: socket.socket | None) -> None:
    with suppress(OSError):
        if sock is not None:
            sock.shutdown(socket.SHUT_RDWR)


def _watched(manager: PoolManager) -> PoolManager:
    manager.pool_classes_by_scheme = {"http": _Pool, "https": _TlsPool}
    return manager


class Bounded(HTTPAdapter):
    """Connections that are watched, through a proxy too."""

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - the signature of requests
        super().init_poolmanager(*args, **kwargs)
        _watched(self.poolmanager)

    def proxy_manager_for(self, proxy: str, **kwargs: Any) -> Any:  # noqa: ANN401 - the same
        return _watched(super().proxy_manager_for(proxy, **kwargs))
