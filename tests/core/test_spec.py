"""What a spec expects, and when a text is another text."""

from __future__ import annotations

import hashlib

import pytest

from agent_fox.core.spec import Criterion, Requirement, SourceIssue, Spec, text_version, with_details

ONE, EDGE = Criterion("01-REQ-1.1", "THE a SHALL b."), Criterion("01-REQ-1.E1", "IF c THEN d.")


def test_a_text_is_known_by_its_words_whatever_stands_between_them() -> None:
    words = hashlib.sha256("THE a SHALL ü.".encode()).hexdigest()[:16]
    assert text_version("  THE a\n\n SHALL\tü. ") == words
    assert text_version("THE aSHALL ü.") != words


def test_half_a_character_of_a_broken_file_has_a_version_too() -> None:
    assert text_version("\ud800") != text_version("\ud801")


def test_criteria_and_edge_cases_are_what_is_checked() -> None:
    found = Requirement("01-REQ-1", "A part", "all of it", criteria=(ONE,), edge_cases=(EDGE,))
    assert found.parts == (ONE, EDGE)


def test_a_requirement_without_criteria_is_itself_checked_by_its_text_or_its_title() -> None:
    assert Requirement("01-REQ-1", "A part", "all of it").parts == (Criterion("01-REQ-1", "all of it"),)
    assert Requirement("01-REQ-1", "A part").parts == (Criterion("01-REQ-1", "A part"),)


def test_a_spec_expects_everything_of_all_its_requirements_in_their_order() -> None:
    requirements = (Requirement("01-REQ-1", "A", criteria=(ONE,), edge_cases=(EDGE,)), Requirement("01-REQ-2", "B"))
    spec = Spec("01_a", "agent-fox", "specs/01_a", requirements=requirements)
    assert spec.parts == (ONE, EDGE, Criterion("01-REQ-2", "B"))
    assert spec.expected == ("01-REQ-1.1", "01-REQ-1.E1", "01-REQ-2")
    assert Spec("01_a", "agent-fox", "specs/01_a").expected == ()


def test_details_of_a_requirement_stand_below_its_text() -> None:
    assert with_details("The whole.", "01-REQ-1", ("one", "two")) == "The whole.\nDetails of 01-REQ-1:\n- one\n- two"
    assert with_details("The whole.", "01-REQ-1", ()) == "The whole."


def test_what_stands_nobody_knows_where_stands_in_the_spec() -> None:
    spec = Spec("01_a", "agent-fox", "specs/01_a", places={"task 3.1": "specs/01_a/tasks.md:7"})
    assert (spec.place("task 3.1"), spec.place("group 3")) == ("specs/01_a/tasks.md:7", "specs/01_a")


@pytest.mark.parametrize(
    ("issue", "is_there"),
    [
        (SourceIssue(7), True),
        (SourceIssue(7, "octo/shop"), True),
        (SourceIssue(7, "Octo/Shop", "GitHub.com"), True),
        (SourceIssue(7, "octo/shop", "www.github.com"), True),
        (SourceIssue(7, "", "github.com"), True),
        (SourceIssue(7, "octo/other"), False),
        (SourceIssue(7, "shop"), False),
        (SourceIssue(7, "octo/shop", "git.example.org"), False),
        (SourceIssue(7, "", "git.example.org"), False),
    ],
)
def test_what_an_issue_does_not_name_is_the_places_own(issue: SourceIssue, is_there: bool) -> None:
    assert issue.is_in("github.com/octo/shop") is is_there
    assert issue.is_in("GitHub.com/Octo/Shop") is is_there


@pytest.mark.parametrize(
    ("is_withdrawn", "is_baseline", "is_planned"),
    [(False, False, True), (True, False, False), (False, True, False), (True, True, False)],
)
def test_nothing_is_planned_of_what_was_taken_back_or_is_there_already(
    is_withdrawn: bool, is_baseline: bool, is_planned: bool
) -> None:
    spec = Spec("01_a", "agent-fox", "specs/01_a", is_withdrawn=is_withdrawn, is_baseline=is_baseline)
    assert spec.is_planned is is_planned
