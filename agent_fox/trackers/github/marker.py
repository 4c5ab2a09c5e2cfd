"""The mark on what we wrote: one signed line at the top of an issue or a comment. Nothing is searched for here."""

from __future__ import annotations

import hashlib
import hmac
from urllib.parse import quote, unquote

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

LONGEST_LINE = 400
"""What a text leaves free above itself: the line, its end, and the number of an earlier issue."""

_LINE = regex(r"<!-- agent-fox v=1 fp=(?P<fp>[^ ]+) op=(?P<op>[^ ]+) sig=(?P<sig>[0-9a-f]{64}) -->")


@dataclass(frozen=True, slots=True)
class Marker:
    """Which cause (`fp`, a fingerprint) a text is about, and which operation (`op`) wrote it."""

    fp: str
    op: str

    def line(self, key: bytes) -> str:
        """The first line of the text. What is in it is quoted: it can neither end the line nor the comment."""
        return f"<!-- agent-fox v=1 fp={_quoted(self.fp)} op={_quoted(self.op)} sig={self._signature(key)} -->"

    def above(self, text: str, key: bytes) -> str:
        """`text` with the mark on top."""
        return f"{self.line(key)}\n{text}"

    def is_of(self, op: str) -> bool:
        """Whether the operation is `op` or one of its parts, `op/2` and so on."""
        return self.op == op or self.op.startswith(f"{op}/")

    def _signature(self, key: bytes) -> str:
        signed = "\0".join(("agent-fox", "1", _quoted(self.fp), _quoted(self.op)))
        return hmac.new(key, signed.encode(), hashlib.sha256).hexdigest()


def read(body: str, key: bytes) -> Marker | None:
    """The mark of a text. None where it is missing, not the whole first line, or not signed with our key."""
    first = body.split("\n", 1)[0].rstrip("\r")
    match = _LINE.fullmatch(first)
    if match is None:
        return None
    marker = Marker(unquote(match["fp"]), unquote(match["op"]))
    return marker if hmac.compare_digest(marker.line(key).encode(), first.encode(errors="replace")) else None


def _quoted(text: str) -> str:
    return quote(text, safe="/", errors="replace")
