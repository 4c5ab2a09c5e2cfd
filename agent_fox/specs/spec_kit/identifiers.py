"""Ids as spec-kit's users write them: `FR-001`, `NFR-2`, `FR-AUTH-001`, `FR-001a`; and what is struck out with `~~`:
taken back, or only reworded, with what holds instead beside it. What ids stand for is not here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from agent_fox.core.regex import regex
from agent_fox.specs.word_tables import words_in

_ID = (
    r"(?:(?:[A-Z][A-Z0-9]{0,11}-){1,4}[A-Z]{0,3}\d{1,6}|(?:FR|NFR|SC)\d{1,6})"
    r"(?:[.-](?:[A-Z]{1,6}-?)?\d{1,4}){0,3}(?:-[A-Z]{2,8}(?![A-Za-z]))?[A-Za-z]?(?!\w)"
)
_SEPARATES = r"[*_`\]~ ]{0,6}(?:[(（\[][^()（）\[\]]{0,120}[)）\]][*_`\]~ ]{0,6})?(?:[:：.—–]|-(?= )|-$)"
_IS_RANGE = regex(
    r"[*_`\]~ ]{0,6}(?:[-–—~～…]|\.\.\.?|to\b|through\b|至|到|から)\s{0,2}[*_`\[]{0,3}(?:[A-Z]{1,8}-)?\d", re.IGNORECASE
)
_IS_LIST = regex(r"[*_`\]~ ]{0,6}(?:[,;，、/&+→]|->|=>|and\b)")
_DECLARED = regex(rf"(?P<mark>[*_`\[~]{{0,6}})(?P<id>{_ID})(?P<rest>.*)", re.DOTALL)
_SEPARATED = regex(_SEPARATES)
_NAMED = regex(
    rf"(?<![\w-])(?P<id>{_ID})"
    r"(?:[*_`\]]{0,4}\s{0,2}(?:[-–—~～…]|\.\.\.?|to\b|through\b|至|到|から)\s{0,2}[*_`\[]{0,4}(?P<end>(?:[A-Z]{1,8}-){0,3}\d{1,6}[A-Za-z]?(?!\w)))?"
)
_KNOWN = regex(r"(?:N?FR|SC)(?:-|\d)")
_PARTS = regex(r"\d+|[A-Za-z]+")
_OPENS_TEXT = regex(r"[\s:：](?P<mark>[*_`~]{1,3})$")
_BEFORE_TEXT = regex(r"[\s*_`\]~:：.—–-]+")


_CLOSING = regex(
    rf"(?:[.!?;,。！？]|(?<=\s))\s*(?:[—–-]\s)?(?P<open>[\[(（`*_]{{1,6}})(?P<id>{_ID})[\])）`*_]{{1,6}}[.;]?\s*$"
)
_CLOSES = tuple("])）`*_.;")
"""`The shop MUST sell. (FR-001)`; not `as FR-001`, which only mentions it."""
_STRIKE = "~~"
_MARKS = " \t\n*_.:：,;-–—→"
_OPENS_NOTE, _ENDS_NOTE = "([（【", ")]）】"
_LONGEST_NOTE = 2000
_WORDS = words_in(__file__)
_TAKES_BACK = _WORDS["taken_back"]
_OBLIGES = regex(r"\b(?:MUST|SHALL|DEBE|DEVE|DOIT)\b")


class Declared(NamedTuple):
    """An id with what it declares. `is_known`: it has the letters of the templates. `is_struck`: taken back."""

    id: str
    text: str
    is_known: bool
    is_struck: bool


def declared(text: str, *, is_item: bool) -> Declared | None:
    """The id that a text begins with. In a list item or a heading (`is_item`) nothing needs to follow it."""
    match = _DECLARED.match(text)
    if match is None or _IS_RANGE.match(match["rest"]) or _IS_LIST.match(match["rest"]):
        return None
    is_marked = "**" in match["mark"] and "**" in match["rest"][:140]
    if not (is_item or is_marked or _SEPARATED.match(match["rest"])):
        return None
    rest = match["rest"].replace("**", "")
    lead = _BEFORE_TEXT.match(rest)
    body = rest[lead.end() :] if lead else rest
    is_struck = "~~" in match["mark"]
    opens = _OPENS_TEXT.search(lead[0]) if lead else None
    if opens and not (is_struck and "~" in opens[0]):
        body = opens["mark"] + body
    return Declared(match["id"], body.strip(), is_known(match["id"]), is_struck or is_taken_back(body))


def closing(text: str) -> Declared | None:
    """The id of the templates' letters that a text ends with, in brackets or marks, and what stands before it."""
    match = _CLOSING.search(text) if text[-1:] in _CLOSES else None
    if match is None or not is_known(match["id"]):
        return None
    text_before = text[: match.start("open")].rstrip(" —–-")
    return Declared(match["id"], text_before, True, is_taken_back(text_before)) if text_before else None


def same(identifier: str) -> tuple[str, ...]:
    """What two spellings of one id share: `FR-001`, `FR-1` and `FR001`."""
    return tuple(part.lstrip("0") or "0" if part.isdecimal() else part.upper() for part in _PARTS.findall(identifier))


def is_known(identifier: str) -> bool:
    return _KNOWN.match(identifier) is not None


def named_in(text: str) -> Iterator[tuple[str, str]]:
    """The ids that a text names, each with the end of the range that it begins, or nothing."""
    for match in _NAMED.finditer(text):
        end = match["end"] or ""
        head = match["id"].rpartition("-")[0]
        yield match["id"], f"{head}-{end}" if end and end[0].isdecimal() else end


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
        depth += (letter in _OPENS_NOTE) - (letter in _ENDS_NOTE)
        if depth == 0:
            return place > 0 and not text[place + 1 :].strip(_MARKS)
    return False
