"""One rule for all providers: a telling name, then the status."""

from __future__ import annotations

import pytest

from agent_fox.session.agents.signatures import hint_of, kind_of
from agent_fox.session.infrastructure import Infrastructure

AUTHENTICATION, RATE_LIMIT = Infrastructure.AUTHENTICATION, Infrastructure.RATE_LIMIT
NETWORK, OVERLOAD = Infrastructure.NETWORK, Infrastructure.OVERLOAD


@pytest.mark.parametrize(
    ("status", "name", "kind"),
    [
        (401, "", Infrastructure.AUTHENTICATION),
        (403, "permission_error", Infrastructure.AUTHENTICATION),
        (404, "not_found_error", Infrastructure.UNKNOWN_MODEL),
        (None, "ProviderAuthError", Infrastructure.AUTHENTICATION),
        (429, "rate_limit_error", Infrastructure.RATE_LIMIT),
        (500, "", Infrastructure.OVERLOAD),
        (529, "overloaded_error", Infrastructure.OVERLOAD),
        (400, "invalid_request_error", None),
        (None, "UnknownError", None),
    ],
)
def test_kinds_of_trouble(status: int | None, name: str, kind: Infrastructure | None) -> None:
    assert kind_of(status, name) is kind


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((status, AUTHENTICATION) for status in (401, 403)),
        (402, Infrastructure.NO_CREDIT),
        (404, Infrastructure.UNKNOWN_MODEL),
        *((status, NETWORK) for status in (408, 504)),
        (429, RATE_LIMIT),
        *((status, OVERLOAD) for status in (500, 502, 503, 529)),
        *((status, None) for status in (200, 400, 409, 413, 422, None)),
    ],
)
def test_a_status_alone_says_what_was_broken(status: int | None, kind: Infrastructure | None) -> None:
    assert kind_of(status) is kind
    assert kind_of(status, "a name that nobody knows", "") is kind


@pytest.mark.parametrize(
    ("status", "names", "kind"),
    [
        (400, ("API_KEY_INVALID", "INVALID_ARGUMENT"), AUTHENTICATION),
        (500, ("timeout_error",), NETWORK),
        (500, ("UND_ERR_SOCKET",), NETWORK),
        (403, ("insufficient_quota", "permission_error"), Infrastructure.NO_CREDIT),
        (None, ("unheard of", "slow_down"), OVERLOAD),
        (200, ("RESOURCE_EXHAUSTED",), RATE_LIMIT),
    ],
)
def test_the_first_name_that_is_known_wins_over_the_status(
    status: int | None, names: tuple[str, ...], kind: Infrastructure
) -> None:
    assert kind_of(status, *names) is kind


@pytest.mark.parametrize("sign", [(404,), (None, "404"), (None, "model_not_found"), (400, "", "not_found_error")])
def test_a_model_that_does_not_exist_is_not_said_to_be_a_matter_of_the_login(sign: tuple[int | None, str]) -> None:
    hint = hint_of(*sign)
    assert "the model or its address does not exist" in hint
    assert not any(word in hint for word in ("log in", "login", "key"))


def test_waiting_does_not_fill_an_account() -> None:
    assert "waiting does not help" in hint_of(429, "insufficient_quota")


@pytest.mark.parametrize("sign", [(None,), (401, "authentication_error"), (429, "rate_limit_error"), (503,)])
def test_what_needs_no_hint_has_none(sign: tuple[int | None, str]) -> None:
    assert hint_of(*sign) == ""
