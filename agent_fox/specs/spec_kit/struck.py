"""What is struck out with `~~`: taken back, or only reworded. People strike a text and write beside it why, or what
holds instead. Ids are not read here."""

from __future__ import annotations

import re

from agent_fox.core.regex import regex

_STRIKE = "~~"
_MARKS = " \t\n*_.:：,;-–—→"
_OPENS, _CLOSES = "([（【", ")]）】"
_LONGEST_NOTE = 2000
_TAKES_BACK = regex(
    r"(?:withdrawn|superseded|removed|deleted|dropped|retired|obsolete|deprecated|replaced|cancell?ed|descoped|deferred"
    r"|moved|merged|skipped|n/a|not needed|no longer|out of scope|已?(?:废除|廢除|取消|删除|刪除|移除|廢止|废止)"
    r"|削除|廃止|삭제|eliminad[oa]|retirad[oa]|removid[oa])(?![a-z])",
    re.IGNORECASE,
)
_OBLIGES = regex(r"\b(?:MUST|SHALL|DEBE|DEVE|DOIT)\b")


def is_taken_back(text: str) -> bool:
    """Whether a text begins struck out, and what follows is nothing, a note in brackets, or says that it is gone.

    A text that says what holds instead is not taken back, nor is one where that can't be told.
    """
    text = text.lstrip(_MARKS)
    end = text.find(_STRIKE, len(_STRIKE)) if text.startswith(_STRIKE) else -1
    if end < 0:
        return False
    left = text[end + len(_STRIKE) :].strip(_MARKS)
    is_gone = _TAKES_BACK.match(left) is not None or _TAKES_BACK.fullmatch(text[len(_STRIKE) : end]) is not None
    return not left or _is_note(left) or (is_gone and _OBLIGES.search(left) is None)


def _is_note(text: str) -> bool:
    """Whether one pair of brackets holds all of a text."""
    depth = 0
    for place, letter in enumerate(text[:_LONGEST_NOTE]):
        depth += (letter in _OPENS) - (letter in _CLOSES)
        if depth == 0:
            return place > 0 and not text[place + 1 :].strip(_MARKS)
    return False
