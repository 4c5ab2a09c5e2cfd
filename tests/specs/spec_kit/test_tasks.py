"""Phases of tasks.md are groups; tasks keep their labels, states and what they wait for."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.core.spec import Group, Subtask, TaskState
from tests.specs.spec_kit.worlds import read

SPEC = """# Feature Specification: Cart

### User Story 1 - Fill

**Acceptance Scenarios**:

1. **Given** a, **When** b, **Then** c

### User Story 2 - Pay

Paying works.

## Requirements

- **FR-001**: sell
- **FR-002**: buy
- **FR-003**: give back
"""
TASKS = """# Tasks: Cart

## Format: `[ID] [P?] [Story] Description`

- **[P]**: beside others

## Phase 1: Setup (Shared)

- [x] T001 Make the folders
- [X] T002 [P] Set up tools

## Phase 3: User Story 1 - Fill (Priority: P1) 🎯 MVP

**Goal**: things go in

### Tests for User Story 1 (OPTIONAL - only if asked for) ⚠️

- [ ] T003 [P] [US1] Contract test in tests/contract

### Implementation

- [ ] T004 [US2] Model for FR-001 to FR-002
  in src/model (depends on T001, T002)
  - keep it small
- [ ] T005 Service

**Checkpoint**: things go in

## Phase N: Polish

- [ ] T006 [P] Words

## Dependencies & Execution Order

- [ ] T001 comes first

```
- [ ] T900 sample
```

## Notes

