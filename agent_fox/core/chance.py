"""Chance that anybody can work out again: drawn from a seed and a name, never from a generator."""

from __future__ import annotations

import hashlib

BITS = 64


def drawn(seed: str, name: str) -> float:
    """A number from 0 up to, not including, 1, the same for the same seed and name."""
    digest = hashlib.sha256(f"{seed}\n{name}".encode()).digest()
    return int.from_bytes(digest[: BITS // 8]) / (1 << BITS)
