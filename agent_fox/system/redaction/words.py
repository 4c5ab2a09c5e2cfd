"""Secrets told by the name that stands before them: `password=...`, `"api_key": "..."`, `--token ...`, headers.

Names are found in lower-cased text; what follows them is judged here. Code and prose that only talk about secrets
stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from agent_fox.core.regex import regex
from agent_fox.system.redaction.shapes import Span, marked_token

MASKED = b"[redacted]"

# Each pattern begins with one letter, a rare one where it can: `re` skips to it quickly. What else begins with that
# letter is found on the way. What counts as a name stands in a group, and has a chance of a value behind it.
_CHANCE = rb"(?=[a-z0-9_-]{0,40}+[ \t=:\"'`\\&%])"
_MARKS = (
    regex(
        rb"k(?:(?P<name>e(?:n(?<=token)|y(?:(?<=api.key)|(?<=apikey)|(?<=ccess.key)|(?<=ccesskey)|(?<=ivate.key)"
        rb"|(?<=ivatekey)|(?<=ccountkey)|(?<=ccount.key)|(?<=cret.key)|(?<=cretkey)|(?<=gning.key)|(?<=ption.key)"
        rb"|(?<=aster.key))))" + _CHANCE + rb"|-(?<=sk-)|_(?<=[sr]k_)(?:live|test)_)"
    ),
    regex(rb"c(?P<name>re(?:d(?=ential)|t(?<=secret)))" + _CHANCE),
    regex(rb"p(?:a(?:(?P<name>ss(?:=|(?:w|phrase)" + _CHANCE + rb"))|t[_-](?<=b_pat_|glpat-))|m_(?<=npm_)|ypi-age)"),
    regex(rb"u(?P<name>th(?<=auth)(?=[\"'&\\]?[a-z]{0,5};?[ \t]{0,4}[=:]|oriz|[-_]))" + _CHANCE),
)

_QUOTE = rb"(?:\\{0,2}[\"'`]|&quot;|&#34;|&#39;|&apos;|%22)"
_SEPARATOR = rb"(?P<separator>[ \t]{0,4}(?:=>|:=|={1,2}|:(?!:))[ \t]{0,4})"
_LETTERS = rb"(?:[^\s\"'`,;()\[\]{}<>&\\|]{1,128}|\\[^\s\"'`nrt<>&]|&(?:amp|lt|gt|#\d{1,6});)"

_FOLLOWING = regex(
    rb"(?P<tail>[A-Za-z0-9_-]{0,40}+)" + _QUOTE + rb"?" + _SEPARATOR + rb"(?P<quote>" + _QUOTE + rb")?"
    rb"(?P<scheme>(?i:bearer|basic|token|digest)[ \t]{1,4})?"
    rb"(?P<value>" + _LETTERS + rb"{1,4}+)(?P<after>[(\[{]?)"
)  # fmt: skip
_FURTHER = regex(_LETTERS + rb"*+")
_FLAG = regex(
    rb"(?P<tail>[A-Za-z0-9_-]{0,40}+)[ \t]{1,4}"
    rb"(?:(?P<quote>[\"'])(?P<inner>[^\"'<>&\\\n]{6,512})(?P=quote)|(?P<value>[^\s\"'<>&\\-][^\s\"'<>&\\]{5,512}))"
)

_FLAG_BEFORE = regex(rb"--[a-z0-9-]{0,40}\Z")

_HARMLESS_TAIL = regex(
    rb"(?:file|path|url|uri|type|name|length|count|limit|usage|expiry|expires|expiration|ttl|provider|class|field|header"
    rb"|policy|size|index|version|endpoint|manager|service|store|repository|format|algorithm|kind|prefix|suffix|format"
    rb"|strategy|validator|factory|config|timeout|level|mode|rule|rules|module|plugin|dir|folder)s?\Z"
)
_WORDS = frozenset(
    b"none null true false str string optional required boolean number integer object undefined password username "
    b"secret token example changeit redacted hidden missing invalid expired default disabled enabled".split()
)
_IDENTIFIER = regex(rb"[A-Za-z_$][A-Za-z_$]*(?:\.[A-Za-z_$]+)*[.!?:]?\Z")
_DOTTED = regex(rb"[A-Za-z_]+(?:\.[A-Za-z_]+)+\Z")
_VERSION = regex(rb"[\^~<>=v]{0,3}\d+(?:\.[\dx*]+)+[\w.+-]{0,40}\Z")
_PLACE = regex(
    rb"(?:[~.]{0,2}/|[A-Za-z]:\\)[\w.@-]+(?:[/\\][\w.@-]+)+/?\Z|\S+\.(?:py|js|ts|java|go|rs|c|h|txt|json|ya?ml|pem):?\d*\Z"
)
_PLACEHOLDER = regex(rb"[$%*#@]|(.)\1+\Z|\[redacted|(?:your|my|the|some)[-_]", re.IGNORECASE)
_NAMED_IN_CODE = regex(rb"[a-z_]*(?:token|passw|secret|key|cred|auth)[a-z_]*\Z", re.IGNORECASE)
_LONGEST_WORD = 16
"""Letters alone, up to here, are a word of some language rather than a token."""

_LONGEST_CODE = 128
_SHORTEST = 6


def named_secrets(text: bytes, lowered: bytes) -> Iterator[Span]:
    """Where the values are that stand behind names of secrets, and tokens that begin like a name.

    `lowered` is the text in lower case.
    """
    for marks in _MARKS:
        value_end = 0
        for mark in marks.finditer(lowered):
            span = _marked(text, lowered, mark) if mark.start() >= value_end else None
            if span is not None:
                yield span
                value_end = span[1] if mark["name"] else value_end  # a token may end in a name, before its value


def _marked(text: bytes, lowered: bytes, mark: re.Match[bytes]) -> Span | None:
    if mark["name"] is None:
        return marked_token(text, mark.start())
    return _value_after(text, lowered, mark.start(), mark.end() - (mark["name"] == b"ss="))


def _value_after(text: bytes, lowered: bytes, start: int, end: int) -> Span | None:
    match = _FOLLOWING.match(text, end)
    if match is None:
        return _flag_value(text, lowered, start, end)
    if len(match["value"]) < _SHORTEST or match["after"] == b"(" or _HARMLESS_TAIL.search(match["tail"].lower()):
        return None
    is_header = lowered.startswith(b"oriz", end)
    if not (is_header and match["scheme"]) and _is_harmless(match, lowered[start:end]):
        return None
    further = _FURTHER.match(text, match.end("value"))
    return match.start("value"), further.end() if further else match.end("value")


def _flag_value(text: bytes, lowered: bytes, start: int, end: int) -> Span | None:
    """`--token VALUE` on a command line."""
    match = _FLAG.match(text, end)
    if match is None or _FLAG_BEFORE.search(lowered, max(0, start - 40), end) is None:
        return None
    if match["inner"]:
        return match.span("inner")
    is_harmless = _HARMLESS_TAIL.search(match["tail"].lower()) or _PLACEHOLDER.match(match["value"])
    return None if is_harmless or _IDENTIFIER.match(match["value"]) else match.span("value")


def _is_harmless(found: re.Match[bytes], word: bytes) -> bool:
    value, quote = found["value"], found["quote"]
    if value.lower().rstrip(b".!?:") in _WORDS or _PLACEHOLDER.match(value) or _VERSION.match(value):
        return True
    is_password = word.startswith((b"pass", b"cre"))
    if not is_password and (value.isdigit() or (value.isalpha() and len(value) < _LONGEST_WORD)):
        return True
    return not quote and len(value) <= _LONGEST_CODE and _is_code(value, found["separator"])


def _is_code(value: bytes, separator: bytes) -> bool:
    """`token: Token`, `secret = compute`, `auth=self.auth`, `token_path = /run/token`, `Token.java:12`."""
    if separator.strip() != separator and _IDENTIFIER.match(value):
        return True
    return any(pattern.match(value) for pattern in (_DOTTED, _PLACE, _NAMED_IN_CODE))
