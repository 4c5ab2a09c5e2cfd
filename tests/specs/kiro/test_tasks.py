"""tasks.md of Kiro's kind: groups, subtasks, states, marks, and what they name."""

from __future__ import annotations

import pytest

from agent_fox.core.spec import TaskState
from agent_fox.specs.kiro.ids import references_of
from tests.specs.kiro.samples import bugfix_of, errors, groups_of, requirements_of, said, tasks_of

GROUPS = [
    "- [ ] 1. A\n  - [ ] 1.1 B\n  - [ ] 1.2 C\n- [ ] 2. D\n",
    "- [ ] 1 A\n- [ ] 1.1 B\n- [ ] 1.2 C\n- [ ] 2 D\n",
    "* [ ] 1. A\n\t* [ ] 1.1. B\n\t* [ ] 1.2) C\n* [ ] 2) D\n",
    "+ [X] 1. A\n+ [x] 1.1: B\n+ [X] 1.2： C\n+ [ ] 2： D\n",
    "- [ ] **1. A**\n  - [ ] **1.1 B**\n  - [ ] **1.2** C\n- [ ] **2.** D\n",
    "- [ ] Task 1: A\n  - [ ] Task 1.1: B\n  - [ ] 1.2 C\n- [ ] タスク 2: D\n",
    "- [ ] １． A\n  - [ ] １．１ B\n  - [ ] 1.2 C\n- [ ] 2. D\n",
    "  - [ ] 1. A\n    - [ ] 1.1 B\n    - [ ] 1.2 C\n  - [ ] 2. D\n",
    "1. [ ] 1. A\n   - [ ] 1.1 B\n   - [ ] 1.2 C\n2. [ ] 2. D\n",
    "## Phase A\n- [ ] 1. A\n  - [ ] 1.1 B\n  - [ ] 1.2 C\n## Phase B\n- [ ] 2. D\n",
    "## Tasks\n- [ ] 1. A\n  ```\n  - [ ] 9. no\n  ```\n  - [ ] 1.1 B\n  - [ ] 1.2 C\n- [ ] 2. D\n## Notes\n- [ ] 7. n",
]


@pytest.mark.parametrize("text", GROUPS)
def test_a_box_with_a_number_is_a_group_and_one_with_a_point_its_subtask(text: str) -> None:
    assert groups_of(tasks_of(text)) == [(1, "A", ["1.1", "1.2"]), (2, "D", [])]


HEADED = [
    "## 1. A\n- [ ] 1.1 B\n- [ ] 1.2 C\n## 2. D\n- [ ] 2.1 E\n",
    "### Phase 1: A\n- [ ] 1.1 B\n- [ ] 1.2 C\n### Phase 2: D\n- [ ] 2.1 E\n",
    "### フェーズ1：A\n- [ ] 1.1 B\n- [ ] 1.2 C\n### フェーズ2：D\n- [ ] 2.1 E\n",
    "## Phase 7: all\n### 1. A\n- [ ] 1.1 B\n- [ ] 1.2 C\n### 2. D\n- [ ] 2.1 E\n",
    "## A\n- [ ] 1.1 B\n- [ ] 1.2 C\n## D\n- [ ] 2.1 E\n",
    "## Phase 1: A\n### Task 1.1: B\n- [ ] x\n- [ ] y\n### Task 1.2: C\n## Phase 2: D\n### Task 2.1: E\n- [ ] w\n",
    "**Phase 1: A**\n- [ ] 1.1 B\n- [ ] 1.2 C\n\n**Phase 2: D**\n- [ ] 2.1 E\n",
]


@pytest.mark.parametrize("text", HEADED)
def test_headings_are_the_groups_where_no_box_is_one(text: str) -> None:
    assert groups_of(tasks_of(text)) == [(1, "A", ["1.1", "1.2"]), (2, "D", ["2.1"])]


def test_a_heading_with_boxes_without_numbers_is_a_group() -> None:
    read = tasks_of("## Phase 1: A\n- [x] B\n- [ ] C\n  - _Requirements: 1.2_\n## Phase 2: D\n- [x] E\n")
    assert groups_of(read) == [(1, "A", []), (2, "D", [])]
    assert [(g.state, g.requirements) for g in read.groups] == [(TaskState.IN_PROGRESS, ("1.2",)), (TaskState.DONE, ())]


