"""One request through the metering proxy, from the program's first line to the model's last byte."""

from __future__ import annotations

import contextlib
import http.client
import socket
import socketserver
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING

from agent_fox.session.agents.events import Trouble
from agent_fox.session.agents.proxy.gate import Passage, Refusal, error_body, passed_on, size_of
from agent_fox.session.agents.proxy.model_side import OF_THE_LINE, LoginError, Mask, Opening, joined, why
from agent_fox.session.agents.proxy.trouble import read_error, trouble_of
from agent_fox.session.agents.proxy.usage import EventStream, Listener
from agent_fox.session.infrastructure import Infrastructure

if TYPE_CHECKING:
    from agent_fox.session.agents.proxy.shared import Shared

PIECE = 64 * 1024
LARGEST_ERROR = 64 * 1024
CEILING_STATUS = 400
"""What programs do not try again: with it claude and codex end at once."""

UNTOLD = "an answer of the model ended before it told all that it used: the cost is too low"

_CHUNKED = ("Transfer-Encoding", "chunked")


class _ProgramLeft(Exception):
    """The agent's program has closed its side."""


class Request(BaseHTTPRequestHandler):
    """One request, one connection: nothing that is left over can be read as the next one."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    opening: Opening

    def __init__(
        self, shared: Shared, request: socket.socket, client_address: tuple[str, int], server: socketserver.BaseServer
    ) -> None:
        self.proxy = shared
        super().__init__(request, client_address, server)

    def handle(self) -> None:
        self.connection.settimeout(self.proxy.limits.request)
        with self.proxy.sockets.held(self.connection):
            self.handle_one_request()

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""

    def parse_request(self) -> bool:
        """HTTP/0.9 is refused: its answers have no status, and no program here uses it."""
        return super().parse_request() and self.request_version != "HTTP/0.9"

    def serve(self) -> None:
        verdict = self.proxy.gate.judge(self.command, self.requestline.split()[1], self.headers)
        if isinstance(verdict, Passage) and verdict.generates and (reason := self.proxy.why_not()):
            verdict = Refusal(CEILING_STATUS, reason, f"a request was refused: {reason}")
        if isinstance(verdict, Refusal):
            with contextlib.suppress(*OF_THE_LINE, _ProgramLeft):
                size = size_of(self.headers)  # a program that is still writing would not read the answer
                for _ in self._body(0 if isinstance(size, Refusal) else min(size, self.proxy.limits.largest)):
                    pass
                self._refuse(verdict)
            return
        with contextlib.suppress(_ProgramLeft):
            self._forward(verdict)

    do_GET = do_POST = do_HEAD = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = serve

    def _body(self, size: int) -> Iterator[bytes]:
        while size > 0:
            try:
                piece = self.rfile.read1(min(PIECE, size))
            except OSError as error:
                raise _ProgramLeft from error
            if not piece:
                raise _ProgramLeft
            size -= len(piece)
            yield piece

    def _refuse(self, refusal: Refusal) -> None:
        self.proxy.tell.note(refusal.note)
        body = error_body(self.proxy.gate.provider, refusal.status, refusal.text)
        headers = [("Content-Type", "application/json"), ("Content-Length", str(len(body)))]
        self._head(refusal.status, "", [*headers, ("x-should-retry", "false" if refusal.status < 500 else "true")])
        self._write(b"" if self.command == "HEAD" else body)

    def _forward(self, passage: Passage) -> None:
        try:
            self.opening = self.proxy.access.opening()
        except LoginError as error:
            status = 401 if error.kind is Infrastructure.AUTHENTICATION else 502
            return self._unreached(status, str(error), error.kind)
        connection = self.proxy.upstream.connection(self.proxy.limits.connect)
        with contextlib.closing(connection):
            try:
                connection.connect()
            except OSError as error:
                return self._unreached(502, f"the model's server cannot be reached: {why(error)}")
            with self.proxy.sockets.held(connection.sock):
                connection.sock.settimeout(self.proxy.limits.idle)
                try:
                    response = self._ask(connection, passage)
                except OF_THE_LINE as error:
                    return self._unreached(504, f"the model's server did not answer: {why(error)}")
                return self._answer(response, passage)

    def _ask(self, connection: http.client.HTTPConnection, passage: Passage) -> http.client.HTTPResponse:
        connection.putrequest(self.command, self.proxy.upstream.target(passage.target), skip_accept_encoding=True)
        own = [("Accept-Encoding", "identity"), ("Connection", "close")]
        if self.command == "POST":
            own.append(("Content-Length", str(passage.size)))
        for name, value in [*joined(passed_on(self.headers), self.opening.headers), *own]:
            connection.putheader(name, value)
        connection.endheaders()
        with contextlib.suppress(ConnectionError):  # it may have answered before it has read everything
            for piece in self._body(passage.size):
                connection.send(piece)
        return connection.getresponse()

    def _unreached(self, status: int, text: str, kind: Infrastructure = Infrastructure.NETWORK) -> None:
        if not self.proxy.sockets.are_closing.is_set():
            self.proxy.tell.events([Trouble(text, kind)])
        self._refuse(Refusal(status, text))

    def _answer(self, response: http.client.HTTPResponse, passage: Passage) -> None:
        self.connection.settimeout(self.proxy.limits.idle)
        if response.status == 401:
            self.proxy.access.refuse(self.opening.secret)
        if response.status >= 400:
            return self._pass_error(response, passage)
        if response.status >= 300:
            text = f"the model's server answered with a redirection ({response.status}), which is not followed"
            return self._unreached(502, f"{text}; set its address to where it leads")
        return self._pass(response, passage)

    def _pass_error(self, response: http.client.HTTPResponse, passage: Passage) -> None:
        try:
            raw = response.read(LARGEST_ERROR)
        except OF_THE_LINE:
            raw = b""
        mask = self._mask()
        body = mask.feed(raw) + mask.end()
        if passage.generates:
            self.proxy.tell.events([trouble_of(response.status, read_error(body), response.headers)])
        self._head(response.status, response.reason, [*self._kept(response), ("Content-Length", str(len(body)))])
        self._write(body)

    def _pass(self, response: http.client.HTTPResponse, passage: Passage) -> None:
        kind = response.headers.get_content_type()
        is_framed = self.proxy.gate.service == "bedrock" and kind == "application/vnd.amazon.eventstream"
        frames = EventStream() if is_framed else None
        is_stream = kind == "text/event-stream" or frames is not None
        listener = Listener(f"request-{next(self.proxy.numbers)}", is_stream=is_stream)
        chunks = self.request_version != "HTTP/1.0"
        self._head(response.status, response.reason, [*self._kept(response), *([_CHUNKED] if chunks else [])])
        try:
            for piece in self._pieces(response, listener, frames):
                self._write(b"%x\r\n%b\r\n" % (len(piece), piece) if chunks else piece)
            self._write(b"0\r\n\r\n" if chunks else b"")
        except OF_THE_LINE as error:
            if not self.proxy.sockets.are_closing.is_set():
                text = f"the model's answer broke off: {why(error)}"
                self.proxy.tell.events([Trouble(text, Infrastructure.NETWORK)])
        finally:
            self.proxy.tell.events(listener.end())
            if passage.generates and not listener.is_whole:
                self.proxy.tell.note(UNTOLD)

    def _pieces(
        self, response: http.client.HTTPResponse, listener: Listener, frames: EventStream | None
    ) -> Iterator[bytes]:
        """The answer as it comes, read along and without the real key; none is empty.

        Frames of AWS stay as they are, for each has a sum of its bytes.
        """
        mask = self._mask() if frames is None else Mask(b"")
        while raw := response.read1(PIECE):
            self.proxy.tell.beat()
            if piece := mask.feed(raw):
                self.proxy.tell.events(listener.feed(piece if frames is None else frames.lines(piece)))
                yield piece
        if response.length:
            raise http.client.IncompleteRead(b"", response.length)
        if rest := mask.end():
            self.proxy.tell.events(listener.feed(rest))
            yield rest

    def _kept(self, response: http.client.HTTPResponse) -> list[tuple[str, str]]:
        return [(name, value) for name, value in passed_on(response.headers) if not self._mask().hides(value)]

    def _mask(self) -> Mask:
        """Takes the real key out of the answer."""
        return Mask(self.opening.secret.encode())

    def _head(self, status: int, reason: str, headers: list[tuple[str, str]]) -> None:
        self.send_response_only(status, reason or None)
        for name, value in [*headers, ("Connection", "close")]:
            self.send_header(name, value)
        try:
            self.end_headers()
        except OSError as error:
            raise _ProgramLeft from error

    def _write(self, data: bytes) -> None:
        try:
            self.wfile.write(data)
        except OSError as error:
            raise _ProgramLeft from error
