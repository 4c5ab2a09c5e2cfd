"""What is kept of a command's output, whatever pieces it comes in."""

from __future__ import annotations

import io

from hypothesis import given
from hypothesis import strategies as st

from agent_fox.verifier.running.output import BoundedLog

SECRET = "s3cr3t-value"

pieces = st.lists(st.binary(max_size=40) | st.sampled_from([SECRET.encode(), b"s3cr3t", b"-value", b"\n"]), max_size=30)


def kept(printed: list[bytes], limit: int, *secrets: str) -> tuple[BoundedLog, bytes]:
    sink = io.BytesIO()
    log = BoundedLog(sink, limit, secrets)
    for piece in printed:
        log.add(piece)
    log.close()
    return log, sink.getvalue()


@given(pieces)
def test_output_within_its_limit_is_kept_to_the_byte(printed: list[bytes]) -> None:
    whole = b"".join(printed)
    log, text = kept(printed, 2 * len(whole) + 1)
    assert (text, log.bytes, log.left_out) == (whole, len(whole), 0)


@given(pieces, st.integers(min_value=2, max_value=400))
def test_what_is_left_out_and_what_is_kept_is_the_whole(printed: list[bytes], limit: int) -> None:
    whole = b"".join(printed)
    log, text = kept(printed, limit)
    gap = b"\n[... %d bytes left out ...]\n" % log.left_out if log.left_out else b""
    assert len(text) - len(gap) + log.left_out == len(whole)
    assert len(text) - len(gap) <= limit
    before, _, after = text.partition(gap) if gap else (text, b"", b"")
    assert whole.startswith(before)
    assert whole.endswith(after)


@given(pieces, st.integers(min_value=2, max_value=400))
def test_no_secret_is_kept_wherever_pieces_end_and_wherever_it_is_cut(printed: list[bytes], limit: int) -> None:
    _, text = kept(printed, limit, SECRET)
    assert SECRET.encode() not in text
    _, whole = kept(printed, 100_000, SECRET)
    assert whole == b"".join(printed).replace(SECRET.encode(), b"[redacted]")


def test_the_tail_in_memory_does_not_grow_with_what_is_printed() -> None:
    log = BoundedLog(io.BytesIO(), 1000)
    sizes = set()
    for _ in range(10_000):
        log.add(b"x" * 1000)
        sizes.add(len(log._tail))
    assert max(sizes) <= 1000 + 1000