def test_boxes_without_any_number_are_a_group_each_and_that_is_said() -> None:
    read = tasks_of("# Plan\n## Tasks\n- [ ] A\n  - [ ] part of A\n- [x] B _Requirements: 2.1_\n- [ ]* C\n")
    assert groups_of(read) == [(1, "A", []), (2, "B", []), (3, "C", [])]
    assert [(g.requirements, g.optional) for g in read.groups] == [((), False), (("2.1",), False), ((), True)]
    assert [p.where for p in read.problems] == ["s/tasks.md:3"]


def test_boxes_without_numbers_under_several_headings_are_a_group_for_each_heading() -> None:
    read = tasks_of("# Plan\n## Backend\n- [ ] A\n- [ ] B\n## Frontend\n- [x] C\n")
    assert groups_of(read) == [(1, "Backend", []), (2, "Frontend", [])]
    assert len(read.problems) == 1


def test_a_list_with_numbers_stands_for_boxes_where_there_are_none() -> None:
    assert groups_of(tasks_of("# Plan\n1. A\n   - text\n2. B\n")) == [(1, "A", []), (2, "B", [])]


def test_headings_alone_are_groups() -> None:
    assert groups_of(tasks_of("# Plan\n## Task 1: A\nText.\n## Task 2: B\nText.\n")) == [(1, "A", []), (2, "B", [])]


def test_deeper_tasks_are_parts_of_their_subtask() -> None:
    read = tasks_of(
        "- [ ] 1. A\n  - [ ] 1.1 B\n    - [ ] 1.1.1 C\n      - _Requirements: 2.2_\n    - [ ] D\n  - [ ] 1.2 E\n"
    )
    assert groups_of(read) == [(1, "A", ["1.1", "1.2"])]
    assert read.groups[0].subtasks[0].requirements == ("2.2",)
    assert read.groups[0].subtasks[0].details == ("C", "D")


def test_a_deeper_task_without_its_subtask_is_one_itself() -> None:
    assert groups_of(tasks_of("- [ ] 1. A\n  - [ ] 1.1.1 B\n  - [ ] 1.1.2 C\n")) == [(1, "A", ["1.1.1", "1.1.2"])]


def test_an_indented_subtask_belongs_to_what_it_stands_in_whatever_its_number() -> None:
    assert groups_of(tasks_of("- [ ] 1. A\n  - [ ] 1.1 B\n- [ ] 2. C\n  - [ ] 3.1 D\n")) == [
        (1, "A", ["1.1"]),
        (2, "C", ["3.1"]),
    ]


def test_a_subtask_whose_group_is_missing_has_one_made() -> None:
    assert groups_of(tasks_of("## Work\n- [ ] 1. A\n- [ ] 2.1 B\n")) == [(1, "A", []), (2, "Work", ["2.1"])]


@pytest.mark.parametrize(
    ("box", "state"),
    [
        (" ", TaskState.OPEN),
        ("", TaskState.OPEN),
        ("x", TaskState.DONE),
        ("X", TaskState.DONE),
        ("✓", TaskState.DONE),
        (" x ", TaskState.DONE),
        ("-", TaskState.IN_PROGRESS),
        ("~", TaskState.OPEN),
    ],
)
def test_a_box_says_the_state(box: str, state: TaskState) -> None:
    read = tasks_of(f"- [{box}] 1. A\n  - [{box}] 1.1 B\n")
    assert (read.groups[0].state, read.groups[0].subtasks[0].state) == (state, state)


OPTIONAL = [
    "- [ ]* {n} T",
    "- [ ] * {n} T",
    "- [ ] *{n} T",
    "- [ ] \\* {n} T",
    "- [ ]* **{n} T**",
    "- [ ] {n}* T",
    "- [ ] {n} * T",
    "- [ ] {n} T *",
    "- [ ] {n} T (optional)",
    "- [ ] {n} T（可选）",
    "- [ ] {n} T（任意）",
]


@pytest.mark.parametrize("form", OPTIONAL)
def test_a_star_or_the_word_makes_a_task_optional(form: str) -> None:
    read = tasks_of("- [ ] 1. A\n  " + form.format(n="1.1") + "\n" + form.format(n="2.") + "\n")
    assert [(g.title, g.optional) for g in read.groups] == [("A", False), ("T", True)]
    assert [(t.number, t.title, t.optional) for t in read.groups[0].subtasks] == [("1.1", "T", True)]


def test_signs_before_a_number_and_dashes_behind_it_are_passed_over() -> None:
    read = tasks_of("- [x] ✅ 1. A\n  - [ ] ⚠️ **1.1** B\n  - [ ] Subtask 1.2: C\n- [ ] 2 - D\n- [ ] ≥ 3 tests\n")
    assert groups_of(read) == [(1, "A", ["1.1", "1.2"]), (2, "D", [])]
    assert [task.title for task in read.groups[0].subtasks] == ["B", "C"]


