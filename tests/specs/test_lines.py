"""Markdown as lines: what is code, what is a comment, and what a merge left."""

from __future__ import annotations

from agent_fox.core.spec import Severity
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
