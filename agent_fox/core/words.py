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


def nearest(word: str, known: Iterable[str], likeness: float = 0.0) -> str:
    """The known word that is most like one that is not known, of those that are as alike as that (0 to 1), or empty."""
    import difflib  # noqa: PLC0415 - it loads as much as a command's help, and is wanted after a mistake alone

    return next(iter(difflib.get_close_matches(word, list(known), n=1, cutoff=likeness)), "")


def nearest_told(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """`; the nearest is WORD`, to be put behind what is wrong; `otherwise` where nothing is known."""
    near = nearest(word, known)
    return f"; the nearest is {near}" if near else otherwise


LIKE = 0.6
"""Where two words are near enough for the one to be meant by the other."""
