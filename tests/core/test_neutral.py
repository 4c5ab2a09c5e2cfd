"""Foreign text made neutral: it notifies, links, closes and draws nothing, and still says what it said."""

from __future__ import annotations

import pytest
from hypothesis import given

from agent_fox.core.markdown import in_fence, printable
from agent_fox.core.neutral import (
    BREAK,
    LONGEST_WORD,
    calm,
    in_code,
    plain,
    plain_lines,
    plain_title,
    span,
    span_in_cell,
    tame,
    to_copy,
)
from tests.github_reader import ACTS, HOSTILE, hostile, read

SHA = "0123456789abcdef0123456789abcdef01234567"


@pytest.mark.parametrize(
    "text",
    [
        *("@bob", "#26", "GH-26", "o/r#3", SHA, "abcdef1", "https://github.com/a/b/pull/1", "www.a.b", "a@b.cd"),
        *("![i](http://e.vil/i.png)", "[x](http://e.vil)", "<img src=x>", "<!-- x -->", "[^1]", "$x$", "GHSA-aaaa"),
    ],
)
def test_the_reader_finds_what_is_not_made_neutral(text: str) -> None:
    page = read(text)
    assert page.acts() or page.links


@given(hostile)
def test_words_are_words_wherever_they_stand(text: str) -> None:
    shown = plain(text, 200)
    for around in ("{}", "- {}", "### {}", "x ({}) y", "> {}", "| {} |\n|---|\n| {} |"):
        page = read(around.format(shown, shown))
        assert (page.acts(), page.links, page.code) == ([], (), ())
        assert page.blocks == read(around.format("x", "x") if shown else around.format("", "")).blocks


@given(hostile)
def test_words_are_shown_as_they_were_written(text: str) -> None:
    """What a person sees is the text, on one line, without what nobody sees."""
    line = " ".join(printable(text).split())
    seen = "".join(read(f"x {plain(text, 10_000)} y").words)
    assert seen.replace(BREAK, "") == f"x {line} y" if line else True


@given(hostile)
def test_lines_stay_in_their_quotation(text: str) -> None:
    page = read(f"{plain_lines(text, 500)}\n\nafter")
    assert (page.acts(), page.links, page.code) == ([], (), ())
    assert set(page.blocks) <= {"blockquote blockquote  >", "paragraph p"}
    assert page.blocks[-1] == "paragraph p"
    assert page.words[-1] == "after"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\n    b\n\tc", "> a\n> \u00a0\u00a0\u00a0\u00a0b\n> \u00a0\u00a0\u00a0\u00a0c"),
        ("a\tb", "> a   b"),
        ("a\n\nb", "> a\n>\n> b"),
        ("X\n\u00a0\u00a0b", "> X\n> \u00a0\u00a0b"),
        ("X\n\u3000b", "> X\n> \u3000b"),
        (f"a\n{' ' * 50}b", f"> a\n> {chr(0xA0) * 40}b"),
    ],
)
def test_indentation_is_no_code_and_stays_up_to_forty_columns(text: str, shown: str) -> None:
    assert plain_lines(text, 200) == shown


def test_a_number_that_would_begin_a_list_is_only_a_number() -> None:
    assert [plain(text, 20) for text in ("1. x", "12) x", "- x", "# x")] == ["1\\. x", "12\\) x", "\\- x", "\\# x"]


def test_what_nobody_sees_is_taken_out() -> None:
    assert printable("a\u00adb\u2063c\u200bd") == "abcd"


@given(hostile)
def test_code_cannot_be_left_and_names_nobody(text: str) -> None:
    page = read(f"{in_fence(in_code(text))}\n\n{in_fence(to_copy(text), 'sh')}\n\nx {span(text)} y")
    assert page.blocks == ("fence code text `", "fence code sh `", "paragraph p")
    assert (page.acts(), page.links) == ([], ())


@given(hostile)
def test_a_span_does_not_end_the_cell_it_stands_in(text: str) -> None:
    page = read(f"| a | b |\n|---|---|\n| {span_in_cell(text)} | after |")
    assert page.blocks.count("td td") == 2
    assert page.words[-1] == "after"
    assert (page.acts(), page.links) == ([], ())


@given(hostile)
def test_markdown_from_elsewhere_acts_on_nothing_and_is_tamed_once_for_all(text: str) -> None:
    tamed = tame(text)
    page = read(tamed)
    acts = [act for act in page.acts() if not act.startswith("formula")]
    assert (acts, page.links) == ([], ())
    assert not any(block.startswith("fence") and "mermaid" in block.split() for block in page.blocks)
    assert tame(tamed) == tamed
    assert printable(tamed) == printable(text)


