"""One error line is the same line when only counters, addresses, paths or times differ."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_fox.core.signals import LONGEST_LINE, normalise_line


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("AssertionError: assert 3 == 4", "AssertionError: assert 17 == 250"),
        ("<Cart object at 0x7f5508668a90>", "<Cart object at 0x1a>"),
        ("FileNotFoundError: '/tmp/a1/conf.toml'", "FileNotFoundError: 'build/x.toml'"),
        ("lock held since 2026-11-21T22:49:21.43Z", "lock held since 2025-01-02 03:04:05"),
        ("timed out after 1.5s", "timed out after 30s"),
        ("commit 3f2a9b1c not found", "commit 00aa11bb22cc not found"),
        ("\x1b[31mE   KeyError: 'sku'\x1b[0m", "E   KeyError:   'sku'"),
        ("row 550e8400-e29b-41d4-a716-446655440000", "row 123e4567-e89b-12d3-a456-426614174000"),
    ],
)
def test_lines_that_differ_in_what_changes_from_run_to_run_are_one(one: str, other: str) -> None:
    assert normalise_line(one) == normalise_line(other)


def test_lines_that_name_different_errors_stay_different() -> None:
    assert normalise_line("KeyError: 'sku'") != normalise_line("KeyError: 'price'")


def test_words_made_of_hexadecimal_letters_stay_words() -> None:
    assert normalise_line("decade facade") == "decade facade"


def test_a_line_is_cut_where_it_ends_in_no_space() -> None:
    assert normalise_line("x" * (LONGEST_LINE - 1) + " y") == "x" * (LONGEST_LINE - 1)


def test_a_lone_escape_is_taken_out() -> None:
    assert normalise_line("key\x1b error") == "key error"


def test_only_the_start_of_an_endless_line_is_looked_at() -> None:
    assert normalise_line("1" * (LONGEST_LINE * 5) + "boom") == "#"


def test_the_first_line_that_says_anything_counts() -> None:
    assert normalise_line("\n   \nValueError: bad\nat line 3") == "ValueError: bad"


def test_nothing_gives_nothing() -> None:
    assert normalise_line(" \n\t") == ""


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=300))
def test_normalising_twice_changes_nothing(text: str) -> None:
    once = normalise_line(text)
    assert normalise_line(once) == once
    assert len(once) <= LONGEST_LINE


@example("\x1b\x1bTT")
@given(st.text(alphabet="0af-:/.\\ x~#<T\x1b[m", max_size=60))
def test_normalising_twice_changes_nothing_in_lines_of_signs(text: str) -> None:
    once = normalise_line(text)
    assert normalise_line(once) == once
