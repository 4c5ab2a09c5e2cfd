"""Task groups, their states and subtasks, and the requirements that they name."""

from __future__ import annotations

import pytest

from agent_fox.core.spec import Group, Severity, TaskState
from agent_fox.specs.agent_fox.tasks import read_tasks
from agent_fox.specs.collected import ReadTasks
from agent_fox.specs.common.id_ranges import index_of
from tests.specs.test_id_ranges import INDEX
from tests.specs.worlds import markdown


def read(text: str) -> ReadTasks:
    return read_tasks(markdown(text), INDEX, text)


def groups(text: str) -> tuple[Group, ...]:
    return read(text).groups


def numbers(group: Group) -> list[str]:
    return [subtask.number for subtask in group.subtasks]


@pytest.mark.parametrize(
    ("box", "state"),
    [("x", "done"), ("X", "done"), (" ", "open"), ("-", "in_progress"), ("~", "skipped"), ("?", "open")],
)
def test_a_box_says_where_a_group_stands(box: str, state: str) -> None:
    (group,) = groups(f"- [{box}] 3. Build it\n  - [{box}] 3.1 Do it\n")
    assert (group.number, group.title, group.state) == (3, "Build it", TaskState(state))
    assert group.subtasks[0].state == group.state


def test_a_minus_means_skipped_where_the_legend_says_so() -> None:
    (group,) = groups("<!-- [x] done, [-] skipped -->\n- [-] 1. A\n")
    assert group.state is TaskState.SKIPPED


@pytest.mark.parametrize("mark", ["- [ ]* 5. T", "- [ ] * 5. T"])
def test_a_star_makes_a_group_optional(mark: str) -> None:
    (group,) = groups(mark)
    assert (group.number, group.title, group.optional) == (5, "T", True)


def test_a_bold_title_is_not_optional() -> None:
    (group,) = groups("- [ ] **5. T**\n")
    assert (group.number, group.title, group.optional) == (5, "T", False)


def test_an_archetype_in_the_title_is_taken_out_of_it() -> None:
    (group,) = groups("- [ ] 3. Update docs [archetype: Reviewer]\n")
    assert (group.title, group.archetype) == ("Update docs", "reviewer")


def test_boxes_below_a_subtask_are_details_even_with_numbers_and_ids() -> None:
    (group,) = groups(
        "- [x] 1. A\n  - [x] 1.1 B\n    - detail one\n  - [x] 1.V Verify task group 1\n"
        "    - [x] 03-REQ-1.1, 1.2, 1.E1 met\n    - [x] 1.2 tests pass\n    - [ ] All tests pass\n"
    )
    assert numbers(group) == ["1.1", "1.V"]
    assert group.subtasks[0].details == ("detail one",)
    assert group.subtasks[1].details == ("03-REQ-1.1, 1.2, 1.E1 met", "1.2 tests pass", "All tests pass")


def test_subtasks_may_stand_at_the_margin() -> None:
    assert numbers(groups("- [ ] 2. A\n- [ ] 2.1 B\n- [ ] 2.2 C\n")[0]) == ["2.1", "2.2"]


def test_groups_may_have_no_subtasks_and_gaps_in_their_numbers() -> None:
    found = groups("- [x] 1. A\n\n- [ ] 4. Checkpoint\n  - Ensure all is well\n")
    assert [(g.number, numbers(g)) for g in found] == [(1, []), (4, [])]


def test_a_legend_may_hold_sample_boxes() -> None:
    text = (
        "## Overview\n\n- [ ] 9. A sample\n\n## Tasks\n\n- [x] 1. A\n\n### Checkbox States\n\n"
        "| S | M |\n|---|---|\n| `- [ ]` | open |\n\n"
        "- [ ] 8. Not started\n\n## Notes\n\n- [ ] 7. Remember\n"
    )
    assert [g.number for g in groups(text)] == [1]


def test_groups_go_on_under_other_headings() -> None:
    found = groups("## Phase A\n\n- [x] 1. A\n\n### State machine\n\n- [ ] 2. B\n")
    assert [g.number for g in found] == [1, 2]


def test_code_and_comments_hold_no_groups() -> None:
    assert groups("```\n- [ ] 1. A\n```\n<!--\n- [ ] 2. B\n-->\n- [ ] 3. C\n")[0].number == 3


def test_a_fence_that_never_closes_hides_no_group() -> None:
    assert [g.number for g in groups("- [ ] 1. A\n  - a\n    ```\n    code\n\n- [ ] 2. B\n")] == [1, 2]


def test_tabs_and_line_ends_of_other_systems_are_read() -> None:
    assert numbers(groups("- [ ] 1. A\n\t- [ ] 1.1 B\n\t\t- [ ] 1.2 C\n")[0]) == ["1.1"]


@pytest.mark.parametrize(
    "field",
    [
        "    - _Requirements: 03-REQ-1.1, 1.E1_",
        "    _Requirements: 03-REQ-1.1, 1.E1_",
        "    - _Test Spec: TS-03-1, TS-03-P2_\n    - _Requirements: 03-REQ-1.1,\n      1.E1_",
        "    - **Requirements:** 03-REQ-1.1, 1.E1",
        "    - Requirements: 03-REQ-1.1, 1.E1",
    ],
)
def test_a_field_names_requirements_on_lines_of_its_own(field: str) -> None:
    (group,) = groups(f"- [ ] 1. A\n  - [ ] 1.1 B\n{field}\n")
    assert group.subtasks[0].title == "B"
    assert group.requirements == group.subtasks[0].requirements == ("03-REQ-1.1", "03-REQ-1.E1")
    assert group.subtasks[0].details == ()