@given(hostile)
def test_a_title_names_nobody_and_is_the_same_when_made_again(text: str) -> None:
    title = plain_title(text, 50)
    assert "\n" not in title
    assert [name for name in ("mention", "issue", "advisory", "commit", "address") if ACTS[name].search(title)] == []
    assert len(title) <= 50
    assert calm(calm(text)) == calm(text)


@given(hostile)
def test_what_is_too_long_is_cut_within_its_limit_and_neutral(text: str) -> None:
    for limit in (1, 7, 40):
        assert len(plain(text * 9, limit)) <= max(limit, 2 * len("<span>$</span>"))
        assert len(plain_lines(text * 9, limit)) <= limit + 2 * LONGEST_WORD
        assert read(f"x {plain(text * 9, limit)} y").acts() == []


def test_what_fits_is_shown_whole_and_what_does_not_up_to_its_limit() -> None:
    assert (plain("abc", 3), plain("abcd", 3)) == ("abc", "ab…")
    assert plain("$" * 100, 140) == "<span>$</span>" * 9 + "…"
    assert (plain("$", 1), plain("$$$", 2)) == ("<span>$</span>", "…")
    assert plain_lines("x" * 300, 280) == f"> {'x' * 280}\n> … (20 more characters)"


def test_a_span_has_two_hundred_characters_and_in_a_cell_one_hundred() -> None:
    assert span("x" * 300) == f"`{'x' * 199}…`"
    assert span_in_cell("x" * 300) == f"`{'x' * 99}…`"


def test_a_cell_has_a_span_but_words_for_what_a_table_reads_first() -> None:
    assert [span_in_cell(text) for text in ("a_", "a|_", "a\\_")] == ["`a_`", "a\\|\\_", "a\\\\\\_"]
    assert span_in_cell("abcdef|", 3) == "ab…"


def test_text_of_nothing_but_what_grows_is_still_bounded() -> None:
    assert len(plain("$" * 5_000, 1_000)) <= 1_000
    assert len(plain_lines("$" * 5_000, 1_000)) <= 1_000 + LONGEST_WORD
    assert len(in_fence(in_code("`" * 5_000))) < 5_400


def test_commits_in_a_tamed_text_can_be_copied_where_code_is_plain_to_see() -> None:
    assert tame(f"on commit `{SHA}`, see #26") == f"on commit `{SHA}`, see #{BREAK}26"
    assert tame(f"`{SHA}` by `a@b`, @bob and `c@d`") == f"`{SHA}` by `a@{BREAK}b`, @{BREAK}bob and `c@{BREAK}d`"
    assert f"`{SHA}`" not in tame(f"` ``{SHA}`` `{SHA}`")
    assert f"`{SHA}`" not in tame(f"`{SHA}` `")
    assert f"`{SHA}`" not in tame(f"\\` `{SHA}` `")
    assert f"`{SHA}`" not in tame(f"`\n`{SHA}`")


def test_a_command_keeps_its_at_signs_where_they_name_nobody() -> None:
    assert to_copy("pytest -k 'a @ b' @/x") == "pytest -k 'a @ b' @/x"
    assert to_copy("npx @scope/x") == f"npx @{BREAK}scope/x"


def test_ordinary_words_are_left_alone() -> None:
    for text in ("04-REQ-1.1", "snake_case_name", "a < b && c > d", "x = 1; y - 2 + 3", "C# (really)", "50% of 12:30"):
        assert plain(text, 200) == text


def test_every_piece_of_the_opponents_alphabet_is_neutral_alone() -> None:
    assert [text for text in HOSTILE if read(plain(text, 200)).acts()] == []
    assert [text for text in HOSTILE if tamed_acts(text)] == []


def tamed_acts(text: str) -> bool:
    page = read(tame(text))
    is_drawn = any({"mermaid", "math"} & set(block.split()) for block in page.blocks)
    return is_drawn or any(not act.startswith("formula") for act in page.acts())


def test_a_long_run_of_one_thing_is_read_once() -> None:
    """Where a pattern began anew at every character, this would not end."""
    for text in (
        "`",
        "~",
        "&a",
        "a:",
        ":a",
        "0a",
        "```\t",
        "[",
        "\\",
        "$",
        "#",
        "@",
        "/issues",
        "`a`",
        "_",
        " ",
        "<",
        "\n",
    ):
        long = text * (100_000 // len(text))
        assert printable(tame(long)) == long
        assert len(plain(long, 200)) <= 200
        assert len(plain_lines(long, 200)) <= 200 + LONGEST_WORD
        assert printable(to_copy(long)) == long


def test_what_follows_a_piece_cannot_complete_it() -> None:
    assert read(f"{plain('see #', 200)}26, {plain('GH-', 200)}26 {plain('@', 200)}bob").acts() == []
