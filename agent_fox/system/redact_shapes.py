"""Secrets told by their own shape: tokens of well-known services, credentials in addresses, internal hosts.

An address without a name in front and a bare number like 10.1.2.3 say nothing of a private network that a version
number would not say: an internal host counts in an address, with a port, or where the text talks of connecting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_END = rb"(?![A-Za-z0-9])"

# `re` skips to the letters that a pattern begins with as fast as memchr, so each pattern costs one pass over the text,
# and services share one where they can. The letters before them that belong to the name of a service may stay.
_TOKENS = (
    re.compile(rb"gh[pousr]_[A-Za-z0-9]{20,255}+"),  # GitHub
    re.compile(rb"pat[_-](?:(?<=github_pat_)|(?<=glpat-))[A-Za-z0-9_-]{16,255}+"),  # GitHub, GitLab
    re.compile(  # model services, Stripe
        rb"k(?:-(?<=sk-)(?<![A-Za-z0-9_]sk-)(?=[a-z-]{0,12}[A-Z0-9])(?=[A-Za-z_-]{0,60}\d)[A-Za-z0-9_-]{20,255}+"
        rb"|_(?<=[sr]k_)(?:live|test)_[A-Za-z0-9]{16,255}+)"
    ),
    re.compile(rb"xox[abeprs]-[A-Za-z0-9-]{10,255}+"),  # Slack
    re.compile(  # AWS, Google, Python's package index
        rb"A(?:(?:KI|SI)A[A-Z0-9]{16}(?![A-Za-z0-9])|Iza[A-Za-z0-9_-]{35}(?![A-Za-z0-9])"
        rb"|gE(?<=pypi-AgE)[A-Za-z0-9_-]{30,255}+)"
    ),
    re.compile(rb"pm_(?<=npm_)[A-Za-z0-9]{30,255}+"),
    re.compile(rb"J(?<=eyJ)(?<![A-Za-z0-9_-]eyJ)[\w-]{10,8192}+\.[\w-]{10,8192}+\.[\w-]{10,8192}+"),  # JSON web token
)
_URL = re.compile(
    rb"://(?P<user>[^\s/@:\"'`<>\\]{0,256}:[^\s/@\"'`<>\\]{1,512}@|[A-Za-z0-9_-]{20,512}@)?"
    rb"(?P<private>(?:10|127(?!\.)|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.[0-9.]{3,11}(?![\w.-]))?"
)
_HOST = re.compile(rb"\.(?:internal|corp|local|intranet|lan)(?![a-z0-9_.(-]|\.[a-z])")
_HOST_LETTERS = b"abcdefghijklmnopqrstuvwxyz0123456789.-"
_LONGEST_HOST = 253
_NEARBY = 80
_PORT = re.compile(rb":\d{2,5}(?!\d|:)")
_CONNECTING = re.compile(
    rb"(?://|@|host|lookup|resolv|connect|dial|getaddrinfo|enotfound|proxy|server|dns|ping|ssh|registry|mirror)[^\n]*\Z"
)
Span = tuple[int, int]


def shaped_secrets(text: bytes, lowered: bytes) -> Iterator[Span]:
    """Where tokens, credentials in addresses and internal hosts are. `lowered` is the text in lower case."""
    for pattern in _TOKENS:
        for found in pattern.finditer(text):
            yield found.span()
    for found in _URL.finditer(text):
        if found["user"]:
            yield found.start("user"), found.end("user") - 1
        if found["private"]:
            yield found.span("private")
    for found in _HOST.finditer(lowered):
        span = _internal_host(lowered, found.start(), found.end())
        if span is not None:
            yield span


def _internal_host(lowered: bytes, dot: int, end: int) -> Span | None:
    before = lowered[max(0, dot - _LONGEST_HOST) : dot]
    start = dot - (len(before) - len(before.rstrip(_HOST_LETTERS)))
    if start == dot:
        return None
    line = max(lowered.rfind(b"\n", 0, start) + 1, start - _NEARBY)
    is_address = _PORT.match(lowered, end) is not None or _CONNECTING.search(lowered[line:start]) is not None
    return (start, end) if is_address else None
