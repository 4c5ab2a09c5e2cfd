"""What the proxy takes out of answers, and what it must leave alone."""

from __future__ import annotations

from agent_fox.session.agents.proxy.model_side import Mask


def passed(secret: bytes, *pieces: bytes) -> bytes:
    mask = Mask(secret)
    return b"".join(mask.feed(piece) for piece in pieces) + mask.end()


def test_a_key_is_taken_out_wherever_it_is_cut() -> None:
    key = b"sk-0123456789abcdef"
    text = b"before " + key + b" after"
    for at in range(len(text)):
        assert passed(key, text[:at], text[at:]) == b"before [redacted] after"


def test_a_word_that_is_too_short_for_a_key_is_left_in_the_models_work() -> None:
    work = b"if any(x is None for x in company):  # input_tokens"
    for short in (b"any", b"k", b"dummy-key"):
        assert passed(short, work[:7], work[7:]) == work
        assert not Mask(short).hides("any company k dummy-key")
