"""Secrets told by their own shape: tokens of well-known services, credentials in addresses, internal hosts.

An address without a name in front and a bare number like 10.1.2.3 say nothing of a private network that a version
number would not say: an internal host counts in an address, with a port, or where the text talks of connecting.
"""

from __future__ import annotations

from collections.abc import Iterator

from agent_fox.core.regex import regex

# `re` skips to the one letter that a pattern begins with, so that a pattern costs one quick pass over the text. To ask
# whether a text holds that letter at all costs next to nothing, and many texts do not. The letters before it that
# belong to the name of a service may stay.
_TOKENS = (
    (  # JSON web token
        b"J",
        regex(rb"J(?<=eyJ)(?<![A-Za-z0-9_-]eyJ)[\w-]{10,8192}+\.[\w-]{10,8192}+\.[\w-]{10,8192}+"),
    ),
    (  # AWS, Google
        b"A",
        regex(rb"A(?:(?:KI|SI)A[A-Z0-9]{16}(?![A-Za-z0-9])|Iza[A-Za-z0-9_-]{35}(?![A-Za-z0-9]))"),
    ),
    (b"x", regex(rb"x(?:ox[abeprs]-[A-Za-z0-9-]{10,255}+)")),  # Slack
    (b"_", regex(rb"g(?:h[pousr]_[A-Za-z0-9]{20,255}+)")),  # GitHub
)
_MARKED = regex(
    # model services, Stripe
    rb"k(?:-(?<=sk-)(?<![A-Za-z0-9_]sk-)(?=[a-z-]{0,12}[A-Z0-9])(?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9_-]{20,255}+"
    rb"|_(?<=[sr]k_)(?:live|test)_[A-Za-z0-9]{16,255}+)"
    # GitHub, GitLab, the package indexes of Node and Python
    rb"|p(?:at[_-](?:(?<=github_pat_)|(?<=glpat-))[A-Za-z0-9_-]{16,255}+|m_(?<=npm_)[A-Za-z0-9]{30,255}+"
    rb"|ypi-AgE[A-Za-z0-9_-]{30,255}+)"
)
_AT = regex(rb"@(?<=[^\s/@\"'`<>\\]@)")
_USER = regex(rb"://(?:[^\s/@:\"'`<>\\]{0,256}:[^\s/@\"'`<>\\]{1,512}@|[A-Za-z0-9_-]{20,512}@)")
_LONGEST_USER = len(b"://") + 256 + len(b":") + 512
_PRIVATE = rb"1(?:0|92\.168|72\.(?:1[6-9]|2\d|3[01]))\.[0-9.]{3,11}(?![\w.-])"
_PRIVATE_HOST = regex(_PRIVATE)
_PRIVATE_URL = regex(rb"://" + _PRIVATE)
_HOST = regex(rb"\.(?:in(?:ternal|tranet)|corp|l(?:ocal|an))(?![a-z0-9_.(-]|\.[a-z])")
_HOST_LETTERS = b"abcdefghijklmnopqrstuvwxyz0123456789.-"
_LONGEST_HOST = 253
_NEARBY = 80
_PORT = regex(rb":\d{2,5}(?!\d|:)")
_CONNECTING = regex(
    rb"(?://|@|host|lookup|resolv|connect|dial|getaddrinfo|enotfound|proxy|server|dns|ping|ssh|registry|mirror)[^\n]*\Z"
)
Span = tuple[int, int]


def shaped_secrets(text: bytes, lowered: bytes) -> Iterator[Span]:
    """Where tokens, credentials in addresses and internal hosts are. `lowered` is the text in lower case.

    Some tokens are not among them: see `marked_token`.
    """
    for letter, pattern in _TOKENS:
        if letter in text:
            yield from (match.span() for match in pattern.finditer(text))
    if b"@" in text:
        for at in _AT.finditer(text):
            yield from _around_at(text, at.start())
    for match in _PRIVATE_URL.finditer(text):
        yield match.start() + len(b"://"), match.end()
    for match in _HOST.finditer(lowered):
        span = _internal_host(lowered, match.start(), match.end())
        if span is not None:
            yield span


def tokens(text: bytes) -> Iterator[Span]:
    """Where tokens of well-known services are, and nothing else that may be secret; not in the order of the text."""
    for letter, pattern in _TOKENS:
        if letter in text:
            yield from (match.span() for match in pattern.finditer(text))
    yield from (match.span() for match in _MARKED.finditer(text))


def marked_token(text: bytes, start: int) -> Span | None:
    """The token that begins at a letter which names of secrets have too: one search finds both, in `redact_words`."""
    match = _MARKED.match(text, start)
    return match.span() if match else None


def _around_at(text: bytes, at: int) -> Iterator[Span]:
    """The credentials in an address that end here, and the private host behind them."""
    start = text.rfind(b"://", max(0, at - _LONGEST_USER), at)
    if start < 0 or not _USER.fullmatch(text, start, at + 1):
        return
    yield start + len(b"://"), at
    if private := _PRIVATE_HOST.match(text, at + 1):
        yield private.span()


def _internal_host(lowered: bytes, dot: int, end: int) -> Span | None:
    before = lowered[max(0, dot - _LONGEST_HOST) : dot]
    start = dot - (len(before) - len(before.rstrip(_HOST_LETTERS)))
    if start == dot:
        return None
    line = max(lowered.rfind(b"\n", 0, start) + 1, start - _NEARBY)
    is_address = _PORT.match(lowered, end) is not None or _CONNECTING.search(lowered[line:start]) is not None
    return (start, end) if is_address else None
