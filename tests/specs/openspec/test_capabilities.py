"""Requirements with ids made from places, and what is odd about a delta."""

from __future__ import annotations

import pytest

from agent_fox.core.spec import Criterion, Requirement, Severity
from agent_fox.specs.openspec.capabilities import Capability, read_capabilities
from tests.specs.openspec.worlds import ADDED, LOGIN, of_text, told
from tests.specs.worlds import markdown


def problems_of(text: str, severity: Severity = Severity.WARNING) -> list[tuple[str, str]]:
    return told(tuple(read_capabilities([of_text(text)]).problems), severity)


def test_a_part_says_what_shall_be_and_how_it_shows() -> None:
    found = read_capabilities([of_text(ADDED)])
    part = "Login\nThe system SHALL let people in.\nScenario: Right\n- **WHEN** right\n- **THEN** in"
    assert found.requirements == [
        Requirement("1", "Login", "The system SHALL let people in.", (Criterion("1.1", part),)),
    ]
    assert (set(found.expected.implied), found.places) == ({"1", "1.1"}, {"1": "a.md:3", "1.1": "a.md:6"})
    assert found.problems == []


def test_numbers_run_over_capabilities_and_titles_name_them() -> None:
    one, two = (Capability(name, markdown(ADDED)) for name in ("auth", "mail"))
    found = read_capabilities([one, two])
    assert [(r.id, r.title, [c.id for c in r.criteria]) for r in found.requirements] == [
        ("1", "auth: Login", ["1.1"]),
        ("2", "mail: Login", ["2.1"]),
    ]
    assert found.capabilities == {"auth": ["1.1"], "mail": ["2.1"]}
    assert found.problems == []


def test_another_statement_is_another_text_of_every_scenario() -> None:
    (before,) = read_capabilities([of_text(ADDED)]).requirements
    (after,) = read_capabilities([of_text(ADDED.replace("SHALL", "SHALL not"))]).requirements
    assert before.parts[0].text != after.parts[0].text


def test_a_requirement_without_scenarios_is_itself_proven() -> None:
    text = "## ADDED Requirements\n### Requirement: Fast\nIt SHALL be fast.\n"
    (requirement,) = read_capabilities([of_text(text)]).requirements
    assert requirement.parts == (Criterion("1", "Fast\nIt SHALL be fast."),)
    ((where, what),) = problems_of(text)
    assert (where, what.split(":")[0]) == ("a.md:2", 'requirement "Fast" has no scenario')


def test_what_is_taken_back_is_withdrawn_and_moves_no_number() -> None:
    found = read_capabilities([of_text("## REMOVED Requirements\n### Requirement: Old\n**Reason**: x\n" + ADDED)])
    assert ([r.id for r in found.requirements], found.withdrawn) == (["1"], ["2"])
    assert "2" in found.expected.implied
    assert found.places["2"] == "a.md:2"
    assert problems_of("## REMOVED Requirements\n### Requirement: Old\n" + ADDED)[0][1].startswith(
        '"Old" is taken back'
    )


def test_a_title_that_stands_twice_is_an_error_that_names_both_lines() -> None:
    ((where, what),) = problems_of(ADDED + LOGIN.replace("Login", "`login`"), Severity.ERROR)
    assert (where, "in lines 3 and 9" in what) == ("a.md:9", True)


def test_a_title_that_comes_and_goes_is_said() -> None:
    found = problems_of(ADDED + "## REMOVED Requirements\n### Requirement: Login\n")
    assert "taken back here and added in line 3" in found[0][1]


def test_a_requirement_outside_of_sections_counts_as_added() -> None:
    text = "# Delta\n\n" + LOGIN
    assert len(read_capabilities([of_text(text)]).requirements) == 1
    ((where, what),) = problems_of(text)
    assert (where, "outside of any section" in what) == ("a.md:3", True)


def test_a_new_name_alone_proves_nothing_and_is_said() -> None:
    renamed = "## RENAMED Requirements\n- FROM: `### Requirement: Old`\n- TO: `### Requirement: Login`\n"
    assert ["only gets another name" in what for _, what in problems_of(renamed)] == [True]
    assert problems_of(renamed + ADDED.replace("ADDED", "MODIFIED")) == []


def test_a_requirement_written_out_where_it_is_renamed_is_expected() -> None:
    text = "## RENAMED Requirements\n- FROM: Old\n- TO: Login\n" + LOGIN
    assert [r.title for r in read_capabilities([of_text(text)]).requirements] == ["Login"]


def test_empty_scenarios_lost_scenarios_and_headings_that_are_none_are_said() -> None:
    text = "## ADDED Requirements\n#### Scenario: Lost\n### Requirement: A\n#### Scenario: Empty\n### Notes\nx\n"
    assert [where for where, _ in problems_of(text)] == ["a.md:5", "a.md:2", "a.md:4", "a.md:2"]


def test_a_file_without_requirements_is_said() -> None:
    assert problems_of("## ADDED Requirements\n\nNone.\n")[0][0] == "a.md"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            "### Requirement: <!-- name -->\n<!-- text -->\n#### Scenario: <!-- name -->\n- **WHEN** <!-- x -->\n",
            "3, 5",
        ),
        ("### Requirement: [Name]\nIt SHALL\n#### Scenario: <Name>\n- **WHEN** a\n", "3, 5"),
        ("### Requirement 1\nIt SHALL\n#### Scenario: when\n- when a [b]\n", ""),
        ("### Requirement: [REQ-1]\nIt SHALL\n#### Scenario: x [y]\n- a\n", ""),
    ],
)
def test_a_template_that_nobody_filled_in_is_said(text: str, lines: str) -> None:
    found = [what for _, what in problems_of(f"## ADDED Requirements\n\n{text}") if "half-written" in what]
    assert found == ([f"half-written: no more than a template says, in lines {lines}. Fill it in"] if lines else [])
