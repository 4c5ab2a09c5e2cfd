"""Edits in bytes: what is not named stays as it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_fox.specs.lint.fixing import EditRefused, difference, edited
from agent_fox.specs.lint.values import Edit


def edit(line: int, old: str, new: str | None) -> Edit:
    return Edit("a.md", line, old, new)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_line_ends_and_the_mark_in_front_stay(end: str, mark: str) -> None:
    text = f"{mark}one{end}zwei \t{end}drei"
    assert edited(text.encode(), [edit(1, "one", "eins")]).decode() == f"{mark}eins{end}zwei \t{end}drei"


def test_a_line_goes_away_with_its_end() -> None:
    assert edited(b"a\r\nb\r\nc", [edit(2, "b", None)]) == b"a\r\nc"


def test_a_new_line_gets_the_end_that_the_file_has() -> None:
    assert edited(b"a\r\nb", [edit(2, "b", "b\n```")]) == b"a\r\nb\r\n```"


def test_mixed_line_ends_stay_mixed() -> None:
    assert edited(b"a\r\nb\nc\rd", [edit(3, "c", "C")]) == b"a\r\nb\nC\rd"


def test_what_only_some_call_a_line_end_is_none() -> None:
    text = "a\x0b\u2028b\nc"
    assert edited(text.encode(), [edit(2, "c", "C")]).decode() == "a\x0b\u2028b\nC"


@pytest.mark.parametrize("wrong", [edit(1, "b", "c"), edit(3, "a", "c"), edit(0, "a", "c")])
def test_a_line_that_is_not_as_it_was_read_is_refused(wrong: Edit) -> None:
    with pytest.raises(EditRefused, match=rf"a.md:{wrong.line} is not as it was read; run the command again"):
        edited(b"a\n", [wrong])


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(EditRefused, match=r"a.md is not UTF-8"):
        edited(b"\xff", [edit(1, "", "a")])


@given(st.text(alphabet="ab\r\n\t \ufeff\u2028\x0b", max_size=40))
def test_an_edit_that_changes_nothing_keeps_every_byte(text: str) -> None:
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    edits = [edit(number, line, line) for number, line in enumerate(lines, 1)]
    assert edited(text.encode(), edits) == text.encode()


def test_a_difference_names_the_file_and_the_missing_end() -> None:
    assert difference("s/a.md", b"a\nb", b"a\nc") == (
        "--- a/s/a.md\n+++ b/s/a.md\n@@ -1,2 +1,2 @@\n a\n"
        "-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n"
    )


def test_a_difference_of_a_file_with_a_space_in_its_name_is_one_that_patch_takes() -> None:
    assert difference("s/a b.md", b"a\n", b"b\n").splitlines()[:2] == ["--- a/s/a b.md\t", "+++ b/s/a b.md\t"]
