"""What GitHub would do about a text on its own: notify those mentioned, link what is referred to, close what it says.

The text is read as Markdown, and what is code is left out, as GitHub does. Where it is not known what GitHub makes of
something, it counts: a test that demands no notices must not rest on a guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass


class What(StrEnum):
    MENTION = "mention"
    REFERENCE = "reference"
    COMMIT = "commit"
    CLOSING = "closing"


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing that a text would set off; `issue` is the number where it was written."""

    issue: int
    what: What
    text: str


_REFERENCE = r"(?:(?<![\w/#&])(?:[\w.-]+(?:/[\w.-]+)?)?#\d+\b|(?<!\w)GH-\d+\b|https?://[^\s/]+/[\w.-]+/[\w.-]+/(?:issues|pull|discussions)/\d+)"
_PATTERNS = {
    What.MENTION: regex(r"(?<!\w)@[a-z0-9][a-z0-9-]*(?:/[\w.-]+)?", re.I),
    What.REFERENCE: regex(_REFERENCE, re.I),
    What.COMMIT: regex(r"(?<![0-9a-z])[0-9a-f]{40}(?![0-9a-z])", re.I),
    What.CLOSING: regex(rf"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?):?\s+{_REFERENCE}", re.I),
}
_COMMENT = regex(r"<!--.*?(?:-->|\Z)", re.S)
_CODE = regex(r"<(pre|code|tt)\b.*?(?:</\1\s*>|\Z)", re.S | re.I)
_TAG = regex(r"<[^>]*>")
_OPENS, _CLOSES = regex(r"<(?:pre|code|tt)\b[^>]*>", re.I), regex(r"</(?:pre|code|tt)\s*>", re.I)


@lru_cache(maxsize=1)
def _markdown() -> MarkdownIt:
    return MarkdownIt("commonmark").enable(["table", "strikethrough"])


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a text that is read: words, or the address that a link leads to."""

    text: str
    is_address: bool = False


def notices(issue: int, text: str) -> tuple[Notice, ...]:
    """Everything that a text would set off, in its order. Where a link leads to can be a reference, and no more."""
    return tuple(
        Notice(issue, what, hit[0])
        for piece in _pieces(_markdown().parse(text))
        for what, pattern in _PATTERNS.items()
        if what is What.REFERENCE or not piece.is_address
        for hit in pattern.finditer(piece.text)
    )


def _pieces(tokens: list[Token]) -> Iterator[_Piece]:
    """The words of a text: no code, no comments of HTML."""
    for token in tokens:
        if token.type == "inline":
            yield from _inline(token.children or [])
        elif token.type == "html_block":
            yield _Piece(_TAG.sub(" ", _CODE.sub(" ", _COMMENT.sub(" ", token.content))))


def _inline(tokens: list[Token]) -> Iterator[_Piece]:
    """Words of one paragraph: what follows each other without code between is one piece."""
    words, is_code = "", False
    for token in tokens:
        if token.type == "html_inline":
            is_code = (is_code or bool(_OPENS.match(token.content))) and not _CLOSES.match(token.content)
        elif token.type in ("link_open", "image"):
            yield _Piece(str(token.attrGet("href") or token.attrGet("src") or ""), is_address=True)
        if token.type in ("text", "softbreak", "hardbreak") and not is_code:
            words += token.content or "\n"
        elif token.type in ("code_inline", "html_inline"):
            words += " \0 "
    yield _Piece(words)
