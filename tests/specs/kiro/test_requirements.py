"""requirements.md of Kiro's kind: which requirements and criteria it holds, in every spelling."""

from __future__ import annotations

import pytest

from agent_fox.specs.kiro.ids import references_of
from tests.specs.kiro.samples import errors, ids, requirements_of, said, shape, texts

HEADINGS = [
    "### Requirement 1",
    "### Requirement 1: Sign in",
    "### Requirement 1 - Sign in",
    "### **Requirement 1: Sign in**",
    "## Requirement #1 Sign in",
    "#### Req 1. Sign in",
    "### 1. Sign in",
    "### 1) Sign in",
    "### 要件 1: ログイン",
    "### 要件1：ログイン",
    "### 要件 １：ログイン",
    "### 需求 1：登录",
    "### Requisito 1 – Entrar",
    "### Exigence 1 : Connexion",
    "### Требование 1. Вход",
    "### Anforderung 1: Anmelden",
    "### Kapacita 1: Přihlášení",
    "**Requirement 1: Sign in**",
    "### 🔐 Requirement 1: Sign in",
    "### Functional Requirement 1: Sign in",
]


@pytest.mark.parametrize("heading", HEADINGS)
def test_a_heading_with_a_number_is_a_requirement_in_any_language_and_rank(heading: str) -> None:
    text = f"# Doc\n\n## Introduction\n\nWords.\n\n{heading}\n\nWords.\n\n1. WHEN a THEN b SHALL c\n2. THE b SHALL d\n"
    assert shape(requirements_of(text)) == {"1": (["1.1", "1.2"], [])}


CRITERIA = [
    "1. A shall\n2. B shall",
    "1) A shall\n2) B shall",
    "1.1 A shall\n1.2 B shall",
    "1.1. A shall\n1.2. B shall",
    "- 1.1 A shall\n- 1.2 B shall",
    "- 1.1: A shall\n- 1.2: B shall",
    "- **1.1** A shall\n- **1.2** B shall",
    "- **1.1:** A shall\n- **1.2:** B shall",
    "* **1.1.** A shall\n* **1.2.** B shall",
    "**1.1** A shall\n\n**1.2** B shall",
    "- A shall\n- B shall",
    "* A shall\n* B shall",
    "+ A shall\n+ B shall",
    "- [ ] A shall\n- [x] B shall",
    "１．A shall\n２．B shall",
    "1. A shall\n1. B shall",
    "  1. A shall\n  2. B shall",
]


@pytest.mark.parametrize("label", ["#### Acceptance Criteria\n\n", "**受入基準:**\n\n", "#### Kriterien\n\n", ""])
def test_criteria_are_numbered_as_they_are_written_or_by_their_places(label: str) -> None:
    before = f"### Requirement 1: T\n\n**User Story:** As a person, I want it.\n\n{label}"
    found = {criteria: texts(f"{before}{criteria}\n") for criteria in CRITERIA}
    assert found == {criteria: {"1.1": "A shall", "1.2": "B shall"} for criteria in CRITERIA}


def test_numbers_in_wide_brackets_are_places() -> None:
    assert ids("### Requirement 1: A\n#### 验收标准\n（1）a\n（2）b\n") == ["1.1", "1.2"]


def test_the_user_story_is_the_text_of_the_requirement() -> None:
    read = requirements_of(
        "### Requirement 1: T\n\n**User Story:** As a cook, I want salt.\n\n1. THE cook SHALL salt\n"
    )
    assert read.requirements[0].title == "T"
    assert read.requirements[0].text == "**User Story:** As a cook, I want salt."


def test_a_requirement_without_criteria_is_itself_what_is_proven() -> None:
    assert texts("### Requirement 1: T\n\nThe app opens.\n\n### Requirement 2: Bare\n") == {
        "1": "The app opens.",
        "2": "Bare",
    }


def test_wrapped_lines_and_what_is_listed_below_belong_to_their_criterion() -> None:
    text = """
    ### Requirement 1

    1. WHEN a person signs in
       THEN the app SHALL show
       - the name
       - the picture

       1. in colour
    2. THE app SHALL end
    """
    assert texts(text) == {
        "1.1": "WHEN a person signs in THEN the app SHALL show\n- the name\n- the picture 1. in colour",
        "1.2": "THE app SHALL end",
    }


