"""Known signatures of a broken world, and what only looks like one."""

from __future__ import annotations

import time

import pytest

from agent_fox.session.infrastructure import LAST_LINES, Infrastructure, recognise

ERRORS: list[tuple[str, Infrastructure]] = [
    (
        'API Error: 429 {"type":"error","error":{"type":"rate_limit_error","message":"x"}}',
        Infrastructure.RATE_LIMIT,
    ),
    ('{"type":"error","error":{"type":"rate_limit_error"}}', Infrastructure.RATE_LIMIT),
    ("API Error: Rate limit reached", Infrastructure.RATE_LIMIT),
    ("Claude AI usage limit reached|1735689600", Infrastructure.RATE_LIMIT),
    ("Error: 429 Too Many Requests", Infrastructure.RATE_LIMIT),
    ("ERROR: unexpected status 429 Too Many Requests: quota", Infrastructure.RATE_LIMIT),
    ("API Error (529 overloaded)", Infrastructure.OVERLOAD),
    ('API Error: 529 {"type":"error","error":{"type":"overloaded_error"}}', Infrastructure.OVERLOAD),
    ('  "type": "overloaded_error",', Infrastructure.OVERLOAD),
    ("API Error: 500 Internal server error", Infrastructure.OVERLOAD),
    ("Invalid API key · Please run /login", Infrastructure.AUTHENTICATION),
    ("Credit balance is too low", Infrastructure.NO_CREDIT),
    ('{"error": {"code": "insufficient_quota"}}', Infrastructure.NO_CREDIT),
    (
        "openai.RateLimitError: Error code: 429 - {'error': {'message': 'You exceeded your current quota'}}",
        Infrastructure.NO_CREDIT,
    ),
    ("openai.RateLimitError: Error code: 429 - {'code': 'insufficient_quota'}", Infrastructure.NO_CREDIT),
    (
        'API Error: 400 {"type":"invalid_request_error","message":"Your credit balance is too low to access the API"}',
        Infrastructure.NO_CREDIT,
    ),
    (
        "anthropic.BadRequestError: Error code: 400 - {'message': 'Your credit balance is too low to access the API.'}",
        Infrastructure.NO_CREDIT,
    ),
    ('litellm.BadRequestError: X - {"message":"Your credit balance is too low"}', Infrastructure.NO_CREDIT),
    ("ERROR: Quota exceeded. Check your plan and billing details.", Infrastructure.NO_CREDIT),
    ("API Error: 402 Payment Required", Infrastructure.NO_CREDIT),
    ("openai.NotFoundError: Error code: 404 - no such model", Infrastructure.UNKNOWN_MODEL),
    ("API Error: 404 404 page not found", Infrastructure.UNKNOWN_MODEL),
    ("API Error: 404 Not Found", Infrastructure.UNKNOWN_MODEL),
    ("ERROR: unexpected status 404 Not Found: url: https://example.org/v1/responses", Infrastructure.UNKNOWN_MODEL),
    ("litellm.NotFoundError: X - The model `gpt-9` does not exist", Infrastructure.UNKNOWN_MODEL),
    ('[API Error: {"error":{"code":404,"message":"models/g is not found"}}]', Infrastructure.UNKNOWN_MODEL),
    ("There's an issue with the selected model (claude-x). It may not exist", Infrastructure.UNKNOWN_MODEL),
    (
        'API Error: 401 {"type":"error","error":{"type":"authentication_error"}}',
        Infrastructure.AUTHENTICATION,
    ),
    ("ERROR: unexpected status 401 Unauthorized: Missing bearer", Infrastructure.AUTHENTICATION),
    ("authentication_error: invalid x-api-key", Infrastructure.AUTHENTICATION),
    ("API Error: Connection error.", Infrastructure.NETWORK),
    ("Error: getaddrinfo ENOTFOUND api.example.org", Infrastructure.NETWORK),
    ("ECONNREFUSED 203.0.113.7:443", Infrastructure.NETWORK),
    ("stream error: stream disconnected before completion", Infrastructure.NETWORK),
    ("fatal error: could not resolve host: example.org", Infrastructure.NETWORK),
    ("Error: ENOSPC: no space left on device, write", Infrastructure.DISK_FULL),
    ("cp: cannot create regular file 'x': No space left on device", Infrastructure.DISK_FULL),
    ("sh: write error: No space left on device", Infrastructure.DISK_FULL),
    ("Error: 429 rate limit exceeded", Infrastructure.RATE_LIMIT),
    ("429 Too Many Requests", Infrastructure.RATE_LIMIT),
    ("HTTP 429", Infrastructure.RATE_LIMIT),
    ("HTTP/1.1 429 Too Many Requests", Infrastructure.RATE_LIMIT),
    ("rate limit exceeded", Infrastructure.RATE_LIMIT),
    ("Rate limit reached, try again in 20s", Infrastructure.RATE_LIMIT),
    ("Rate limit reached for gpt-4o: 3 RPM", Infrastructure.RATE_LIMIT),
    ("Rate limit reached for gpt-4o in organization org-1 on tokens per min", Infrastructure.RATE_LIMIT),
    ("openai.RateLimitError: Error code: 429", Infrastructure.RATE_LIMIT),
    ("anthropic.RateLimitError: Error code: 429 - {'type': 'error'}", Infrastructure.RATE_LIMIT),
    ("anthropic.RateLimitError: Error code: 429 - {...}", Infrastructure.RATE_LIMIT),
    ("Error: 401 unauthorized", Infrastructure.AUTHENTICATION),
    ("401 Unauthorized: invalid API key", Infrastructure.AUTHENTICATION),
    ("Authentication failed", Infrastructure.AUTHENTICATION),
    ("fatal: Authentication failed for 'https://example.org/x.git/'", Infrastructure.AUTHENTICATION),
    ("openai.AuthenticationError: Error code: 401", Infrastructure.AUTHENTICATION),
    ("Error: 529 overloaded", Infrastructure.OVERLOAD),
    ("503 Service Unavailable", Infrastructure.OVERLOAD),
    ("HTTP/2 503", Infrastructure.OVERLOAD),
    ("anthropic.InternalServerError: Error code: 529 - {'type': 'error'}", Infrastructure.OVERLOAD),
    ("fatal: unable to access 'https://x/': Could not resolve host: x", Infrastructure.NETWORK),
    ("curl: (6) Could not resolve host: x", Infrastructure.NETWORK),
    ("ConnectionRefusedError: [Errno 111] Connection refused", Infrastructure.NETWORK),
    (
        "requests.exceptions.ConnectionError: HTTPSConnectionPool(host='api.example.org', port=443): Max retries",
        Infrastructure.NETWORK,
    ),
    ("requests.exceptions.ConnectionError: ...", Infrastructure.NETWORK),
    ("socket.gaierror: [Errno -3] Temporary failure in name resolution", Infrastructure.NETWORK),
    ("Temporary failure in name resolution", Infrastructure.NETWORK),
    ("Network is unreachable", Infrastructure.NETWORK),
    ("connection timed out", Infrastructure.NETWORK),
    ("Connection timed out after 30001 milliseconds", Infrastructure.NETWORK),
    ("httpx.ConnectError: All connection attempts failed", Infrastructure.NETWORK),
    ("httpx.ConnectError: ...", Infrastructure.NETWORK),
    ("anthropic.APIConnectionError: Connection error.", Infrastructure.NETWORK),
    ("ssh: Could not resolve hostname example.org: Name or service not known", Infrastructure.NETWORK),
    ("OSError: [Errno 28] No space left on device", Infrastructure.DISK_FULL),
]


