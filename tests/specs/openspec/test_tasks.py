"""tasks.md of a change as task groups."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.core.spec import Group, TaskState
from tests.specs.openspec.worlds import ADDED, LOGIN, groups, read_change, told


def shape(found: tuple[Group, ...]) -> list[tuple[int, str, list[str]]]:
    return [(group.number, group.title, [task.number for task in group.subtasks]) for group in found]


def warnings(root: Path, tasks: str) -> list[tuple[str, str]]:
    return told(read_change(root, tasks=tasks, auth=ADDED)[1])


@pytest.mark.parametrize(
    "head",
    ["## 1. A", "### 1. A", "## Phase 1: A", "## 1) A", "## Task 1: A", "## 阶段 1：A", "## 第1阶段：A", "## １．A"],
)
def test_a_numbered_heading_is_a_group(tmp_path: Path, head: str) -> None:
    second = head.replace("1", "2").replace("１", "２")
    text = f"# Tasks\n\n{head}\n\n- [ ] 1.1 Do\n- [ ] 1.2 Do\n\n{second}\n* [X] 2.1 Do\n"
    assert shape(groups(tmp_path, text)) == [(1, "A", ["1.1", "1.2"]), (2, "A", ["2.1"])]


def test_headings_without_numbers_are_counted(tmp_path: Path) -> None:
    text = "## Build\n- [ ] Write it\n- [ ] 7.2 Read it\n## Check\n- [ ] Run it\n"
    assert shape(groups(tmp_path, text)) == [(1, "Build", ["1.1", "7.2"]), (2, "Check", ["2.1"])]


def test_boxes_without_headings_are_one_group(tmp_path: Path) -> None:
    assert shape(groups(tmp_path, "# Tasks: Login page\n- [ ] T-1 A\n- [x] T-2 B\n")) == [
        (1, "Login page", ["T-1", "T-2"])
    ]
    assert shape(groups(tmp_path, "- [ ] A\n- [ ] B\n")) == [(1, "add-login", ["1.1", "1.2"])]


def test_numbered_boxes_with_boxes_below_are_groups(tmp_path: Path) -> None:
    text = "## Tasks\n\n- [ ] 1. Build\n  - [x] 1.1 A\n    - detail\n  - [ ] 1.2 B\n- [x] 2. Check\n  - [x] 2.1 C\n"
    found = groups(tmp_path, text)
    assert shape(found) == [(1, "Build", ["1.1", "1.2"]), (2, "Check", ["2.1"])]
    assert [group.state for group in found] == [TaskState.OPEN, TaskState.DONE]
    assert found[0].subtasks[0].details == ("detail",)


def test_numbered_boxes_without_any_below_are_tasks_of_one_group(tmp_path: Path) -> None:
    assert shape(groups(tmp_path, "## Tasks\n- [ ] 1. A\n- [ ] 2. B\n")) == [(1, "Tasks", ["1", "2"])]


def test_a_heading_above_all_others_is_only_a_title(tmp_path: Path) -> None:
    text = "# Tasks\n## Implementation\n### 1. A\n- [ ] 1.1 x\n### 2. B\n- [ ] 2.1 x\n"
    assert shape(groups(tmp_path, text)) == [(1, "A", ["1.1"]), (2, "B", ["2.1"])]
    text = "## Work\n### 1. A\n- [ ] 1.1 x\n## Check\n### 2. B\n- [ ] 2.1 x\n"
    assert shape(groups(tmp_path, text)) == [(1, "A", ["1.1"]), (2, "B", ["2.1"])]


def test_headings_below_a_phase_belong_to_it(tmp_path: Path) -> None:
    text = "## Phase 1: A\n### 1. x\n- [ ] 1.1 a\n### 2. y\n- [ ] 2.1 b\n## Phase 2: B\n### 3. z\n- [ ] 3.1 c\n"
    assert shape(groups(tmp_path, text)) == [(1, "A", ["1.1", "2.1"]), (2, "B", ["3.1"])]
    text = "## Backend\n### Api\n- [ ] a\n### Store\n- [ ] b\n## Page\n- [ ] c\n"
    assert shape(groups(tmp_path, text)) == [(1, "Backend", ["1.1", "1.2"]), (2, "Page", ["2.1"])]


def test_a_heading_with_a_number_of_a_task_is_a_task(tmp_path: Path) -> None:
    text = "## Phase 1: A\n### Task 1.1: Deploy\n- [x] a\n- [ ] b\n- **Validation**: ok\n### 1.2 Check\n- [ ] 1.2.1 c\n"
    (group,) = groups(tmp_path, text)
    assert shape((group,)) == [(1, "A", ["1.1", "1.2.1"])]
    assert (group.subtasks[0].title, group.subtasks[0].state) == ("Deploy", TaskState.IN_PROGRESS)
    assert group.subtasks[0].details == ("a", "b", "**Validation**: ok")


def test_a_task_s_heading_takes_in_the_headings_below_it(tmp_path: Path) -> None:
    text = (
        "## Phase 1: A\n### Task 1.1: Write\n#### 1. Goal\n- [ ] a\n#### 2. Use\n- [ ] b\n### Task 1.2: Go\n- [ ] c\n"
    )
    (group,) = groups(tmp_path, text)
    assert [(task.number, task.details) for task in group.subtasks] == [("1.1", ("a", "b")), ("1.2", ("c",))]


def test_groups_that_do_not_grow_from_one_are_counted_and_said(tmp_path: Path) -> None:
    text = "## 0. A\n- [ ] 0.1 x\n## 2. B\n- [ ] 2.1 x\n"
    assert shape(groups(tmp_path, text)) == [(1, "A", ["0.1"]), (2, "B", ["2.1"])]
    assert warnings(tmp_path, text) == [
        ("tasks.md:1", "the groups are numbered 0, 2: counted as 1, 2. Number them upwards")
    ]


def test_gaps_in_the_numbers_stay(tmp_path: Path) -> None:
    assert [group.number for group in groups(tmp_path, "## 1. A\n- [ ] x\n## 4. B\n- [ ] x\n")] == [1, 4]


@pytest.mark.parametrize(
    ("line", "number", "title"),
    [
        ("- [ ] 1.1 Do it", "1.1", "Do it"),
        ("- [ ] **1.1** Do it", "1.1", "Do it"),
        ("- [ ] **1.1 Do it**", "1.1", "Do it"),
        ("- [ ] 1.1. Do it", "1.1", "Do it"),
        ("- [ ] 1.1: Do it", "1.1", "Do it"),
        ("- [ ] 1.1.2 Do it", "1.1.2", "Do it"),
        ("- [ ] 1.1a Do it", "1.1a", "Do it"),
        ("- [ ] １．１ 做", "1.1", "做"),
        ("- [ ] 1.1做", "1.1", "做"),
        ("- [ ] T001 [P] Do it", "T001", "Do it"),
        ("- [ ] Task 3: Do it", "3", "Do it"),
        ("- [ ] [T2] Do it", "T2", "Do it"),
        ("- [ ] [1.3] Do it", "1.3", "Do it"),
        ("1. [ ] Do it", "1.1", "Do it"),
        ("- [ ] Do 3.11 things", "1.1", "Do 3.11 things"),
    ],
)
def test_a_task_s_number_is_as_written_or_counted(tmp_path: Path, line: str, number: str, title: str) -> None:
    (group,) = groups(tmp_path, f"## 1. A\n{line}\n")
    assert [(task.number, task.title) for task in group.subtasks] == [(number, title)]


@pytest.mark.parametrize(
    ("box", "state"),
    [
        ("[x]", "done"),
        ("[X]", "done"),
        ("[ x]", "done"),
        ("[✓]", "done"),
        ("[ ]", "open"),
        ("[]", "open"),
        ("[?]", "open"),
        ("[-]", "in_progress"),
        ("[~]", "skipped"),
    ],
)
def test_a_box_says_where_a_task_stands(tmp_path: Path, box: str, state: str) -> None:
    (group,) = groups(tmp_path, f"## 1. A\n- {box} 1.1 Do it\n")
    assert (group.state, group.subtasks[0].state) == (TaskState(state), TaskState(state))


def test_links_and_code_are_no_boxes(tmp_path: Path) -> None:
    text = "## 1. A\n- [ ] 1.1 Do it\n- [A](a.md)\n- [B]: x\n```\n- [ ] 1.2 Sample\n```\n<!-- - [ ] 1.3 No -->\n"
    assert shape(groups(tmp_path, text)) == [(1, "A", ["1.1"])]


def test_details_belong_to_their_task(tmp_path: Path) -> None:
    task = "- [ ] 1.1 A title\n  that wraps\n  - one\n    goes on\n  - [x] two\n\n\tcode\n\n"
    text = f"## 1. A\n{task}Text of the group.\n- [ ] 1.2 B\n"
    (group,) = groups(tmp_path, text)
    assert [(task.title, task.details) for task in group.subtasks] == [
        ("A title that wraps", ("one goes on", "two code")),
        ("B", ()),
    ]
    assert "Text of the group." in group.text


def test_marks_say_what_is_optional_parallel_and_a_checkpoint(tmp_path: Path) -> None:
    text = (
        "## 1. A (optional)\n- [ ]* 1.1 a\n- [ ] [P] 1.2 b\n- [ ] 1.3 c (P)\n## 2. Checkpoint: all green\n- [ ] 2.1 d\n"
    )
    first, second = groups(tmp_path, text)
    assert (first.title, first.optional, second.is_checkpoint) == ("A", True, True)
    assert [(t.title, t.optional, t.parallel) for t in first.subtasks] == [
        ("a", True, False),
        ("b", False, True),
        ("c", False, True),
    ]


def test_a_task_names_those_that_it_waits_for(tmp_path: Path) -> None:
    text = (
        "## 1. A\n- [ ] 1.1 a\n- [ ] 1.2 b (depends on 1.1)\n- [ ] 1.3 c\n  - Dependencies: 1.1, 1.2, 9.9\n"
        "- [ ] 1.4 d\n  - Dependencies: none, not even 1.1\n"
    )
    assert [task.after for task in groups(tmp_path, text)[0].subtasks] == [(), ("1.1",), ("1.1", "1.2"), ()]


@pytest.mark.parametrize("title", ["Overview", "Notes", "Dependencies", "Implementation notes"])
def test_sections_about_tasks_hold_none(tmp_path: Path, title: str) -> None:
    text = f"## {title}\n- [ ] 9.9 No\n## 1. A\n- [ ] 1.1 a\n"
    assert shape(groups(tmp_path, text)) == [(1, "A", ["1.1"])]
    assert warnings(tmp_path, text) == [
        ("tasks.md:1", f'the boxes under "{title}" are no tasks: not read. Move those that are')
    ]


def test_a_legend_is_passed_over_and_a_section_without_boxes_is_said(tmp_path: Path) -> None:
    text = "## Legend\n- [x] done\n## 1. A\n- [ ] 1.1 a\n## Validation\n- `make test`\n## 2. Roll out\n- by hand\n"
    assert shape(groups(tmp_path, text)) == [(1, "A", ["1.1"])]
    assert [where for where, _ in warnings(tmp_path, text)] == ["tasks.md:7"]


def test_tasks_without_boxes_are_read_from_headings_and_said(tmp_path: Path) -> None:
    text = "# Tasks\n## Task 1: A\n**File**: a.py\n- do it\n## Task 2: B\n### 2.1 b\n- x\n## Estimated effort\n- long\n"
    assert shape(groups(tmp_path, text)) == [(1, "A", ["1.1"]), (2, "B", ["2.1"])]
    assert [where for where, what in warnings(tmp_path, text) if "has a box" in what] == ["tasks.md:2"]
    assert shape(groups(tmp_path, "1. a\n2. b\n")) == [(1, "add-login", ["1.1", "1.2"])]


def test_a_file_without_any_task_has_no_groups(tmp_path: Path) -> None:
    assert groups(tmp_path, "# Tasks\n\nTo be written.\n") == ()


def test_a_task_that_stands_twice_is_said(tmp_path: Path) -> None:
    ((where, what),) = warnings(tmp_path, "## 1. A\n- [ ] 1.1 a\n- [ ] 1.1 b\n")
    assert (where, what) == ("tasks.md:3", "task 1.1 stands twice: in lines 2 and 3. Renumber one")


DELTA = ADDED + LOGIN.replace("Login", "REQ-OUT-2: Logout").replace("Right", "Gone")


@pytest.mark.parametrize(
    ("task", "parts"),
    [
        ("Do `auth`", ("1.1", "2.1")),
        ("Do `specs/auth/spec.md`", ("1.1", "2.1")),
        ("Do auth", ()),
        ('Do "login"', ("1.1",)),
        ("Do it\n  - Requirement: Login", ("1.1",)),
        ("Do it _Requirements: Login, REQ-OUT-2_", ("1.1", "2.1")),
        ("Do it (需求：Login)", ("1.1",)),
        ("Requirement: Login / Right", ("1.1",)),
        ("Do it (REQ-OUT-2)", ("2.1",)),
        ("Do it, **Gone**", ("2.1",)),
        ("Do it; covers Scenario: Gone", ("2.1",)),
        ("Do it _Requirements: 2.1_", ("2.1",)),
        ("Do `src/auth.py`, see 1.1", ()),
    ],
)
def test_a_task_names_requirements(tmp_path: Path, task: str, parts: tuple[str, ...]) -> None:
    text = f"## 1. A\n- [ ] 1.1 {task}\n## 2. B\n- [ ] 2.1 b\n"
    first, second = groups(tmp_path, text, DELTA)
    assert (first.requirements, first.subtasks[0].requirements, second.requirements) == (parts, parts, ())


def test_a_name_that_nothing_has_is_said(tmp_path: Path) -> None:
    found = warnings(tmp_path, "## 1. A\n- [ ] 1.1 a\n  - Requirement: Nothing\n")
    assert found == [("tasks.md:1", "names Nothing: no such requirement in this change. Correct the title")]


def test_a_single_group_has_every_requirement(tmp_path: Path) -> None:
    assert groups(tmp_path, "## 1. A\n- [ ] 1.1 a\n", DELTA)[0].requirements == ("1.1", "2.1")


def test_places_are_lines_of_the_file(tmp_path: Path) -> None:
    spec, _ = read_change(tmp_path, tasks="# T\n\n## 1. A\n- [ ] 1.1 a\n- [ ] b\n", auth=ADDED)
    tasks = "openspec/changes/add-login/tasks.md"
    assert [spec.places[name] for name in ("group 1", "task 1.1", "task 1.2")] == [
        f"{tasks}:3",
        f"{tasks}:4",
        f"{tasks}:5",
    ]


def test_a_capability_s_name_of_several_words_counts_without_backticks(tmp_path: Path) -> None:
    tasks = "## 1. A\n- [ ] 1.1 a\n  - **Validates**: log-in requirements\n## 2. B\n- [ ] 2.1 log-in.css, src/log-in\n"
    spec, _ = read_change(tmp_path, tasks=tasks, **{"log-in": ADDED})
    assert [group.requirements for group in spec.groups] == [("1.1",), ()]


def test_a_field_at_the_end_of_a_task_is_no_part_of_its_title(tmp_path: Path) -> None:
    (group,) = groups(tmp_path, "## 1. A\n\n- [ ] 1.1 keep `a_b: c_d` _Requirements: 1.1_\n")
    assert [(task.title, task.requirements) for task in group.subtasks] == [("keep `a_b: c_d`", ("1.1",))]


def test_what_a_coder_is_given_keeps_the_headings_within_its_group(tmp_path: Path) -> None:
    text = "## Phase 1: A\n\n### 1.1 Bell\n- ring\n\n#### How\n- softly\n\n## Phase 2: B\n### 2.1 Door\n- [ ] open\n"
    first, second = groups(tmp_path, text.replace("[ ] ", ""))
    assert first.text == "### 1.1 Bell\n- ring\n\n#### How\n- softly"
    assert second.text == "### 2.1 Door\n- open"


TITLES = (
    "## ADDED Requirements\n\n"
    + LOGIN.replace("Login", "Login by a card").replace("Right", "A card of another house")
    + LOGIN.replace("Login", "报表必须可以导出")
    + LOGIN.replace("Login", "Logout").replace("Right", "Gone")
)


@pytest.mark.parametrize(
    ("task", "parts"),
    [
        ("Build login by a card for guests", ("1.1",)),
        ("Build login by cards", ()),
        ("Refuse\n  - Test: a card of another house", ("1.1",)),
        ("Refuse a card\n  of another house", ("1.1",)),
        ("实现报表必须可以导出的功能", ("2.1",)),
        ("Do the logout", ()),
    ],
)
def test_a_title_of_several_words_counts_without_marks(tmp_path: Path, task: str, parts: tuple[str, ...]) -> None:
    first, second = groups(tmp_path, f"## 1. A\n- [ ] 1.1 {task}\n## 2. B\n- [ ] 2.1 b\n", TITLES)
    assert (first.requirements, first.subtasks[0].requirements, second.requirements) == (parts, parts, ())


@pytest.mark.parametrize(
    ("heading", "parts"),
    [
        ("1. Logout", ("3.1",)),
        ("Logout", ("3.1",)),
        ("1. Auth", ("1.1", "2.1", "3.1")),
        ("1. Logout page", ()),
        ("1. Gone", ()),
    ],
)
def test_a_heading_that_is_a_name_says_whose_work_it_is(tmp_path: Path, heading: str, parts: tuple[str, ...]) -> None:
    first, second = groups(tmp_path, f"## {heading}\n- [ ] 1.1 a\n## B\n- [ ] 2.1 b\n", TITLES)
    assert (first.requirements, second.requirements) == (parts, ())


def test_a_heading_within_a_group_and_its_prose_name_requirements_too(tmp_path: Path) -> None:
    text = '## 1. A\n### Logout\n- [ ] 1.1 a\n## 2. B\nCovers requirement "Login by\na card" too.\n\n- [ ] 2.1 b\n'
    assert [group.requirements for group in groups(tmp_path, text, TITLES)] == [("3.1",), ("1.1",)]


def test_a_heading_of_several_words_names_a_capability(tmp_path: Path) -> None:
    tasks = "## 1. Order Management\n- [ ] 1.1 a\n## 2. B\n- [ ] 2.1 b\n"
    spec, _ = read_change(tmp_path, tasks=tasks, **{"order-management": ADDED, "zone": ADDED})
    assert [group.requirements for group in spec.groups] == [("1.1",), ()]


def test_a_title_that_stands_in_several_places_names_each(tmp_path: Path) -> None:
    delta = DELTA + LOGIN.replace("Login", "Third").replace("Right", "Gone")
    text = "## 1. A\n- [ ] 1.1 Scenario: Gone\n## 2. B\n- [ ] 2.1 b\n"
    assert groups(tmp_path, text, delta)[0].requirements == ("2.1", "3.1")


def test_an_id_that_is_not_there_is_said_beside_one_that_is(tmp_path: Path) -> None:
    text = "## 1. A\n- [ ] 1.1 a\n  - _Requirements: 1.1, 7.2_\n"
    assert warnings(tmp_path, text) == [
        ("tasks.md:1", "names 7.2: no such requirement in this change. Correct the title")
    ]


@pytest.mark.parametrize(
    ("line", "title"),
    [
        ("Create `a/__init__.py`", "Create `a/__init__.py`"),
        ("Look at src/**/*.ts, `**/*.js`", "Look at src/**/*.ts, `**/*.js`"),
        ("**Write** the *first* one", "Write the *first* one"),
        ("**Write `a*b`**", "Write `a*b`"),
        ("__Write__ it *(later)*", "Write it *(later)*"),
        ("_Write it_", "Write it"),
    ],
)
def test_a_title_loses_its_marks_and_nothing_else(tmp_path: Path, line: str, title: str) -> None:
    (group,) = groups(tmp_path, f"## 1. A\n- [ ] 1.1 {line}\n")
    assert [task.title for task in group.subtasks] == [title]


@pytest.mark.parametrize("line", ["~~1.1 Do it~~", "1.1 ~~Do it~~", "**~~1.1 Do it~~** (moved to 2.1)"])
def test_a_task_that_is_struck_out_is_skipped(tmp_path: Path, line: str) -> None:
    (group,) = groups(tmp_path, f"## 1. A\n- [x] {line}\n")
    assert [(task.number, task.title, task.state) for task in group.subtasks] == [("1.1", "Do it", TaskState.SKIPPED)]


def test_a_counted_task_takes_no_number_that_is_written(tmp_path: Path) -> None:
    text = "## Set up\n- [ ] a\n- [ ] b\n## 1. Build\n- [ ] 1.1 c\n"
    assert shape(groups(tmp_path, text)) == [(1, "Set up", ["1.2", "1.3"]), (2, "Build", ["1.1"])]
    assert warnings(tmp_path, text) == [
        ("tasks.md:4", "the groups are numbered -, 1: counted as 1, 2. Number them upwards")
    ]


def test_tasks_that_nobody_filled_in_are_said(tmp_path: Path) -> None:
    text = "## 1. <!-- Name -->\n- [ ] 1.1 <!-- Task -->\n- [ ] 1.2 [Task]\n## 2. B\n- [ ] 2.1 b\n"
    assert warnings(tmp_path, text) == [
        ("tasks.md:1", "half-written: no more than a template says, in lines 1, 2, 3. Fill it in")
    ]


def test_a_group_owns_what_its_tasks_name_in_code_too(tmp_path: Path) -> None:
    tasks = "## 1. Lock\n\n### 1.1 Write it\n\n```ts\nletting people in works\n```\n\n## 2. Door\n\n### 2.1 Hang it\n"
    found = groups(tmp_path, tasks, ADDED.replace("Login", "Letting people in"))
    assert [(g.requirements, [t.requirements for t in g.subtasks]) for g in found] == [
        (("1.1",), [("1.1",)]),
        ((), [()]),
    ]