@pytest.mark.parametrize("box", ["?", "🔄", "⏸️", "—", "*"])
def test_a_box_with_a_strange_mark_is_an_open_task(box: str) -> None:
    read = tasks_of(f"- [x] 1. A\n- [{box}] 2. B\n- [link](x) 3. C\n")
    assert [(group.title, group.state) for group in read.groups] == [("A", TaskState.DONE), ("B", TaskState.OPEN)]


def test_bold_is_no_star() -> None:
    read = tasks_of("- [ ] 1. **A** and **B**\n  - [ ] **1.1 C**\n")
    assert [read.groups[0].optional, read.groups[0].subtasks[0].optional] == [False, False]


@pytest.mark.parametrize("mark", ["(P)", "（P）", "[P]", "(parallel)", "(並行可)"])
def test_a_task_may_be_said_to_run_in_parallel(mark: str) -> None:
    read = tasks_of(f"- [ ] 1. {mark} A\n  - [ ] 1.1 {mark} B\n  - [ ] 1.2 C {mark}\n  - [ ] 1.3 D\n")
    assert (read.groups[0].title, read.groups[0].parallel) == ("A", True)
    assert [(t.title, t.parallel) for t in read.groups[0].subtasks] == [("B", True), ("C", True), ("D", False)]


FIELDS = [
    ("- _Requirements: 1.1, 2.3-2.5_", ("1.1", "2.3", "2.4", "2.5")),
    ("- _Requirements: 1.1, 2.3–2.5_", ("1.1", "2.3", "2.4", "2.5")),
    ("- *Requirements: 1.1*", ("1.1",)),
    ("- **Requirements:** 1.1, 1.2", ("1.1", "1.2")),
    ("- Requirements: 2", ("2.1", "2.2", "2.3", "2.4", "2.5")),
    ("_Requirements: 1.1_", ("1.1",)),
    ("- _Requirements: Requirement 1.1, Requirement 3_", ("1.1", "3.1", "3.2")),
    ("- _Requirements: all_", ("1.1", "1.2", "1.3", "2.1", "2.2", "2.3", "2.4", "2.5", "3.1", "3.2")),
    ("- _Requirements: 全要件_", ("1.1", "1.2", "1.3", "2.1", "2.2", "2.3", "2.4", "2.5", "3.1", "3.2")),
    ("- _Requirements: جميع المتطلبات_", ("1.1", "1.2", "1.3", "2.1", "2.2", "2.3", "2.4", "2.5", "3.1", "3.2")),
    ("- _要件: 1.1_", ("1.1",)),
    ("- _要件：1.1、1.2_", ("1.1", "1.2")),
    ("- _需求：1.1，1.2_", ("1.1", "1.2")),
    ("- _需求: １.１, 要件1.2_", ("1.1", "1.2")),
    ("- _Requisitos: 1.1_", ("1.1",)),
    ("- _Pożądane: 1.1, 1.2_", ("1.1", "1.2")),
    ("- **Validates: Requirements 1.1, 2.4**", ("1.1", "2.4")),
    ("- **验证：需求 1.1**", ("1.1",)),
    ("- **验证需求: 1.1**", ("1.1",)),
    ("- **検証対象: 要件 1.2**", ("1.2",)),
    ("- **Valida: Requisitos 1.1**", ("1.1",)),
    ("- _Requirements: 1-2（全要件の基盤）_", ("1.1", "1.2", "1.3", "2.1", "2.2", "2.3", "2.4", "2.5")),
    ("- _Requirements: 3（事前定義）, 1.1 (base)_", ("3.1", "3.2", "1.1")),
    ("- _Requirements: 1.1 (the bug of 1.2)_", ("1.1",)),
    ("- _Requirements: (1.1, 1.2)_", ("1.1", "1.2")),
    ("- _Requirements: [1.1, 1.2]_", ("1.1", "1.2")),
    ("- _需求: 所有_", ("1.1", "1.2", "1.3", "2.1", "2.2", "2.3", "2.4", "2.5", "3.1", "3.2")),
    ("- _Requirements: 1.1, Property 2_", ("1.1",)),
    ("- _Requirements: Properties 2-3, 1.1_", ("1.1",)),
    ("- _Requirements: Design Section 2.3, 1.1_", ("1.1",)),
    ("- _Requirements: 1 AC-3, 2 AC1, Req 3 AC 2_", ("1.3", "2.1", "3.2")),
    ("- _Requirements: 1 AC-1, AC-2_", ("1.1", "1.2")),
    ("- _Properties: 2_", ()),
    ("- _Priority: 1_", ()),
    ("- _Design: 2.3_", ()),
    ("- _Boundary: UserService, Api_", ()),
    ("- _Requirements: none_", ()),
    ("- _Requirements: -_", ()),
    ("- uses `a: 1.1` inside", ()),
    ("- Note: 1.1 of the guide", ()),
]


