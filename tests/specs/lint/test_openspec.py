"""Rules about changes and capabilities of OpenSpec, on specs that were made."""

from __future__ import annotations

from pathlib import Path

from agent_fox.core.spec import Criterion, Requirement, Spec
from agent_fox.specs.lint.rules import lint
from agent_fox.specs.lint.world import World
from tests.specs.lint.worlds import made

PLACE = "openspec/changes"
DELTA = """## MODIFIED Requirements

### Requirement: User  login

The system SHALL let a user in.

#### Scenario: Right password

- **WHEN** it is right
- **THEN** the user is in
"""


def change(root: Path, name: str, delta: str, capability: str = "auth", is_baseline: bool = False) -> Spec:
    path = f"{PLACE}/{name}/specs/{capability}/spec.md"
    (root / path).parent.mkdir(parents=True)
    (root / path).write_text(delta, "utf-8")
    documents = {f"specs/{capability}/spec.md": path}
    return Spec(name, "openspec", f"{PLACE}/{name}", documents=documents, is_baseline=is_baseline)


def told(world: World, rule: str) -> list[tuple[str | None, str, str]]:
    return [(f.spec, f.where, f.what) for f in lint(world).findings if f.rule == rule]


def test_two_changes_that_modify_one_requirement_are_named_with_both_places(tmp_path: Path) -> None:
    world = made(
        tmp_path, change(tmp_path, "a", DELTA), change(tmp_path, "b", DELTA.replace("User  login", "User login"))
    )
    assert told(world, "modified-twice") == [
        (
            "b",
            "openspec/changes/b/specs/auth/spec.md:3",
            "User login of auth is modified by a too (openspec/changes/a/specs/auth/spec.md:3)",
        )
    ]


def test_what_is_renamed_or_taken_back_is_modified_too_whatever_its_letters_are(tmp_path: Path) -> None:
    renamed = "## RENAMED Requirements\n\n- FROM: `### Requirement: User Login`\n- TO: `### Requirement: Entry`\n"
    removed = "## REMOVED Requirements\n\n### Requirement: USER LOGIN\n"
    specs = [change(tmp_path, name, text) for name, text in (("a", DELTA), ("b", renamed), ("c", removed))]
    assert [(spec, where[-1]) for spec, where, _ in told(made(tmp_path, *specs), "modified-twice")] == [
        ("b", "3"),
        ("c", "3"),
    ]


def test_one_title_in_two_capabilities_or_added_twice_is_no_finding(tmp_path: Path) -> None:
    added = DELTA.replace("MODIFIED", "ADDED")
    specs = (
        change(tmp_path, "a", DELTA),
        change(tmp_path, "b", DELTA, "billing"),
        change(tmp_path, "c", added),
        change(tmp_path, "d", DELTA + DELTA),
        change(tmp_path, "e", DELTA, is_baseline=True),
    )
    assert [spec for spec, _, _ in told(made(tmp_path, *specs), "modified-twice")] == ["d", "d"]
    assert told(made(tmp_path, specs[1], specs[3]), "modified-twice") == []


def test_a_scenario_on_another_level_is_repaired(tmp_path: Path) -> None:
    delta = DELTA.replace("#### S", "### S") + "\n```\n### Scenario: sample\n```\n"
    findings = [f for f in lint(made(tmp_path, change(tmp_path, "a", delta))).findings if f.rule == "scenario-level"]
    assert [(f.line, [edit.new for edit in f.edits]) for f in findings] == [(7, ["#### Scenario: Right password"])]


def test_ids_that_a_test_can_not_tell_apart_are_told(tmp_path: Path) -> None:
    parts = (Criterion("FR-001", "a"), Criterion("FR_001", "b"), Criterion("要件", "c"))
    spec = Spec("a", "spec-kit", "specs/a", requirements=(Requirement("US1", "t", criteria=parts),))
    assert told(made(tmp_path, spec), "unnameable-id") == [
        ("a", "specs/a", "FR_001 and FR-001 are one name, fr_001, in a test"),
        ("a", "specs/a", "要件 has no letter and no digit that a test's name could hold"),
    ]