def test_bullets_of_one_scenario_are_one_criterion() -> None:
    text = """
    ### Requirement 1: A
    #### Acceptance Criteria
    ##### Scenario: first
    - **Given** a
    - **And** b
    - **When** c
    - **Then** d
    ##### Scenario: second
    - GIVEN e WHEN f THEN g
    - WHEN h
    - THEN i
    - WHEN j THEN k
    - IF l THEN m
    """
    read = texts(text)
    assert list(read.values())[1:] == ["GIVEN e WHEN f THEN g", "WHEN h\n- THEN i", "WHEN j THEN k", "IF l THEN m"]
    assert read["1.1"] == "**Given** a\n- **And** b\n- **When** c\n- **Then** d"


def test_a_list_at_the_same_indentation_belongs_to_the_number_above() -> None:
    assert texts("### Requirement 1\n1. THE app SHALL show:\n- a\n- b\n2. THE app SHALL end\n") == {
        "1.1": "THE app SHALL show:\n- a\n- b",
        "1.2": "THE app SHALL end",
    }


def test_a_number_in_prose_begins_no_criterion() -> None:
    text = (
        "### Requirement 1\n\n1.1 WHEN asked THE app SHALL answer within\n1.5 seconds or\n1.1.1 less\n\n1.2 THE end\n"
    )
    assert texts(text) == {
        "1.1": "WHEN asked THE app SHALL answer within 1.5 seconds or 1.1.1 less",
        "1.2": "THE end",
    }


def test_numbering_that_runs_on_over_sub_headings_is_kept() -> None:
    text = """
    ### Requirement 1
    #### Acceptance Criteria
    **Happy path**
    1. A shall
    2. B shall

    **Errors**
    3. C shall
    ##### More
    4. D shall
    """
    assert (ids(text), requirements_of(text).problems) == (["1.1", "1.2", "1.3", "1.4"], ())


def test_numbering_that_begins_again_is_counted_on_and_said() -> None:
    text = """
    ### Requirement 1
    #### Sign in
    1. A shall
    2. B shall
    #### Sign out
    1. C shall
    2. D shall
    """
    assert texts(text) == {"1.1": "A shall", "1.2": "B shall", "1.3": "C shall", "1.4": "D shall"}
    assert said(requirements_of(text).problems) == [
        (
            "s/requirements.md:6",
            "this list begins at 1 again: counted on, it is 1.3. Number it so, in tasks too",
        )
    ]


def test_a_number_that_stands_twice_is_an_error_that_names_both_lines() -> None:
    read = requirements_of("### Requirement 1\n1. A shall\n2. B shall\n2. C shall\n3. D shall\n")
    assert shape(read) == {"1": (["1.1", "1.2", "1.3", "1.4"], [])}
    assert read.requirements[0].criteria[-1].text == "C shall"
    assert [(p.where, p.what) for p in errors(read.problems)] == [
        ("s/requirements.md:4", "1.2 stands twice: in lines 3 and 4. Give one of them another number")
    ]


def test_a_requirement_that_stands_twice_is_an_error_that_names_both_lines() -> None:
    read = requirements_of("### Requirement 1: A\n1. A shall\n### Requirement 1: B\n1. B shall\n")
    assert [p.what for p in errors(read.problems)] == [
        "1 stands twice: in lines 1 and 3. Give one of them another number"
    ]
    assert [r.title for r in read.requirements] == ["A"]


def test_edge_cases_have_ids_of_their_own() -> None:
    text = """
    ### Requirement 2
    #### Acceptance Criteria
    1. A shall
    #### Edge Cases
    1. B shall
    - below it
    #### Notes
    1. not a criterion
    """
    assert shape(requirements_of(text)) == {"2": (["2.1"], ["2.E1"])}