@pytest.mark.parametrize(("field", "expected"), FIELDS)
def test_a_task_names_requirements_in_any_language(field: str, expected: tuple[str, ...]) -> None:
    read = tasks_of(f"- [ ] 1. A\n  - [ ] 1.1 B\n    - do it\n    {field}\n- [ ] 2. C\n  {field}\n")
    assert [read.groups[0].subtasks[0].requirements, read.groups[0].requirements, read.groups[1].requirements] == [
        expected,
        expected,
        expected,
    ]
    assert read.problems == ()


@pytest.mark.parametrize("title", ["B _Requirements: 1.1_", "B (Requirements: 1.1)", "B **Requirements:** 1.1"])
def test_fields_on_the_line_of_the_title_are_no_part_of_it(title: str) -> None:
    read = tasks_of(f"- [ ] 1. {title}\n  - [ ] 1.1 {title}\n")
    assert (read.groups[0].title, read.groups[0].requirements) == ("B", ("1.1",))
    assert (read.groups[0].subtasks[0].title, read.groups[0].subtasks[0].requirements) == ("B", ("1.1",))


def test_a_reference_to_nothing_is_said() -> None:
    read = tasks_of("- [ ] 1. A\n  - _Requirements: 1.1, 1.9, 7_\n")
    assert read.groups[0].requirements == ("1.1",)
    assert said(read.problems) == [
        ("s/tasks.md:2", "names 1.9, 7: no such requirement in this spec. Correct the number")
    ]


@pytest.mark.parametrize("value", ["the usual ones", "Design Section 2.3", "Property 2", "Property 1 (Unique ids)"])
def test_a_field_that_names_nothing_by_number_is_said(value: str) -> None:
    read = tasks_of(f"- [ ] 1. A\n  - _Requirements: {value}_\n")
    assert ([p.where for p in read.problems], read.groups[0].requirements) == (["s/tasks.md:2"], ())


def test_ids_of_another_make_are_found_as_people_write_them() -> None:
    text = "### FR-001: A\n1. A shall\n### NFR-2: B\n- **NFR-2.1** B shall\n### R7: C\n1. C shall\n"
    references = references_of(requirements_of(text).requirements)
    read = tasks_of(
        "- [ ] 1. A\n  - _Requirements: FR-1, NFR 2, R7.1_\n- [ ] 2. B\n  - _Requirements: 7.1_\n", references
    )
    assert [group.requirements for group in read.groups] == [("FR-001.1", "NFR-2.1", "R7.1"), ("R7.1",)]


CHECKPOINTS = [
    "Checkpoint - Ensure all tests pass",
    "Final checkpoint",
    "チェックポイント - 全テスト通過確認",
    "最終チェックポイント",
    "检查点 — 确保所有测试通过",
    "檢查點",
    "Punto de control final",
    "Ponto de verificação",
]


@pytest.mark.parametrize("title", CHECKPOINTS)
def test_a_checkpoint_is_one_in_any_language(title: str) -> None:
    read = tasks_of(f"- [ ] 1. A\n- [ ] 2. {title}\n  - Ask\n")
    assert [group.is_checkpoint for group in read.groups] == [False, True]


def test_what_has_subtasks_or_requirements_is_no_checkpoint() -> None:
    read = tasks_of(
        "- [ ] 1. Checkpoint\n  - [ ] 1.1 A\n- [ ] 2. Checkpoint\n  - _Requirements: 1.1_\n- [ ] 3. Checkpointing\n"
    )
    assert [group.is_checkpoint for group in read.groups] == [False, False, False]


@pytest.mark.parametrize("key", ["Depends", "Dependencies", "Depends on", "依存", "依赖"])
def test_a_task_says_what_it_waits_for(key: str) -> None:
    read = tasks_of(
        f"- [ ] 1. A\n  - [ ] 1.1 B\n  - [ ] 1.2 C\n- [ ] 2. D\n  - [ ] 2.1 E\n    - _{key}: 1.1-1.2, Task 1_\n"
    )
    assert read.groups[1].subtasks[0].after == ("1.1", "1.2", "1")
    assert read.problems == ()


