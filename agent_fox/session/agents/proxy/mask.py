"""Taking one secret out of bytes that flow by, without holding back more than could be its beginning."""

from __future__ import annotations

MASK = b"[redacted]"
SHORTEST = 16
"""Bytes. The keys of every provider are much longer; `any`, which tests and gateways without keys take, is not one."""


class Mask:
    """Feed it pieces in order; what it gives back is safe to show.

    A secret of fewer than SHORTEST bytes is not looked for: keys are longer, and ordinary words could hold it.
    """

    __slots__ = ("_held", "_secret")

    def __init__(self, secret: bytes) -> None:
        self._secret = secret if len(secret) >= SHORTEST else b""
        self._held = b""

    def feed(self, piece: bytes) -> bytes:
        """What can be passed on so far."""
        if not self._secret:
            return piece
        data = (self._held + piece).replace(self._secret, MASK)
        held = next((n for n in range(len(self._secret) - 1, 0, -1) if data.endswith(self._secret[:n])), 0)
        self._held = data[len(data) - held :]
        return data[: len(data) - held]

    def end(self) -> bytes:
        """What was held back."""
        held, self._held = self._held, b""
        return held

    def hides(self, text: str) -> bool:
        """Whether the secret stands in the text."""
        return bool(self._secret) and self._secret in text.encode("utf-8", "surrogateescape")
