"""Marks of lists as editors and web pages leave them."""

from __future__ import annotations

import pytest

from tests.specs.kiro.samples import ids, tasks_of


@pytest.mark.parametrize("space", ["\xa0", "\u3000", "\u2003", "\x85", "\x0b"])
def test_any_space_may_stand_behind_a_number(space: str) -> None:
    text = (
        f"### Requirement 1\n\n#### Acceptance Criteria\n\n1.{space}THE system SHALL a\n2. {space}THE system SHALL b\n"
    )
    assert ids(text) == ["1.1", "1.2"]


def test_a_first_box_that_stands_further_right_is_a_group_like_the_others() -> None:
    plan = tasks_of("# Tasks\n\n    - [ ] A\n- [ ] B\n")
    assert [group.title for group in plan.groups] == ["A", "B"]
