"""The fake in the process of the one who asks: every request of `requests` is answered by it, none leaves.

Exceptions are those that `requests` raises on a real network. The transport repeats nothing here, as urllib3 does for
some requests: each request is asked once. `server` shows those.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import RemoteDisconnected

import requests
from requests.adapters import HTTPAdapter
from requests.structures import CaseInsensitiveDict
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool
from urllib3.exceptions import IncompleteRead, MaxRetryError, NewConnectionError, ProtocolError, ReadTimeoutError

from agent_fox.testing.github.fake import GitHubFake
from agent_fox.testing.github.wire import Answer, Manner
from agent_fox.testing.github.wire import request as read_request


@contextmanager
def mounted(fake: GitHubFake) -> Iterator[GitHubFake]:
    """While this lasts, `requests` reaches nobody but the fake, whatever the address."""
    original = HTTPAdapter.send

    def send(self: HTTPAdapter, request: requests.PreparedRequest, *_: object, **__: object) -> requests.Response:
        body = request.body or b""
        sent = body.encode() if isinstance(body, str) else bytes(body)  # type: ignore[arg-type]  # no streams here
        asked = read_request(
            request.method or "",
            request.url or "",
            {str(name): str(value) for name, value in request.headers.items()},
            sent,
        )
        return _delivered(request, fake.answer(asked))

    HTTPAdapter.send = send  # type: ignore[method-assign]
    try:
        yield fake
    finally:
        HTTPAdapter.send = original  # type: ignore[method-assign]


def _delivered(request: requests.PreparedRequest, answer: Answer) -> requests.Response:
    """The answer, or the exception that comes in its place."""
    pool, url = HTTPConnectionPool("fake"), request.path_url
    match answer.manner:
        case Manner.REFUSED:
            reason = NewConnectionError(HTTPConnection("fake"), "[Errno 111] Connection refused")
            raise requests.ConnectionError(MaxRetryError(pool, url, reason), request=request)
        case Manner.DROPPED:
            lost = RemoteDisconnected("Remote end closed connection without response")
            raise requests.ConnectionError(ProtocolError("Connection aborted.", lost), request=request)
        case Manner.TIMED_OUT:
            raise requests.ReadTimeout(ReadTimeoutError(pool, url, "Read timed out."), request=request)
        case Manner.CUT:
            broken = IncompleteRead(len(answer.body) // 2, len(answer.body) - len(answer.body) // 2)
            raise requests.exceptions.ChunkedEncodingError(ProtocolError(f"Connection broken: {broken!r}", broken))
        case Manner.HALVED:
            return _response(request, answer, answer.body[: len(answer.body) // 2])
        case Manner.WHOLE:
            return _response(request, answer, answer.body)


def _response(request: requests.PreparedRequest, answer: Answer, body: bytes) -> requests.Response:
    made = requests.Response()
    made.status_code = answer.status
    made.headers = CaseInsensitiveDict(answer.headers)
    made.encoding = "utf-8"
    made.raw = io.BytesIO(body)
    made.url = request.url or ""
    made.request = request
    return made