def test_waiting_for_a_task_that_is_not_there_is_said() -> None:
    read = tasks_of("- [ ] 1. A\n  - [ ] 1.1 B\n    - _Depends: 1.7_\n")
    assert read.groups[0].subtasks[0].after == ()
    assert said(read.problems) == [("s/tasks.md:3", "waits for 1.7: no such task in this file. Correct the number")]


def test_a_group_that_stands_twice_is_kept_under_another_number_and_said() -> None:
    read = tasks_of("- [ ] 1. A\n- [ ] 2. B\n- [ ] 2. C\n- [ ] 3. D\n")
    assert groups_of(read) == [(1, "A", []), (2, "B", []), (4, "C", []), (3, "D", [])]
    assert said(read.problems) == [
        ("s/tasks.md:3", "group 2 stands twice, first in line 2: this one is known as group 4 here. Renumber one")
    ]
    assert errors(read.problems) == []


def test_boxes_under_notes_are_named_where_no_task_has_their_number() -> None:
    read = tasks_of("- [ ] 1. A\n\n## Notes\n\n- [ ] 1. A\n- [ ] 7. Remember\n")
    assert groups_of(read) == [(1, "A", [])]
    assert said(read.problems) == [
        ("s/tasks.md:6", "task 7 stands below a heading that holds no tasks: not planned. Move it, if it is one")
    ]


def test_groups_counted_from_one_again_under_another_heading_are_counted_on_and_said() -> None:
    read = tasks_of("## Backend\n- [ ] 1. A\n- [ ] 2. B\n## Frontend\n- [ ] 1. C\n  - [ ] 1.1 D\n")
    assert groups_of(read) == [(1, "A", []), (2, "B", []), (3, "C", ["1.1"])]
    assert [p.where for p in read.problems] == ["s/tasks.md:2"]


def test_a_group_with_a_letter_is_counted() -> None:
    read = tasks_of("- [ ] 1. A\n- [ ] 1b. B\n  - [ ] 1b.1 C\n- [ ] 2. D\n")
    assert groups_of(read) == [(1, "A", []), (2, "B", ["1b.1"]), (3, "D", [])]
    assert len(read.problems) == 1


def test_a_group_zero_is_counted_from_one() -> None:
    assert groups_of(tasks_of("- [ ] 0. A\n  - [ ] 0.1 B\n- [ ] 1. C\n")) == [(1, "A", ["0.1"]), (2, "C", [])]


def test_gaps_between_groups_are_kept() -> None:
    assert [group.number for group in tasks_of("- [ ] 1. A\n- [ ] 4. B\n").groups] == [1, 4]


def test_a_subtask_that_stands_twice_is_said() -> None:
    read = tasks_of("- [ ] 1. A\n  - [ ] 1.1 B\n  - [ ] 1.1 C\n")
    assert said(read.problems) == [("s/tasks.md:3", "task 1.1 stands twice: in lines 2 and 3. Renumber one")]


def test_a_box_without_a_number_between_groups_is_read_as_a_part_and_said() -> None:
    read = tasks_of("- [ ] 1. A\n- [ ] lost\n- [ ] 2. B\n")
    assert groups_of(read) == [(1, "A", []), (2, "B", [])]
    assert [p.where for p in read.problems] == ["s/tasks.md:2"]


def test_notes_and_legends_hold_no_tasks() -> None:
    text = "## Tasks\n- [ ] 1. A\n## Notes\n- [ ] 2. sample\n### More\n- [x] 3. sample\n## 備考\n- [ ] 4. x\n"
    assert groups_of(tasks_of(text)) == [(1, "A", [])]


def test_properties_are_found_where_tasks_say_them() -> None:
    read = tasks_of(
        "- [ ] 1. A\n  - [ ]* 1.1 B\n    - **Property 3: Round trip**\n  - [ ] 1.2 Write Property 4 test\n"
        "- [ ] 2. **Property 5: Alone**\n- [ ] 3. C\n  - [ ] 3.1 D\n    - **属性 3：往返**\n"
    )
    assert read.properties == {"3": ("1.1", "3.1"), "4": ("1.2",), "5": ("2",)}


def test_the_text_of_a_group_is_all_that_stands_below_it() -> None:
    read = tasks_of("- [ ] 1. A\n  - do\n  - [ ] 1.1 B\n    - more\n\n- [ ] 2. C\n")
    assert read.groups[0].text == "- [ ] 1. A\n  - do\n  - [ ] 1.1 B\n    - more"
    assert read.groups[0].subtasks[0].details == ("more",)


