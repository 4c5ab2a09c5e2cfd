"""What a spec expects, and when a text is another text."""

from __future__ import annotations

import hashlib

from agent_fox.core.spec import Criterion, Requirement, Spec, text_version

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
