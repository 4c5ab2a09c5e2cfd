"""Reading the parts of a JSON document one after another, without holding the whole. What they mean is elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from agent_fox.core.regex import regex
from agent_fox.verifier.logs.parsers import Cut, begin_of

LONGEST_VALUE = 32_000_000  # characters of one part that is read whole

_SPACE = regex(r"[ \t\r\n]*")
_NUMBER = regex(r"[-+.eE0-9]*")
_DECODER = json.JSONDecoder(strict=False)

Path = tuple[str, ...]
Part = tuple[Path, object]
EACH = "*"


def parts(pieces: Iterable[str], wanted: Iterable[Path], closing: Path | None = None) -> Iterator[Part]:
    """The values at the `wanted` paths, as they come, with the path they were wanted by.

    A path is of keys, and of `*` for every element of an array: `("runs", "*", "results", "*")`. Where an object or
    array at the path `closing` ends, `(closing, None)` is given. Raises Cut where the document breaks off; what
    came before was given already.
    """
    text = _Text(iter(pieces))
    try:
        yield from _value(text, (), frozenset(wanted), closing)
    except RecursionError as error:
        raise Cut("the document is nested too deeply") from error


def _value(text: _Text, path: Path, wanted: frozenset[Path], closing: Path | None) -> Iterator[Part]:
    if path in wanted:
        yield path, text.value()
    elif (opening := text.peek()) not in "[{" or not any(len(w) > len(path) and w[: len(path)] == path for w in wanted):
        text.value()
    else:
        for _ in text.elements("]" if opening == "[" else "}"):
            key = EACH if opening == "[" else str(text.value())
            if opening == "{":
                text.take(":")
            yield from _value(text, (*path, key), wanted, closing)
        if path == closing:
            yield path, None


class _Text:
    """The text not read yet: as much of it as the value at hand needs."""

    def __init__(self, pieces: Iterator[str]) -> None:
        self._pieces, self._buffer, self._at = pieces, "", 0
        while (start := begin_of(self._buffer)) is None:
            if not self._more() or len(self._buffer) > LONGEST_VALUE:
                raise Cut("there is no JSON in it")
        self._at = start

    def peek(self) -> str:
        """The next character that is not space."""
        while True:
            match = _SPACE.match(self._buffer, self._at)
            self._at = match.end() if match else self._at
            if self._at < len(self._buffer):
                return self._buffer[self._at]
            if not self._more():
                raise Cut("it ends too early")

    def take(self, character: str) -> None:
        if self.peek() != character:
            raise Cut(f"{character!r} is missing")
        self._at += 1

    def elements(self, closing: str) -> Iterator[None]:
        """Stops before every element of the array or object that begins here, and behind its end."""
        self._at += 1
        if self.peek() != closing:
            yield
            while self.peek() != closing:
                self.take(",")
                yield
        self._at += 1

    def value(self) -> object:
        """The whole value that begins here. Where a number ends, more text might go on with it."""
        self.peek()
        while True:
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._at)
            except ValueError as error:
                if not self._grow():
                    raise Cut(f"a value breaks off or is wrong: {error}") from error
                continue
            rest = _NUMBER.match(self._buffer, end)
            if (rest and rest.end() < len(self._buffer)) or not self._grow():
                self._at = end
                return value

    def _grow(self) -> bool:
        """Twice the text, so that trying again costs no more than reading; False where there is no more."""
        before = len(self._buffer) - self._at
        if before > LONGEST_VALUE or not self._more():
            return False
        while len(self._buffer) < 2 * before and self._more():
            pass
        return True

    def _more(self) -> bool:
        piece = next(self._pieces, None)
        if piece is None:
            return False
        self._buffer, self._at = self._buffer[self._at :] + piece, 0
        return True