def test_groups_and_subtasks_have_places() -> None:
    read = tasks_of("# Plan\n- [ ] 1. A\n  - [ ] 1.1 B\n")
    assert read.places == {"group 1": "s/tasks.md:2", "task 1.1": "s/tasks.md:3"}


def test_a_wrapped_title_is_one_title() -> None:
    read = tasks_of("- [ ] 1. A\n  - [ ] 1.1 B that\n    goes on\n    - detail\n")
    assert [(t.title, t.details) for t in read.groups[0].subtasks] == [("B that goes on", ("detail",))]


@pytest.mark.parametrize(
    "line",
    [
        "- [ ] " + "1." * 100_000,
        "- [ ] " + "*" * 100_000,
        "- [ ] 1. " + "_Requirements: " * 20_000,
        "  - _Requirements: " + "1.1, " * 50_000 + "_",
        "  - " + "a" * 100_000 + ":",
        "  - " + "(" * 100_000,
        "  - " + "(Requirements: 1.1 " * 20_000,
        "  - " + "Property " * 30_000,
        "## " + "Phase " * 40_000,
        "## " + "**" * 100_000,
        "- [ ] 1.1 _Depends: " + "1.1-" * 30_000 + "_",
        "- [ ] 1. A" + " " * 100_000 + "*x",
        "- [ ] 1. " + "a " * 100_000,
    ],
)
def test_long_lines_are_read_at_once(line: str) -> None:
    tasks_of(f"- [ ] 1. A\n{line}\n")


@pytest.mark.parametrize("text", ["- [ ] 1. Build\n  the gate\n", "- [ ] 1. Build\n  the gate\n- [ ] 1.1 Dig\n"])
def test_a_group_title_wraps_over_the_line_below_it(text: str) -> None:
    assert tasks_of(text).groups[0].title == "Build the gate"


def test_text_below_a_heading_is_no_part_of_its_title() -> None:
    (group,) = tasks_of("## Phase 1: A\nAbout it.\n### Task 1.1: B\nAbout that.\n- [ ] x\n").groups
    assert (group.title, group.subtasks[0].title) == ("A", "B")


@pytest.mark.parametrize("field", ["_需求：1.1_", "_依赖：1.1_", "**要件**： 1.1", "_Requirements : 1.1_"])
def test_a_field_is_no_detail_whatever_its_colon(field: str) -> None:
    tasks = tasks_of(f"- [ ] 1. A\n  - [ ] 1.1 B\n  - [ ] 1.2 C\n    - {field}\n    - Requirements of it\n")
    assert tasks.groups[0].subtasks[1].details == ("Requirements of it",)


@pytest.mark.parametrize("written", ["Requirements all", "all requirements", "全需求"])
def test_a_task_can_validate_all_requirements(written: str) -> None:
    assert len(tasks_of(f"- [ ] 1. A\n  - **Validates: {written}**\n").groups[0].requirements) == 10


def test_a_queued_task_is_open_unless_a_legend_says_skipped() -> None:
    tasks = "- [~] 1. A\n  - [~] 1.1 B\n"
    assert tasks_of(tasks).groups[0].state is TaskState.OPEN
    assert tasks_of(f"{tasks}\n## Legend\n\n`[~]` = skipped\n").groups[0].state is TaskState.SKIPPED


def test_what_stands_after_the_last_subtask_at_its_indentation_is_the_groups() -> None:
    read = tasks_of("- [ ] 1. A\n  - [ ] 1.1 B\n    - do it\n  - [ ] 1.2 C\n  - _Requirements: 1.1_\n")
    assert read.groups[0].requirements == ("1.1",)
    assert [(task.requirements, task.details) for task in read.groups[0].subtasks] == [((), ("do it",)), ((), ())]


def test_where_details_are_never_indented_each_subtask_keeps_its_own() -> None:
    text = "- [ ] 1. A\n  - [ ] 1.1 B\n  - _Requirements: 1.1_\n  - [ ] 1.2 C\n  - _Requirements: 1.2_\n"
    assert [task.requirements for task in tasks_of(text).groups[0].subtasks] == [("1.1",), ("1.2",)]


