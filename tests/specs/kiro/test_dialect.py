"""A folder of Kiro's as one spec: its documents together, and what is wrong with any of them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_fox.core.spec import Problem, Severity, Spec, Trace
from tests.specs.worlds import built_in

REQUIREMENTS = "# Requirements Document\n\n### Requirement 1: T\n1. A shall\n2. B shall\n"
TASKS = "# Implementation Plan: Boats\n\n- [ ] 1. A\n  - [ ]* 1.1 B\n    - **Property 1: P**\n  - _Requirements: 1.1_\n"
DESIGN = "# Design\n## Correctness Properties\n### Property 1: P\nFor any x.\n**Validates: Requirements 1.1, 1.2**\n"


def read(folder: Path, **files: str | bytes) -> tuple[Spec | None, tuple[Problem, ...]]:
    spec = folder / ".kiro" / "specs" / "boats"
    spec.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        path = spec / name.replace("_", ".")
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return built_in("kiro").read(spec, folder)


def test_documents_of_a_folder_make_one_spec(tmp_path: Path) -> None:
    spec, problems = read(tmp_path, requirements_md=REQUIREMENTS, tasks_md=TASKS, design_md=DESIGN)
    assert problems == ()
    assert spec is not None
    assert (spec.name, spec.dialect, spec.path, spec.title) == ("boats", "kiro", ".kiro/specs/boats", "Boats")
    assert spec.expected == ("1.1", "1.2")
    assert spec.implied == {"1", "1.1", "1.2"}
    assert spec.groups[0].requirements == ("1.1",)
    assert spec.traceability == (
        Trace("1.1", ("Property 1",), ("1.1",)),
        Trace("1.2", ("Property 1",), ("1.1",)),
    )
    assert spec.places["1.2"] == ".kiro/specs/boats/requirements.md:5"
    assert sorted(spec.documents) == ["design.md", "requirements.md", "tasks.md"]


def test_line_ends_and_byte_marks_change_nothing(tmp_path: Path) -> None:
    plain, _ = read(tmp_path / "a", requirements_md=REQUIREMENTS, tasks_md=TASKS)
    other, problems = read(
        tmp_path / "b",
        requirements_md=b"\xef\xbb\xbf" + REQUIREMENTS.replace("\n", "\r\n").encode(),
        tasks_md=b"\xef\xbb\xbf" + TASKS.replace("\n", "\r").encode(),
    )
    assert (other, problems) == (plain, ())


def test_a_bugfix_is_a_spec(tmp_path: Path) -> None:
    spec, problems = read(
        tmp_path,
        bugfix_md="# Bugfix\n### Current Behavior\n1.1 a\n### Expected Behavior\n2.1 B shall\n",
        tasks_md="- [ ] 1. A\n  - _Requirements: 1.1, 2.1_\n",
    )
    assert problems == ()
    assert spec is not None
    assert (spec.expected, spec.groups[0].requirements) == (("2.1",), ("2.1",))


def test_requirements_beside_a_bugfix_are_what_is_expected(tmp_path: Path) -> None:
    spec, problems = read(tmp_path, requirements_md=REQUIREMENTS, bugfix_md="### Expected Behavior\n2.1 B\n")
    assert spec is not None
    assert spec.expected == ("1.1", "1.2")
    assert [problem.where for problem in problems] == [".kiro/specs/boats/bugfix.md"]


def test_tasks_alone_are_a_spec_that_nothing_can_prove_and_that_is_said(tmp_path: Path) -> None:
    spec, problems = read(tmp_path, tasks_md="- [ ] 1. A\n  - _Requirements: 1.1_\n")
    assert spec is not None
    assert spec.expected == ()
    assert [(p.severity, p.where, p.spec) for p in problems] == [(Severity.WARNING, ".kiro/specs/boats", "boats")]


def test_requirements_alone_are_a_spec_without_groups(tmp_path: Path) -> None:
    spec, problems = read(tmp_path, requirements_md=REQUIREMENTS)
    assert spec is not None
    assert spec.groups == ()
    assert problems == ()


@pytest.mark.parametrize("content", [b"\0\1", b"\xff\xfe broken", b"x" * (8 * 1024 * 1024 + 1)])
def test_a_document_that_can_not_be_read_leaves_no_spec(tmp_path: Path, content: bytes) -> None:
    spec, problems = read(tmp_path, requirements_md=content, tasks_md=TASKS)
    assert spec is None
    assert [problem.severity for problem in problems] == [Severity.ERROR]


def test_a_design_that_can_not_be_read_only_warns(tmp_path: Path) -> None:
    spec, problems = read(tmp_path, requirements_md=REQUIREMENTS, tasks_md=TASKS, design_md=b"\0")
    assert spec is not None
    assert spec.traceability == ()
    assert [problem.severity for problem in problems] == [Severity.WARNING]


def test_marks_of_a_merge_are_an_error(tmp_path: Path) -> None:
    _, problems = read(tmp_path, requirements_md=REQUIREMENTS + "<<<<<<< HEAD\n3. C\n>>>>>>> b\n", tasks_md=TASKS)
    assert [(p.severity, p.where) for p in problems] == [(Severity.ERROR, ".kiro/specs/boats/requirements.md:6")]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_a_folder_without_permission_is_named(tmp_path: Path) -> None:
    read(tmp_path, requirements_md=REQUIREMENTS, tasks_md=TASKS)
    document = tmp_path / ".kiro/specs/boats/tasks.md"
    document.chmod(0)
    spec, problems = read(tmp_path)
    assert spec is None
    assert [problem.where for problem in problems] == [".kiro/specs/boats/tasks.md"]


def test_commands_of_a_section_about_them_are_read(tmp_path: Path) -> None:
    commands = "## Test Commands\n- All tests: `make test`\n"
    spec, _ = read(tmp_path, requirements_md=REQUIREMENTS, tasks_md=TASKS + commands)
    assert spec is not None
    assert spec.test_commands == {"all_tests": "make test"}


def approvals(**approved: bool) -> str:
    each = ", ".join(
        f'"{step}": {{"generated": true, "approved": {str(is_so).lower()}}}' for step, is_so in approved.items()
    )
    return f'{{"feature_name": "boats", "language": "ja", "phase": "tasks-generated", "approvals": {{{each}}}}}'


def test_tasks_that_are_not_approved_are_planned_and_that_is_said(tmp_path: Path) -> None:
    state = approvals(requirements=True, design=True, tasks=False)
    spec, problems = read(tmp_path, requirements_md=REQUIREMENTS, tasks_md=TASKS, spec_json=state)
    assert spec is not None
    assert len(spec.groups) == 1
    assert [(p.where, p.what) for p in problems] == [
        (".kiro/specs/boats/spec.json", "tasks not approved: planned all the same. Approve, or leave the spec out")
    ]


def test_what_is_approved_needs_no_word(tmp_path: Path) -> None:
    state = approvals(requirements=True, design=True, tasks=True)
    assert read(tmp_path, requirements_md=REQUIREMENTS, tasks_md=TASKS, spec_json=state)[1] == ()


def test_a_phase_before_tasks_is_said(tmp_path: Path) -> None:
    _, problems = read(tmp_path, requirements_md=REQUIREMENTS, spec_json='{"phase": "requirements-generated"}')
    assert [problem.where for problem in problems] == [".kiro/specs/boats/spec.json"]


@pytest.mark.parametrize("state", ["", "{", "[]", '{"approvals": 3}', "null", '{"phase": ' + "[" * 5000])
def test_a_broken_spec_json_only_warns(tmp_path: Path, state: str) -> None:
    spec, problems = read(tmp_path, requirements_md=REQUIREMENTS, tasks_md=TASKS, spec_json=state)
    assert spec is not None
    assert [(p.severity, p.where) for p in problems] == [(Severity.WARNING, ".kiro/specs/boats/spec.json")]


PROPERTIES = [
    "### Property 1: P\n*For any* x\n\n**Validates: Requirements 1.1**\n",
    "#### Property 1 - P\n- **Validates: Requirements 1.1**\n",
    "**Property 1: P**\nFor any x\n**Validates: Requirements 1.1**\n",
    "Property 1: Bug Condition\n\n_For any_ x\n\n**Validates: Requirements 1.1**\n",
    "### 属性 1：往返\n**验证：需求 1.1**\n",
    "### プロパティ 1: 往復\n**検証対象: 要件 1.1**\n",
    "### Propiedad 1: P\n**Valida: Requisitos 1.1**\n",
    "### Property 1: P\n**Requirements:** 1.1\n",
    "- **Property 1**: P\n  - Validates: Requirements 1.1\n",
]


@pytest.mark.parametrize("text", PROPERTIES)
def test_a_property_traces_what_it_validates(tmp_path: Path, text: str) -> None:
    design = f"# Design\n## Correctness Properties\n\n{text}\n## Errors\n**Validates: Requirements 1.2**\n"
    spec, problems = read(tmp_path, requirements_md=REQUIREMENTS, tasks_md=TASKS, design_md=design)
    assert spec is not None
    assert problems == ()
    assert spec.traceability == (Trace("1.1", ("Property 1",), ("1.1",)),)


def test_a_property_of_what_is_not_there_is_said(tmp_path: Path) -> None:
    design = "### Property 2: P\n**Validates: Requirements 1.1, 4.4**\n"
    spec, problems = read(tmp_path, requirements_md=REQUIREMENTS, tasks_md=TASKS, design_md=design)
    assert spec is not None
    assert spec.traceability == (Trace("1.1", ("Property 2",)),)
    assert [problem.where for problem in problems] == [".kiro/specs/boats/design.md:2"]