- [P] means beside
"""


def groups(tmp_path: Path, tasks: str, spec: str = SPEC) -> tuple[tuple[Group, ...], list[str]]:
    found, problems = read(tmp_path, spec=spec, tasks=tasks)
    return found.groups, problems


def test_phases_are_groups_with_their_written_numbers(tmp_path: Path) -> None:
    found, problems = groups(tmp_path, TASKS)
    assert [(g.number, g.title, g.state) for g in found] == [
        (1, "Setup (Shared)", TaskState.DONE),
        (3, "User Story 1 - Fill (Priority: P1) 🎯 MVP", TaskState.OPEN),
        (4, "Phase N: Polish", TaskState.OPEN),
    ]
    assert problems == []


def test_numbered_tasks_that_are_indented_or_below_a_checkpoint_are_tasks(tmp_path: Path) -> None:
    tasks = "## Phase 1: Setup\n\n- [ ] T001 Make\n    - [ ] T002 Paint\n\n### Checkpoint\n\n- [ ] T003 Look\n"
    found, _ = groups(tmp_path, tasks)
    assert [task.number for group in found for task in group.subtasks] == ["T001", "T002", "T003"]


def test_a_task_keeps_its_labels_and_what_it_waits_for(tmp_path: Path) -> None:
    found, _ = groups(tmp_path, TASKS)
    assert found[1].subtasks == (
        Subtask("T003", "Contract test in tests/contract", optional=True, requirements=("US1.1",), parallel=True),
        Subtask(
            "T004",
            "Model for FR-001 to FR-002 in src/model (depends on T001, T002)",
            requirements=("US2", "FR-001", "FR-002"),
            details=("keep it small",),
            after=("T001", "T002"),
        ),
        Subtask("T005", "Service", requirements=("US1.1",)),
    )
    assert found[1].requirements == ("US1.1", "US2", "FR-001", "FR-002")


def test_places_of_groups_and_tasks_are_known(tmp_path: Path) -> None:
    spec, _ = read(tmp_path, spec=SPEC, tasks=TASKS)
    assert (spec.place("group 3"), spec.place("task T004")) == (
        "specs/002-cart/tasks.md:12",
        "specs/002-cart/tasks.md:22",
    )


def test_phases_of_the_older_template_are_counted_and_keep_their_words(tmp_path: Path) -> None:
    tasks = (
        "# Tasks\n\n## Phase 3.1: Setup\n- [ ] T001 a\n\n## Phase 3.2: Tests First (TDD)\n"
        "- [ ] T002 [P] Contract test b in tests/b.py\n\n## Phase 3.3: Core\n- [ ] T003 c\n"
    )
    found, _ = groups(tmp_path, tasks)
    assert [(g.number, g.title, g.writes_tests_only) for g in found] == [
        (1, "Phase 3.1: Setup", False),
        (2, "Phase 3.2: Tests First (TDD)", True),
        (3, "Phase 3.3: Core", False),
    ]


def test_tests_after_the_work_are_work_like_any_other(tmp_path: Path) -> None:
    tasks = "# T\n\n## Phase 1: Core\n- [ ] T001 c\n\n## Phase 2: Testing\n- [ ] T002 Unit tests\n"
    tasks += "\n## Phase 3: End\n- [ ] T003 d\n"
    found, _ = groups(tmp_path, tasks)
    assert [g.writes_tests_only for g in found] == [False, False, False]


def test_headings_of_tasks_stand_below_a_phase_of_the_same_rank(tmp_path: Path) -> None:
    tasks = "# T\n\n### Phase 1: A\n\n### T001: a\n\n- [ ] one\n\n### T002 [P]: b ✅\n**Dependencies**: T001 (done)\n"
    found, _ = groups(tmp_path, tasks + "\n### Phase 2: B\n\n### T003: c\n")
    assert [(g.number, [(t.number, t.after) for t in g.subtasks]) for g in found] == [
        (1, [("T001", ()), ("T002", ("T001",))]),
        (2, [("T003", ())]),
    ]
    assert [t.title for t in found[0].subtasks] == ["a", "b ✅"]


def test_a_task_without_a_number_belongs_to_its_phase(tmp_path: Path) -> None:
    tasks = "# T\n\n## Phase 2: A\n\n- [ ] T001 a\n- [ ] b\n  - [ ] a step of b\n\n**Checkpoint**:\n\n"
    found, problems = groups(tmp_path, tasks)
    assert [(t.number, t.title, t.details) for t in found[0].subtasks] == [
        ("T001", "a", ()),
        ("2.2", "b", ("a step of b",)),
    ]
    assert (found[0].number, problems) == (2, [])


def test_tasks_before_any_phase_are_a_group_of_their_own(tmp_path: Path) -> None:
    found, _ = groups(tmp_path, "# T\n\n- [ ] T001 a\n\n## Phase 1: B\n\n- [ ] T002 b\n")
    assert [(g.number, g.title, [t.number for t in g.subtasks]) for g in found] == [
        (1, "Tasks", ["T001"]),
        (2, "Phase 1: B", ["T002"]),
    ]


def test_phases_need_not_be_called_so(tmp_path: Path) -> None:
    found, _ = groups(tmp_path, "# T\n\n## Aufgaben\n\n### Eins\n\n- [ ] T001 a\n\n### Zwei\n\n- [ ] T002 b\n")
    assert [(g.number, g.title) for g in found] == [(1, "Eins"), (2, "Zwei")]


@pytest.mark.parametrize(
    "heading",
    [
        "## Phase 3：用户故事 2 - 付（优先级：P1）",
        "## フェーズ 3: ユーザーストーリー 2",
        "## 3단계: 사용자 스토리 2 - 내기",
        "## Fase 3: História de Usuário 2 — Pagar (P1)",
        "## Phase 3: Pay (US2)",
        "## 阶段 3: US2",
    ],
)
def test_a_phase_named_for_a_story_gives_it_to_its_tasks(tmp_path: Path, heading: str) -> None:
    found, _ = groups(tmp_path, f"# T\n\n{heading}\n\n- [ ] T001 pay\n")
    assert (found[0].number, found[0].subtasks[0].requirements) == (3, ("US2",))


@pytest.mark.parametrize(
    ("line", "number", "title"),
    [
        ("- [ ] **T001** [P] a", "T001", "a"),
        ("* [ ] T001: a", "T001", "a"),
        ("+ [ ] [T001] a", "T001", "a"),
        ("- [ ] **T001 [P] a**", "T001", "a"),
        ("-\t[ ] T001b [P] a", "T001b", "a"),
        ("- [ ] T001B [P] a", "T001B", "a"),
        ("- [ ] T-001 [P] a", "T-001", "a"),
        ("- [ ] T1-001 [P] a", "T1-001", "a"),
        ("- [ ] 1.1 [P] a", "1.1", "a"),
        ("- [ ] TXXX [P] a", "1.1", "a"),
        ("- T001 [P] a", "T001", "a"),
        ("### T001: a", "T001", "a"),
    ],
)
def test_numbers_are_read_in_every_spelling(tmp_path: Path, line: str, number: str, title: str) -> None:
    found, _ = groups(tmp_path, f"# T\n\n## Phase 1: A\n\n{line}\n")
    assert [(t.number, t.title) for t in found[0].subtasks] == [(number, title)]


@pytest.mark.parametrize(
    ("line", "state"),
    [
        ("- [x] T001 a", TaskState.DONE),
        ("- [X] T001 a", TaskState.DONE),
        ("- [✓] T001 a", TaskState.DONE),
        ("- [ ] T001 a", TaskState.OPEN),
        ("- [] T001 a", TaskState.OPEN),
        ("- [~] T001 a", TaskState.SKIPPED),
        ("- [ ] ~~T001 a~~", TaskState.SKIPPED),
        ("- [ ] T001 [P] ~~a~~", TaskState.SKIPPED),
        ("- [ ] T001 ~~a ~5 s~~ (done in T007)", TaskState.SKIPPED),
        ("- [ ] T001 ~~a~~ **SUPERSEDED 2026-01-02**: b", TaskState.SKIPPED),
        ("- [ ] T001 ~~a~~ → b", TaskState.OPEN),
        ("- [ ] T001 a, ~~not b~~", TaskState.OPEN),
        ("- [-] T001 a", TaskState.IN_PROGRESS),
        ("### T001: a ✅", TaskState.DONE),
        ("### T001: a\n\n- [x] b\n- [ ] c", TaskState.IN_PROGRESS),
    ],
)
def test_states_are_those_of_the_boxes(tmp_path: Path, line: str, state: TaskState) -> None:
    found, _ = groups(tmp_path, f"# T\n\n## Phase 1: A\n\n{line}\n")
    assert found[0].subtasks[0].state is state


@pytest.mark.parametrize(
    ("words", "after"),
    [
        ("(depends on T001)", ("T001",)),
        ("(depends on T001-T003)", ("T001", "T002", "T003")),
        ("(after T001 and T003)", ("T001", "T003")),
        ("**DEPENDS ON**: T001 (the base), T003", ("T001", "T003")),
        ("（依赖 T002、T003）", ("T002", "T003")),
        ("（T002・T003 に依存）", ("T002", "T003")),
        ("(T001–T003 완료 후)", ("T001", "T002", "T003")),
        ("，在 T003 完成后", ("T003",)),
        ("(deps: T001, T002)", ("T001", "T002")),
        ("[depends: T002]", ("T002",)),
        ("like T001", ()),
    ],
)
def test_what_a_task_waits_for_is_read_from_its_words(tmp_path: Path, words: str, after: tuple[str, ...]) -> None:
    tasks = f"# T\n\n## Phase 1: A\n\n- [ ] T001 a\n- [ ] T002 b\n- [ ] T003 c\n- [ ] T004 d {words}\n"
    found, problems = groups(tmp_path, tasks)
    assert (found[0].subtasks[3].after, problems) == (after, [])


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    tasks = "# T\n\n## Phase 1: A\n\n- [ ] T001 [US7] a FR-009 (depends on T077)\n- [ ] T001 b\n"
    tasks += "\n## Notes\n\n- [ ] T099 c\n"
    found, problems = groups(tmp_path, tasks)
    assert [t.number for t in found[0].subtasks] == ["T001", "T001 (2)"]
    assert problems == [
        "tasks.md:10 T099 stands in no phase: not planned. Move it below the phase it belongs to",
        "tasks.md:6 T001 stands in line 5 too: this one is known as 'T001 (2)' here. Renumber one",
        "tasks.md:5 T001 names US7, FR-009: no such requirement in this spec. Correct the id, or declare it",
        "tasks.md:5 T001 waits for T077: no such task here. Correct the number",
    ]


def test_a_phase_without_tasks_and_boxes_outside_of_phases_are_said(tmp_path: Path) -> None:
    tasks = "# T\n\n## Phase 1: A\n\n- [ ] T001 a\n\n## Phase 2: B\n\nwords\n\n## Review\n\n- [ ] looked at\n"
    found, problems = groups(tmp_path, tasks)
    assert [g.number for g in found] == [1]
    assert problems == [
        "tasks.md:13 boxes without a number, in no phase: line 13. Not planned; number those that are tasks",
        "tasks.md:7 'Phase 2: B' has no tasks: not planned. Write tasks with boxes (`- [ ] T001 ...`)",
    ]


def test_bold_numbers_on_lines_of_their_own_are_tasks_where_no_others_are(tmp_path: Path) -> None:
    tasks = "# T\n\n### Phase 1: A\n\n**T001** [P] a\n- **File**: x\n\n**T002** b\n- **Dependencies**: T001完了後\n"
    found, problems = groups(tmp_path, tasks + "\n## Notes\n\n**T003** is not meant\n")
    assert [(t.number, t.title, t.parallel, t.after) for t in found[0].subtasks] == [
        ("T001", "a", True, ()),
        ("T002", "b", False, ("T001",)),
    ]
    assert (found[0].subtasks[0].details, problems) == (("**File**: x",), [])


def test_what_is_written_in_another_way_than_the_tasks_is_said(tmp_path: Path) -> None:
    tasks = "# T\n\n## Phase 1: A\n\n- [ ] T001 a\n- T001 is first\n- T002 b\n\n### T003-T005: c\n\nwords\n"
    found, problems = groups(tmp_path, tasks + "\n## Notes\n\n- T008 is another file's\n")
    assert [t.number for t in found[0].subtasks] == ["T001"]
    assert problems == [
        "tasks.md:7 T002 and such are written in another way than other tasks here: lines 7 and 9. Not planned; "
        "write tasks with boxes (`- [ ] T001 ...`), one a line"
    ]


def test_a_heading_below_a_phase_of_several_stories_says_whose_tasks_stand_under_it(tmp_path: Path) -> None:
    tasks = "# T\n\n## Phase 2: Core (User Story 1-2)\n\n### US2 Paying\n\n- [ ] T001 a\n"
    tasks += "\n### Words (depends on US7)\n\n- [ ] T002 b\n- [ ] T003 [US1] c\n"
    found, _ = groups(tmp_path, tasks)
    assert [t.requirements for t in found[0].subtasks] == [("US2",), ("US1.1", "US2"), ("US1.1",)]


def test_a_table_from_requirements_to_tasks_is_part_of_the_blame_map(tmp_path: Path) -> None:
    tasks = "# T\n\n## Phase 1: A\n\n- [ ] T001 a\n- [ ] T002 b\n"
    tasks += "\n## Coverage\n\n| FR | Tasks |\n|---|---|\n| FR-003 | T001-T002 |\n"
    found, _ = groups(tmp_path, tasks)
    assert [t.requirements for t in found[0].subtasks] == [("FR-003",), ("FR-003",)]


def test_statements_within_a_story_belong_to_its_tasks(tmp_path: Path) -> None:
    spec = "# S\n\n### User Story 1 - A\n\na\n\n**Functional Requirements**:\n\n- **FR-001**: sell\n"
    found, _ = groups(tmp_path, "# T\n\n## Phase 1: A\n\n- [ ] T001 [US1] a\n", spec)
    assert found[0].requirements == ("US1", "FR-001")


def test_a_statement_says_by_a_label_whose_it_is(tmp_path: Path) -> None:
    spec = "# S\n\n### User Story 1a - A\n\na\n\n### User Story 2 - B\n\nb\n\n## Requirements\n\n"
    spec += "- **FR-001** [US1a]: sell\n- **FR-002** [US1a, US2]: buy\n- **FR-003** [US9]: rent\n"
    tasks = (
        "# T\n\n## Phase 1: User Story 1a\n\n- [ ] T001 a\n\n## Phase 2: B\n\n- [ ] T002 [US2] b\n- [ ] T003 [US1A] c\n"
    )
    found, problems = groups(tmp_path, tasks, spec)
    assert [task.requirements for group in found for task in group.subtasks] == [
        ("US1a", "FR-001", "FR-002"),
        ("US2", "FR-002"),
        ("US1a", "FR-001", "FR-002"),
    ]
    assert problems == []


def test_one_story_in_many_tasks_is_kept_once(tmp_path: Path) -> None:
    found, _ = groups(tmp_path, "# T\n\n## Phase 1: A\n\n- [ ] T001 [US1] a\n- [ ] T002 [US1] b\n")
    first, second = found[0].subtasks
    assert first.requirements is second.requirements


def test_a_field_below_a_task_is_read_and_is_no_part_of_its_title(tmp_path: Path) -> None:
    tasks = "# T\n\n## G0 — A\n\n- [ ] **T001** `[P]` write the\n  failing test.\n  _要件: FR-002, US1-1_\n"
    found, problems = groups(tmp_path, tasks)
    (task,) = found[0].subtasks
    assert (task.title, task.details, task.parallel) == ("write the failing test", ("要件: FR-002, US1-1",), True)
    assert (task.requirements, problems) == (("FR-002", "US1.1"), [])


def test_ranges_that_name_very_many_requirements_are_cut_and_that_is_said(tmp_path: Path) -> None:
    spec = "# S\n\n## Requirements\n\n" + "".join(f"- **FR-{n}**: sell\n" for n in range(1, 1201))
    tasks = "# T\n\n## Phase 1: A\n\n" + "".join(f"- [ ] T{n} a FR-1 to FR-1200\n" for n in range(1, 1201))
    found, problems = groups(tmp_path, tasks, spec)
    named = [len(task.requirements) for task in found[0].subtasks]
    assert (named[0], named[-1], sum(named) < 1_010_000) == (1200, 1, True)
    assert problems == ["tasks.md:1 ranges name very many requirements: of some the first alone is kept. Name fewer"]


def test_a_heading_as_long_as_a_book_is_cut(tmp_path: Path) -> None:
    found, problems = groups(tmp_path, f"# T\n\n## Phase 1: {'A' * 9000}\n\n- [ ] T001 a\n")
    assert (found[0].title[-2:], len(found[0].title), problems) == ("A…", 3992, [])