@pytest.mark.parametrize(
    ("field", "expected"),
    [
        ("_Requisitos: 3.*, 1.1._", ("3.1", "3.2", "1.1")),
        ("_요구사항: 1.1, 1.2 / steering: 3_", ("1.1", "1.2")),
        ("_Requirements: 1.1; Design: 3.2_", ("1.1",)),
        ("**Valide : Exigences 2.1**", ("2.1",)),
        ("**Prüft: Anforderungen 2.1, 2.2**", ("2.1", "2.2")),
        ("_削除理由: 2.1 で提供_", ()),
        ("_完了条件: 2.1 のテストが通る_", ()),
    ],
)
def test_a_field_ends_where_another_begins_and_a_sentence_is_no_list(field: str, expected: tuple[str, ...]) -> None:
    read = tasks_of(f"- [ ] 1. A\n  - {field}\n")
    assert read.groups[0].requirements == expected
    assert read.problems == ()


@pytest.mark.parametrize(
    "written", ["R1.1–R1.3", "R1.1-R1.3", "R1.1 through R1.3", "R1.1-1.3", "R1.1〜R1.3", "R1", "R1.*"]
)
def test_ranges_of_ids_of_another_make_are_written_out(written: str) -> None:
    text = "### R1 A\n1. A shall\n2. B shall\n3. C shall\n### R2 B\n1. D shall\n"
    references = references_of(requirements_of(text).requirements)
    read = tasks_of(f"- [ ] 1. A\n  - _Requirements: {written}_\n", references)
    assert (read.groups[0].requirements, read.problems) == (("R1.1", "R1.2", "R1.3"), ())


def test_a_range_of_ids_may_have_several_words_in_each() -> None:
    references = references_of(requirements_of("### FR-VOI-001: A\n1. a\n### FR-VOI-002: B\n1. b\n").requirements)
    assert references.read("FR-VOI-001 through FR-VOI-002").ids == ("FR-VOI-001.1", "FR-VOI-002.1")


@pytest.mark.parametrize(
    "title", ["**Urgent**: mend `**/*.ts`", "**Urgent: mend** `**/*.ts`", "Urgent: **mend `**/*.ts`**"]
)
def test_marks_for_bold_type_are_no_part_of_a_title(title: str) -> None:
    assert tasks_of(f"- [ ] 1. {title}\n").groups[0].title == "Urgent: mend `**/*.ts`"


def test_the_words_that_kiro_writes_into_a_bugfix_are_no_list_and_need_no_mending() -> None:
    bugfix = bugfix_of(
        "## Current\n\n1.1 WHEN a THEN b\n\n## Expected\n\n2.1 WHEN a THEN c\n\n## Unchanged\n\n3.1 WHEN d\n"
    )
    references = references_of(bugfix.requirements, bugfix.defects)
    read = tasks_of(
        "- [ ] 1. A\n  - _Requirements: Expected Behavior Properties from design_\n"
        "- [ ] 2. B\n  - _Requirements: Preservation Requirements from design_\n",
        references,
    )
    assert ([group.requirements for group in read.groups], read.problems) == ([(), ()], ())


@pytest.mark.parametrize("title", ["Notes App - Implementation Plan", "Risk Engine: Tasks", "Status", "#581 — Tasks"])
def test_the_title_of_the_file_hides_no_tasks_and_is_none(title: str) -> None:
    read = tasks_of(f"# {title}\n\n- [ ] 1. A\n  - [ ] 1.1 B\n")
    assert groups_of(read) == [(1, "A", ["1.1"])]


@pytest.mark.parametrize("title", ["Tasks — F-014", "Phase 6: Tasks", "Tasks for issue #581", "1. Tasks"])
def test_a_number_in_the_title_of_the_file_is_no_group(title: str) -> None:
    read = tasks_of(f"# {title}\n\n## Part\n\n- [ ] 1.1 A\n- [ ] 2.1 B\n")
    assert groups_of(read) == [(1, "Part", ["1.1"]), (2, "Part", ["2.1"])]


def test_tasks_that_are_headings_are_found_below_a_heading_such_as_overview_but_samples_are_not() -> None:
    tasks = "### Phase 1: Doors\n\n#### Task 1.1: Open\n\nIt opens.\n\n#### Task 1.2: Close\n\nIt closes.\n"
    tasks += "\n### Phase 2: Locks\n\n#### Task 2.1: Turn\n"
    read = tasks_of(f"# T\n\n## Overview\n\n{tasks}\n## Risks\n\n- Task 1.2 is hard\n")
    assert groups_of(read) == [(1, "Doors", ["1.1", "1.2"]), (2, "Locks", ["2.1"])]
    sample = "## Examples\n\n### Phase 1: Sample\n\n#### Task 1.1: Shine\n"
    assert groups_of(tasks_of(f"# T\n\n{sample}\n## Tasks\n\n{tasks}")) == groups_of(read)