def test_an_edge_case_may_be_written_with_its_id() -> None:
    assert shape(requirements_of("### Requirement 2\n- 2.1 A shall\n- 2.E1 B shall\n")) == {"2": (["2.1"], ["2.E1"])}


def test_edge_cases_whose_numbers_run_on_are_criteria() -> None:
    text = "### Requirement 2\n**Criteria**\n1. A shall\n2. B shall\n**Edge Cases**\n3. C shall\n"
    assert shape(requirements_of(text)) == {"2": (["2.1", "2.2", "2.3"], [])}


def test_requirements_under_grouping_headings_are_found() -> None:
    text = """
    # Requirements
    ## Phase 1: Basics
    ### Area 1: Accounts
    #### Requirement 1: A
    1. A shall
    ### Area 2: Mail
    1. no criterion of requirement 1
    #### Requirement 2: B
    1. B shall
    """
    assert shape(requirements_of(text)) == {"1": (["1.1"], []), "2": (["2.1"], [])}


def test_glossary_introduction_and_what_is_out_of_scope_are_no_requirements() -> None:
    text = """
    ## 1. Introduction
    - words
    ## 2. Glossary
    1. **App**: it
    ## Out of Scope
    ### Requirement 9: Never
    1. THE app SHALL fly
    ## Requirements
    ### Requirement 1: A
    1. A shall
    """
    assert ids(text) == ["1.1"]


def test_a_requirement_below_what_is_out_of_scope_is_said() -> None:
    read = requirements_of("# R\n## Code Examples\n### Requirement 1: A\n1. a\n## Core\n### Requirement 2: B\n1. b\n")
    what = "'Requirement 1: A' stands below what is out of scope: it is not expected. Move it if it is"
    assert (shape(read), said(read.problems)) == ({"2": (["2.1"], [])}, [("s/requirements.md:3", what)])


def test_the_title_of_the_file_puts_nothing_out_of_scope() -> None:
    read = requirements_of("# Example Browser: Requirements\n### Requirement 1: A\n1. a\n")
    assert (shape(read), read.problems) == ({"1": (["1.1"], [])}, ())


def test_section_numbers_are_not_requirements_where_deeper_ones_hold_the_lists() -> None:
    text = """
    ## 1. Introduction
    - words
    ## 2. Functional Requirements
    ### 2.1 Sign in
    1. A shall
    ### 2.2 Sign out
    1. B shall
    ## 3. Glossary
    - words
    """
    assert shape(requirements_of(text)) == {"2.1": (["2.1.1"], []), "2.2": (["2.2.1"], [])}


def test_ids_that_are_written_are_kept() -> None:
    text = """
    ### REQ-1: Sign in
    1. A shall
    - **REQ-1.2**: B shall
    ### R2: Sign out
    1. C shall
    ### NFR-3
    - **NFR-3.1** THE app SHALL be fast
    """
    read = requirements_of(text)
    assert shape(read) == {"REQ-1": (["REQ-1.1", "REQ-1.2"], []), "R2": (["R2.1"], []), "NFR-3": (["NFR-3.1"], [])}
    assert read.implied == {"REQ-1.1", "R2.1"}


def test_numbers_that_stand_there_are_not_implied() -> None:
    assert requirements_of("### Requirement 1\n1.1 A shall\n1.2 B shall\n").implied == {"1"}
    assert requirements_of("### Requirement 1\n1. A shall\n").implied == {"1", "1.1"}


def test_criteria_ids_that_begin_anew_in_each_requirement_are_places_in_it() -> None:
    text = "### Requirement 1\n- AC-1: A shall\n- AC-2: B shall\n### Requirement 2\n- AC-1: C shall\n"
    assert texts(text) == {"1.1": "A shall", "1.2": "B shall", "2.1": "C shall"}


def test_criteria_ids_that_are_unique_are_kept() -> None:
    assert texts("### Requirement 1\n- **AC-1**: A shall\n### Requirement 2\n- **AC-2**: B shall\n") == {
        "AC-1": "A shall",
        "AC-2": "B shall",
    }


