"""Known signatures of a broken world, and what only looks like one."""

from __future__ import annotations

import pytest

from agent_fox.session.infrastructure import LAST_LINES, Infrastructure, recognise


@pytest.mark.parametrize(
    ("line", "kind"),
    [
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
    ],
)
def test_an_agents_own_error_is_recognised(line: str, kind: Infrastructure) -> None:
    assert recognise(1, f"working\n{line}\n") is kind
    assert recognise(1, "", line) is kind


@pytest.mark.parametrize(
    "line",
    [
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
        "error: 3 tests failed",
        "src/net.py:12: error: Name 'ECONNREFUSED' is not defined",
        "# Error: 429 in prose stands after a mark",
        "assert disk.message == 'No space left on device'",
        "1 failed, 428 passed",
        "TimeoutError",
        "",
    ],
)
def test_what_only_looks_like_one_is_the_works_own_business(line: str) -> None:
    assert recognise(1, line, line) is None


@pytest.mark.parametrize("status", [126, 127])
def test_a_command_that_cannot_be_found_is_a_missing_binary(status: int) -> None:
    assert recognise(status, "sh: 1: agent: not found") is Infrastructure.MISSING_BINARY


def test_only_the_last_words_count() -> None:
    error = "API Error: 429 Too Many Requests\n"
    assert recognise(1, error + "went on\n" * (LAST_LINES - 1)) is Infrastructure.RATE_LIMIT
    assert recognise(1, error + "went on\n" * LAST_LINES) is None
