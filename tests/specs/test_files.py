"""One file of a spec: how it begins, and what a merge left in it."""

from __future__ import annotations

from pathlib import Path

from agent_fox.specs.files import TextFile, error, head_of, left_by_a_merge


def test_a_head_has_no_byte_order_mark_and_plain_line_ends(tmp_path: Path) -> None:
    (tmp_path / "spec.md").write_bytes(b"\xef\xbb\xbf# A\r\nb\rc")
    assert head_of(tmp_path / "spec.md") == "# A\nb\nc"


def test_a_head_of_what_is_absent_or_no_file_is_empty(tmp_path: Path) -> None:
    assert (head_of(tmp_path / "absent.md"), head_of(tmp_path)) == ("", "")


def test_a_merge_is_told_by_its_first_mark() -> None:
    file = TextFile("a.json", "{\n<<<<<<< mine\n1\n=======\n2\n>>>>>>> theirs\n}")
    assert left_by_a_merge(file) == error("a.json:2", "a merge conflict was left here; resolve it")


def test_a_mark_of_a_merge_within_a_line_is_text() -> None:
    assert left_by_a_merge(TextFile("a.json", '{"a": "<<<<<<< mine"}')) is None
