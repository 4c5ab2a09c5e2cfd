"""What was asked and what was answered, kept in order. `Exchange` is one request with its answer."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO

from pydantic import JsonValue

from agent_fox.core.values import dataclass


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and what came of it. Times are seconds since the epoch; `ended` is None while it is answered.

    `headers` have small letters; keys are kept, for tests look at which one came. `body` is text where it is no
    JSON. `step` and `turn` count from 0 and are None where none was played, `is_side` marks a request beside the
    work. `status` is None where no answer was begun, `obstacles` tell what stood in the way, `words` and `calls`
    what was answered, `error` why an answer was refused or broke off.
    """

    number: int
    method: str
    path: str
    headers: Mapping[str, str]
    body: JsonValue
    began: float
    ended: float | None = None
    protocol: str | None = None
    node: str | None = None
    attempt: int | None = None
    reading: int | None = None
    step: int | None = None
    turn: int | None = None
    is_side: bool = False
    obstacles: tuple[str, ...] = ()
    status: int | None = None
    words: str = ""
    calls: tuple[Mapping[str, JsonValue], ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    error: str | None = None


class Records:
    """Every exchange of a server; safe for many threads. With a file, each is a line there once it has ended."""

    def __init__(self, file: IO[str] | None = None) -> None:
        self._file = file
        self._all: list[Exchange] = []
        self._changed = threading.Condition()

    def arrived(self, method: str, path: str, headers: Mapping[str, str], body: JsonValue) -> Exchange:
        """Note a request, and give it its number."""
        with self._changed:
            exchange = Exchange(len(self._all), method, path, headers, body, time.time())
            self._all.append(exchange)
            self._changed.notify_all()
        return exchange

    def noted(self, exchange: Exchange) -> None:
        """Note what more is known of a request."""
        with self._changed:
            self._all[exchange.number] = exchange
            self._changed.notify_all()

    def ended(self, exchange: Exchange) -> None:
        """Note the end of a request."""
        whole = replace(exchange, ended=time.time())
        with self._changed:
            self._all[exchange.number] = whole
            if self._file is not None:
                self._file.write(json.dumps(asdict(whole)) + "\n")
                self._file.flush()
            self._changed.notify_all()

    def all(self) -> tuple[Exchange, ...]:
        with self._changed:
            return tuple(self._all)

    def wait_for(self, predicate: Callable[[tuple[Exchange, ...]], bool], seconds: float) -> bool:
        """Wait until this is true of all exchanges; whether it became so in time."""
        with self._changed:
            return self._changed.wait_for(lambda: predicate(tuple(self._all)), seconds)


def opened(path: Path) -> IO[str]:
    """A file for records, to be added to. Raises OSError."""
    return path.open("a", encoding="utf-8")
