"""Which dialect a folder is written in: the table of docs/dialects.md, and what people do to it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_fox.specs.detection import AGENT_FOX, KIRO, OPENSPEC, SPEC_KIT, claims

OWN = "### Requirement 1: A\n\n1. [01-REQ-1.1] THE part SHALL work.\n"
PLACES = "### Requirement 1: A\n\n1. THE part SHALL work.\n"
DELTA = "## ADDED Requirements\n\n### Requirement: A\nIt SHALL.\n"
KIT = "# Feature Specification: A\n\n## Requirements\n\n- **FR-001**: System MUST work\n"
PHASES = "## Phase 1: Setup\n\n- [ ] T001 Begin\n"
TASKS = "- [ ] 1. A\n  - [ ] 1.1 B\n"

CASES = {
    "ours by its name": ("specs/01_a", {"requirements.md": PLACES}, AGENT_FOX),
    "ours by its ids": ("specs/a", {"requirements.md": OWN, "tasks.md": TASKS}, AGENT_FOX),
    "ours by its place": (".agent-fox/specs/a", {"tasks.md": TASKS}, AGENT_FOX),
    "ours by another document": ("specs/a", {"tasks.md": TASKS, "test_spec.md": "# T\n"}, AGENT_FOX),
    "ours in JSON": ("specs/a", {"tasks.json": "{}"}, AGENT_FOX),
    "kiro": (".kiro/specs/a", {"requirements.md": PLACES, "design.md": "# D\n", "tasks.md": TASKS}, KIRO),
    "kiro elsewhere": ("plans/a", {"requirements.md": PLACES, "tasks.md": TASKS}, KIRO),
    "kiro with ids like ours": (".kiro/specs/a", {"requirements.md": OWN, "tasks.md": TASKS}, KIRO),
    "kiro, begun": (".kiro/specs/a", {"requirements.md": PLACES}, KIRO),
    "kiro, a defect": (".kiro/specs/a", {"bugfix.md": "# B\n", "tasks.md": TASKS}, KIRO),
    "tasks alone": ("plans/a", {"tasks.md": TASKS}, KIRO),
    "spec-kit": ("specs/001-a", {"spec.md": KIT, "plan.md": "# P\n", "tasks.md": PHASES}, SPEC_KIT),
    "spec-kit, begun": ("specs/001-a", {"spec.md": KIT}, SPEC_KIT),
    "spec-kit under a number of ours": ("specs/001_a", {"spec.md": KIT, "tasks.md": PHASES}, SPEC_KIT),
    "spec-kit's tasks alone": ("specs/001-a", {"tasks.md": PHASES}, SPEC_KIT),
    "a change": ("openspec/changes/a", {"proposal.md": "# P\n", "tasks.md": TASKS, "specs/b/spec.md": DELTA}, OPENSPEC),
    "a change elsewhere": ("plans/a", {"tasks.md": TASKS, "specs/b/spec.md": DELTA}, OPENSPEC),
    "a change, begun": ("openspec/changes/a", {"design.md": "# D\n"}, OPENSPEC),
    "a capability": ("openspec/specs/b", {"spec.md": "# B\n"}, OPENSPEC),
    "a capability elsewhere": ("plans/b", {"spec.md": "# B\n\n## Requirements\n\n### Requirement: A\n"}, OPENSPEC),
}


def made(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize("case", CASES)
def test_a_folder_is_claimed_by_one_dialect(case: str, tmp_path: Path) -> None:
    place, files, dialect = CASES[case]
    assert claims(made(tmp_path / place, files)) == {dialect}


@pytest.mark.parametrize(
    ("files", "both"),
    [
        ({"requirements.md": PLACES, "tasks.md": TASKS, "spec.md": KIT}, {KIRO, SPEC_KIT}),
        ({"requirements.md": OWN, "tasks.md": TASKS, "spec.md": KIT}, {AGENT_FOX, SPEC_KIT}),
        ({"requirements.md": PLACES, "specs/b/spec.md": DELTA}, {KIRO, OPENSPEC}),
    ],
)
def test_a_folder_with_documents_of_two_is_claimed_by_both(
    files: dict[str, str], both: set[str], tmp_path: Path
) -> None:
    assert claims(made(tmp_path / "plans" / "a", files)) == both


REPOSITORIES = {
    "spec-kit's": {"specs/001-a/spec.md": KIT, "README.md": "# R\n"},
    "OpenSpec's folder": {"specs/b/spec.md": "# B\n", "changes/a/tasks.md": TASKS},
    "with a plan of its own": {
        ".specify/memory/constitution.md": "# C\n",
        "tasks.md": PHASES,
        "specs/1-a/spec.md": KIT,
    },
}


@pytest.mark.parametrize("kind", REPOSITORIES)
def test_a_repository_is_no_change_although_it_has_specs_in_folders(kind: str, tmp_path: Path) -> None:
    assert OPENSPEC not in claims(made(tmp_path / "work", REPOSITORIES[kind]))


@pytest.mark.parametrize("files", [{}, {"README.md": "# R\n"}, {"design.md": "# D\n"}, {"notes.txt": "x"}])
def test_any_other_folder_is_nobodys(files: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "plans" / "a").mkdir(parents=True)
    assert claims(made(tmp_path / "plans" / "a", files)) == frozenset()


def test_what_is_absent_or_no_folder_is_nobodys(tmp_path: Path) -> None:
    (tmp_path / "file.md").write_text("# F\n")
    assert claims(tmp_path / "gone") == claims(tmp_path / "file.md") == frozenset()


def test_a_byte_order_mark_hides_no_first_heading(tmp_path: Path) -> None:
    (tmp_path / "spec.md").write_text("\ufeff## ADDED Requirements\n")
    assert claims(tmp_path) == {OPENSPEC}
