"""Bytes become lines, whatever their encoding, colours and line ends; a line of any length costs no more memory."""

from __future__ import annotations

import io
import tracemalloc

import pytest

from agent_fox.verifier.logs.decode import CHUNK, LONGEST_LINE, Lines, head, tail, without_colours

ERROR = "m.c:10:24: Fehler: ‘struct point’ hat kein Element „y“ 漢字"


def read(data: bytes) -> list[str]:
    return list(Lines(io.BytesIO(data)))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_any_unicode_encoding_is_recognised(encoding: str) -> None:
    assert read(f"{ERROR}\nmore lines\n".encode(encoding)) == [ERROR, "more lines"]


def test_a_line_in_a_western_encoding_is_read_between_lines_of_utf_8() -> None:
    data = "größer: ‘a’\n".encode() + "größer: ‘a’\n".encode("cp1252") + "größer\x81\n".encode("latin-1")
    assert read(data) == ["größer: ‘a’", "größer: ‘a’", "größer\x81"]


def test_a_letter_torn_by_the_end_of_the_log_does_not_damage_the_rest_of_its_line() -> None:
    assert read("größer ‘a".encode() + "’".encode()[:2]) == ["größer ‘a\ufffd"]


def test_colours_titles_links_and_control_characters_are_gone() -> None:
    data = (
        b"\x1b[0m\x1b[1;31merror\x1b[m: \x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\ \x1b]0;t\x07a\x00b\x08 \x1b(B\x1b[2K."
    )
    assert read(data) == ["error: link ab ."]
    assert without_colours("\x1b[38;2;1;2;3mx\x1b[0m") == "x"


def test_every_kind_of_line_end_ends_a_line() -> None:
    assert read(b"a\r\nb\nc\rd 10%\rd 20%\r\n\ne") == ["a", "b", "c", "d 10%", "d 20%", "", "e"]
    assert read(b"a\r") == ["a"]


def test_characters_that_only_look_like_line_ends_end_none() -> None:
    assert read("a\u2028b\x85c\n".encode()) == ["a\u2028b\x85c"]


@pytest.mark.parametrize("letter", ["x", "ä", "漢", "😀"])
def test_a_line_over_many_chunks_is_cut_and_the_next_is_whole(letter: str) -> None:
    data = ("first\n" + letter * (2 * CHUNK) + "\r\nlast").encode()
    assert read(data) == ["first", letter * LONGEST_LINE, "last"]


def test_memory_does_not_grow_with_a_line_without_end() -> None:
    class Endless(io.RawIOBase):
        left = 64

        def readable(self) -> bool:
            return True

        def read(self, size: int = -1) -> bytes:
            self.left -= 1
            return b"x" * size if self.left > 0 else b""

    tracemalloc.start()
    found = list(Lines(Endless()))  # type: ignore[arg-type]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (len(found), len(found[0])) == (1, LONGEST_LINE)
    assert peak < 12 * CHUNK


def test_the_tail_is_the_last_lines_that_say_something() -> None:
    data = b"".join(b"line %d\n\n" % n for n in range(10_000)) + b"cut mid-li"
    assert tail(io.BytesIO(data), 3) == ["line 9998", "line 9999", "cut mid-li"]
    assert tail(io.BytesIO("a\nb\n".encode("utf-16")), 1) == ["b"]
    assert tail(io.BytesIO(b""), 3) == []


def test_the_head_is_decoded_text() -> None:
    assert head(io.BytesIO(b"\x1b[1mTAP version 13\x1b[0m\n")) == "TAP version 13\n"


def test_blocks_are_the_lines_with_their_ends() -> None:
    data = b"first\r\n\nsecond\rthird " + b"x" * (3 * CHUNK) + b"\nlast"
    blocks = list(Lines(io.BytesIO(data)).blocks())
    assert all(block.endswith("\n") for block in blocks)
    assert "".join(blocks).split("\n")[:-1] == read(data) == ["first", "", "second", read(data)[3], "last"]
    assert len(read(data)[3]) == LONGEST_LINE


@pytest.mark.parametrize("length", [LONGEST_LINE - 1, LONGEST_LINE, LONGEST_LINE + 1, 3 * LONGEST_LINE])
@pytest.mark.parametrize("before", [0, 1, LONGEST_LINE // 2, LONGEST_LINE])
def test_a_line_is_cut_wherever_it_stands_in_a_block(length: int, before: int) -> None:
    data = b"a" * before + b"\n" + b"x" * length + b"\n" + b"b"
    assert read(data) == ["a" * before, "x" * min(length, LONGEST_LINE), "b"]


@pytest.mark.parametrize(
    "stamp", ["2026-11-21T10:00:00.1234567Z ", "2026-11-21T10:00:00.123456Z 01O+", "[2026-11-21T10:00:00.123+01:00] "]
)
def test_times_that_a_runner_of_ci_put_before_the_lines_are_left_out(stamp: str) -> None:
    stamped = "".join(f"{stamp}{line}\n" for line in ("a.c:1:2: error: x", "    1 | y", ""))
    assert read(stamped.encode()) == ["a.c:1:2: error: x", "    1 | y", ""]


def test_a_log_in_which_only_some_lines_begin_with_a_time_keeps_them() -> None:
    own = ["2026-11-21T10:00:00Z it begins", "a.c:1:2: error: x", "2026-11-21T10:00:01Z it ends"]
    assert read("\n".join(own).encode()) == own
