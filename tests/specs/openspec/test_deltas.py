"""A capability's file, cut into requirements and scenarios."""

from __future__ import annotations

import pytest

from agent_fox.specs.openspec.deltas import Delta, Renamed, read_delta
from tests.specs.worlds import markdown


def read(text: str) -> Delta:
    return read_delta(markdown(text).lines)


def shape(text: str) -> list[tuple[str, str, list[str]]]:
    return [(d.operation.value, d.title, [s.title for s in d.scenarios]) for d in read(text).drafts]


def test_sections_say_what_is_added_modified_and_removed() -> None:
    text = (
        "# Delta\n\n## ADDED Requirements\n### Requirement: A\n#### Scenario: S\n"
        "## Modified Requirements\n### Requirement: B\n## REMOVED Requirements\n### Requirement: C\n**Reason**: old\n"
    )
    assert shape(text) == [("added", "A", ["S"]), ("modified", "B", []), ("removed", "C", [])]


def test_a_section_may_stand_twice() -> None:
    text = "## ADDED Requirements\n### Requirement: A\n## added requirements\n### Requirement: B\n"
    assert shape(text) == [("added", "A", []), ("added", "B", [])]


def test_another_heading_ends_a_section() -> None:
    text = "## ADDED Requirements\n### Requirement: A\n## Acceptance summary\n### CA-1: Fast\ntext\n"
    assert shape(text) == [("added", "A", [])]


def test_a_statement_goes_over_lines_and_a_scenario_has_its_fence() -> None:
    (draft,) = read(
        "## ADDED Requirements\n### Requirement: A\nIt SHALL\nwork.\n\n- one\n- two\n\n---\n\n"
        '#### Scenario: S\n- **WHEN** x\n  goes on\n```json\n{"a": 1}\n```\n'
    ).drafts
    assert draft.text == "It SHALL work.\n- one\n- two"
    assert draft.scenarios[0].text == '- **WHEN** x goes on\n```json\n{"a": 1}\n```'


def test_sections_and_requirements_in_fences_are_text() -> None:
    text = "## ADDED Requirements\n### Requirement: A\n```md\n## REMOVED Requirements\n### Requirement: B\n```\n"
    assert shape(text) == [("added", "A", [])]


@pytest.mark.parametrize(
    "heading", ["### Scenario: S", "#### Scenario: S", "##### Scenario: S", "**Scenario: S**", "- **Scenario: S**"]
)
def test_a_scenario_is_found_at_the_wrong_rank_too(heading: str) -> None:
    text = f"## ADDED Requirements\n### Requirement: A\nIt SHALL.\n{heading}\n- WHEN x\n- THEN y\n"
    (draft,) = read(text).drafts
    assert (draft.text, [(s.title, s.text) for s in draft.scenarios]) == (
        "It SHALL.",
        [("S", "- WHEN x\n- THEN y")],
    )


def test_gherkin_in_a_fence_is_scenarios_where_there_are_no_others() -> None:
    text = (
        "## ADDED Requirements\n### Requirement: A\nIt SHALL.\n```gherkin\nScenario: One\n  Given x\n"
        "Scenario Outline: Two\n  Given y\n```\n"
    )
    assert shape(text) == [("added", "A", ["One", "Two"])]


def test_headings_in_any_language_count_by_their_rank() -> None:
    text = "## ADDED Requirements\n### Wymóg: A\nMusi.\n#### Gdy: S\n- gdy x\n### Wymóg: B\n#### Gdy: T\n"
    assert shape(text) == [("added", "Wymóg: A", ["Gdy: S"]), ("added", "Wymóg: B", ["Gdy: T"])]


def test_chinese_and_japanese_sections_are_read() -> None:
    text = "## 修改需求\n### 需求：登录\n必须。\n#### 场景：成功\n## 追加要件\n### 要件: 出る\n#### シナリオ: 良い\n"
    assert shape(text) == [("modified", "登录", ["成功"]), ("added", "出る", ["良い"])]


def test_an_id_or_scenarios_make_a_heading_without_the_word_a_requirement() -> None:
    text = (
        "## ADDED Requirements\n### Requirement: A\n### REQ-2: B\nIt SHALL.\n### Also this\n#### Scenario: S\n"
        "### Notes\nnothing\n"
    )
    delta = read(text)
    assert [draft.title for draft in delta.drafts] == ["A", "REQ-2: B", "Also this"]
    assert [draft.title for draft in delta.asides] == ["Notes"]


def test_requirements_may_stand_a_rank_higher_or_lower() -> None:
    assert shape("## Requirement 1 — A\n### Scenario: S\n- x\n") == [("stated", "A", ["S"])]
    assert shape("# auth\n## auth\n### ADDED Requirements\n#### Requirement: A\n##### Scenario: S\n") == [
        ("added", "A", ["S"])
    ]


def test_a_heading_that_only_divides_requirements_is_none() -> None:
    delta = read("## ADDED Requirements\n### Documentation Requirements\n\n### Requirement: A\n#### Scenario: S\n- x\n")
    assert ([d.title for d in delta.drafts], [d.title for d in delta.asides]) == (["A"], ["Documentation Requirements"])
    delta = read("## ADDED Requirements\n### Docs\n#### Requirement: A\n##### Scenario: S\n- x\n")
    assert [(d.title, [s.title for s in d.scenarios]) for d in delta.drafts] == [("A", ["S"])]