def test_non_functional_requirements_counted_from_one_again_are_a_series_of_their_own() -> None:
    text = """
    ## Functional Requirements
    ### Requirement 1: A
    1. A shall
    ## Non-Functional Requirements
    ### Requirement 1: Speed
    1. B shall
    """
    read = requirements_of(text)
    assert shape(read) == {"1": (["1.1"], []), "NFR-1": (["NFR-1.1"], [])}
    assert errors(read.problems) == []
    assert [p.where for p in read.problems] == ["s/requirements.md:5"]


def test_a_short_word_for_non_functional_requirements_is_known() -> None:
    assert ids("### Requirement 1\n1. A shall\n### NFR 1: Size\n1. B shall\n") == ["1.1", "NFR-1.1"]


def test_what_has_an_id_under_other_headings_is_a_requirement() -> None:
    text = """
    ### Requirement 1: A
    1. A shall
    ## Non-Functional Requirements
    - **NFR-1**: THE app SHALL be fast
    - **NFR-2**: THE app SHALL be small
    """
    assert texts(text) == {"1.1": "A shall", "NFR-1": "THE app SHALL be fast", "NFR-2": "THE app SHALL be small"}


def test_non_functional_lines_without_an_id_are_told() -> None:
    read = requirements_of("### Requirement 1\n1. A shall\n## Non-Functional Requirements\n- Fast\n- Small\n")
    assert [part.id for r in read.requirements for part in r.parts] == ["1.1"]
    assert [problem.where for problem in read.problems] == ["s/requirements.md:4"]


def test_non_functional_lines_under_headings_of_their_own_are_told_too() -> None:
    read = requirements_of("### 要件 1: A\n1. A shall\n## 非機能要件\n### 性能\n1. 速い\n")
    assert [part.id for r in read.requirements for part in r.parts] == ["1.1"]
    assert [problem.where for problem in read.problems] == ["s/requirements.md:5"]


def test_what_the_whole_is_measured_by_is_no_criterion_of_the_last_requirement() -> None:
    assert ids("## Requirement 1: A\n1. A shall\n## Success Criteria\n2. all good\n# Acceptance\n3. all\n") == ["1.1"]


def test_a_label_may_have_the_rank_of_its_requirement() -> None:
    assert ids("## Requirement 1: A\n## Acceptance Criteria\n1. A shall\n## Requirement 2\n1. B shall\n") == [
        "1.1",
        "2.1",
    ]


def test_a_field_of_the_requirement_is_no_part_of_its_last_criterion() -> None:
    assert texts("### Requirement 1\n1. A shall\n\n**Priority:** High\n") == {"1.1": "A shall"}


def test_a_requirement_without_a_title_is_called_as_it_is_numbered() -> None:
    assert [r.title for r in requirements_of("### Requirement 1\n1. A shall\n").requirements] == ["Requirement 1"]


def test_headings_without_numbers_above_acceptance_criteria_are_counted() -> None:
    text = """
    # Requirements
    ## Requirements
    ### Sign in
    #### Acceptance Criteria
    - A shall
    ### Sign out
    #### Acceptance Criteria
    - B shall
    """
    assert texts(text) == {"1.1": "A shall", "2.1": "B shall"}


def test_a_list_without_requirement_headings_is_the_requirements() -> None:
    assert texts("# Doc\n## Requirements\n1. A shall\n2. B shall\n   - more\n") == {
        "1": "A shall",
        "2": "B shall\n- more",
    }


def test_lists_under_several_headings_are_counted_on() -> None:
    read = requirements_of("## Functional Requirements\n- [ ] A\n- [ ] B\n## Acceptance Criteria\n- [ ] C\n- [ ] D\n")
    assert ([r.id for r in read.requirements], read.problems) == (["1", "2", "3", "4"], ())
    read = requirements_of("## Functional Requirements\n1. A\n2. B\n## Non-functional Requirements\n1. C\n2. D\n")
    assert [(r.id, r.text) for r in read.requirements] == [("1", "A"), ("2", "B"), ("3", "C"), ("4", "D")]
    assert said(read.problems) == [
        ("s/requirements.md:5", "this list begins at 1 again: counted on, it is 3. Number it so, in tasks too")
    ]


