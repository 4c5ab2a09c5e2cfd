"""Finds JSON values in what a verifier or reviewer printed: whole ones, and broken answers.

What an answer means is not here. The scan takes time in proportion to the text, whatever the text is.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import field

from agent_fox.core.json_text import object_of
from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

WRAPPER_KEYS = ("verdicts", "verdict", "results", "verifications", "requirements")
ID_KEYS = ("requirement_id", "requirement", "req_id", "id", "req")
WORD_KEYS = ("verdict", "status", "result")
OVERALL_KEYS = ("overall_verdict", "overall", "overall_result")
FINDINGS_KEY = "findings"
KNOWN_KEYS = (*WRAPPER_KEYS, *ID_KEYS, *WORD_KEYS, *OVERALL_KEYS, "summary", FINDINGS_KEY)

DEEPEST = 1000
"""Brackets nested deeper than this are taken never to close; json gives up near there too."""


@dataclass(frozen=True, slots=True)
class Whole:
    """A complete JSON value. Numbers in it are left as the text that was written."""

    value: object


@dataclass(frozen=True, slots=True)
class Broken:
    """Something that looks like an answer and cannot be read: wrong JSON, or cut off."""


def _key(words: tuple[str, ...]) -> re.Pattern[str]:
    """A key of one of these names before its colon, in any case, in double, single or no quotes."""
    first = "".join(sorted({letter for word in words for letter in (word[0], word[0].upper())}))
    return re.compile(rf"(?=[{first}])(?<![\w-])(?i:{'|'.join(words)})[\"']?\s*:")


_START = regex(rf"\{{\s*(?:\"|\Z|'?(?i:{'|'.join(KNOWN_KEYS)})'?\s*:)|\[\s*(?:\{{|\Z)")
_TOKEN = regex(r'"(?>(?:[^"\\]++|\\(?:.|\Z))*)(?:"|\Z)|[\[\]{}]', re.DOTALL)
_FENCE = regex(r"\n[ \t]*(?:```|~~~)")
_STUB = regex(r"[\[{\s]*(?:[\"']?(?P<word>\w*))?[\"']?\s*:?\s*")
_QUOTES = ('"', "'", "”", "’")
_BEFORE = regex(rf"[\w{''.join(_QUOTES)}]+[ \t]*:[ \t]*\Z")
_LONGEST_KEY = 40
_GOES_ON = regex(r"[ \t]*,|\s*[}\]]")
_A_WRAPPER = _key((*WRAPPER_KEYS, FINDINGS_KEY))
_A_WORD = _key(WORD_KEYS)
_AN_ID = _key(ID_KEYS)
_ANY_KEY = _key(KNOWN_KEYS)


def _read_object(written: list[tuple[str, object]]) -> dict[str, object]:
    """The object, with the keys that we know in lower case."""
    return object_of([(key.lower() if key.lower() in KNOWN_KEYS else key, value) for key, value in written])


_DECODER = json.JSONDecoder(object_pairs_hook=_read_object, parse_int=str, parse_float=str, strict=False)


def scan(text: str) -> Iterator[Whole | Broken]:
    """The JSON values that stand in `text`, in order, and what looks like an answer but cannot be read.

    What stands inside another value, whole or broken, is never given on its own: not even where that other value
    does not look like JSON at its start, such as an object that opens with a comment.
    """
    return iter(()) if _ANY_KEY.search(text) is None else _Scan(text).pieces()


@dataclass(slots=True)
class _Scan:
    text: str
    fences: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.fences = [fence.start() for fence in _FENCE.finditer(self.text)]

    def pieces(self) -> Iterator[Whole | Broken]:
        at = 0
        while (start := _START.search(self.text, at)) is not None:
            piece, at = self.read(start.start())
            if piece is not None:
                yield piece

    def read(self, start: int) -> tuple[Whole | Broken | None, int]:
        """What begins at `start`, and where to look on. No JSON value runs over a fence line."""
        fence = self.next_fence(start)
        end = _closing(self.text, start, fence)
        if end is None:
            return self.read_open(start, fence)
        key = _key_before(self.text, start)
        if _is_inside(self.text, key, end):
            return self.if_like_an_answer(start - len(key), end), end
        if not _is_worth_reading(self.text, start, end):
            return None, end
        try:
            return Whole(_DECODER.decode(self.text[start:end])), end
        except (ValueError, RecursionError):
            return self.if_like_an_answer(start, end), end

    def read_open(self, start: int, fence: int) -> tuple[Broken | None, int]:
        """What does not close before the next fence line.

        Past the fence the scan goes on only if nothing before it looked like an answer: the rows that follow
        could stand inside that answer.
        """
        if fence < len(self.text) and not _is_like_an_answer(self.text, start, fence):
            return None, fence
        return self.if_cut_off(start), len(self.text)

    def next_fence(self, at: int) -> int:
        index = bisect_left(self.fences, at)
        return self.fences[index] if index < len(self.fences) else len(self.text)

    def if_like_an_answer(self, start: int, end: int) -> Broken | None:
        return Broken() if _is_like_an_answer(self.text, start, end) else None

    def if_cut_off(self, start: int) -> Broken | None:
        is_answer = _ANY_KEY.search(self.text, start) is not None or _is_stub(self.text, start)
        return Broken() if is_answer else None


def _closing(text: str, start: int, limit: int) -> int | None:
    """Where the bracket at `start` closes, strings passed over; None if it does not before `limit`."""
    depth = 0
    for token in _TOKEN.finditer(text, start, limit):
        mark = text[token.start()]
        if mark in ("[", "{"):
            depth += 1
            if depth > DEEPEST:
                return None
        elif mark in ("]", "}"):
            depth -= 1
            if depth == 0:
                return token.end()
    return None


def _key_before(text: str, start: int) -> str:
    """What stands before a value as a key of it would, on the same line."""
    before = text[max(0, start - _LONGEST_KEY) : start]
    match = _BEFORE.search(before) if ":" in before else None
    return match[0] if match else ""


def _is_inside(text: str, key: str, end: int) -> bool:
    """Whether a value belongs to a larger one that was not read: its key is quoted, or a bracket or comma follows."""
    return key.rstrip(" \t:").endswith(_QUOTES) or _GOES_ON.match(text, end) is not None


def _is_like_an_answer(text: str, start: int, end: int) -> bool:
    if _A_WRAPPER.search(text, start, end):
        return True
    return bool(_A_WORD.search(text, start, end) and _AN_ID.search(text, start, end))


def _is_worth_reading(text: str, start: int, end: int) -> bool:
    """A value without any key of an answer is none. A key may be written with escapes."""
    return "\\" in text[start:end] or _ANY_KEY.search(text, start, end) is not None


def _is_stub(text: str, start: int) -> bool:
    """Whether the text ends within the first key of what could have become an answer."""
    stub = _STUB.fullmatch(text, start)
    return stub is not None and any(key.startswith((stub["word"] or "").lower()) for key in KNOWN_KEYS)
