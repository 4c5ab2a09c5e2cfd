"""A labelled set: secrets in context that must go, and look-alikes that must stay. The counts are printed."""

from __future__ import annotations

import base64
import html
import json
import sys
import time
from itertools import pairwise
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_fox.system.redaction.masking import LONGEST_LINE, MASK, BytesRedactor, redact
from tests.system.redact_cases import HARMLESS, INJECTED, SECRETS

SECONDS_PER_MEGABYTE = 5
"""Generous: it shows that no text makes the work grow faster than the text, not how fast a machine is."""


def test_every_secret_of_the_labelled_set_goes_and_every_look_alike_stays(capsys: pytest.CaptureFixture[str]) -> None:
    missed = [text for text, secret in SECRETS if secret in redact(text, (INJECTED,))]
    alarms = [f"{text} -> {redact(text)}" for text in HARMLESS if redact(text) != text]
    with capsys.disabled():
        recall = f"{len(SECRETS) - len(missed)} of {len(SECRETS)} secrets masked"
        sys.stdout.write(f"\nredaction: {recall}; {len(alarms)} false alarms in {len(HARMLESS)} look-alikes\n")
    assert all(secret in text for text, secret in SECRETS if secret != INJECTED)
    assert min(len(SECRETS), len(HARMLESS)) >= 60
    assert (missed, alarms) == ([], [])


@pytest.mark.parametrize(
    "form",
    [
        INJECTED,
        json.dumps(INJECTED),
        quote(INJECTED, safe=""),
        html.escape(INJECTED),
        *(base64.b64encode(before + INJECTED.encode() + b"!").decode() for before in (b"", b"u", b"u:", b"u:p")),
        base64.urlsafe_b64encode(b"?>" + INJECTED.encode()).decode(),
    ],
)
def test_an_injected_value_is_masked_in_every_form(form: str) -> None:
    assert MASK in redact(f"<{form}>", (INJECTED,))
    assert form not in redact(f"<{form}>", (INJECTED,))


PARTS = st.lists(
    st.sampled_from([text for text, _ in SECRETS] + list(HARMLESS) + ["\n", "\n", " ", ", ", INJECTED, "é", "-----"]),
    max_size=12,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(PARTS, st.lists(st.integers(0, 2000), max_size=6))
def test_a_stream_cut_anywhere_is_masked_like_the_whole(text: str, cuts: list[int]) -> None:
    raw = text.encode()
    whole = BytesRedactor((INJECTED,))
    expected = whole.feed(raw) + whole.close()
    redactor, places = BytesRedactor((INJECTED,)), sorted({0, len(raw), *(cut % (len(raw) + 1) for cut in cuts)})
    pieces = [raw[start:end] for start, end in pairwise(places)]
    assert b"".join(map(redactor.feed, pieces)) + redactor.close() == expected
    assert INJECTED.encode() not in expected


def test_masking_twice_changes_nothing_more() -> None:
    for text in (*(text for text, _ in SECRETS), *HARMLESS):
        assert redact(redact(text, (INJECTED,)), (INJECTED,)) == redact(text, (INJECTED,))


@pytest.mark.parametrize("secret", [INJECTED, "ghp_" + "a1B2" * 9, "password=hunter2hunter2"])
@pytest.mark.parametrize("filler", [b"x", b"x, ", b"0123456789abcdef "])
def test_a_secret_at_the_cut_of_an_endless_line_does_not_survive(secret: str, filler: bytes) -> None:
    base = (filler * LONGEST_LINE)[: LONGEST_LINE - 2048]
    for shift in (*range(-60, 60, 7), *range(-2, 3)):
        line = base[: len(base) + min(shift, 0)] + b"." * max(shift, 0) + b" " + secret.encode() + b" " + filler * 3000
        for size in (len(line), 8191):
            redactor = BytesRedactor((INJECTED,))
            pieces = [line[start : start + size] for start in range(0, len(line), size)]
            masked = b"".join(map(redactor.feed, pieces)) + redactor.close()
            assert secret.encode() not in masked
            assert masked.count(MASK.encode()) == 1


def test_json_in_one_long_line_stays_readable() -> None:
    rows = [
        {"id": number, "log": f'password="abc{number}defg" token=xy9{number}z8 ' + "x" * 50} for number in range(9000)
    ]
    document = json.dumps(rows)
    assert len(document) > 3 * LONGEST_LINE
    masked = json.loads(redact(document))
    assert [row["id"] for row in masked] == list(range(9000))
    assert all(row["log"].count(MASK) == 2 for row in masked)


HOSTILE = (
    *("a", "password ", "password=", "https://", "://a:", "eyJ", "eyJaaaaaaaaaa.", "x=", "key-", "token-token", "ghp_"),
    *("sk-", "token=$", "-----BEGIN PRIVATE KEY-----", "-----BEGIN PRIVATE KEY-----\n", "KEY-----", ".internal", "@"),
    *("a.corp:", "\\\\", "&amp;", "auth=&quot;", "--token ", "authorization: bearer ", "host ", "pass=pass="),
)


@pytest.mark.parametrize("unit", HOSTILE)
def test_no_text_takes_more_than_time_in_proportion(unit: str) -> None:
    text = (unit * (600_000 // len(unit))).encode()
    began = time.process_time()
    redactor = BytesRedactor((INJECTED,))
    redactor.feed(text)
    redactor.close()
    assert time.process_time() - began < SECONDS_PER_MEGABYTE * 0.6
