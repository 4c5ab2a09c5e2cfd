"""A dialect of another package that is written over the outline of documents: BMAD's stories."""

from __future__ import annotations

from pathlib import Path

from agent_fox.core.spec import Problem, Spec, TaskState
from agent_fox.specs.accounts.account import Fate, account_of
from agent_fox.specs.reader import BUILT_IN, read_specs
from examples.plugins.stories.stories_plugin import StoriesDialect

STORY = """# Story 1.2: Sign in

## Status

Approved

## Story

**As a** member,
**I want** to sign in,
**so that** I see my loans.

## Acceptance Criteria

1. WHEN the password is right, THE door SHALL open.
2. WHEN it is wrong,
   THE door SHALL stay shut.
   - It says why.

## Tasks / Subtasks

- [x] Task 1: Build the door (AC: 1)
  - [x] Subtask 1.1: Hang it
    - with two hinges
- [ ] Task 2: Lock it (AC: 1-2, #3)
  - [ ] Subtask 2.1: Check the password (AC: #2)

## Dev Notes

- The hinges MUST be oiled as ever.

## Change Log

| Date | Description |
|------|-------------|
| 2026 | first draft |
"""


def read(root: Path, text: str = STORY) -> tuple[Spec, tuple[Problem, ...]]:
    (root / "stories").mkdir()
    (root / "stories" / "1.2.sign-in.story.md").write_text(text)
    (spec,), problems = read_specs(root / "stories", root, (*BUILT_IN, StoriesDialect()))
    return spec, problems


def test_criteria_and_the_tasks_that_name_them_are_read(tmp_path: Path) -> None:
    spec, problems = read(tmp_path)
    assert (spec.name, spec.title, spec.expected) == ("1.2.sign-in", "Sign in", ("AC-1", "AC-2"))
    assert spec.requirements[0].criteria[1].text == "WHEN it is wrong, THE door SHALL stay shut.\nIt says why."
    assert [(group.title, group.state, group.requirements) for group in spec.groups] == [
        ("Build the door", TaskState.DONE, ("AC-1",)),
        ("Lock it", TaskState.OPEN, ("AC-1", "AC-2")),
    ]
    assert [(task.title, task.details) for group in spec.groups for task in group.subtasks] == [
        ("Hang it", ("with two hinges",)),
        ("Check the password", ()),
    ]
    assert [(problem.where.rpartition(":")[2], problem.what.partition(".")[0]) for problem in problems] == [
        ("25", "names criterion 3: the story has 2"),
        ("30", "SHALL or MUST outside of all that is to be proven: line 30"),
    ]


def test_the_law_holds_for_what_a_plugin_reads(tmp_path: Path) -> None:
    stray = STORY.replace(
        "## Dev Notes", "## Acceptance Criteria of the hinges\n\n- THE hinge SHALL not creak.\n\n## Dev Notes"
    )
    spec, problems = read(tmp_path, stray)
    left = [entry for entry in account_of(spec, tmp_path, problems) if entry.fate is Fate.LEFTOVER]
    assert [(entry.line, entry.is_grave) for entry in left if entry.is_grave] == [(30, True)]
    assert [problem.severity.value for problem in problems if problem.where.endswith(":30")] == ["error"]


def test_a_story_without_criteria_or_tasks_says_what_to_write(tmp_path: Path) -> None:
    _, problems = read(tmp_path, "# Story 1.2: Sign in\n\n## Status\n\nDraft\n")
    assert [problem.what.partition(":")[0] for problem in problems] == [
        "the story has no acceptance criteria",
        "the story has no tasks",
    ]
