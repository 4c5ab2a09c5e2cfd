"""Numbers and lists in words, the same on every screen and in every record."""

from __future__ import annotations

from collections.abc import Iterable

MOST_IDS = 6


def listed(ids: Iterable[str]) -> str:
    """Some ids, the rest as a number."""
    names = list(ids)
    rest = len(names) - MOST_IDS
    return ", ".join(names[:MOST_IDS]) + (f" and {rest} more" if rest > 0 else "")


def counted(number: int, word: str) -> str:
    """`1 spec`, `2 specs`, `2 entries`."""
    if number == 1:
        return f"1 {word}"
    return f"{number} {word[:-1]}ies" if word.endswith("y") else f"{number} {word}s"
