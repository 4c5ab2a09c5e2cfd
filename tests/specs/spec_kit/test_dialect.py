"""The documents of one folder are put together, and what is wrong with any of them is said."""

from __future__ import annotations

import time
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_fox.core.spec import Dependency, Severity
from agent_fox.specs.files import MAX_FILE_BYTES
from agent_fox.specs.planner import plan_of
from agent_fox.specs.reader import read_specs
from tests.specs.spec_kit.worlds import read, write
from tests.specs.worlds import built_in

SPEC = "# Feature Specification: A\n\n## Requirements\n\n- **FR-001**: sell\n"
TASKS = "# Tasks: A\n\n## Phase 1: A\n\n- [ ] T001 FR-001\n"


def test_a_folder_is_one_spec_with_all_its_documents(tmp_path: Path) -> None:
    folder = write(tmp_path, spec=SPEC, tasks=TASKS, plan="# Plan: A\n", research="# R\n")
    (folder / "contracts").mkdir()
    (folder / "contracts" / "api.yaml").write_bytes(b"\0")
    spec, problems = read(tmp_path)
    assert (spec.name, spec.dialect, spec.path, spec.title) == ("002-cart", "spec-kit", "specs/002-cart", "A")
    assert set(spec.documents) == {"spec.md", "plan.md", "tasks.md", "research.md", "contracts/api.yaml"}
    assert problems == []


def test_the_plan_has_a_node_for_each_phase(tmp_path: Path) -> None:
    write(tmp_path, "001-a", spec=SPEC, tasks=TASKS)
    write(tmp_path, "002-b", spec=SPEC + "\n## Dependencies\n\n- `001-a` must be there\n", tasks=TASKS)
    plan = plan_of(*read_specs(tmp_path / "specs", tmp_path))
    assert {"001-a:1", "001-a:2", "002-b:1", "002-b:2"} <= {node.id for node in plan.nodes}
    assert ("001-a:1", "002-b:1") in {(edge.source, edge.target) for edge in plan.edges}


@pytest.mark.parametrize(
    "line",
    ["**Depends on**: 001-auth", "**Depends On**: `specs/001-auth/` (its model)", "**Dependencies**: Spec 001",
     "**依赖**：001-auth", "## Dependencies\n\n- needs [auth](../001-auth/spec.md)"],
)  # fmt: skip
def test_other_specs_are_found_in_prose_and_said(tmp_path: Path, line: str) -> None:
    write(tmp_path, "001-auth", spec=SPEC)
    spec, problems = read(tmp_path, spec=f"# A\n\n{line}\n")
    where = "specs/002-cart/spec.md:" + ("5" if line.startswith("##") else "3")
    assert spec.dependencies == (Dependency("001-auth", None, None, where, is_archived=True),)
    assert len(problems) == 1


@pytest.mark.parametrize(
    "line",
    ["**Blocks**: 003-x", "**Input**: /specs/003-x/", "## Dependencies\n\n- Blocks: 003-x\n- see 003-x.md",
     "**Depends on**: none", "## Notes\n\n- like 003-x"],
)  # fmt: skip
def test_a_spec_that_is_only_mentioned_is_no_dependency(tmp_path: Path, line: str) -> None:
    spec, _ = read(tmp_path, spec=f"# A\n\n{line}\n")
    assert spec.dependencies == ()


def test_test_commands_are_read_where_they_are_written(tmp_path: Path) -> None:
    plan = "# Plan\n\n**Testing**: pytest\n\n## Test Commands\n\n- All tests: `make test`\n"
    spec, _ = read(tmp_path, spec=SPEC, plan=plan)
    assert spec.test_commands == {"all_tests": "make test"}


def test_a_spec_whose_status_says_it_ended_is_withdrawn(tmp_path: Path) -> None:
    spec, problems = read(tmp_path, spec=SPEC.replace("A\n\n", "A\n\n**Status**: Superseded by 009-b\n\n"), tasks=TASKS)
    assert (spec.is_withdrawn, spec.expected, spec.withdrawn) == (True, (), ("FR-001",))
    assert problems[-1] == "spec.md:3 002-cart has ended: nothing of it is planned"


@pytest.mark.parametrize("document", ["spec.md", "tasks.md"])
def test_a_spec_whose_document_cannot_be_read_is_lost_and_said(tmp_path: Path, document: str) -> None:
    folder = write(tmp_path, spec=SPEC, tasks=TASKS)
    (folder / document).write_bytes(b"\0")
    spec, problems = built_in("spec-kit").read(folder, tmp_path)
    assert spec is None
    assert [(p.severity, p.where, p.spec) for p in problems] == [
        (Severity.ERROR, f"specs/002-cart/{document}", "002-cart")
    ]


def test_a_plan_that_cannot_be_read_is_done_without(tmp_path: Path) -> None:
    folder = write(tmp_path, spec=SPEC, tasks=TASKS)
    (folder / "plan.md").write_bytes(b"\0")
    spec, problems = read(tmp_path)
    assert (spec.expected, len(problems)) == (("FR-001",), 1)


def test_merge_marks_are_errors(tmp_path: Path) -> None:
    _, problems = read(tmp_path, spec=SPEC + "<<<<<<< HEAD\n")
    assert problems == ["spec.md:6 a merge conflict was left here; resolve it"]


PIECES = st.sampled_from(
    ["# ", "## Phase 1: A\n", "### User Story 1 - A (Priority: P1)\n", "- [ ] T001 [P] [US1] a\n", "- **FR-001**: a\n",
     "**Acceptance Scenarios**:\n", "1. **Given** a\n", "| FR-001 | a |\n|---|---|\n", "```", "<!--", "~~", "\t",
     "\r\n", "（", "P1", "T001-", "depends on T001, ", "## Edge Cases\n", "- a?\n", "## Dependencies\n", "001-a",
     "9" * 5000, "\n"]
)  # fmt: skip
TEXT = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=25).map("".join))


@settings(max_examples=100, deadline=None)
@given(spec=TEXT, plan=TEXT, tasks=TEXT)
def test_any_text_is_read(spec: str, plan: str, tasks: str) -> None:
    with TemporaryDirectory() as place:
        folder = Path(place) / "specs" / "001-a"
        folder.mkdir(parents=True)
        for name, text in (("spec", spec), ("plan", plan), ("tasks", tasks)):
            (folder / f"{name}.md").write_bytes(text.encode("utf-8", "surrogatepass"))
        found, _ = built_in("spec-kit").read(folder, Path(place))
        if found is not None:
            plan_of([found])
            numbers = [subtask.number for group in found.groups for subtask in group.subtasks]
            assert len(set(numbers)) == len(numbers)
            assert len({group.number for group in found.groups}) == len(found.groups)
            assert len(set(found.expected)) == len(found.expected)
            assert set(found.expected) <= set(found.places)


@pytest.mark.parametrize(
    "piece",
    ["- **FR-001**: a\n", "FR-001-", "A-", "*", "[US1] ", "T001, ", "depends on T001", "- [ ] T001 a\n", "- [ ] a\n",
     "## Phase 1: a\n", "### User Story 1 - a\n", "| FR-001 | a |\n", "1. **Given** a\n", "[", "（", " ", "9"],
)  # fmt: skip
def test_a_large_file_of_one_piece_takes_no_ages(tmp_path: Path, piece: str) -> None:
    text = f"## Phase 1: A\n\n- [ ] T001 {piece * (MAX_FILE_BYTES // 64 // len(piece))}"
    begun = time.monotonic()
    read(tmp_path, spec=text, plan=text, tasks=text)
    assert time.monotonic() - begun < 30
