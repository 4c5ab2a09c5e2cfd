"""Signatures of a broken world in the last words of a failed session. Whether to wait or to stop is not
decided here.

A signature counts only where the agent's own error stands: at the start of a line, or as an error's `type` in
JSON. A test named `test_rate_limit` that fails, or prose about a 429, is the work's business.
"""

from __future__ import annotations

import re
from enum import StrEnum

from agent_fox.core.regex import regex


class Infrastructure(StrEnum):
    """What in the world outside was broken."""

    RATE_LIMIT = "rate limit"
    OVERLOAD = "overload"
    AUTHENTICATION = "authentication"
    NO_CREDIT = "no credit"
    UNKNOWN_MODEL = "unknown model"
    NETWORK = "network"
    MISSING_BINARY = "missing binary"
    BROKEN_PROGRAM = "broken program"
    DISK_FULL = "disk full"
    WORKSPACE = "workspace"
    LOST = "lost"


HOPELESS = frozenset({Infrastructure.AUTHENTICATION, Infrastructure.NO_CREDIT, Infrastructure.UNKNOWN_MODEL})
"""What no waiting mends: only a person can act."""

LAST_LINES = 20
"""How many of the last non-empty lines of each stream are looked at."""

COMMAND_NOT_FOUND = frozenset({126, 127})
"""What shells and `env` exit with where a command cannot be found or run."""

_LOCAL = r"(?:\b127\.\d|\b0\.0\.0\.0\b|\blocalhost\b|(?<![\w:])\[?::1\b)"  # a server of the work's own tests
_ERROR = r"^\s*\[?(?:\w+: )?(?:API |request |fatal |unexpected )?error\s*(?:[:(]\s*){1,2}"
_NOT_LOCAL = rf"(?![^\n]*{_LOCAL})"
_OUTSET = rf"^{_NOT_LOCAL}(?:Error: |fatal: )?"
"""Where a bare phrase may stand: not indented (titles of tests and source code are), not in a list."""

_ENDS = r"(?=\s*(?:$|[:;!{|]|\.(?!\.)|- [{<\"']|, (?:please|try|retry|wait)\b|(?:please|try again|retry|after \d)))"
"""What may follow a bare phrase: an end, a detail, advice; prose goes on in other words."""

_JSON_TYPE = r"\"(?:type|code)\"\s*:\s*\"{}\""

_LOWER = "overloaded|unauthorized|rate limit|too many requests|service unavailable"


def _status(codes: str) -> str:
    """An HTTP status as a command line tells it: `API Error: 429 {...}`, `Error: unexpected status 401
    Unauthorized`.
    """
    before = r"(?:HTTP |unexpected status |status code )?"
    return rf"{_ERROR}{before}(?:{codes})(?-i:(?=\s*(?:$|[{{\"):,]|[A-Z]|404 page|{_LOWER})))"


def _bare(code: str, phrase: str) -> str:
    """An HTTP status line that stands alone: `429 Too Many Requests`, `HTTP/1.1 429 Too Many Requests`, `HTTP 429`."""
    return rf"{_OUTSET}(?:HTTP(?:/\d(?:\.\d)?)? (?:{code})(?: {phrase})?|(?:{code}) {phrase}){_ENDS}"


def _client(codes: str) -> str:
    """An exception of a model client: `openai.RateLimitError: Error code: 429 - {...}`."""
    return rf"^{_NOT_LOCAL}(?:\w+\.){{0,4}}\w+Error: Error code: (?:{codes})\b"


_MODELS_CLIENT = r"^\s*(?:\[?API Error|(?:openai|anthropic|litellm)\.(?:\w+\.)?\w+Error): "
"""How the line begins on which a model's client tells what the model's side said: the work has words of its own."""

_UNREACHED = r"(?:Could not resolve|Couldn't connect|Failed to connect|Connection |Operation timed out|Recv failure)"
_HOSTLESS = (
    rf"^{_NOT_LOCAL}(?:(?:ConnectionRefused|ConnectionReset)Error: \[Errno \d+\]"
    r"|(?:httpx|httpcore)\.Connect(?:Error|Timeout)(?:: |$))"
)
"""Python's exceptions that don't say which host: the lines around them do."""

