"""bugfix.md: what is expected and what stays is to be proven; the defect is not."""

from __future__ import annotations

import pytest

from agent_fox.specs.kiro.references import references_of
from tests.specs.kiro.samples import bugfix_of, shape, tasks_of

BUGFIX = """
# Bugfix Requirements Document

## Introduction

The list is empty after a restart. The current behavior is bad.

## Bug Analysis

### Current Behavior (Defect)

1.1 WHEN the app restarts THEN the list is empty

1.2 WHEN a row is added THEN it is lost

### Expected Behavior (Correct)

2.1 WHEN the app restarts THEN the app SHALL show
the list

2.2 WHEN a row is added THEN the app SHALL keep it

### Unchanged Behavior (Regression Prevention)

3.1 WHEN the app starts for the first time THEN the app SHALL CONTINUE TO show nothing

## Root cause

1. not expected
"""


def test_expected_and_unchanged_behaviour_is_to_be_proven() -> None:
    read = bugfix_of(BUGFIX)
    assert shape(read.requirements) == {"2": (["2.1", "2.2"], []), "3": (["3.1"], [])}
    assert read.defects == ("1.1", "1.2")
    assert read.requirements.implied == {"2", "3"}
    assert (
        read.requirements.requirements[0].criteria[0].text == "WHEN the app restarts THEN the app SHALL show the list"
    )
    assert read.requirements.places["3.1"] == "s/bugfix.md:24"


@pytest.mark.parametrize(
    ("current", "expected", "unchanged"),
    [
        ("現在の動作（不具合）", "期待される動作", "変更されない動作"),
        ("当前行为（缺陷）", "预期行为（正确）", "不变行为（回归预防）"),
        ("Comportamiento actual", "Comportamiento esperado", "Comportamiento sin cambios"),
        ("1. Current Behavior", "2. Expected Behavior", "3. Unchanged Behavior"),
    ],
)
def test_the_parts_are_known_in_other_languages(current: str, expected: str, unchanged: str) -> None:
    read = bugfix_of(f"# Bug\n## {current}\n1. A\n## {expected}\n1. B shall\n2. C shall\n## {unchanged}\n- D shall\n")
    assert shape(read.requirements) == {"2": (["2.1", "2.2"], []), "3": (["3.1"], [])}
    assert read.defects == ("1.1",)


def test_numbers_in_bold_are_ids() -> None:
    read = bugfix_of("### Expected Behavior\n**2.1** Totals\nThe app SHALL add\n  - all\n\n**2.2** The app SHALL end\n")
    assert {part.id: part.text for r in read.requirements.requirements for part in r.parts} == {
        "2.1": "Totals The app SHALL add\n- all",
        "2.2": "The app SHALL end",
    }


def test_tasks_may_name_the_defect_and_are_given_what_is_expected() -> None:
    read = bugfix_of(BUGFIX)
    references = references_of(read.requirements.requirements, read.defects)
    tasks = tasks_of("- [ ] 1. A\n  - _Requirements: 1.1, 2.1_\n- [ ] 2. B\n  - _Requirements: all_\n", references)
    assert [group.requirements for group in tasks.groups] == [("2.1",), ("2.1", "2.2", "3.1")]
    assert tasks.problems == ()
