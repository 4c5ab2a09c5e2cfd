"""Numbers and lists as people read them."""

from __future__ import annotations

import pytest

from agent_fox.core.words import MOST_IDS, counted, did_you_mean, listed, nearest, quote


@pytest.mark.parametrize(
    ("number", "word", "said"),
    [
        (0, "spec", "0 specs"),
        (1, "spec", "1 spec"),
        (2, "spec", "2 specs"),
        (1, "entry", "1 entry"),
        (2, "entry", "2 entries"),
    ],
)
def test_a_number_stands_with_the_right_form_of_its_word(number: int, word: str, said: str) -> None:
    assert counted(number, word) == said


NAMES = ("claude", "codex", "03_split:1", "03_split", "05_settle:3")


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("claud", "; did you mean claude?"),
        ("03_splt", "; did you mean 03_split?"),
        ("03", "; did you mean 03_split?"),
        ("99", "; look at the list"),
        ("3", "; look at the list"),
        ("", "; look at the list"),
    ],
)
def test_only_what_is_near_is_suggested(word: str, hint: str) -> None:
    assert did_you_mean(word, iter(NAMES), "; look at the list") == hint


def test_where_nothing_is_near_nothing_is_said() -> None:
    assert did_you_mean("99", NAMES) == nearest("99", NAMES) == ""


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("abcde", "; did you mean abcxy?"),  # six letters of ten are the same
        ("abcdef", ""),
        ("co", "; did you mean coz_long?"),
        ("c", ""),
    ],
)
def test_a_word_is_near_by_most_of_its_letters_or_by_its_first_two(word: str, hint: str) -> None:
    assert did_you_mean(word, ["codex_long", "coz_long", "abcxy"]) == hint


@pytest.mark.parametrize(
    ("word", "quoted"),
    [
        ("03_split:1", "03_split:1"),
        ("a@%+=:,./-_Z9", "a@%+=:,./-_Z9"),
        ("", "''"),
        ("a b", "'a b'"),
        ("$(rm)", "'$(rm)'"),
        ("a;", "'a;'"),
        ("ä", "'ä'"),
        ("it's", """'it'"'"'s'"""),
    ],
)
def test_a_word_is_quoted_where_a_shell_would_not_take_it_as_it_stands(word: str, quoted: str) -> None:
    assert quote(word) == quoted


@pytest.mark.parametrize(
    ("count", "said"),
    [
        (0, ""),
        (1, "R1"),
        (2, "R1, R2"),
        (MOST_IDS, "R1, R2, R3, R4, R5, R6"),
        (MOST_IDS + 1, "R1, R2, R3, R4, R5, R6 and 1 more"),
        (MOST_IDS + 2, "R1, R2, R3, R4, R5, R6 and 2 more"),
    ],
)
def test_a_long_list_ends_in_the_number_of_those_left_out(count: int, said: str) -> None:
    assert listed(f"R{number + 1}" for number in range(count)) == said
