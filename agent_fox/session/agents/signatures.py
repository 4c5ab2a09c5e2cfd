"""What a failed request to a model means, by its HTTP status and by the names that errors have; prose does not count.

One table for all providers: a program may talk to any of them, and each of them tells its errors in its own words.
"""

from __future__ import annotations

from collections.abc import Mapping

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
    told = {str(status), *names}
    return next((f" ({hint})" for hint, signs in _HINTS.items() if signs & told), "")
