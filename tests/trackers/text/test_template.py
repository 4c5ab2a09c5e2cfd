"""A project's own template: used as it is, or refused at the start with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.trackers.text.template import (
    LONGEST_TEMPLATE,
    PARTS,
    WORDS,
    TemplateTrouble,
    fence_after,
    filled,
    problems,
    read_template,
    uses,
)

GOOD = "# $title\n\nCosts $$5, see `$node`.\n\n$failing\n\n${next_step}\n"


def test_a_template_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "issue.md"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert read_template(path) == GOOD


def test_every_name_is_known_and_filled_once() -> None:
    template = "\n".join(f"${name}" for name in (*WORDS, *PARTS))
    assert list(problems(template)) == []
    assert filled(template, {name: "$title" for name in (*WORDS, *PARTS)}) == "\n".join(["$title"] * 18)
    assert (uses(GOOD, "failing"), uses(GOOD, "next_step"), uses(GOOD, "blocked")) == (1, 1, 0)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("$failing\n$nodes\n", "line 2: $nodes is no name"),
        ("$failing\n${no such}\n", "line 2: $no such is no name"),
        ("$failing costs $5\n", "line 1: $failing is a whole section"),
        ("$failing\ncosts $5\n", "line 2: $ is no name"),
        ("x $failing\n", "line 1: $failing is a whole section"),
        ("```\n$failing\n```\n", "line 2: $failing is a whole section"),
        ("$title\n", "it has no $failing"),
        ("", "it has no $failing"),
        ("$$failing\n", "it has no $failing"),
        ("$failing\n" + "x" * LONGEST_TEMPLATE, "it is longer than 20,000 characters"),
    ],
)
def test_a_template_that_cannot_be_used_says_where_and_what_to_do(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "issue.md"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TemplateTrouble) as trouble:
        read_template(path)
    assert str(trouble.value).startswith(f"{path}: [tracker] template: {what}")
    assert str(trouble.value).endswith(", or unset [tracker] template")


def test_a_file_that_is_no_text_or_not_there_is_named(tmp_path: Path) -> None:
    binary, large = tmp_path / "binary.md", tmp_path / "large.md"
    binary.write_bytes(b"$failing \xff")
    large.write_bytes(b"\xc3\xa9" * 100_000)
    for path, what in (
        (binary, "byte 9 is not UTF-8; save it as UTF-8"),
        (large, "it is longer than 20,000 characters; shorten it"),
        (tmp_path / "none.md", "No such file or directory; name a file that can be read"),
        (tmp_path, "Is a directory; name a file that can be read"),
    ):
        with pytest.raises(TemplateTrouble) as trouble:
            read_template(path)
        assert what in str(trouble.value)


def test_an_open_block_of_code_is_known_by_its_marks() -> None:
    lines = ("````sh", "```", "````x", "`````", "~~~", "```", "~~~", "``` a`b", "    ```", "```", "")
    states, fence = [], ""
    for line in lines:
        fence = fence_after(fence, line)
        states.append(fence)
    assert states == ["````", "````", "````", "", "~~~", "~~~", "", "", "", "```", "```"]
