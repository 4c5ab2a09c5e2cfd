"""Signatures of a broken world in the last words of a failed session. Whether to wait or to stop is not
decided here.

A signature counts only where the agent's own error stands: at the start of a line, or as an error's `type` in
JSON. A test named `test_rate_limit` that fails, or prose about a 429, is the work's business.
"""

from __future__ import annotations

import re
from enum import StrEnum


class Infrastructure(StrEnum):
    """What in the world outside was broken."""

    RATE_LIMIT = "rate limit"
    OVERLOAD = "overload"
    AUTHENTICATION = "authentication"
    NETWORK = "network"
    MISSING_BINARY = "missing binary"
    DISK_FULL = "disk full"
    WORKSPACE = "workspace"
    LOST = "lost"


LAST_LINES = 20
"""How many of the last non-empty lines of each stream are looked at."""

COMMAND_NOT_FOUND = frozenset({126, 127})
"""What shells and `env` exit with where a command cannot be found or run."""

_ERROR = r"^\s*(?:\w+: )?(?:API |request |fatal |unexpected )?error\s*(?:[:(]\s*){1,2}"
_NOT_LOCAL = r"(?![^\n]*(?:127\.0\.0\.1|localhost|\[?::1))"  # a server of the work's own tests
_JSON_TYPE = r"\"(?:type|code)\"\s*:\s*\"{}\""


def _status(codes: str) -> str:
    """An HTTP status as a command line tells it: `API Error: 429 {...}`, `Error: unexpected status 401
    Unauthorized`.
    """
    before = r"(?:HTTP |unexpected status |status code )?"
    return rf"{_ERROR}{before}(?:{codes})(?-i:(?=\s*(?:$|[{{\"):,]|[A-Z]|overloaded)))"


_SIGNATURES: tuple[tuple[Infrastructure, re.Pattern[str]], ...] = tuple(
    (kind, re.compile("|".join(patterns), re.IGNORECASE))
    for kind, patterns in (
        (
            Infrastructure.AUTHENTICATION,
            (
                _JSON_TYPE.format("(?:authentication_error|permission_error|invalid_api_key)"),
                _status("401|403"),
                r"^\s*(?:authentication_error|invalid_api_key|Invalid API key|OAuth token has expired)\b",
                r"^\s*(?:Not logged in|Please run /login|Credit balance is too low)",
                _ERROR + r"(?:invalid (?:x-)?api[ -]?key|authentication failed|not logged in)\b",
            ),
        ),
        (
            Infrastructure.RATE_LIMIT,
            (
                _JSON_TYPE.format("(?:rate_limit_error|rate_limit_exceeded|insufficient_quota)"),
                _status("429"),
                r"^\s*(?:rate_limit_error|rate_limit_exceeded|RESOURCE_EXHAUSTED)\b",
                r"^\s*(?:Claude (?:AI )?usage limit reached|You've hit your (?:usage|session|weekly) limit)",
                _ERROR + r"(?:rate limit (?:exceeded|reached)|too many requests)",
            ),
        ),
        (
            Infrastructure.OVERLOAD,
            (
                _JSON_TYPE.format("(?:overloaded_error|api_error|server_error)"),
                _status("500|502|503|504|529"),
                r"^\s*overloaded_error\b",
                _ERROR + r"overloaded\b",
            ),
        ),
        (
            Infrastructure.NETWORK,
            (
                _JSON_TYPE.format("(?:ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN)"),
                r"^\s*(?:Error: )?(?:connect |getaddrinfo |read |write )?"
                r"(?:ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH)\b" + _NOT_LOCAL,
                _ERROR + r"(?:connection (?:error|refused|reset)|fetch failed|network error|could not resolve host)",
                r"^\s*stream error: (?:stream disconnected|error sending request)",
                r"^\s*stream disconnected before completion\b",
            ),
        ),
        (
            Infrastructure.DISK_FULL,
            (
                _JSON_TYPE.format("ENOSPC"),
                r"^\s*(?:Error: )?(?:ENOSPC\b|No space left on device|Disk quota exceeded)",
                r"^[\w./-]{1,80}: (?:(?:write|cannot \w+)[^\n]{0,200}: )?"
                r"(?:No space left on device|Disk quota exceeded)\s*$",
            ),
        ),
    )
)


def recognise(exit_status: int | None, *streams: str) -> Infrastructure | None:
    """What was broken, or None where nothing known shows. For failed sessions only: success is never
    doubted.
    """
    if exit_status in COMMAND_NOT_FOUND:
        return Infrastructure.MISSING_BINARY
    lines = [line for stream in streams for line in _last_lines(stream)]
    return next((kind for kind, signature in _SIGNATURES if any(signature.search(line) for line in lines)), None)


def _last_lines(stream: str) -> list[str]:
    return [line[:2000] for line in stream.splitlines() if line.strip()][-LAST_LINES:]
