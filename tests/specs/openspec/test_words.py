"""What headings say, in several languages."""

from __future__ import annotations

import pytest

from agent_fox.specs.openspec.deltas import (
    Operation,
    bare_name,
    requirement_title,
    same,
    scenario_in_line,
    scenario_title,
    section_of,
)


@pytest.mark.parametrize(
    ("title", "read"),
    [
        ("Requirement: Login", "Login"),
        ("REQUIREMENT : Login ##", "Login"),
        ("**Requirement:** Login", "Login"),
        ("Requirement 3: Login", "Login"),
        ("Requirement 1 — Login", "Login"),
        ("Requirement AUTH-REQ-3: Login", "AUTH-REQ-3: Login"),
        ("需求：登录", "登录"),
        ("需求1：登录", "登录"),
        ("要件: ログイン", "ログイン"),
        ("Requisito: Entrar", "Entrar"),
        ("Requirement: `Room.Create` makes a room", "`Room.Create` makes a room"),
        ("Requirements", None),
        ("Requirements: all", None),
        ("Login", None),
    ],
)
def test_a_requirement_heading_is_known_by_its_word(title: str, read: str | None) -> None:
    assert requirement_title(title) == read


@pytest.mark.parametrize(
    ("title", "read"),
    [
        ("Scenario: Right", "Right"),
        ("scenario Outline: Right", "Right"),
        ("Scenario 2: Right", "Right"),
        ("Scenario", ""),
        ("场景：登出", "登出"),
        ("シナリオ: 失敗", "失敗"),
        ("Cenário: Certo", "Certo"),
        ("Сценарий: Вход", "Вход"),
        ("Scenarios", None),
        ("Notes", None),
    ],
)
def test_a_scenario_heading_is_known_by_its_word(title: str, read: str | None) -> None:
    assert scenario_title(title) == read


@pytest.mark.parametrize(
    ("title", "operation"),
    [
        ("ADDED Requirements", Operation.ADDED),
        ("Added requirements (Phase 1)", Operation.ADDED),
        ("MODIFIED Requirements — auth", Operation.MODIFIED),
        ("ADDED Requirements (renamed from x)", Operation.ADDED),
        ("REMOVED", Operation.REMOVED),
        ("RENAMED Requirements", Operation.RENAMED),
        ("新增需求", Operation.ADDED),
        ("修改需求", Operation.MODIFIED),
        ("移除需求", Operation.REMOVED),
        ("重命名需求", Operation.RENAMED),
        ("追加要件", Operation.ADDED),
        ("Requisitos Modificados", Operation.MODIFIED),
        ("Requirements", Operation.STATED),
        ("要件", Operation.STATED),
        ("Purpose", None),
        ("Modified Capabilities", None),
        ("Requirement: Added things are shown", None),
    ],
)
def test_a_section_says_what_happens_to_the_requirements_below_it(title: str, operation: Operation | None) -> None:
    assert section_of(title) == operation


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("**Scenario: Right**", "Right"),
        ("**Scenario**: Right", "Right"),
        ("- **Scenario:** Right", "Right"),
        ("  * Scenario: Right", "Right"),
        ("**Scenario:**", ""),
        ("**场景：登出**", "登出"),
        ("the scenario: no", None),
        ("- **WHEN** x", None),
    ],
)
def test_a_scenario_may_begin_in_a_line_that_is_no_heading(line: str, title: str | None) -> None:
    assert scenario_in_line(line) == title


def test_titles_are_compared_without_case_space_and_marks() -> None:
    assert same("The  `Login`  **page**") == same("the login PAGE")


@pytest.mark.parametrize("text", ["`### Requirement: Old`", "### Requirement: Old", "Old", "`Old`", "Requirement: Old"])
def test_a_name_in_a_list_may_be_written_as_a_heading(text: str) -> None:
    assert bare_name(text) == "Old"


@pytest.mark.parametrize(
    ("title", "operation"),
    [
        ('Add new requirement after "Keys removed when lost"', Operation.ADDED),
        ("Add requirement `Deleted keys`", Operation.ADDED),
        ('Update "Added bells" requirement', Operation.MODIFIED),
        ("Remove the requirement “New keys”", Operation.REMOVED),
        ("ADDED Requirements (renamed from Keys)", Operation.ADDED),
    ],
)
def test_what_stands_in_quotes_is_no_operation(title: str, operation: Operation) -> None:
    assert section_of(title) is operation
