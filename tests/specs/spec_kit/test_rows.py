"""Tasks that are rows of tables are tasks like others, where a file has no others."""

from __future__ import annotations

from pathlib import Path

from agent_fox.core.spec import Subtask, TaskState
from tests.specs.spec_kit.worlds import read

SPEC = "# S\n\n### User Story 1 - A\n\na\n\n## Requirements\n\n- **FR-001**: sell\n"
TASKS = """# Tasks

## Summary

| ID | Task |
|----|------|
| T001 | as below |

## Phase 1: Setup

| ID | P? | Story | Task | Depends On | Status | File |
|----|----|-------|------|------------|--------|------|
| **T001** | | Setup | Make it as FR-001 \\| so | - | ✅ Done | `a.py` |
| T002 | [P] | US1 | Paint it | T001 | not done | |

## Phase 2: More

| # | Description |
|---|---|
| T003 | [P] [US1] Write words |
| all | of it |

## Coverage

| Task | Requirements |
|---|---|
| T003 | FR-001 |
"""


def test_rows_with_a_number_and_words_are_tasks(tmp_path: Path) -> None:
    spec, problems = read(tmp_path, spec=SPEC, tasks=TASKS)
    first, second = spec.groups
    assert [group.title for group in spec.groups] == ["Setup", "More"]
    assert first.subtasks == (
        Subtask(
            "T001",
            "Make it as FR-001 | so",
            TaskState.DONE,
            requirements=("FR-001",),
            details=("story: Setup", "file: `a.py`"),
        ),
        Subtask(
            "T002", "Paint it", requirements=("US1",), details=("depends on: T001",), parallel=True, after=("T001",)
        ),
    )
    assert second.subtasks == (Subtask("T003", "Write words", requirements=("US1",), parallel=True),)
    assert problems == []


def test_rows_are_no_tasks_where_boxes_are(tmp_path: Path) -> None:
    boxes = TASKS + "\n## Phase 3: Boxes\n\n- [ ] T009 a\n"
    spec, problems = read(tmp_path, spec=SPEC, tasks=boxes)
    assert [task.number for group in spec.groups for task in group.subtasks] == ["T009"]
    assert [problem.split(": ")[0] for problem in problems] == ["tasks.md:9 'Phase 1", "tasks.md:16 'Phase 2"]


def test_a_row_s_place_is_known(tmp_path: Path) -> None:
    spec, _ = read(tmp_path, spec=SPEC, tasks=TASKS)
    assert spec.place("task T002") == "specs/002-cart/tasks.md:14"
