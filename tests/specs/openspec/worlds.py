"""Small repositories with OpenSpec's folders for the tests of this package."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agent_fox.core.spec import Group, Problem, Severity, Spec
from agent_fox.specs.openspec.capabilities import Capability
from tests.specs.worlds import built_in, markdown

LOGIN = (
    "### Requirement: Login\nThe system SHALL let people in.\n\n#### Scenario: Right\n- **WHEN** right\n- **THEN** in\n"
)
ADDED = "## ADDED Requirements\n\n" + LOGIN


def write(root: Path, documents: Mapping[str, str]) -> None:
    for name, text in documents.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def change(root: Path, name: str = "add-login", **documents: str) -> Path:
    """A change. Documents are named `proposal`, `tasks`, `design`; all others are deltas of a capability."""
    folder = root / "openspec/changes" / name
    plain = ("proposal", "tasks", "design")
    write(folder, {f"{n}.md" if n in plain else f"specs/{n}/spec.md": text for n, text in documents.items()})
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def read(folder: Path, root: Path) -> tuple[Spec, tuple[Problem, ...]]:
    spec, problems = built_in("openspec").read(folder, root)
    assert spec is not None
    return spec, problems


def read_change(root: Path, **documents: str) -> tuple[Spec, tuple[Problem, ...]]:
    return read(change(root, **documents), root)


def groups(root: Path, tasks: str, delta: str = ADDED) -> tuple[Group, ...]:
    return read_change(root, tasks=tasks, auth=delta)[0].groups


def told(problems: tuple[Problem, ...], severity: Severity = Severity.WARNING) -> list[tuple[str, str]]:
    """Where and what, of one severity; the place without the folders above."""
    return [(p.where.rpartition("/")[2], p.what) for p in problems if p.severity is severity]


def of_text(text: str) -> Capability:
    return Capability("auth", markdown(text))
