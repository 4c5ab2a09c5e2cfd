"""Which groups only write tests."""

from __future__ import annotations

import pytest

from agent_fox.core.spec import Group
from agent_fox.specs.common.task_lists import mark_test_writers


def writers(*titles: str) -> list[int]:
    groups = tuple(Group(number, title) for number, title in enumerate(titles, 1))
    return [group.number for group in mark_test_writers(groups) if group.writes_tests_only]


@pytest.mark.parametrize(
    "title",
    ["Write failing spec tests", "Write failing tests", "Write Failing Spec Tests", "Create failing unit tests"],
)
def test_a_group_of_failing_tests_only_writes_tests(title: str) -> None:
    assert writers(title, "Build it") == [1]


def test_groups_that_write_tests_before_any_work_only_write_tests() -> None:
    assert writers("Write tests: schema", "Write tests: queue", "Implement the schema", "Write tests: more") == [1, 2]


@pytest.mark.parametrize(
    "title",
    [
        "Write and run integration tests",
        "Implement smoke tests",
        "Fix failing tests",
        "Integration tests (live)",
        "Wiring verification",
    ],
)
def test_work_with_tests_is_work(title: str) -> None:
    assert writers("Write failing tests", "Build it", title) == [1]


def test_a_spec_that_is_about_tests_alone_has_no_writers() -> None:
    assert writers("Write the test harness for tests", "Checkpoint") == []