def test_requirements_of_a_list_may_have_criteria_below_by_their_numbers() -> None:
    read = requirements_of("# Doc\n## Requirements\n- 1.1 A shall\n- 1.2 B shall\n- 2.1 C shall\n")
    assert shape(read) == {"1": (["1.1", "1.2"], []), "2": (["2.1"], [])}


def test_a_criterion_may_have_a_heading() -> None:
    text = """
    ### Requirement 1: A
    #### Requirement 1.1: First
    It shall.
    #### 受入基準 2: Second
    It shall too.
    """
    assert texts(text) == {"1.1": "First It shall.", "1.2": "Second It shall too."}


def test_a_letter_after_a_number_is_a_part_of_it() -> None:
    assert ids("### Requirement 27\n1. A shall\n### Requirement 27A: More\n1. B shall\n") == ["27.1", "27A.1"]


def test_a_letter_after_a_criterion_s_number_is_a_part_of_it() -> None:
    text = "### Requirement 1\n1. A shall\n1a. B shall\n1b. C shall\n2. D\n### Requirement 2\n2.1 E\n2.1a F\n2.2 G\n"
    assert ids(text) == ["1.1", "1.1a", "1.1b", "1.2", "2.1", "2.1a", "2.2"]
    references = references_of(requirements_of(text).requirements)
    assert references.read("1.1a, 1.2, 2.1a").ids == ("1.1a", "1.2", "2.1a")
    assert references.read("1.1, 1.1c").unknown == ("1.1c",)


def test_code_and_comments_hold_no_requirements() -> None:
    text = "### Requirement 1\n1. A shall\n```\n### Requirement 2\n1. no\n```\n<!--\n### Requirement 3\n1. no\n-->\n"
    assert ids(text) == ["1.1"]


def test_line_ends_byte_marks_and_tabs_change_nothing() -> None:
    text = "### Requirement 1\r\n\r\n1.\tA shall\r\n\t- more\r\n2.\tB shall\r\n".replace("\r\n", "\n")
    assert texts(text) == {"1.1": "A shall\n- more", "1.2": "B shall"}


def test_what_was_taken_back_is_not_expected() -> None:
    read = requirements_of(
        "### Requirement 1: A\n1. A shall\n2. ~~B~~\n### Requirement 2: (removed)\n1. C shall\n### ~~Requirement 3~~\n"
    )
    assert (shape(read), read.withdrawn) == ({"1": (["1.1"], [])}, ("1.2", "2", "3"))


def test_a_number_below_another_requirement_is_said() -> None:
    read = requirements_of("### Requirement 1\n1.1 A shall\n### Requirement 2\n3.1 B shall\n")
    assert shape(read) == {"1": (["1.1"], []), "2": (["3.1"], [])}
    assert [p.where for p in read.problems] == ["s/requirements.md:4"]


def test_each_id_has_its_place() -> None:
    read = requirements_of("# Doc\n\n### Requirement 1\n\n1. A shall\n2. B shall\n")
    assert read.places == {"1": "s/requirements.md:3", "1.1": "s/requirements.md:5", "1.2": "s/requirements.md:6"}


@pytest.mark.parametrize(
    "line",
    [
        "#" * 6 + " " + "Requirement " * 20_000,
        "1." * 100_000,
        "- **" + "a" * 200_000,
        "**" * 100_000,
        "### " + "1.1" * 60_000,
        "[" * 200_000,
        "- [ ] " + "AC-" * 60_000,
        "A" * 100_000 + ":",
        "### " + "A-" * 100_000,
        " " * 200_000 + "x",
        "１" * 100_000,
    ],
)
def test_long_lines_are_read_at_once(line: str) -> None:
    requirements_of(f"### Requirement 1\n{line}\n1. A shall\n{line}\n")


def test_a_wrapped_line_that_begins_with_a_number_is_no_criterion_among_bullets() -> None:
    text = (
        "### Requirement 1: A\n#### Acceptance Criteria\n- The box shall hold\n  4.2 metres of rope\n- It shall close\n"
    )
    assert texts(text) == {"1.1": "The box shall hold 4.2 metres of rope", "1.2": "It shall close"}
    listed = "### Requirement 1: A\n#### Acceptance Criteria\n- These:\n  1.1 It shall open\n  1.2 It shall close\n"
    assert texts(listed) == {"1.1": "It shall open", "1.2": "It shall close"}