def test_other_headings_below_a_requirement_are_its_text() -> None:
    (draft,) = read(
        "## ADDED Requirements\n### Requirement: A\nIt SHALL.\n#### Scenario: S\n- x\n##### Why\nso\n#### Limits\nten\n"
    ).drafts
    assert draft.text == "It SHALL. Limits ten"
    assert [(s.title, s.text) for s in draft.scenarios] == [("S", "- x Why so")]


def test_explanations_below_a_requirement_are_no_scenarios() -> None:
    assert shape("## ADDED Requirements\n### Requirement: A\n#### Success\n- x\n#### Rationale\nso\n") == [
        ("added", "A", ["Success"])
    ]


def test_a_file_without_any_section_is_read_by_its_ranks() -> None:
    assert shape("# auth\n## Moduł\n### Logowanie\nMusi.\n#### Dobre hasło\n- x\n### Uwagi\nnic\n") == [
        ("stated", "Logowanie", ["Dobre hasło"])
    ]


def test_requirements_are_taken_back_in_lists_too() -> None:
    text = "## REMOVED Requirements\n- `### Requirement: A`\n* **B** - not used\n- Requirement: C\n+ D: gone\n- None\n"
    assert shape(text) == [("removed", "A", []), ("removed", "B", []), ("removed", "C", []), ("removed", "D", [])]


def test_a_section_that_says_none_holds_nothing() -> None:
    assert shape("## ADDED Requirements\n### Requirement: A\n## REMOVED Requirements\n\n(none)\n- N/A\n") == [
        ("added", "A", [])
    ]


@pytest.mark.parametrize("mark", ["- ", "* ", "+ ", "", "- **"])
def test_renamings_are_pairs(mark: str) -> None:
    text = f"## RENAMED Requirements\n{mark}FROM: `### Requirement: Old`\n{mark}TO: `### Requirement: New`\n"
    delta = read(text)
    assert (delta.renamed, delta.half_renamed, delta.drafts) == ([Renamed("Old", "New", 2)], [], [])


def test_half_a_renaming_is_none() -> None:
    delta = read("## RENAMED Requirements\n- TO: X\n- FROM: A\n- FROM: B\n- TO: C\n- FROM: D\n## Notes\n")
    assert (delta.renamed, delta.half_renamed) == ([Renamed("B", "C", 4)], [2, 3, 6])


def test_a_scenario_without_a_requirement_is_lost() -> None:
    delta = read("## ADDED Requirements\n#### Scenario: S\n- x\n### Requirement: A\n#### Scenario: T\n- y\n")
    assert [(draft.title, draft.line, draft.text) for draft in delta.alone] == [("S", 2, "")]
    assert [(draft.title, [each.text for each in draft.scenarios]) for draft in delta.drafts] == [
        ("S", ["- x"]),
        ("A", ["- y"]),
    ]


def test_a_scenario_of_a_chapter_that_names_a_requirement_is_one_of_its() -> None:
    text = "## REQ-A-1: A\nIt SHALL.\n## Scenarios\n### SCENARIO-7: S\n- x\n- for REQ-A-1\n"
    assert shape(text) == [("stated", "REQ-A-1: A", ["SCENARIO-7: S"])]


def test_a_heading_may_say_what_is_done_with_its_one_requirement() -> None:
    text = "## Later\n### MODIFIED Requirement: A\nIt SHALL.\n#### Scenario: S\n- x\n### REMOVED Requirement: B\n"
    assert shape(text) == [("modified", "A", ["S"]), ("removed", "B", [])]


def test_numbered_acceptance_criteria_are_proven_one_by_one() -> None:
    text = (
        "## ADDED Requirements\n### Requirement 1: A\n**User Story:** As one\n#### Acceptance Criteria\nAll of:\n\n"
        "1. WHEN a, THE b SHALL c\n   and d\n   - e\n2. IF f, THEN g\n#### Notes\nh\n"
    )
    (draft,) = read(text).drafts
    assert draft.text == "**User Story:** As one Notes h All of:"
    assert [(s.title, s.line, s.text) for s in draft.scenarios] == [
        ("", 7, "WHEN a, THE b SHALL c and d\n- e"),
        ("", 10, "IF f, THEN g"),
    ]


def test_acceptance_criteria_beside_scenarios_are_text_of_the_requirement() -> None:
    text = "## ADDED Requirements\n### Requirement: A\n#### 验收标准\n1. a\n#### Scenario: B\n- b\n"
    (draft,) = read(text).drafts
    assert ([s.title for s in draft.scenarios], draft.text) == (["B"], "验收标准 1. a")


@pytest.mark.parametrize("heading", ["~~Requirement: Old~~", "Requirement: ~~Old~~ (see New)"])
def test_a_requirement_that_is_struck_out_is_taken_back(heading: str) -> None:
    text = f"## ADDED Requirements\n### {heading}\n#### Scenario: A\n- a\n### Requirement: New\n#### Scenario: B\n- b\n"
    assert shape(text) == [("removed", "Old", ["A"]), ("added", "New", ["B"])]


def test_a_scenario_that_is_struck_out_is_not_expected() -> None:
    text = "## ADDED Requirements\n### Requirement: New\n#### ~~Scenario: A~~\n- a\n#### Scenario: B\n- b\n"
    assert (shape(text), read(text).struck) == ([("added", "New", ["B"])], [3])
