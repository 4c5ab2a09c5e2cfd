"""Secrets masked before anything is stored or sent. The stream is taken apart here; what a secret looks like is said in
`redact_words` (by name), `redact_shapes` and `redact_keys` (by shape) and `redact_values` (known values).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from agent_fox.core.regex import regex
from agent_fox.system.redaction.forms import forms_of
from agent_fox.system.redaction.keys import LONGEST_KEY, KeyMask, key_begin
from agent_fox.system.redaction.shapes import shaped_secrets
from agent_fox.system.redaction.words import named_secrets

MASK = "[redacted]"

LONGEST_LINE = 256 * 1024
"""A longer line is handed on in pieces of up to this many bytes, never cut within a secret."""

_MASK = MASK.encode()
_MARGIN = 2048
"""Bytes that are looked at beyond a cut, so that a secret behind it is seen whole."""

_SECRET_NAME = regex(
    r"api[_-]?key|access[_-]?key|secret|token|passw(?:or)?d|passwd|passphrase|credential|private[_-]?key|auth",
    re.IGNORECASE,
)

Span = tuple[int, int]


def looks_secret(name: str) -> bool:
    """Whether a variable of this name is likely to hold a secret (`ANTHROPIC_API_KEY`, `DB_PASSWORD`)."""
    return _SECRET_NAME.search(name) is not None


def secret_values(environment: Mapping[str, str]) -> tuple[str, ...]:
    """The values of those variables whose names say secret; hand them to `redact`."""
    return tuple(value for name, value in environment.items() if looks_secret(name))


def redact(text: str, values: Iterable[str] = ()) -> str:
    """The text with everything masked that looks like a secret, and every one of `values`."""
    redactor = Redactor(tuple(values))
    return redactor.feed(text) + redactor.close()


@dataclass
class Redactor:
    """Masks a stream: give it text in pieces of any size, write what it returns, and `close` it at the end."""

    values: tuple[str, ...] = ()
    _bytes: BytesRedactor = field(init=False)

    def __post_init__(self) -> None:
        self._bytes = BytesRedactor(self.values)

    def feed(self, text: str) -> str:
        """What can be said for sure so far: all complete lines, masked."""
        return self._bytes.feed(text.encode("utf-8", "surrogatepass")).decode("utf-8", "surrogatepass")

    def close(self) -> str:
        """The rest, masked."""
        return self._bytes.close().decode("utf-8", "surrogatepass")


@dataclass
class BytesRedactor:
    """The same for bytes of any encoding that holds ASCII. How the stream is cut into pieces makes no difference.

    It holds back at most one line, and of a line without an end `LONGEST_LINE`.
    """

    values: tuple[str, ...] = ()
    _held: bytearray = field(init=False, default_factory=bytearray)
    _key: KeyMask = field(init=False, default_factory=KeyMask)

    def __post_init__(self) -> None:
        self._forms = forms_of(self.values)
        self._margin = max([_MARGIN, *(2 * len(form) for form in self._forms)])

    def feed(self, piece: bytes) -> bytes:
        """What can be said for sure so far, masked."""
        self._held += piece
        if len(self._held) <= LONGEST_LINE and b"\n" not in piece:
            return b""
        held, masked, start = bytes(self._held), [], 0
        while start < len(held):
            end = held.rfind(b"\n", start, start + LONGEST_LINE) + 1
            if not end and len(held) - start <= LONGEST_LINE:
                break
            end = end or self._cut(held, start)
            masked.append(self._masked(held[start:end]))
            start = end
        self._held = bytearray(held[start:])
        return b"".join(masked)

    def close(self) -> bytes:
        """The rest, masked."""
        rest, self._held = bytes(self._held), bytearray()
        return self._masked(rest)

    def _cut(self, held: bytes, start: int) -> int:
        """Where the piece of a line that is too long ends: behind a comma or a space, but not within a secret."""
        window = held[start : start + LONGEST_LINE]
        last = len(window) - self._margin
        half = last // 2
        cut = max(window.rfind(b",", half, last), window.rfind(b" ", half, last)) + 1 or last
        for begin, end in self._secrets(window):
            if begin < cut < end:
                cut = begin if begin > half else end  # a value as long as half a piece is cut all the same
        return start + cut

    def _masked(self, text: bytes) -> bytes:
        """Whole lines, or pieces of one."""
        done: list[bytes] = []
        position = 0
        while position < len(text):
            position = self._key.through(text, position, done)
            end = text.find(b"\n", position) + 1 if self._key.lines_left else 0  # beside an open key: its line's rest
            begin = key_begin(text, position, end or len(text))
            stop = end or len(text) if begin is None else begin
            done.append(self._without(text[position:stop]))
            position = stop
            if begin is not None:
                self._key.lines_left = LONGEST_KEY
        return b"".join(done)

    def _without(self, text: bytes) -> bytes:
        done: list[bytes] = []
        position = 0
        for start, end in self._secrets(text):
            done += (text[position:start], _MASK)
            position = end
        return b"".join((*done, text[position:])) if done else text

    def _secrets(self, text: bytes) -> list[Span]:
        """Where secrets are, from left to right; those that overlap are one."""
        merged: list[Span] = []
        for start, end in sorted(self._spans(text)):
            if merged and start < merged[-1][1]:
                merged[-1] = (merged[-1][0], max(merged[-1][1], end))
            else:
                merged.append((start, end))
        return merged

    def _spans(self, text: bytes) -> Iterator[Span]:
        is_narrow = b"\0" not in text
        for form in self._forms:
            if not (is_narrow and b"\0" in form):
                yield from _occurrences(text, form)
        lowered = text.lower()
        yield from shaped_secrets(text, lowered)
        yield from named_secrets(text, lowered)


def _occurrences(text: bytes, form: bytes) -> Iterator[Span]:
    at = text.find(form)
    while at >= 0:
        yield at, at + len(form)
        at = text.find(form, at + 1)
