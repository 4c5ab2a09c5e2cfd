"""Whether a text is English, which is the only language whose sentences are judged. No rule is here."""

from __future__ import annotations

import re

from agent_fox.core.regex import regex

_WORD = regex(r"[^\W\d_]{1,40}")
_COMMON = frozenset(
    re.findall(
        r"\w+",
        "a an and any are as at be been by can do does for from given has have if in into is it its may must no not of "
        "on only or shall should so than that the their then there they this to under was when where which while will "
        "with without",
    )
)
_FEWEST_WORDS = 6
_LEAST_SHARE = 0.15
_LONGEST_LOOK = 20_000


def is_english(text: str) -> bool:
    """Common English words are a good part of it. A text of few words is not judged."""
    words = _WORD.findall(text[:_LONGEST_LOOK].lower())
    if len(words) < _FEWEST_WORDS or not all(word.isascii() for word in words[: _FEWEST_WORDS * 2]):
        return False
    return sum(word in _COMMON for word in words) >= _LEAST_SHARE * len(words)
