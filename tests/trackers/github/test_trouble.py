"""What a refusal or a broken connection means for a delivery."""

from __future__ import annotations

import json
import ssl
from email.utils import formatdate
from itertools import product

import pytest
import requests
from hypothesis import given
from hypothesis import strategies as st
from urllib3 import exceptions as transport

from agent_fox.trackers.desk import seconds_of
from agent_fox.trackers.github.answers import Answer
from agent_fox.trackers.github.trouble import LONGEST_WAIT, of_answer, of_error, seconds_to_wait
from agent_fox.trackers.protocol import Held, Retry, Unsure

NOW = "2026-03-01T12:00:00.000Z"


def answer(status: int, words: str = "", **headers: str) -> Answer:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer(status, named, json.dumps({"message": words}))


def waited(found: Answer, strikes: int = 0) -> float:
    delivery = of_answer(found, True, NOW, strikes).delivery
    assert isinstance(delivery, Retry)
    assert delivery.is_general
    return seconds_of(delivery.not_before) - seconds_of(NOW)


def date(seconds: float) -> str:
    return formatdate(seconds_of(NOW) + seconds, usegmt=True)


@pytest.mark.parametrize("status", [403, 429])
@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry_after": "1"}, 1),
        ({"retry_after": "60"}, 60),
        ({"retry_after": "7200"}, 7200),
        ({"retry_after": "72000"}, 7200),
        ({"retry_after": "9" * 400}, 7200),
        ({"retry_after": "0"}, 1),
        ({"retry_after": date(90)}, 90),
        ({"retry_after": date(-90)}, 60),
        ({"retry_after": "soon"}, 60),
        ({"retry_after": "-5"}, 60),
        ({"retry_after": "٣"}, 60),
        ({"x_ratelimit_remaining": "0", "x_ratelimit_reset": str(int(seconds_of(NOW)) + 600)}, 601),
        ({"x_ratelimit_remaining": "0", "x_ratelimit_reset": "1"}, 60),
        ({"x_ratelimit_remaining": "0", "x_ratelimit_reset": "never"}, 60),
        ({"x_ratelimit_remaining": "0"}, 60),
    ],
)
def test_a_limit_is_waited_for_as_told_and_never_longer_than_two_hours(
    status: int, headers: dict[str, str], seconds: float
) -> None:
    assert waited(answer(status, "x", **headers)) == seconds


def test_a_limit_without_a_time_is_waited_for_longer_each_time() -> None:
    limit = answer(403, "You have exceeded a secondary rate limit. Please wait a few minutes before you try again.")
    assert [waited(limit, strikes) for strikes in range(9)] == [60, 120, 240, 480, 960, 1920, 3840, 7200, 7200]


def test_a_reset_is_read_on_the_clock_of_github() -> None:
    """Ours is an hour ahead here: compared with it, the reset would be past."""
    limit = answer(429, x_ratelimit_remaining="0", x_ratelimit_reset=str(int(seconds_of(NOW)) - 3000), date=date(-3600))
    assert waited(limit) == 601


@pytest.mark.parametrize(
    ("found", "is_general", "words"),
    [
        (answer(401, "Bad credentials"), True, "refuses the token"),
        (answer(403, "Resource not accessible by personal access token"), True, "may not do this"),
        (answer(403, "Must have admin rights"), False, "may not do this"),
        (answer(403, "x", x_accepted_github_permissions="issues=write"), True, "may not do this"),
        (answer(403, "Repository was archived so is read-only."), True, "archived"),
        (answer(403, "Unable to create comment because issue is locked."), False, "locked"),
        (answer(404, "Not Found"), False, "not visible"),
        (answer(410, "Issues are disabled for this repo"), True, "switched off"),
        (answer(422, "Validation Failed"), False, "does not accept"),
        (answer(451, "Repository access blocked"), True, "blocked"),
        (answer(308, "Moved"), False, "another address"),
        (answer(413, ""), False, "refuses"),
    ],
)
def test_what_a_person_must_mend_is_held_with_the_remedy(found: Answer, is_general: bool, words: str) -> None:
    delivery = of_answer(found, True, NOW).delivery
    assert isinstance(delivery, Held)
    assert delivery.is_general is is_general
    assert words in delivery.reason
    assert str(found.status) in delivery.reason
    assert "agent-fox issues sync" in delivery.remedy


def test_the_permission_that_github_asks_for_is_named() -> None:
    delivery = of_answer(answer(403, "x", x_accepted_github_permissions="issues=write"), True, NOW).delivery
    assert isinstance(delivery, Held)
    assert "`issues=write`" in delivery.remedy


def test_what_github_does_not_accept_is_told_in_its_own_words() -> None:
    body = {
        "message": "Validation Failed",
        "errors": [{"resource": "Issue", "field": "title", "code": "too_long"}, "x"],
    }
    delivery = of_answer(Answer(422, {}, json.dumps(body)), True, NOW).delivery
    assert delivery.reason == "GitHub does not accept it (422: Validation Failed; Issue title too_long; x)"