def test_an_agents_own_error_is_recognised() -> None:
    assert [(line, recognise(1, f"working\n{line}\n")) for line, _ in ERRORS] == ERRORS
    assert [(line, recognise(1, "", line)) for line, _ in ERRORS] == ERRORS


NO_ERRORS = [
    "FAILED tests/test_api.py::test_rate_limit - assert 429 == 200",
    "FAILED tests/test_api.py:429",
    "ERROR tests/a.py:401 - ImportError",
    "E       AssertionError: expected rate_limit_error, got None",
    "E   requests.exceptions.ConnectionError: ECONNREFUSED",
    "Error: connect ECONNREFUSED 127.0.0.1:3000",
    "Error: connect ECONNREFUSED ::1:5432",
    "I added handling of 429 and overloaded_error to the client.",
    "The server answers 'authentication_error' when the key is wrong",
    "test_overloaded_error ... FAIL",
    "error: 500 lines are too long",
    "error: 404 words are too many",
    "bank.errors.CreditError: Your credit balance is too low",
    "FAILED tests/test_pay.py::test_x - AssertionError: credit balance is too low",
    "error: 3 tests failed",
    "src/net.py:12: error: Name 'ECONNREFUSED' is not defined",
    "# Error: 429 in prose stands after a mark",
    "assert disk.message == 'No space left on device'",
    "1 failed, 428 passed",
    "E       ConnectionRefusedError: [Errno 111] Connection refused",
    "FAILED tests/test_net.py::test_x - ConnectionRefusedError: [Errno 111] Connection refused",
    "test_rate_limit_exceeded PASSED",
    "tests/test_api.py::test_rate_limit_exceeded PASSED",
    "tests/test_api.py:12: ConnectionRefusedError",
    "requests.exceptions.ConnectionError: HTTPConnectionPool(host='127.0.0.1', port=80): Max retries",
    "requests.exceptions.ConnectionError: HTTPConnectionPool(host='localhost', port=80): Max retries",
    "curl: (7) Failed to connect to localhost port 3000: Connection refused",
    "401 Unauthorized: http://127.0.0.1:8000/login",
    "429 tests passed",
    "401 lines changed",
    "503 Service Unavailable is now sent while it starts",
    "HTTP 429 is retried now",
    "- rate limit handling added",
    "- rate limit exceeded",
    "* 429 Too Many Requests",
    "1. Authentication failed",
    "Rate limit exceeded errors are handled",
    "Authentication failed tests now pass",
    "Rate limit exceeded ... ok",
    "    rate limit exceeded (FAILED - 1)",
    "    429 Too Many Requests",
    "    httpx.ConnectError: Retry(3),",
    "    raise ConnectionRefusedError(111, 'Connection refused')",
    "except openai.RateLimitError:",
    "raise RateLimitError('429 Too Many Requests')",
    "return 'Authentication failed'",
    "calc.errors.RateLimitError: too fast",
    "assert response.status == 429",
    "HTTP_429 = 'Too Many Requests'",
    "429: 'Too Many Requests',",
    "    raise OSError(28, 'No space left on device')",
    "+rate limit exceeded",
    "TimeoutError",
    "",
]


