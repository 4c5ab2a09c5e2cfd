"""What spec.md requires is read, in the spellings that people use."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.core.spec import Criterion
from tests.specs.spec_kit.worlds import read

STORIES = """# Feature Specification: Cart

**Feature Branch**: `002-cart`
**Status**: Draft

## User Scenarios & Testing *(mandatory)*

### User Story 1 - Review notes and dependencies (Priority: P1)

As a buyer I keep things.

**Independent Test**: put one in

**Acceptance Scenarios**:

1. **Given** a cart, **When** one thing is put in,
   **Then** it is there
2. **Given** a full cart, **When** one more comes, **Then** it is refused

### User Story 2 - Pay (Priority: P2)

Paying works.
"""


def requirements(text: str) -> str:
    return f"# Feature Specification: Cart\n\n## Requirements\n\n### Functional Requirements\n\n{text}"


def test_a_story_is_a_requirement_with_its_scenarios(tmp_path: Path) -> None:
    spec, problems = read(tmp_path, spec=STORIES)
    first, second = spec.requirements
    assert (spec.title, problems) == ("Cart", [])
    assert (first.id, first.title) == ("US1", "Review notes and dependencies")
    assert first.criteria[0] == Criterion(
        "US1.1", "**Given** a cart, **When** one thing is put in, **Then** it is there"
    )
    assert second.parts == (Criterion("US2", "Pay\nPaying works."),)
    assert spec.implied == {"US1", "US1.1", "US1.2", "US2"}
    assert spec.place("US1.2") == "specs/002-cart/spec.md:18"


@pytest.mark.parametrize(
    ("heading", "label"),
    [
        ("### ユーザーストーリー 1 - 買う (優先度: P1)", "**受け入れシナリオ**:"),
        ("### 用户故事 1：买（优先级：P1）", "**验收场景**："),
        ("### 用户故事 １：买", "**验收场景**："),
        ("### História de Usuário 1 - Comprar (Prioridade: P1)", "**Cenários de aceitação**:"),
        ("### Récit utilisateur 1 – Acheter (Priorité : P1)", "**Scénarios d’acceptation** :"),
        ("### Пользовательская история 1 — Купить (Приоритет: P1)", "**Сценарии приемки**:"),
        ("### 사용자 스토리 1 - 사기 (우선순위: P1)", "**인수 시나리오**:"),
        ("### Kisah 1 - Beli (Keutamaan: P1)", "**Apa yang berlaku**:"),
        ("## US1: Buy", "#### Acceptance Criteria"),
        ("### User Story 1 (P1): Buy", "__Acceptance Scenarios:__"),
    ],
)
def test_stories_are_told_in_any_language(tmp_path: Path, heading: str, label: str) -> None:
    text = f"# Spec\n\n## Etwas\n\n{heading}\n\nWords.\n\n{label}\n\n1. one holds\n2. two holds\n"
    spec, _ = read(tmp_path, spec=text)
    assert spec.expected == ("US1.1", "US1.2")


def test_steps_on_lines_of_their_own_are_one_scenario(tmp_path: Path) -> None:
    steps = "- **Given** a\n- **When** b\n- **Then** c\n- **And** d\n- **Given** e, **When** f, **Then** g\n"
    spec, _ = read(tmp_path, spec=f"# S\n\n### User Story 1 - T\n\n**Acceptance Scenarios**:\n\n{steps}")
    assert [part.text for part in spec.parts] == [
        "**Given** a\n**When** b\n**Then** c\n**And** d",
        "**Given** e, **When** f, **Then** g",
    ]


def test_steps_below_headings_of_their_own_are_whole_scenarios(tmp_path: Path) -> None:
    steps = (
        "#### One\n\n- **GIVEN** a\n- **WHEN** b\n- **THEN** c\n\n#### Two\n\n- **WHEN** d\n- **THEN** e\n- **AND** f\n"
    )
    story = "### User Story 1 - T\n\nBut it is told.\n\n**Acceptance Scenarios**:\n\n"
    spec, _ = read(tmp_path, spec=f"# S\n\n{story}{steps}")
    assert [part.text for part in spec.parts] == [
        "**GIVEN** a\n**WHEN** b\n**THEN** c",
        "**WHEN** d\n**THEN** e\n**AND** f",
    ]


def test_a_plain_label_for_scenarios_is_none_itself(tmp_path: Path) -> None:
    spec, _ = read(tmp_path, spec="# S\n\n### User Story 1 - T\n\nAcceptance Scenarios:\n\nGiven a, when b, then c.\n")
    assert [part.text for part in spec.parts] == ["Given a, when b, then c."]


def test_a_story_with_a_letter_is_known_by_it(tmp_path: Path) -> None:
    text = (
        "# S\n\n### User Story 1 - A\n\na\n\n### User Story 1a - B (Priority: P1)\n\nb\n\n### User Story 2A: C\n\nc\n"
    )
    spec, problems = read(tmp_path, spec=text)
    assert [(part.id, requirement.title) for requirement in spec.requirements for part in requirement.parts] == [
        ("US1", "A"),
        ("US1a", "B"),
        ("US2A", "C"),
    ]
    assert problems == []


def test_the_older_form_is_one_story(tmp_path: Path) -> None:
    text = "# S\n\n## User Scenarios & Testing\n\n### Primary User Story\n\nAs a buyer I pay.\n\n"
    scenarios = "### Acceptance Scenarios\n\n1. **Given** a, **When** b, **Then** c\n"
    spec, _ = read(tmp_path, spec=text + scenarios)
    assert spec.expected == ("US1.1",)
    assert spec.requirements[0].title == "As a buyer I pay."


def test_a_story_without_a_number_of_its_own_is_counted(tmp_path: Path) -> None:
    spec, problems = read(tmp_path, spec="# S\n\n### User Story 1 - A\n\na\n\n### User Story 1 - B\n\nb\n")
    assert spec.expected == ("US1", "US2")
    assert problems == ["spec.md:7 user story 1 stands twice: this one is known as US2 here. Renumber one"]
    dotted, said = read(tmp_path, spec="# S\n\n### US-8.1: A\n\na\n\n### US-8.2: B\n\nb\n")
    assert (dotted.expected, said) == (("US1", "US2"), [])


@pytest.mark.parametrize(
    ("line", "identifier", "text"),
    [
        ("- **FR-001**: System MUST sell", "FR-001", "System MUST sell"),
        ("- FR-001: System MUST sell", "FR-001", "System MUST sell"),
        ("* **FR-001 (MUST)**: sell", "FR-001", "(MUST): sell"),
        ("+\tFR-001 sell", "FR-001", "sell"),
        ("**FR-001**：销售", "FR-001", "销售"),
        ("- [ ] **NFR-12** — sell", "NFR-12", "sell"),
        ("1. **FR-AUTH-001:** sell", "FR-AUTH-001", "sell"),
        ("- **FR-001a**: sell", "FR-001a", "sell"),
        ("- **FR-001A**: sell", "FR-001A", "sell"),
        ("- **FR-001** *(new)*: sell", "FR-001", "*(new)*: sell"),
        ("- `FR-001` - `sell` it", "FR-001", "`sell` it"),
        ("- [FR-001]: _sell_", "FR-001", "_sell_"),
        ("- **FR-001**: ~~rent~~ **Amended.** It MUST sell", "FR-001", "~~rent~~ Amended. It MUST sell"),
        ("- **FR-001**: ~~rent~~ (removed) It MUST sell", "FR-001", "~~rent~~ (removed) It MUST sell"),
        ("- **FR-001**: ~~rent~~ Replaced: it MUST sell", "FR-001", "~~rent~~ Replaced: it MUST sell"),
        ("- **FR-1.2**: sell", "FR-1.2", "sell"),
        ("- **FR\u2011001**: sell", "FR-001", "sell"),
        ("- **FR-001-API**: sell", "FR-001-API", "sell"),
        ("- **PERF-001**: sell", "PERF-001", "sell"),
        ("#### FR-001: Selling\n\nsell", "FR-001", "Selling\nsell"),
        ("| ID | Requirement | Priority |\n|---|---|---|\n| FR-001 | sell \\| buy | P0 |", "FR-001", "sell | buy"),
        ("- **FR-001**: sell\n  much\n  - and more", "FR-001", "sell much\n- and more"),
    ],
)
def test_statements_are_read_in_every_spelling(tmp_path: Path, line: str, identifier: str, text: str) -> None:
    spec, problems = read(tmp_path, spec=requirements(line + "\n"))
    assert spec.parts == (Criterion(identifier, text),)
    assert (spec.implied, problems) == (frozenset(), [])


def test_mentions_are_no_statements(tmp_path: Path) -> None:
    text = requirements("- **FR-001**: sell\n- **FR-002**: buy\n") + (
        "\n## Assumptions\n\n- **A-001**: people buy\n- FR-001: as said\n"
        "\n## Traceability\n\n| FR | Task |\n|---|---|\n| FR-002 | T001 |\n"
        "\n## Review & Acceptance Checklist\n\n- [ ] no [NEEDS CLARIFICATION] markers\n- [x] done\n"
        "\n## Overview\n\nFR-001 to FR-002 matter.\n- FR-001, FR-002: all\n\n```\n- **FR-003**: sample\n```\n"
        "<!-- - **FR-004**: sample -->\n"
    )
    spec, problems = read(tmp_path, spec=text)
    assert (spec.expected, problems) == (("FR-001", "FR-002"), [])


def test_an_id_declared_twice_is_an_error_that_names_both_lines(tmp_path: Path) -> None:
    _, problems = read(tmp_path, spec=requirements("- **FR-001**: sell\n- **FR-001**: buy\n"))
    assert problems == ["spec.md:8 FR-001 is declared twice: in lines 7 and 8. Give one of them another id"]


def test_what_a_story_says_it_fulfils_is_declared_elsewhere(tmp_path: Path) -> None:
    text = (
        STORIES + "\n**Functional Requirements**:\n\n- **FR-001**: see below\n\n## Requirements\n\n- **FR-001**: sell\n"
    )
    spec, problems = read(tmp_path, spec=text)
    assert (spec.parts[-1], problems) == (Criterion("FR-001", "sell"), [])


def test_what_was_taken_back_is_not_expected(tmp_path: Path) -> None:
    spec, problems = read(
        tmp_path, spec=requirements("- ~~**FR-001**: sell~~\n- **FR-002**: REMOVED\n- **FR-003**: buy\n")
    )
    assert (spec.expected, spec.withdrawn, len(problems)) == (("FR-003",), ("FR-001", "FR-002"), 2)


@pytest.mark.parametrize(
    "text",
    [
        "~~sell~~",
        "~~sell in ~2 s~~ (see FR-003 (below))",
        "~~sell~~ **[REMOVED]**",
        "~~sell~~ **Withdrawn 2026-07-26** — nobody buys",
        "~~sell~~ *Superseded by FR-003a.*",
        "~~Removed~~ — nobody buys",
    ],
)
def test_a_text_that_is_struck_out_beside_its_id_is_not_expected(tmp_path: Path, text: str) -> None:
    spec, problems = read(tmp_path, spec=requirements(f"- **FR-001**: {text}\n- **FR-002**: buy\n"))
    assert (spec.expected, spec.withdrawn) == (("FR-002",), ("FR-001",))
    assert problems == ["spec.md:7 FR-001 was taken back and is not expected"]


def test_requirements_without_ids_are_counted(tmp_path: Path) -> None:
    spec, _ = read(tmp_path, spec="# S\n\n## Requirements\n\n- sell\n- buy\n")
    assert [(part.id, part.text) for part in spec.parts] == [("1", "sell"), ("2", "buy")]
    assert spec.implied == {"1", "2"}


def test_a_spec_with_acceptance_boxes_alone_counts_these(tmp_path: Path) -> None:
    spec, _ = read(tmp_path, spec="# S\n\n## Acceptance Criteria\n\n- [ ] it sells\n- [x] it buys\n")
    assert spec.expected == ("1", "2")


def test_items_without_an_id_below_others_are_their_details(tmp_path: Path) -> None:
    spec, problems = read(tmp_path, spec=requirements("- **FR-001**: sell\n- more\n- **FR-002**: buy\n"))
    assert [(one.id, one.text, one.details) for one in spec.requirements] == [
        ("FR-001", "sell\nDetails of FR-001:\n- more", ("more",)),
        ("FR-002", "buy", ()),
    ]
    assert problems == []


def test_items_without_an_id_above_all_others_are_said(tmp_path: Path) -> None:
    spec, problems = read(tmp_path, spec=requirements("- more\n- **FR-001**: sell\n"))
    assert spec.expected == ("FR-001",)
    assert problems == ["spec.md:7 no id, among statements that have one: line 7. Not expected; give ids to what is"]


def test_an_id_may_stand_at_the_end_of_its_statement(tmp_path: Path) -> None:
    text = "- The shop MUST sell. (FR-001)\n- **FR-002**: buy, see **FR-001**\n- The shop MUST\n  lend.\n  **FR-003**\n"
    spec, problems = read(tmp_path, spec=requirements(text))
    assert [(part.id, part.text) for part in spec.parts] == [
        ("FR-001", "The shop MUST sell."),
        ("FR-002", "buy, see FR-001"),
        ("FR-003", "The shop MUST lend."),
    ]
    assert problems == []


@pytest.mark.parametrize(
    ("text", "is_expected", "said"),
    [
        ("What happens if X? (Validation prevents it)", True, ""),
        ("How does it handle Y? → It retries", True, ""),
        ("**What happens when A?** The shop closes", True, ""),
        ("What happens if X? (Out of scope)", False, "out of scope"),
        ("A user deletes the account (Out of scope)", False, "out of scope"),
        ("What happens if it is offline? Out of scope for v1.", False, "out of scope"),
        ("What happens if X?", False, "questions"),
        ("What happens if X? (TBD)", False, "questions"),
        ("What happens if X? (Is it prevented?)", False, "questions"),
        ("Out of scope resources return 404", True, ""),
        ("The shop asks 'Are you sure?' and waits", True, ""),
    ],
)
def test_an_edge_case_counts_by_its_answer(tmp_path: Path, text: str, is_expected: bool, said: str) -> None:
    spec, problems = read(tmp_path, spec=f"{requirements('- **FR-001**: sell')}\n\n### Edge Cases\n\n- {text}\n")
    assert spec.expected == (("FR-001", "EC.E1") if is_expected else ("FR-001",))
    assert [said in problem for problem in problems] == ([] if is_expected else [True])


def test_edge_cases_with_an_answer_are_expected_and_questions_are_named(tmp_path: Path) -> None:
    text = STORIES + (
        "\n### Edge Cases\n\n- What happens at midnight?\n- What if it is full? It is refused.\n"
        "- **EC-009**: stock ends: told\n- How does the system handle load\n"
    )
    spec, problems = read(tmp_path, spec=text)
    assert [(part.id, part.text) for part in spec.parts[3:]] == [
        ("EC.E1", "What if it is full? It is refused."),
        ("EC-009", "stock ends: told"),
    ]
    assert problems == ["spec.md:26 questions, with nothing to prove: lines 26 and 29. Write what is to happen"]


def test_bold_words_name_an_edge_case(tmp_path: Path) -> None:
    spec, _ = read(tmp_path, spec="# S\n\n## Edge Cases\n\n**Empty**: refused\n**Full**: told\n\n- late: lost\n")
    assert [part.text for part in spec.parts] == ["Empty: refused", "Full: told", "late: lost"]


HEAD = "# S\n\n### User Story 1 - A\n\n**Acceptance Scenarios**:\n\n"


def test_a_scenario_may_be_a_block_of_its_own(tmp_path: Path) -> None:
    blocks = "**Scenario 1: Up**\n```gherkin\nGiven a\nThen b\n```\n\n**Scenario 2: Down**\n\nGiven c, then d.\n"
    spec, _ = read(tmp_path, spec=HEAD + blocks)
    assert spec.parts == (
        Criterion("US1.1", "Scenario 1: Up: ```gherkin\nGiven a\nThen b\n```"),
        Criterion("US1.2", "Scenario 2: Down: Given c, then d."),
    )


def test_a_scenario_keeps_the_id_that_is_written(tmp_path: Path) -> None:
    blocks = "AS-001: Down\n- **Given:** c\n- **When:** d\n- **Then:** e\n\n- **AC-1.2**: **Given** f, **Then** g\n"
    spec, _ = read(tmp_path, spec=HEAD + blocks)
    assert spec.parts == (
        Criterion("AS-001", "Down\n**Given:** c\n**When:** d\n**Then:** e"),
        Criterion("AC-1.2", "Given f, Then g"),
    )


def test_success_criteria_are_expected_with_and_without_ids(tmp_path: Path) -> None:
    spec, _ = read(tmp_path, spec="# S\n\n## Success Criteria\n\n### Measurable Outcomes\n\n- **SC-001**: fast\n")
    assert spec.expected == ("SC-001",)
    spec, _ = read(tmp_path, spec="# S\n\n## Success Criteria\n\n- fast\n- cheap\n")
    assert spec.expected == ("SC.1", "SC.2")


def test_open_questions_are_said_and_planned_all_the_same(tmp_path: Path) -> None:
    spec, problems = read(tmp_path, spec=requirements("- **FR-001**: sell to [NEEDS CLARIFICATION: whom?]\n"))
    assert spec.expected == ("FR-001",)
    assert problems == ["spec.md:7 needs clarification: whom? Planned as it stands; answer it in the text"]


def test_a_template_that_is_not_filled_in_is_half_written(tmp_path: Path) -> None:
    _, problems = read(
        tmp_path, spec="# Feature Specification: [FEATURE NAME]\n\n### User Story 1 - [Brief Title]\n\nx\n"
    )
    assert problems == [
        "spec.md:1 half-written: the template's words `[FEATURE NAME]` and such stand in lines 1 and 3. Replace them"
    ]


def test_windows_files_read_the_same(tmp_path: Path) -> None:
    folder = tmp_path / "specs" / "001-a"
    folder.mkdir(parents=True)
    plain, _ = read(tmp_path, name="001-a", spec=STORIES)
    (folder / "spec.md").write_bytes(b"\xef\xbb\xbf" + STORIES.replace("\n", "\r\n").encode())
    windows, problems = read(tmp_path, name="001-a")
    assert (windows.requirements, problems) == (plain.requirements, [])


def test_a_line_of_question_marks_is_read_in_one_pass(tmp_path: Path) -> None:
    spec, problems = read(tmp_path, spec="# S\n\n### Edge Cases\n\n- " + "?_" * 200_000 + "a\n- Full?**\n")
    assert (len(spec.expected), len(problems)) == (1, 1)


def test_scenarios_under_a_heading_of_their_own_go_on_with_those_of_the_only_story(tmp_path: Path) -> None:
    """A list that is told in steps is one of scenarios, whatever its heading says; other lists there are not."""
    found, _ = read(
        tmp_path,
        spec="# Feature Specification: Bell\n\n## User Scenarios & Testing\n\n"
        "### Primary User Story\n\nA guest rings.\n\n"
        "### Acceptance Scenarios\n\n1. **Given** a bell, **When** it is pulled, **Then** it rings\n\n"
        "### Scenarios of the night\n\n2. **Given** it is dark, **When** it is pulled, **Then** a lamp is lit\n\n"
        "### Visitors\n\n- Guests\n- Neighbours\n",
    )
    assert {part.id: part.text for part in found.requirements[0].criteria} == {
        "US1.1": "**Given** a bell, **When** it is pulled, **Then** it rings",
        "US1.2": "**Given** it is dark, **When** it is pulled, **Then** a lamp is lit",
    }


def test_a_statement_that_was_taken_back_has_its_place(tmp_path: Path) -> None:
    found, _ = read(
        tmp_path, spec=requirements("- **FR-001**: System MUST ring\n- ~~**FR-002**: System MUST whistle~~\n")
    )
    assert (found.withdrawn, found.places["FR-002"].rpartition(":")[2]) == (("FR-002",), "8")