def test_what_demands_something_below_a_note_is_passed_over_and_said() -> None:
    text = (
        "### Requirement 1: A\n#### Acceptance Criteria\n1. It shall open\n\n"
        "##### Notes\n1. It shall close\n2. Doors are red\n"
    )
    read = requirements_of(text)
    assert [part.id for one in read.requirements for part in one.parts] == ["1.1"]
    (problem,) = read.problems
    assert problem.where == "s/requirements.md:6"
    assert "what stands below a note in 1 is not expected (lines 6)" in problem.what


TABLES = [
    (
        "### R1 — A\n\n**As a** user\n\n| # | Acceptance Criterion |\n|---|---|\n"
        "| 1.1 | a \\| b shall |\n| 1.2 | c shall |\n",
        {"R1.1": "a | b shall", "R1.2": "c shall"},
    ),
    ("### US1 · 创建\n\n#### 验收标准\n\n| # | 标准 |\n|---|---|\n| 1.1 | SHALL a |\n", {"US1.1": "SHALL a"}),
    (
        "### Requirement 1: A\n\n| # | Covers | Criteria |\n|---|---|---|\n| 1 | x | a shall |\n| 2 | y | b shall |\n",
        {"1.1": "a shall", "1.2": "b shall"},
    ),
    (
        "## FR-1: A\n| AC | Criterion |\n|---|---|\n| **AC-1** | a |\n| **AC-2** | b |\n\n"
        "## FR-2: B\n| AC | Criterion |\n|---|---|\n| AC-1 | c |\n",
        {"FR-1.1": "a", "FR-1.2": "b", "FR-2.1": "c"},
    ),
    (
        "# T\n\n## Functional Requirements\n\n| ID | Description | Priority |\n|---|---|---|\n"
        "| FR-001 | a shall | high |\n| FR-002 | b shall | low |\n\n"
        "## Risks\n\n| ID | Requirement |\n|---|---|\n| R1 | slow |\n",
        {"FR-001": "a shall", "FR-002": "b shall"},
    ),
]


@pytest.mark.parametrize(("text", "expected"), TABLES)
def test_rows_of_a_table_are_criteria(text: str, expected: dict[str, str]) -> None:
    read = requirements_of(text)
    assert {part.id: part.text for r in read.requirements for part in r.parts} == expected
    assert read.problems == ()


def test_a_table_is_no_part_of_what_is_said_about_its_requirement() -> None:
    read = requirements_of("### R1: A\n\nWords.\n\n| # | Criteria |\n|---|---|\n| 1.1 | a |\n\nMore.\n")
    assert read.requirements[0].text == "Words. More."


@pytest.mark.parametrize(
    "table",
    [
        "| Requirement | Tested by |\n|---|---|\n| 1.1 | x |\n",
        "| ID | Requirement |\n|---|---|\n| 1.1 | a |\n| FR-7 | b |\n| some | c |\n",
        "| Version | Date |\n|---|---|\n| 1.1 | today |\n",
    ],
)
def test_other_tables_and_those_beside_a_list_are_no_criteria(table: str) -> None:
    text = f"### Requirement 2: A\n1. a shall\n\n{table}\n### Requirement 3: B\n\n{table}\n## Traceability\n\n{table}"
    read = requirements_of(text)
    assert (shape(read), read.problems) == ({"2": (["2.1"], []), "3": ([], [])}, ())


def test_a_table_may_repeat_requirements() -> None:
    table = "| ID | Requirement |\n|---|---|\n| FR-1 | A |\n| FR-2 | only here |\n"
    read = requirements_of(f"## All requirements\n\n{table}\n## FR-1: A\n1. a shall\n\n## Summary\n\n{table}")
    assert (shape(read), read.problems) == ({"FR-1": (["FR-1.1"], []), "FR-2": ([], [])}, ())