def test_a_field_may_stand_on_the_title_line() -> None:
    (group,) = groups(
        "- [ ] 1. A\n  - [ ] 1.1 Do `b` _Test Spec:_ TS-03-1 _Requirements:_ [03-REQ-1.1], [03-REQ-2.1]\n"
    )
    assert group.subtasks[0].title == "Do `b`"
    assert group.requirements == ("03-REQ-1.1", "03-REQ-2.1")


def test_a_note_after_the_field_names_nothing() -> None:
    (group,) = groups("- [ ] 1. A\n  - [ ] 1.1 B\n    _Requirements: 1.1_\n    _Note: see 03-REQ-2.1_\n")
    assert group.requirements == ("03-REQ-1.1",)


def test_a_group_names_what_itself_and_its_subtasks_name() -> None:
    (group,) = groups("- [ ] 1. A\n  - _Requirements: 2.1_\n  - [ ] 1.1 B\n    - _Requirements: 1.1_\n")
    assert group.requirements == ("03-REQ-2.1", "03-REQ-1.1")


def test_a_wrapped_title_is_whole() -> None:
    (group,) = groups("- [ ] 1. A title that\n  goes on\n  - [ ] 1.1 B\n    wraps too\n")
    assert (group.title, group.subtasks[0].title) == ("A title that goes on", "B wraps too")


def test_a_group_keeps_its_whole_text() -> None:
    text = "- [ ] 1. A\n  - [ ] 1.1 B\n    - `c`\n    ```\n    d\n    ```"
    assert groups(f"# P\n\n{text}\n\n- [ ] 2. E\n")[0].text == text


def test_an_id_that_is_not_there_is_a_warning_with_its_line() -> None:
    (problem,) = read("- [ ] 1. A\n  - [ ] 1.1 B\n    - c\n    - _Requirements: 1.1, 03-REQ-9.1_\n").problems
    assert (problem.severity, problem.where) == (Severity.WARNING, "a.md:4")
    assert "03-REQ-9.1" in problem.what


def test_nothing_dangles_where_the_spec_has_no_requirements_at_all() -> None:
    text = "- [ ] 1. A\n  - _Requirements: 1.1_\n"
    assert read_tasks(markdown(text), index_of([], "03"), text).problems == ()


def test_a_doubled_group_is_kept_under_another_number_and_said() -> None:
    found = read("- [ ] 1. A\n- [ ] 1. B\n- [ ] 2. C\n")
    assert [(group.number, group.title) for group in found.groups] == [(1, "A"), (3, "B"), (2, "C")]
    (problem,) = found.problems
    assert problem.severity is Severity.WARNING
    assert problem.what == "group 1 stands twice, first in line 1: this one is known as group 3 here. Renumber one"


@pytest.mark.parametrize(
    "title", ["Tasks: Checkbox component", "Overview of a notes app", "Legend", "Testing commands"]
)
def test_the_title_of_a_file_hides_no_group(title: str) -> None:
    assert [group.number for group in read(f"# {title}\n\n- [ ] 1. A\n- [ ] 2. B\n").groups] == [1, 2]


@pytest.mark.parametrize("heading", ["Checkbox rendering", "Notes app", "Examples gallery"])
def test_a_heading_below_which_the_numbers_go_on_is_about_tasks(heading: str) -> None:
    found = read(f"# T\n\n## Core\n\n- [ ] 1. A\n\n## {heading}\n\n- [ ] 2. B\n")
    assert [group.number for group in found.groups] == [1, 2]
    assert found.problems == ()


@pytest.mark.parametrize("heading", ["Legend", "Checkbox states", "Task status legend", "Notes"])
def test_samples_are_no_groups_and_those_with_numbers_of_their_own_are_named(heading: str) -> None:
    found = read(f"# T\n\n## {heading}\n\n- [ ] 1. Open\n- [x] 9. Done\n\n## Tasks\n\n- [ ] 1. A\n")
    assert [(group.number, group.title) for group in found.groups] == [(1, "A")]
    assert [problem.what.partition(":")[0] for problem in found.problems] == [
        "task 9 stands below a heading that holds no tasks"
    ]


def test_headings_are_groups_where_no_boxes_are() -> None:
    text = (
        "## Task Group 1: Write Failing Tests\n\n- [x] Write AC-1\n\n## Task Group 2: Build\n\n"
        "### Task 2.1: Part one\n\n- [x] a\n"
        "**Traces to:** 03-REQ-1.1\n\n### Task 2.2: Part two\n\n- [ ] b\n\n## Traceability\n\n- [ ] c\n"
    )
    first, second = groups(text)
    assert (first.title, first.state, numbers(first)) == ("Write Failing Tests", TaskState.DONE, [])
    assert (second.state, numbers(second), second.requirements) == (
        TaskState.IN_PROGRESS,
        ["2.1", "2.2"],
        ("03-REQ-1.1",),
    )
    assert [subtask.state for subtask in second.subtasks] == [TaskState.DONE, TaskState.OPEN]


@pytest.mark.parametrize("field", ["_Requirements: 1.1_", "**Requirements:** 1.1", "__Requirements: 1.1__"])
def test_a_field_on_a_line_of_its_own_is_no_part_of_the_detail_above_it(field: str) -> None:
    (group,) = groups(f"- [ ] 2. T\n  - [ ] 2.1 U\n    - Ask the clerk\n    first\n    {field}\n")
    assert (group.subtasks[0].details, group.requirements) == (("Ask the clerk first",), ("03-REQ-1.1",))
