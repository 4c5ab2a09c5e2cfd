"""What a failed request to a model means, by its HTTP status and by the names that errors have; prose does not count.

One table for all providers: a program may talk to any of them, and each of them tells its errors in its own words.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from agent_fox.core.regex import regex
from agent_fox.session.infrastructure import Infrastructure

_BY_NAME: Mapping[str, Infrastructure] = {
    **dict.fromkeys(
        (
            *("authentication_error", "authentication_failed", "permission_error", "invalid_api_key"),
            *("oauth_org_not_allowed", "account_on_hold", "verification_required", "cloud_credential_error"),
            *("API_KEY_INVALID", "UNAUTHENTICATED", "PERMISSION_DENIED", "ProviderAuthError"),
        ),
        Infrastructure.AUTHENTICATION,
    ),
    **dict.fromkeys(("billing_error", "insufficient_quota"), Infrastructure.NO_CREDIT),
    **dict.fromkeys(("model_not_found", "not_found_error", "NOT_FOUND"), Infrastructure.UNKNOWN_MODEL),
    **dict.fromkeys(
        (
            *("rate_limit", "rate_limit_error", "rate_limit_exceeded", "usage_limit_reached"),
            "RESOURCE_EXHAUSTED",
        ),
        Infrastructure.RATE_LIMIT,
    ),
    **dict.fromkeys(
        (
            *("overloaded", "overloaded_error", "server_is_overloaded", "slow_down", "api_error", "server_error"),
            *("UNAVAILABLE", "INTERNAL"),
        ),
        Infrastructure.OVERLOAD,
    ),
    **dict.fromkeys(
        (
            *("timeout_error", "ECONNREFUSED", "ECONNRESET", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN", "EPIPE"),
            *("UND_ERR_SOCKET", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT", "UND_ERR_CONNECT_TIMEOUT"),
        ),
        Infrastructure.NETWORK,
    ),
}
_BY_STATUS: Mapping[int, Infrastructure] = {
    **dict.fromkeys((401, 403), Infrastructure.AUTHENTICATION),
    402: Infrastructure.NO_CREDIT,
    404: Infrastructure.UNKNOWN_MODEL,
    429: Infrastructure.RATE_LIMIT,
    **dict.fromkeys((408, 504), Infrastructure.NETWORK),
}
"""408 and 504 say that somebody on the way has waited in vain; the metering proxy says 504 for a silent model too."""

_TOO_LONG_NAMES = frozenset(
    {"context_length_exceeded", "context_window_exceeded", "ContextWindowExceededError", "request_too_large"}
)
_TOO_LONG_STATUS = frozenset({None, 400, 413, 422})
_TOO_LONG = (
    r"prompt is too long|input is too long for|conversation (?:is )?too long"
    r"|input length and `?max_tokens`? exceed context limit"
    r"|(?:your )?input exceeds the context window|(?:this model's )?maximum context length is \d"
    r"|(?:the )?input token count\b.{0,40}\bexceeds the maximum number of tokens"
    r"|(?:codex )?ran out of room in the model's context window|context_length_exceeded"
)
"""How Anthropic, OpenAI, Google and the programs say that a request does not fit into the model's context."""

_IN_WORDS = regex(_TOO_LONG, re.IGNORECASE)
_AT_START = regex(
    rf"^\s*(?:[\w.]*(?:API )?Error: ?)*(?:Error code: )?(?:400\b[ \w]{{0,20}}[:-]? ?)?(?:{_TOO_LONG}"
    r"|\{[^\n]{0,400}\"(?:type|code)\"\s*:\s*\"context_length_exceeded\")",
    re.IGNORECASE,
)
"""The same at the start of a line that a program says as it ends; a word of an agent's prose does not count."""

_HINTS: Mapping[str, frozenset[str]] = {
    "the model or its address does not exist, or is not open to this account: correct its name": frozenset(
        {"404", "model_not_found", "not_found_error", "NOT_FOUND"}
    ),
    "the account's quota is spent: waiting does not help": frozenset({"insufficient_quota", "billing_error"}),
}


def kind_of(status: int | None, *names: str) -> Infrastructure | None:
    """What was broken; None where the request itself was refused, or nothing is known of why it failed.

    The first name that is known decides, the most telling one stands first. Then the status decides, 500 and above
    being an overload. `hint_of` says what a person can do where no repeat helps.
    """
    named = next((_BY_NAME[name] for name in names if name in _BY_NAME), None)
    if named is not None or status is None:
        return named
    return _BY_STATUS.get(status, Infrastructure.OVERLOAD if status >= 500 else None)


def hint_of(status: int | None, *names: str) -> str:
    """What a person should know beyond the kind, in brackets behind the error's words; empty where there is nothing."""
    given = {str(status), *names}
    return next((f" ({hint})" for hint, signs in _HINTS.items() if signs & given), "")


def is_too_long(status: int | None, message: str, *names: str) -> bool:
    """Whether a request was refused because it does not fit into the model's context. The same one never will."""
    return bool(_TOO_LONG_NAMES & set(names)) or (status in _TOO_LONG_STATUS and bool(_IN_WORDS.search(message)))


def says_too_long(*streams: str) -> bool:
    """The same, by a line of a failed program's own last words."""
    return any(_AT_START.search(line[:2000]) for stream in streams for line in stream.splitlines())
