"""Numbers and lists in words, the same on every screen and in every record."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module

if TYPE_CHECKING:
    import shlex
else:
    shlex = late_module("shlex")

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


LEAST_BEGUN = 2
"""Letters of a word that may be the beginning of another."""


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that is most like one that is not known, or the shortest that begins with it; empty for none."""
    import difflib  # noqa: PLC0415 - it loads as much as a command's help, and is wanted after a mistake alone

    words = list(known)
    like = difflib.get_close_matches(word, words)
    begun = (other for other in words if len(word) >= LEAST_BEGUN and other.startswith(word))
    return like[0] if like else min(begun, key=len, default="")


def did_you_mean(word: str, known: Iterable[str], otherwise: str = "") -> str:
    """`; did you mean WORD?`, to be put behind what is wrong; `otherwise` where no known word is near enough."""
    near = nearest(word, known)
    return f"; did you mean {near}?" if near else otherwise


BARE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./-_")
"""What a shell takes as it stands."""


def quote(word: str) -> str:
    """A word of a command as a shell takes it: names that come with a repository run nothing when they are pasted."""
    return word if word and BARE.issuperset(word) else shlex.quote(word)
