"""Markdown as lines: what is code, what is a comment, and what a merge left."""

from __future__ import annotations

import pytest

from agent_fox.core.spec import Severity
from agent_fox.specs.lines import scan
from tests.specs.worlds import markdown


def texts(text: str) -> list[str]:
    return [line.text for line in markdown(text).lines if not line.is_code and not line.is_blank]


def test_comments_go_and_lines_keep_their_numbers() -> None:
    lines = markdown("a <!-- b --> c <!--\nd\n--> e\nf").lines
    assert [(line.number, line.text) for line in lines if line.text] == [(1, "a  c"), (3, " e"), (4, "f")]


def test_a_comment_mark_in_code_is_text() -> None:
    assert texts("use `<!--` here\n- a\n") == ["use `<!--` here", "- a"]
    assert texts("```\n<!--\n```\na\n") == ["a"]


def test_a_fence_inside_a_comment_is_nothing() -> None:
    assert texts("<!--\n```\n-->\na\n") == ["a"]


def test_what_never_closes_is_a_warning_and_hides_nothing() -> None:
    for text in ("a\n```\nb\n", "a\n<!-- b\nb\n"):
        found = markdown(text)
        assert "b" in texts(text)[-1]
        assert [(p.severity, p.where) for p in found.problems] == [(Severity.WARNING, "a.md:2")]


def test_a_longer_fence_holds_a_shorter_one() -> None:
    assert texts("````\n```\na\n```\n````\nb\n") == ["b"]


def test_a_merge_conflict_is_an_error() -> None:
    (problem,) = markdown("a\n<<<<<<< HEAD\nb\n=======\nc\n>>>>>>> other\n").problems
    assert (problem.severity, problem.where) == (Severity.ERROR, "a.md:2")


def test_a_conflict_shown_in_code_is_not_one() -> None:
    assert markdown("```\n<<<<<<< HEAD\n```\n").problems == ()


def test_headings_say_their_rank_and_title() -> None:
    headings = [line.heading for line in markdown("# A\n### B\n#nothing\n    # code\n").lines if line.heading]
    assert headings == [(1, "A"), (3, "B")]


def shown(text: str) -> list[str]:
    return [line.text.strip() for line in scan(text).lines if not line.is_blank]


@pytest.mark.parametrize("mark", ["<!-->", "<!--->"])
def test_a_comment_that_is_empty_hides_nothing_after_it(mark: str) -> None:
    assert shown(f"- a {mark}\n- b\n<!-- c -->\n- d") == ["- a", "- b", "- d"]


def test_a_comment_ends_as_a_browser_ends_it() -> None:
    assert shown("<!-- a --!>\n- b\n\n- c -->") == ["- b", "- c -->"]


@pytest.mark.parametrize("between", ["\n\n", "\n- ", "\n2. ", "\n## ", "\n  * "])
def test_a_comment_behind_words_that_leaves_their_paragraph_is_shown_as_a_page_shows_it(between: str) -> None:
    found = scan(f"1. a <!-- b{between}c must d -->")
    assert "c must d" in found.lines[-1].text
    assert found.open_comment == 1


def test_a_comment_behind_words_may_wrap() -> None:
    assert shown("1. a <!-- b\n   c -->\n2. d") == ["1. a", "2. d"]


def test_a_comment_that_begins_its_line_may_hold_anything() -> None:
    assert shown("  <!-- a\n\n- b\n\n# c\n-->\n- d") == ["- d"]