_SIGNATURES: tuple[tuple[Infrastructure, re.Pattern[str]], ...] = tuple(
    (kind, regex("|".join(patterns), re.IGNORECASE))
    for kind, patterns in (
        (
            Infrastructure.AUTHENTICATION,
            (
                _JSON_TYPE.format("(?:authentication_error|permission_error|invalid_api_key)"),
                _status("401|403"),
                _client("401|403"),
                _bare("401", "Unauthorized"),
                _OUTSET + r"Authentication failed(?: for '[^'\n]{1,300}')?" + _ENDS,
                r"^\s*(?:authentication_error|invalid_api_key|Invalid API key|OAuth token has expired)\b",
                r"^\s*(?:Not logged in|Please run /login)",
                _ERROR + r"(?:invalid (?:x-)?api[ -]?key|authentication failed|not logged in)\b",
            ),
        ),
        (
            Infrastructure.NO_CREDIT,
            (
                _JSON_TYPE.format("(?:billing_error|insufficient_quota)"),
                _status("402"),
                _client("402"),
                r"^\s*(?:Your )?[Cc]redit balance is too low",
                _MODELS_CLIENT + r"[^\n]*(?:credit balance is too low|insufficient_quota)",
                r"^\s*openai\.\w+: [^\n]*exceeded your current quota",
                r"^\s*ERROR: Quota exceeded\. Check your plan",
            ),
        ),
        (
            Infrastructure.UNKNOWN_MODEL,
            (
                _JSON_TYPE.format("(?:model_not_found|not_found_error)"),
                _status("404"),
                _client("404"),
                _MODELS_CLIENT + r"[^\n]*(?:\"code\": ?404\b|The model `[^`\n]+` does not exist)",
                r"^\s*(?:There's an issue with the selected model \(|ProviderModelNotFoundError\b)",
            ),
        ),
        (
            Infrastructure.RATE_LIMIT,
            (
                _JSON_TYPE.format("(?:rate_limit_error|rate_limit_exceeded)"),
                _status("429"),
                _client("429"),
                _bare("429", "(?:Too Many Requests|rate limit(?:ed| exceeded| reached)?)"),
                _OUTSET + r"rate limit (?:exceeded|reached)(?: for [\w.-]{1,80})?" + _ENDS,
                _OUTSET + r"rate limit (?:exceeded|reached) for [\w.-]{1,80} in organization\b",
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
                _client("500|502|503|504|529"),
                _bare("502|503|504", "(?:Bad Gateway|Service Unavailable|Gateway Time-?out)"),
                _bare("529", "(?:site is )?overloaded"),
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
                _HOSTLESS,
                rf"^{_NOT_LOCAL}requests\.exceptions\.(?:ConnectionError|ConnectTimeout|ProxyError)(?:: |$)",
                rf"^{_NOT_LOCAL}(?:socket\.gaierror|TimeoutError|OSError): \[Errno (?:-[235]|101|110|113)\]",
                rf"^{_NOT_LOCAL}(?:openai|anthropic)\.API(?:Connection|Timeout)Error(?:: |$)",
                rf"^{_NOT_LOCAL}curl: \((?:[567]\) |28\) (?:Connection|Resolving) timed out)",
                rf"^{_NOT_LOCAL}fatal: unable to access '[^'\n]{{1,300}}': {_UNREACHED}",
                rf"^{_NOT_LOCAL}ssh: (?:Could not resolve hostname|connect to host) ",
                _OUTSET
                + r"(?:Temporary failure in name resolution|Network is unreachable|connection timed out)"
                + _ENDS,
                _OUTSET + r"Could not resolve host: \S",
            ),
        ),
        (
            Infrastructure.DISK_FULL,
            (
                _JSON_TYPE.format("ENOSPC"),
                r"^\s*(?:Error: )?(?:ENOSPC\b|No space left on device|Disk quota exceeded)",
                r"^(?:OS|IO)Error: \[Errno (?:28|122)\] ",
                r"^[\w./-]{1,80}: (?:(?:write|cannot \w+)[^\n]{0,200}: )?"
                r"(?:No space left on device|Disk quota exceeded)\s*$",
            ),
        ),
    )
)
_NAMES_LOCAL = regex(_LOCAL, re.IGNORECASE)
_NAMES_NO_HOST = regex(_HOSTLESS, re.IGNORECASE)


def recognise(exit_status: int | None, *streams: str) -> Infrastructure | None:
    """What was broken, or None where nothing known shows. For failed sessions only: success is never
    doubted.
    """
    if exit_status in COMMAND_NOT_FOUND:
        return Infrastructure.MISSING_BINARY
    lines = [line for stream in streams for line in _last_lines(stream)]
    return next((kind for kind, signature in _SIGNATURES if any(signature.search(line) for line in lines)), None)


def _last_lines(stream: str) -> list[str]:
    """The last non-empty lines; a refused connection among words about a local server is the work's own."""
    lines = [line[:2000] for line in stream.splitlines() if line.strip()][-LAST_LINES:]
    if any(_NAMES_LOCAL.search(line) for line in lines):
        return [line for line in lines if not _NAMES_NO_HOST.search(line)]
    return lines
