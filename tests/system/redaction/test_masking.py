"""Secrets are masked; what only talks about secrets is left to read."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.system.redaction.masking import MASK, Redactor, looks_secret, redact, secret_values

KEY_BODY = "MIIEpAIBAAKCAQEA1c7+9z5Pad7OejecsQ0bu"


def test_a_secret_within_a_longer_one_does_not_show_the_rest_of_it() -> None:
    inner, outer = "kd93kd9s-inner", "begin-kd93kd9s-inner-and-its-end"
    assert redact(f"said {outer} twice", (outer, inner)) == f"said {MASK} twice"


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("pushed with ghp_" + "a1B2" * 9, "ghp_" + "a1B2" * 9),
        ("key sk-ant-api03-" + "Xy9_" * 10 + " used", "Xy9_Xy9_"),
        ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
        ("xoxb-123456789012-abcdefghij", "123456789012"),
        ("Authorization: Bearer abc.def-ghi123", "abc.def-ghi123"),
        ("-H 'authorization: Basic dXNlcjpwYXNz'", "dXNlcjpwYXNz"),
        ('{"Authorization": "token 0123456789ab"}', "0123456789ab"),
        ("ANTHROPIC_API_KEY=hunter2hunter2", "hunter2hunter2"),
        ("db_password: 's3cr3t-value'", "s3cr3t-value"),
        ('"client_secret": "q8w7e6r5t4"', "q8w7e6r5t4"),
        ("https://me:pa55word@example.org/x.git", "pa55word"),
        ("postgres://app:kd93kd9s@localhost/db", "kd93kd9s"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N", "dozjgNryP4J3"),
        (f"-----BEGIN RSA PRIVATE KEY-----\n{KEY_BODY}\n-----END RSA PRIVATE KEY-----", KEY_BODY),
        (f"-----BEGIN PRIVATE KEY-----\n{KEY_BODY}", KEY_BODY),
    ],
)
def test_a_secret_is_masked(text: str, secret: str) -> None:
    assert secret in text
    assert secret not in redact(text)
    assert MASK in redact(text)


@pytest.mark.parametrize(
    "text",
    [
        "def test_the_token_expires(token: str) -> None:",
        "token = lexer.next",
        "assert password is None",
        "author: Ada Lovelace",
        "the secret is to commit often",
        "tokens: 1200 in, 300 out",
        "see https://example.org:8080/path",
        "commit 3f2a9c1d0b7e6a5f4c3b2a1908f7e6d5c4b3a291",
        "AssertionError: 7 != 8",
        "ghp_short",
    ],
)
def test_what_only_talks_about_secrets_stays(text: str) -> None:
    assert redact(text) == text


def test_values_that_were_injected_are_masked_wherever_they_stand() -> None:
    values = secret_values({"MY_TOKEN": "plainlooking", "CI": "1", "SHORT_KEY": "abc", "PATH": "/usr/bin"})
    assert redact("x=plainlooking; /usr/bin abc 1", values) == f"x={MASK}; /usr/bin abc 1"


def test_each_line_of_an_injected_key_is_masked() -> None:
    assert redact("it said second-line!", ("first-line\nsecond-line\n",)) == f"it said {MASK}!"


def test_names_that_say_secret() -> None:
    assert [name for name in ("API_KEY", "GH_TOKEN", "DbPassword", "HOME", "LANG") if looks_secret(name)] == [
        "API_KEY",
        "GH_TOKEN",
        "DbPassword",
    ]


TEXTS = st.lists(
    st.sampled_from(["plain ", "\n", "password=abcdefgh", f"-----BEGIN PRIVATE KEY-----\n{KEY_BODY}\n", "é", "ok\n"])
).map("".join)


@given(TEXTS, st.integers(1, 7))
def test_a_stream_is_masked_like_the_whole_text(text: str, size: int) -> None:
    redactor = Redactor(("plain-value",))
    pieces = [text[start : start + size] for start in range(0, len(text), size)]
    assert "".join(map(redactor.feed, pieces)) + redactor.close() == redact(text, ("plain-value",))


@given(st.text())
def test_redacting_twice_changes_nothing_more(text: str) -> None:
    assert redact(redact(text)) == redact(text)


def test_a_megabyte_without_a_line_end_is_masked_quickly() -> None:
    for text in (
        "a" * 1_000_000,
        "password " * 100_000,
        "https://" * 100_000,
        "eyJ" * 300_000,
        "x=" * 500_000,
    ):
        began = time.process_time()
        redact(text)
        assert time.process_time() - began < 5
