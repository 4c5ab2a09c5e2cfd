"""bugfix.md: what is expected and what stays is to be proven; the defect is not."""

from __future__ import annotations

import pytest

from agent_fox.specs.kiro.ids import Named, references_of
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
    assert shape(read) == {"2": (["2.1", "2.2"], []), "3": (["3.1"], [])}
    assert read.defects == ("1.1", "1.2")
    assert read.implied == {"2", "3"}
    assert read.requirements[0].criteria[0].text == "WHEN the app restarts THEN the app SHALL show the list"
    assert read.places["3.1"] == "s/bugfix.md:24"


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
    assert shape(read) == {"2": (["2.1", "2.2"], []), "3": (["3.1"], [])}
    assert read.defects == ("1.1",)


def test_numbers_in_bold_are_ids() -> None:
    read = bugfix_of("### Expected Behavior\n**2.1** Totals\nThe app SHALL add\n  - all\n\n**2.2** The app SHALL end\n")
    assert {part.id: part.text for r in read.requirements for part in r.parts} == {
        "2.1": "Totals The app SHALL add\n- all",
        "2.2": "The app SHALL end",
    }


def test_tasks_may_name_the_defect_and_are_given_what_is_expected() -> None:
    read = bugfix_of(BUGFIX)
    references = references_of(read.requirements, read.defects)
    tasks = tasks_of("- [ ] 1. A\n  - _Requirements: 1.1, 2.1_\n- [ ] 2. B\n  - _Requirements: all_\n", references)
    assert [group.requirements for group in tasks.groups] == [("2.1",), ("2.1", "2.2", "3.1")]
    assert tasks.problems == ()


def test_each_part_may_stand_there_for_each_bug() -> None:
    bug = "## Bug {n}\n#### Current\n1.{n} A\n#### Expected Behavior{more}\n2.{n} B\n#### Unchanged\n3.{n} C\n"
    read = bugfix_of("# Bugs\n" + bug.format(n=1, more=" (Correct)") + bug.format(n=2, more=""))
    assert shape(read) == {"2": (["2.1", "2.2"], []), "3": (["3.1", "3.2"], [])}
    assert (read.defects, read.problems) == (("1.1", "1.2"), ())


def test_another_bug_may_have_numbers_or_letters_of_its_own() -> None:
    read = bugfix_of(
        "### Bug A\n#### Current\nA.1 A\n\nA.2 B\n#### Expected\nA.3 C\nA.4 D\n"
        "### Bug 2\n#### Current\n4.1 A\n#### Expected\n5.1 B\n#### Unchanged\n6.1 C\n"
    )
    assert shape(read) == {"A": (["A.3", "A.4"], []), "5": (["5.1"], []), "6": (["6.1"], [])}
    assert read.defects == ("A.1", "A.2", "4.1")
    references = references_of(read.requirements, read.defects)
    assert references.read("A.2, A.3, 5.1") == Named(("A.3", "5.1"))


def test_lists_of_another_bug_go_on_and_that_is_said() -> None:
    bug = "### Bug\n#### Current\n1. A\n#### Expected\n1. B\n2. C\n#### Unchanged\n- D\n"
    read = bugfix_of(bug + bug)
    assert shape(read) == {"2": (["2.1", "2.2", "2.3", "2.4"], []), "3": (["3.1", "3.2"], [])}
    assert read.defects == ("1.1", "1.2")
    assert [p.where for p in read.problems] == ["s/bugfix.md:11", "s/bugfix.md:13"]
