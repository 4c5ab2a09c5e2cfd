"""One rule for all providers: a telling name, then the status."""

from __future__ import annotations

from itertools import product

import pytest

from agent_fox.session.agents.events import Trouble
from agent_fox.session.agents.proxy.trouble import read_error, trouble_of
from agent_fox.session.agents.runner.tally import Tally
from agent_fox.session.agents.signatures import hint_of, is_too_long, kind_of, says_too_long
from agent_fox.session.infrastructure import Infrastructure

AUTHENTICATION, RATE_LIMIT = Infrastructure.AUTHENTICATION, Infrastructure.RATE_LIMIT
NETWORK, OVERLOAD = Infrastructure.NETWORK, Infrastructure.OVERLOAD


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
        (403, ("permission_error",), AUTHENTICATION),
        (404, ("not_found_error",), Infrastructure.UNKNOWN_MODEL),
        (None, ("ProviderAuthError",), AUTHENTICATION),
        (429, ("rate_limit_error",), RATE_LIMIT),
        (529, ("overloaded_error",), OVERLOAD),
        (400, ("invalid_request_error",), None),
        (None, ("UnknownError",), None),
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


@pytest.mark.parametrize(
    ("status", "names", "message"),
    [
        (400, ("invalid_request_error",), "prompt is too long: 212345 tokens > 200000 maximum"),
        (
            400,
            ("invalid_request_error",),
            "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000",
        ),
        (413, ("request_too_large",), "Request exceeds the maximum size"),
        (400, ("context_length_exceeded", "invalid_request_error"), "no words"),
        (400, ("invalid_request_error",), "This model's maximum context length is 128000 tokens. However, ..."),
        (None, (), "Your input exceeds the context window of this model. Please adjust your input and try again."),
        (
            400,
            ("INVALID_ARGUMENT",),
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        ),
    ],
)
def test_a_request_that_does_not_fit_is_known_by_each_provider_s_words(
    status: int | None, names: tuple[str, ...], message: str
) -> None:
    assert is_too_long(status, message, *names)
    assert kind_of(status, *names) is None, "it is nothing that waiting mends"


@pytest.mark.parametrize(
    ("status", "names", "message"),
    [
        (400, ("invalid_request_error",), "messages.3.content: field required"),
        (429, ("rate_limit_error",), "prompt is too long for your tier's input tokens per minute"),
        (400, ("INVALID_ARGUMENT",), "The token is not valid"),
        (None, (), ""),
    ],
)
def test_other_refusals_are_not_a_matter_of_length(status: int | None, names: tuple[str, ...], message: str) -> None:
    assert not is_too_long(status, message, *names)


@pytest.mark.parametrize(
    ("line", "is_told"),
    [
        ("Prompt is too long", True),
        ("API Error: 400 prompt is too long: 201 tokens > 200 maximum", True),
        ("Error: Codex ran out of room in the model's context window.", True),
        ("litellm.ContextWindowExceededError: Error code: 400 - {'error': 'x'}", False),
        ('openai.BadRequestError: Error code: 400 - {"error": {"code": "context_length_exceeded"}}', True),
        ("FAILED tests/test_api.py::test_prompt_is_too_long", False),
        ("I saw that the prompt is too long and gave up", False),
        ("    assert 'prompt is too long' in answer", False),
    ],
)
def test_a_program_s_own_words_count_at_the_start_of_a_line(line: str, is_told: bool) -> None:
    assert says_too_long(f"before\n{line}\nafter") is is_told


def test_the_proxy_tells_that_a_request_was_too_long_by_the_provider_s_own_answer() -> None:
    body = (
        b'{"type": "error", "error": {"type": "invalid_request_error", "message": "prompt is too long: 9 tokens > 8"}}'
    )
    told = trouble_of(400, read_error(body))
    assert (told.is_too_long, told.kind) == (True, None)
    busy = b'{"type": "error", "error": {"type": "rate_limit_error", "message": "prompt is too long for your tier"}}'
    assert not trouble_of(429, read_error(busy)).is_too_long


ANY = (*Infrastructure, None)


def test_of_two_kinds_that_one_trouble_is_given_the_one_that_says_more_stays() -> None:
    """The program has heard of a 429 or 403 what the proxy knows to be a spent account, in either order."""
    order = [Infrastructure.NO_CREDIT, Infrastructure.UNKNOWN_MODEL, Infrastructure.AUTHENTICATION]
    for first, then in product(ANY, ANY):
        tally = Tally(lambda _: True)
        tally.hear(Trouble("by name", first, retry_after=1.0))
        tally.hear(Trouble("by status", then))
        named = [kind for kind in order if kind in (first, then)]
        assert tally.trouble == Trouble("by status", named[0] if named else then or first, retry_after=1.0)
