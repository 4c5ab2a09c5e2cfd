"""Private keys in text form, which go over many lines: the block from BEGIN to END, and one that breaks off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from agent_fox.core.regex import regex

LONGEST_KEY = 400
"""Lines after which a private key without an end is over."""

_MASK = b"[redacted]"
_MARK = regex(rb"KEY(?: BLOCK)?-----")  # quick to find; both of those below end in it
_LONGEST_MARK = 80
_BEGIN = regex(rb"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_END = regex(rb"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_REST = regex(rb"[^\"'<>\n]*")
"""What of the first line belongs to a key that does not end there: a report goes on behind a quote or bracket."""

_BODY = regex(rb"[A-Za-z0-9+/=]{16,}+")
_LINE_OF_KEY = regex(rb"[A-Za-z0-9+/]{32}")
_LONGEST_HEAD = 500
_SHORT_OR_HEADER = regex(rb"\s*[A-Za-z0-9+/=]{0,15}\s*\Z|[A-Z][A-Za-z-]{2,20}: ")


@dataclass
class KeyMask:
    """Whether the text is within a key, from one piece of it to the next."""

    lines_left: int = 0

    def through(self, text: bytes, position: int, done: list[bytes]) -> int:
        """Appends what of the text belongs to the key, masked, and answers where the rest begins.

        While the key goes on in the next line, that rest ends with the line.
        """
        end = position
        while position == end < len(text) and self.lines_left:
            end = text.find(b"\n", position) + 1 or len(text)
            position = self._line(text, position, end, done)
        return position

    def _line(self, text: bytes, start: int, end: int, done: list[bytes]) -> int:
        self.lines_left -= 1
        last = _END.search(text, start, end)
        if last is not None:
            self.lines_left = 0
            done.append(_MASK)
            return last.end()
        if _BEGIN.match(text, start, end):
            done.append(_MASK)
            rest = _REST.match(text, start, end)
            return rest.end() if rest else end
        return self._body(text, start, end, done)

    def _body(self, text: bytes, start: int, end: int, done: list[bytes]) -> int:
        line = text[start:end]
        masked = _BODY.sub(_MASK, line)
        if masked != line:
            done.append(masked)
        elif _SHORT_OR_HEADER.match(line):
            done.append(_MASK + line[len(line.rstrip()) :] if line.strip() else line)
        else:
            self.lines_left = 0
            return start
        return end


def key_blocks(text: bytes) -> Iterator[tuple[int, int]]:
    """Where private keys begin and end; one without an end goes to the end of the text, or to the next.

    The first line alone, as programs have it that look for keys, is none.
    """
    begin = key_begin(text, 0, len(text))
    while begin is not None:
        head = text.index(b"-----", begin + len(b"-----")) + len(b"-----")
        after = key_begin(text, head, len(text))
        limit = len(text) if after is None else after
        last = _END.search(text, head, limit)
        end = last.end() if last else limit
        if _LINE_OF_KEY.search(text, head, min(end, head + _LONGEST_HEAD)):
            yield begin, end
        begin = after


def key_begin(text: bytes, position: int, end: int) -> int | None:
    """Where the first private key between two places begins."""
    if text.find(b"K", position, end) < 0:
        return None
    for mark in _MARK.finditer(text, position, end):
        begin = _BEGIN.search(text, max(position, mark.start() - _LONGEST_MARK), mark.end())
        if begin is not None:
            return begin.start()
    return None
