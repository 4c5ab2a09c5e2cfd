"""One connection: requests read, answers sent, obstacles put in the way. What to answer is decided in `playing`."""

from __future__ import annotations

import json
import select
import socket
import threading
from collections import Counter
from collections.abc import Callable, Hashable, Mapping
from dataclasses import field, replace
from http.server import BaseHTTPRequestHandler

from pydantic import JsonValue, TypeAdapter, ValidationError

from agent_fox.core.values import dataclass
from agent_fox.testing.model_server.conversation import Conversation, Ticket
from agent_fox.testing.model_server.playing import NoStep, Part, part_for
from agent_fox.testing.model_server.protocols.chat import Chat
from agent_fox.testing.model_server.protocols.wire import Wire
from agent_fox.testing.model_server.records import Exchange, Records
from agent_fox.testing.model_server.routes import Route, Task, route
from agent_fox.testing.model_server.script import Drop, Fail, Garbage, Hang, Obstacle, Script, Status
from agent_fox.testing.model_server.tools import NotOffered
from agent_fox.testing.scripted.script import Sleep

IDLE_SECONDS = 60.0
LONGEST_BODY = 64_000_000
_TICK = 0.05
_JSON: TypeAdapter[JsonValue] = TypeAdapter(JsonValue)
_JSON_TYPE, _STREAM_TYPE = "application/json", "text/event-stream"
_FAILURES = {"authentication": 401, "rate limit": 429}
_OVERLOADED = {"anthropic": 529}
_MODEL = {"id": "scripted", "object": "model", "type": "model", "display_name": "scripted", "name": "models/scripted"}


@dataclass(frozen=True, slots=True)
class Stage:
    """What all connections of a server share."""

    script: Script
    records: Records
    stop: threading.Event = field(default_factory=threading.Event)
    met: Counter[Hashable] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def meets(self, ticket: Ticket | None, step: int | None, place: int, obstacle: Obstacle) -> bool:
        """Whether a session meets an obstacle now; that it did is counted."""
        times = "always" if isinstance(obstacle, Sleep) else obstacle.times
        with self.lock:
            before = self.met[ticket, step, place]
            self.met[ticket, step, place] += 1
        return times == "always" or before < times


class _Bad(ValueError):
    """A request that cannot be read; the message says why."""


class _Gone(Exception):
    """The client went away, or we stop."""