def test_headings_that_only_begin_like_notes_hold_tasks_where_the_numbers_go_on() -> None:
    text = """
    ## Reference data import
    - [ ] 1. A
    ## Dependency upgrade
    - [ ] 2. B
      - [ ] 2.1 C
    ## Rest
    - [ ] 3. D
    ## Risk model
    - [ ] 4.1 E
    ## Success Criteria of all
    - [ ] 1. no
    - [ ] 5. no
    """
    read = tasks_of(text)
    assert groups_of(read) == [(1, "A", []), (2, "B", ["2.1"]), (3, "D", []), (4, "Risk model", ["4.1"])]


def test_tasks_that_are_waited_for_may_stand_right_behind_a_word() -> None:
    read = tasks_of("- [x] 1. A\n- [ ] 2. B\n  - [ ] 2.1 C\n    - _Dependencies: タスク1完了（型）_\n")
    assert (read.groups[1].subtasks[0].after, read.problems) == (("1",), ())


def test_waiting_for_a_task_of_a_later_group_is_said() -> None:
    read = tasks_of(
        "- [ ] 1. A\n  - _Depends: 2.1_\n- [ ] 2. B\n  - [ ] 2.1 C\n    - _Depends: 2.2, 1_\n  - [ ] 2.2 D\n"
    )
    what = "waits for 2.1, which is built later: groups are built in the order of the file. Move one of the two"
    assert said(read.problems) == [("s/tasks.md:2", what)]


GRAPH = "\n## Task Dependency Graph\n\n```json\n{}\n```\n"
BOXES = """
- [ ] 1. A
  - [ ] 1.1 a
    - [ ] 1.1.1 b
  - [ ] 1.2 c
- [ ] 2. B
  - [ ] 2.1 d
- [ ] 3. C
  - [ ] 3.1 e
"""


@pytest.mark.parametrize(
    "waves",
    [
        '{"waves": [{"id": 0, "tasks": ["1.1", "2.1"]}, {"id": 1, "tasks": ["1.2"]}, {"id": 2, "tasks": ["3.1"]}]}',
        '{"waves": [{"wave": 1, "tasks": [1]}, {"wave": 2, "tasks": [2, 3]}]}',
        '{"waves": [["1.1.1"], ["1.2", "2.1"], ["3.1"]]}',
        '{"waves": [\n{"name": "A", "tasks": ["1"]},\n{"name": "B", "taskIds": ["2.*"], "dependsOn": ["1"]}\n]}',
        '{"other": []}',
        "not JSON",
    ],
)
def test_a_task_graph_that_the_order_of_the_groups_keeps_needs_no_word(waves: str) -> None:
    read = tasks_of(BOXES + GRAPH.format(waves))
    assert groups_of(read) == [(1, "A", ["1.1", "1.2"]), (2, "B", ["2.1"]), (3, "C", ["3.1"])]
    assert read.problems == ()


@pytest.mark.parametrize(
    ("waves", "what"),
    [
        (
            '{"waves": [["3.1"], ["1.1", "1.2"], ["2.1"]]}',
            "the task graph has group 3 before 2: they are built in the order of the file. Move them, if it matters",
        ),
        (
            '{"waves": [["1"], ["3"], ["2"]]}',
            "the task graph has group 3 before 2: they are built in the order of the file. Move them, if it matters",
        ),
        (
            '{"waves": [["1"], ["2", "7.1"], ["3", "8"]]}',
            "the task graph names 7.1, 8: no such task in this file. Correct the number",
        ),
        (
            '{"waves": [["1"], }',
            "this task graph can't be read as JSON with `waves`: its order is not known. Mend it",
        ),
        (
            '{"waves": [{"name": "A"}, 7]}',
            "this task graph can't be read as JSON with `waves`: its order is not known. Mend it",
        ),
    ],
)
def test_what_a_task_graph_says_and_the_plan_does_not_do_is_said(waves: str, what: str) -> None:
    read = tasks_of(BOXES + GRAPH.format(waves))
    assert said(read.problems) == [("s/tasks.md:13", what)]


@pytest.mark.parametrize("waves", ['{"waves": ' + "[" * 60_000, '{"waves": [' + "9" * 9_000 + "]}", '{"waves": {}}'])
def test_a_hostile_task_graph_is_read_at_once(waves: str) -> None:
    assert len(tasks_of(BOXES + GRAPH.format(waves)).groups) == 3
