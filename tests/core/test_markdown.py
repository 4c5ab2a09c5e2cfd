"""Foreign text in Markdown: it stays where it was put."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.core.markdown import (
    cell,
    code,
    cut,
    cut_middle,
    fenced,
    how_many_fit,
    one_line,
    printable,
    quoted,
    without_our_tags,
)


def test_a_fence_is_longer_than_any_run_of_backticks_inside() -> None:
    assert fenced("a\n````\nb") == "`````text\na\n````\nb\n`````"
    assert fenced("plain", "sh") == "```sh\nplain\n```"


@given(st.text())
def test_printable_text_can_be_stored_and_shown(text: str) -> None:
    clean = printable(text)
    clean.encode("utf-8")
    assert printable(clean) == clean
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", clean)


def test_colours_and_line_ends_of_other_systems_are_taken_out() -> None:
    assert printable("a\xadb\u2063c\U000e0164d\u200ee") == "abcde"
    assert printable(joined := "\u2764\ufe0f \u0646\u200c\u0627") == joined
    assert printable("\x1b[1;31mred\x1b[0m\r\nnext\rlast\u202e\x07") == "red\nnext\nlast"


@pytest.mark.parametrize(
    ("text", "span"), [("a", "`a`"), ("a`b", "``a`b``"), ("`a`", "`` `a` ``"), ("", ""), ("a\nb", "`a b`")]
)
def test_a_code_span_holds_backticks_on_one_line(text: str, span: str) -> None:
    assert code(text) == span


def test_a_backtick_at_either_end_is_kept_apart() -> None:
    assert (code("`a"), code("a`")) == ("`` `a ``", "`` a` ``")


def test_a_fence_keeps_what_the_text_begins_with() -> None:
    assert fenced("\n  X\n\n") == "```text\n  X\n```"


def test_spans_and_cells_have_two_hundred_characters_at_most() -> None:
    assert cell("x" * 200) == "x" * 200
    assert cell("x" * 201) == "x" * 199 + "…"
    assert code("x" * 201) == f"`{'x' * 199}…`"


def test_a_cell_never_ends_its_cell() -> None:
    assert cell("a | b\nc \\ <br>") == "a \\| b c \\\\ &lt;br>"


def test_what_is_cut_says_how_much_is_missing() -> None:
    assert cut("abcdef", 6) == "abcdef"
    assert cut("abcdefgh", 3) == "abc\n… (5 more characters)"
    assert cut("abc def", 4) == "abc\n… (3 more characters)"
    assert one_line("abc def", 5) == "abc…"
    assert one_line("abcde", 5) == "abcde"
    assert one_line("abcdef", 5) == "abcd…"


def test_of_what_is_long_both_ends_can_be_kept() -> None:
    assert cut_middle("abcdef", 6) == "abcdef"
    assert cut_middle("ab" + "x" * 1_000 + "cde", 5) == "ab\n… (1,000 characters left out here) …\ncde"
    assert cut_middle(" b  xxxx  d   ", 10) == " b\n… (4 characters left out here) …\nd   "


def test_a_quotation_marks_every_line() -> None:
    assert quoted("a\n\nb\n") == "> a\n>\n> b"


def test_what_fits_is_counted_from_the_first_on() -> None:
    assert [how_many_fit(["aa", "bb", "cc"], limit) for limit in (0, 1, 2, 4, 9)] == [0, 0, 1, 2, 3]


def test_only_what_could_open_or_close_a_tag_of_ours_is_spelled_out() -> None:
    text = "a < b <i> </Verification-result> <evidence kind='x'> < / build-systems>"
    assert without_our_tags(text) == (
        "a < b <i> &lt;/Verification-result> &lt;evidence kind='x'> &lt; / build-systems>"
    )