@dataclass(slots=True)
class _Manner:
    """How an answer is spoilt on its way."""

    stall: float = 0.0
    is_cut: bool = False


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection. A subclass names the stage."""

    protocol_version = "HTTP/1.1"
    timeout = IDLE_SECONDS
    stage: Stage
    exchange: Exchange

    def do_POST(self) -> None:
        self._take()

    do_GET = do_HEAD = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = do_POST

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the records hold everything."""

    def _take(self) -> None:
        try:
            raw, problem = self._body(), None
        except _Bad as error:
            raw, problem = b"", str(error)
            self.close_connection = True
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.exchange = self.stage.records.arrived(self.command, self.path, headers, _seen(raw))
        try:
            self._answer(route(self.command, self.path), raw, problem)
        except (_Gone, OSError) as error:
            self.close_connection = True
            self._know(error=self.exchange.error or str(error) or "the client went away")
        finally:
            self.stage.records.ended(self.exchange)

    def _know(self, **values: object) -> None:
        self.exchange = replace(self.exchange, **values)  # type: ignore[arg-type]  # names are checked at run time
        self.stage.records.noted(self.exchange)

    def _answer(self, where: Route | None, raw: bytes, problem: str | None) -> None:
        if problem is not None or where is None:
            status, why = (404, f"no such path: {self.command} {self.path}") if problem is None else (400, problem)
            return self._refuse(Chat() if where is None else where.wire, status, why)
        self._know(protocol=where.wire.name)
        if where.task is Task.MODELS:
            return self._send(200, {"object": "list", "data": [_MODEL], "models": [_MODEL], "has_more": False})
        try:
            talk = where.wire.read(raw, where.model, is_streamed=where.is_streamed)
            if where.task is Task.COUNT:
                return self._send(200, where.wire.count(talk))
            part = part_for(self.stage.script, talk)
        except ValidationError as error:
            first = error.errors()[0]
            return self._refuse(where.wire, 400, f"{'.'.join(map(str, first['loc']))}: {first['msg']}")
        except (NoStep, NotOffered) as error:
            return self._refuse(where.wire, 400, str(error))
        self._play(where.wire, talk, part)

    def _play(self, wire: Wire, talk: Conversation, part: Part) -> None:
        ticket = part.ticket or Ticket()
        self._know(
            node=ticket.node,
            attempt=ticket.attempt,
            reading=ticket.reading,
            step=part.step,
            turn=part.place,
            is_side=part.step is None,
        )
        manner = _Manner()
        for place, obstacle in part.turn.obstacles:
            if self.stage.meets(part.ticket, part.step, place, obstacle):
                self._know(obstacles=(*self.exchange.obstacles, type(obstacle).__name__.lower()))
                if self._is_stopped_by(obstacle, wire, manner):
                    return
                if manner.is_cut:
                    break
        reply = part.reply
        calls = tuple(
            {"name": call.name, "arguments": call.arguments if call.source is None else {"source": call.source}}
            for call in reply.calls
        )
        self._know(words=reply.text, calls=calls, input_tokens=reply.input_tokens, output_tokens=reply.output_tokens)
        if talk.is_streamed:
            self._stream([event.encode() for event in wire.events(talk, reply)], manner)
        else:
            self._send(200, wire.plain(talk, reply), manner=manner)

    def _is_stopped_by(self, obstacle: Obstacle, wire: Wire, manner: _Manner) -> bool:
        """Put an obstacle in the way; whether the answer ends there."""
        match obstacle:
            case Sleep(sleep=seconds) | Hang(hang=seconds, stage="before"):
                self._pause(seconds)
                return False
            case Hang(hang=seconds):
                manner.stall = seconds
                return False
            case Drop():
                manner.is_cut = True
                return False
            case Status(status=status, body=body):
                self._fail(wire, status, body)
            case Garbage(garbage=text):
                self._send_bytes(200, text.encode(), _JSON_TYPE)
            case Fail(fail="network"):
                raise _Gone("the connection was dropped, as the script says")
            case Fail(fail=kind):
                self._fail(wire, _FAILURES.get(kind) or _OVERLOADED.get(wire.name, 503))
        return True

    def _fail(self, wire: Wire, status: int, body: str | None = None) -> None:
        headers = {"retry-after": "1"} if status == 429 else {}
        text = json.dumps(wire.error(status, f"scripted failure {status}")) if body is None else body
        self._send_bytes(status, text.encode(), _JSON_TYPE, headers)

    def _refuse(self, wire: Wire, status: int, why: str) -> None:
        self._know(error=why)
        self._send(status, wire.error(status, why))

    def _send(self, status: int, document: Mapping[str, object], manner: _Manner | None = None) -> None:
        self._send_bytes(status, json.dumps(document).encode(), _JSON_TYPE, manner=manner or _Manner())

    def _send_bytes(
        self,
        status: int,
        body: bytes,
        kind: str,
        headers: Mapping[str, str] | None = None,
        manner: _Manner | None = None,
    ) -> None:
        self._begin(status, {"content-type": kind, "content-length": str(len(body)), **(headers or {})})
        if manner and manner.stall:
            self._pause(manner.stall)
        if manner and manner.is_cut:
            self.wfile.write(body[: len(body) // 2])
            raise _Gone("the answer was cut, as the script says")
        if self.command != "HEAD":
            self.wfile.write(body)

    def _stream(self, events: list[bytes], manner: _Manner) -> None:
        """Send events in chunks; stalled after the first, or cut after half of them."""
        self._begin(200, {"content-type": _STREAM_TYPE, "cache-control": "no-cache", "transfer-encoding": "chunked"})
        for number, event in enumerate(events):
            if manner.is_cut and number == len(events) // 2:
                raise _Gone("the answer was cut, as the script says")
            self.wfile.write(b"%x\r\n%b\r\n" % (len(event), event))
            self.wfile.flush()
            if number == 0 and manner.stall:
                self._pause(manner.stall)
        self.wfile.write(b"0\r\n\r\n")

    def _begin(self, status: int, headers: Mapping[str, str]) -> None:
        self._know(status=status)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.flush()

    def _pause(self, seconds: float) -> None:
        """Wait, unless the client goes away or the server stops."""
        whole = int(seconds / _TICK)
        for length in [*[_TICK] * whole, seconds - whole * _TICK]:
            if self.stage.stop.wait(max(length, 0.0)):
                raise _Gone("the server was stopped")
            if _is_closed(self.connection):
                raise _Gone("the client went away")

    def _body(self) -> bytes:
        """The body of the request. Raises _Bad."""
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            return _chunks(self.rfile.readline, self.rfile.read)
        try:
            length = int(self.headers.get("content-length", "0"))
        except ValueError as error:
            raise _Bad("content-length is no number") from error
        if not 0 <= length <= LONGEST_BODY:
            raise _Bad(f"content-length must lie between 0 and {LONGEST_BODY}")
        try:
            body = self.rfile.read(length)
        except OSError as error:
            raise _Bad("the body did not arrive") from error
        if len(body) < length:
            raise _Bad("the body ended early")
        return body


def _chunks(line: Callable[[int], bytes], read: Callable[[int], bytes]) -> bytes:
    parts: list[bytes] = []
    try:
        while size := int(line(100).split(b";")[0], 16):
            parts.append(read(size))
            line(100)
            if sum(map(len, parts)) > LONGEST_BODY:
                raise _Bad(f"the body is longer than {LONGEST_BODY}")
        while line(10_000).strip():
            pass
    except (ValueError, OSError) as error:
        raise _Bad("the chunks of the body cannot be read") from error
    return b"".join(parts)


def _seen(raw: bytes) -> JsonValue:
    try:
        return _JSON.validate_json(raw) if raw else None
    except ValidationError:
        return raw.decode("utf-8", "replace")


def _is_closed(connection: socket.socket) -> bool:
    readable, _, _ = select.select([connection], [], [], 0)
    return bool(readable) and not connection.recv(1, socket.MSG_PEEK)