def test_an_answer_of_any_form_is_a_delivery() -> None:
    bodies = ["", "<html>", "[]", '"x"', '{"message": 3}', '{"errors": 3}', '{"message": "\\u0000"}']
    statuses = [300, 400, 401, 403, 404, 409, 410, 418, 422, 429, 451, 500, 502, 999]
    for status, body in product(statuses, bodies):
        delivery = of_answer(Answer(status, {}, body), True, NOW).delivery
        assert delivery.reason.isprintable(), (status, body, delivery)


@pytest.mark.parametrize("status", [408, 500, 502, 503, 504])
def test_a_breakdown_leaves_a_write_in_doubt_and_a_reading_to_be_repeated(status: int) -> None:
    assert isinstance(of_answer(answer(status), True, NOW).delivery, Unsure)
    assert isinstance(of_answer(answer(status), False, NOW).delivery, Retry)


def wrapped(reason: Exception) -> requests.ConnectionError:
    """As requests raises what urllib3 gave up on."""
    pool = transport.MaxRetryError(None, "/x", reason)  # type: ignore[arg-type]
    return requests.ConnectionError(pool)


@pytest.mark.parametrize(
    "error",
    [
        wrapped(transport.NewConnectionError(None, "refused")),  # type: ignore[arg-type]
        wrapped(transport.NameResolutionError("h", None, OSError(-2, "unknown"))),  # type: ignore[arg-type]
        requests.ConnectionError(ConnectionRefusedError(111, "Connection refused")),
        requests.ConnectTimeout("x"),
        requests.exceptions.ProxyError("x"),
    ],
)
def test_what_surely_did_not_go_out_is_tried_again_in_half_a_minute(error: Exception) -> None:
    delivery = of_error(error, True, NOW).delivery
    assert isinstance(delivery, Retry)
    assert delivery.is_general
    assert delivery.not_before == "2026-03-01T12:00:30.000Z"
    assert "`[tracker] base_url`" in delivery.reason  # it may be the address that is wrong


@pytest.mark.parametrize(
    "error",
    [
        requests.ReadTimeout("x"),
        requests.ConnectionError(transport.ProtocolError("Connection aborted.", ConnectionResetError(104, "reset"))),
        requests.exceptions.ChunkedEncodingError("cut"),
        requests.exceptions.SSLError("EOF"),
        ValueError("x"),
        TypeError("x"),
        OSError("x"),
    ],
)
def test_a_write_that_may_be_out_is_in_doubt(error: Exception) -> None:
    assert isinstance(of_error(error, True, NOW).delivery, Unsure)
    assert isinstance(of_error(error, False, NOW).delivery, Retry)


def test_an_older_error_does_not_make_a_write_look_unsent() -> None:
    late = requests.ReadTimeout("x")
    late.__context__ = ConnectionRefusedError(111, "Connection refused")
    assert isinstance(of_error(late, True, NOW).delivery, Unsure)


def test_a_certificate_that_is_not_trusted_is_for_a_person() -> None:
    error = requests.exceptions.SSLError(transport.MaxRetryError(None, "/", ssl.SSLCertVerificationError(1, "no")))  # type: ignore[arg-type]
    delivery = of_error(error, True, NOW).delivery
    assert isinstance(delivery, Held)
    assert "REQUESTS_CA_BUNDLE" in delivery.remedy


@pytest.mark.parametrize("error", [requests.exceptions.InvalidHeader("token ghp_secret"), AssertionError("ghp_secret")])
def test_no_words_of_an_error_are_told_for_they_may_quote_the_token(error: Exception) -> None:
    delivery = of_error(error, True, NOW).delivery
    assert isinstance(delivery, Held)
    assert "secret" not in repr(delivery)


NAMES = st.sampled_from(["retry-after", "x-ratelimit-remaining", "x-ratelimit-reset", "date", "link"])
VALUES = st.text(max_size=30) | st.integers().map(str) | st.floats().map(str) | st.just("0") | st.datetimes().map(str)
BODIES = st.text() | st.builds(
    json.dumps, st.dictionaries(st.sampled_from(["message", "errors"]), st.text() | st.none())
)


@given(st.integers(0, 999), st.dictionaries(NAMES, VALUES), BODIES, st.booleans(), st.integers(0, 10_000))
def test_any_answer_is_a_delivery_and_no_wait_is_longer_than_two_hours(
    status: int, headers: dict[str, str], body: str, is_write: bool, strikes: int
) -> None:
    found = Answer(status, headers, body)
    delivery = of_answer(found, is_write, NOW, strikes).delivery
    assert delivery.reason.isprintable()
    assert 1 <= seconds_to_wait(found, NOW, strikes) <= LONGEST_WAIT
    assert not (isinstance(delivery, Unsure) and not is_write)