def test_what_only_looks_like_one_is_the_works_own_business() -> None:
    assert {line: recognise(1, line, line) for line in NO_ERRORS} == dict.fromkeys(NO_ERRORS)


@pytest.mark.parametrize("status", [126, 127])
def test_a_command_that_cannot_be_found_is_a_missing_binary(status: int) -> None:
    assert recognise(status, "sh: 1: agent: not found") is Infrastructure.MISSING_BINARY


def test_only_the_last_words_count() -> None:
    error = "API Error: 429 Too Many Requests\n"
    assert recognise(1, error + "went on\n" * (LAST_LINES - 1)) is Infrastructure.RATE_LIMIT
    assert recognise(1, error + "went on\n" * LAST_LINES) is None


@pytest.mark.parametrize("host", ["localhost:8000", "127.0.0.1", "[::1]:80"])
def test_a_refused_connection_beside_a_local_server_is_the_works_own(host: str) -> None:
    refused = "ConnectionRefusedError: [Errno 111] Connection refused"
    assert recognise(1, f"{refused}\n\nDuring handling:\nrequests: no answer from {host}") is None
    assert recognise(1, f"GET {host}", refused) is Infrastructure.NETWORK


@pytest.mark.parametrize(
    "part", [" ", "a", "a.", "Error: ", "fatal: ", "http ", "rate limit ", "error(", '"type"', "'"]
)
def test_a_long_line_is_read_in_a_moment(part: str) -> None:
    line = part * (100_000 // len(part))
    started = time.process_time()
    recognise(1, "\n".join([line] * LAST_LINES), line)
    assert time.process_time() - started < 2.0
