"""What every dialect keeps to. Add an implementation to DIALECTS and it is held to all of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from agent_fox.core.graph import Node
from agent_fox.core.ids import Archetype
from agent_fox.core.spec import Problem, Spec
from agent_fox.engine.planning.plugged_dialects import GuardedCollection, GuardedDialect
from agent_fox.specs.dialects import Dialect
from agent_fox.specs.plain.dialect import PlainDialect
from agent_fox.specs.planner import PlanShape, plan_of
from agent_fox.specs.reader import read_specs
from examples.plugins.dialect.notebook_plugin import NotebookDialect
from examples.plugins.stories.stories_plugin import StoriesDialect
from tests.specs.worlds import built_in

NAME = "01_bell"
PARTS = ("01-REQ-1.1", "01-REQ-1.2")


@dataclass(frozen=True)
class Case:
    """A dialect, and the files of a folder that says the same in each: one group that keeps `parts`.

    `name` is the folder's, and so the spec's; where a file is the whole spec, it stands in the place of the folder.
    """

    dialect: Dialect
    files: dict[str, str]
    name: str = NAME
    parts: tuple[str, ...] = PARTS

    @property
    def is_file(self) -> bool:
        return "" in self.files

    @property
    def spec_name(self) -> str:
        return Path(self.name).stem


NOTEBOOK = {"notebook.txt": "The bell\n01-REQ-1.1: ring\n01-REQ-1.2: stop\n"}
MARKDOWN = {
    "requirements.md": "# Requirements: bell\n\n## Requirements\n\n### Requirement 1: The bell\n\n"
    "#### Acceptance Criteria\n\n1. [01-REQ-1.1] WHEN pulled, THE bell SHALL ring.\n"
    "2. [01-REQ-1.2] WHEN held, THE bell SHALL stop.\n",
    "tasks.md": "# Tasks\n\n## Tasks\n\n- [ ] 1. Build the bell\n  - [ ] 1.1 Do it\n"
    "    - _Requirements: 01-REQ-1.1, 01-REQ-1.2_\n",
}
ITEMS = "1. WHEN pulled THE bell SHALL ring.\n2. WHEN held THE bell SHALL stop.\n"
KIRO = {
    "requirements.md": f"# Requirements\n\n### Requirement 1: The bell\n\n#### Acceptance Criteria\n\n{ITEMS}",
    "tasks.md": "# Plan\n\n- [ ] 1. Build the bell\n  - [ ] 1.1 Do it\n    - _Requirements: 1.1, 1.2_\n",
}
SPEC_KIT = {
    "spec.md": "# Feature Specification: Bell\n\n## Requirements\n\n### Functional Requirements\n\n"
    "- **FR-001**: The bell MUST ring\n- **FR-002**: The bell MUST stop\n",
    "tasks.md": "# Tasks\n\n## Phase 1: The bell\n\n- [ ] T001 Ring and stop for FR-001 and FR-002\n",
}
OPENSPEC = {
    "proposal.md": "# Change: Bell\n",
    "specs/bell/spec.md": "## ADDED Requirements\n\n### Requirement: Ring\nThe bell SHALL ring.\n\n"
    "#### Scenario: Pulled\n- **WHEN** pulled\n- **THEN** it rings\n\n"
    "#### Scenario: Held\n- **WHEN** held\n- **THEN** it stops\n",
    "tasks.md": "## 1. The bell\n\n- [ ] 1.1 Do it\n",
}
PLAIN = f"# Spec: Bell\n\n## Requirements\n\n### The bell\n\n{ITEMS}\n## Tasks\n\n- [ ] 1. Build\n"
TOML = (
    'title = "Bell"\n\n[[requirements]]\ntext = "The bell SHALL obey."\n'
    'criteria = ["It SHALL ring.", "It SHALL stop."]\n\n'
    '[[groups]]\ntitle = "Build"\nrequirements = ["1"]\n'
)
STORY = (
    "# Story 1.1: Bell\n\n## Acceptance Criteria\n\n1. The bell SHALL ring when pulled.\n"
    "2. The bell SHALL stop when held.\n\n## Tasks / Subtasks\n\n- [ ] Build the bell (AC: 1-2)\n"
)
NUMBERS = ("1.1", "1.2")
DIALECTS = {
    "agent-fox": Case(built_in("agent-fox"), MARKDOWN),
    "kiro": Case(built_in("kiro"), KIRO, "bell", NUMBERS),
    "spec-kit": Case(built_in("spec-kit"), SPEC_KIT, "001-bell", ("FR-001", "FR-002")),
    "openspec": Case(built_in("openspec"), OPENSPEC, "add-bell", NUMBERS),
    "plain": Case(PlainDialect(), {"": PLAIN}, "bell.md", NUMBERS),
    "plain, TOML": Case(PlainDialect(), {"": TOML}, "bell.toml", NUMBERS),
    "a plugin's": Case(NotebookDialect(), NOTEBOOK),
    "a plugin's over the outline": Case(StoriesDialect(), {"": STORY}, "bell.md", ("AC-1", "AC-2")),
    "a plugin's of many, guarded": Case(
        GuardedCollection("p", "plain", PlainDialect()), {"": TOML}, "bell.toml", NUMBERS
    ),
    "a plugin's, guarded": Case(GuardedDialect("notebook", "notebook", NotebookDialect()), NOTEBOOK),
}
SPOILT = {"nothing": b"", "no text": b"\x00\xff\xfe\x80" * 50, "one long line": b"- [ ] " * 50_000, "half": b"# Ta"}


@pytest.fixture(params=sorted(DIALECTS))
def case(request: pytest.FixtureRequest) -> Case:
    return DIALECTS[request.param]


@pytest.fixture
def folder(case: Case, tmp_path: Path) -> Path:
    folder = tmp_path / "specs" / case.name
    (folder.parent if case.is_file else folder).mkdir(parents=True)
    for name, text in case.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def files_of(folder: Path) -> dict[Path, bytes]:
    paths = folder.rglob("*") if folder.is_dir() else [folder]
    return {path: path.read_bytes() for path in paths if path.is_file()}


def read(case: Case, folder: Path) -> tuple[Spec | None, tuple[Problem, ...]]:
    return case.dialect.read(folder, folder.parent.parent)


def test_it_has_a_name_and_knows_its_own_folders(case: Case, folder: Path) -> None:
    assert case.dialect.name
    assert case.dialect.recognises(folder)


def test_folders_of_others_are_not_its_own(case: Case, tmp_path: Path) -> None:
    (tmp_path / "02_other").mkdir()
    (tmp_path / "02_other" / "photo.jpg").write_bytes(b"\xff\xd8")
    (tmp_path / "03_empty").mkdir()
    assert [case.dialect.recognises(tmp_path / name) for name in ("02_other", "03_empty", "04_absent")] == [False] * 3


def test_a_spec_has_the_folders_name_and_says_who_read_it(case: Case, folder: Path) -> None:
    spec, problems = read(case, folder)
    assert problems == ()
    assert spec is not None
    assert (spec.name, spec.dialect, spec.path) == (case.spec_name, case.dialect.name, f"specs/{case.name}")
    assert spec.expected == case.parts
    assert [group.number for group in spec.groups] == [1]


def test_reading_twice_says_the_same_and_changes_no_file(case: Case, folder: Path) -> None:
    before = files_of(folder)
    assert read(case, folder) == read(case, folder)
    assert files_of(folder) == before


def test_what_it_reads_can_be_planned(case: Case, folder: Path) -> None:
    spec, _ = read(case, folder)
    assert spec is not None
    plan = plan_of([spec], (), PlanShape(pre_review=False))
    name = case.spec_name
    assert [role(node) for node in plan.nodes] == [(f"{name}:1", Archetype.CODER), (f"{name}:2", Archetype.VERIFIER)]


def role(node: Node) -> tuple[str, Archetype]:
    return node.id, node.archetype


@pytest.mark.parametrize("content", SPOILT.values(), ids=SPOILT)
def test_nothing_that_a_file_holds_makes_it_raise(case: Case, folder: Path, content: bytes) -> None:
    for name in case.files:
        (folder / name).write_bytes(content)
        spec, problems = read(case, folder)
        assert spec is None or spec.name == case.spec_name
        about = [(p.where.startswith(f"specs/{case.name}"), p.spec, bool(p.what)) for p in problems]
        assert about == [(True, case.spec_name, True)] * len(problems)


def test_a_file_that_cannot_be_read_leaves_an_error_and_no_spec(case: Case, folder: Path) -> None:
    for name in case.files:
        (folder / name).write_bytes(b"\xff\xfe\x00\x80 no text")
    spec, problems = read(case, folder)
    assert spec is None
    assert problems


def test_all_specs_of_a_file_are_read_by_a_plugin_that_keeps_several(tmp_path: Path) -> None:
    file = tmp_path / "specs" / "two.md"
    file.parent.mkdir()
    file.write_text(f"{PLAIN.replace('Spec: Bell', 'Spec: `a`: A')}\n{PLAIN.replace('Spec: Bell', 'Spec: `b`: B')}")
    specs, problems = read_specs(file.parent, tmp_path, [GuardedCollection("p", "plain", PlainDialect())])
    assert ([spec.name for spec in specs], problems) == (["a", "b"], ())


def test_a_plugin_that_fails_with_a_file_breaks_that_file_alone(tmp_path: Path) -> None:
    class Failing(PlainDialect):
        def read_all(self, path: Path, root: Path) -> tuple[tuple[Spec, ...], tuple[Problem, ...]]:
            raise RuntimeError(path.name)

    (tmp_path / "bell.md").write_text(PLAIN)
    specs, (problem,) = GuardedCollection("p", "plain", Failing()).read_all(tmp_path / "bell.md", tmp_path)
    assert (specs, problem.where, problem.spec) == ((), "bell.md", "bell")
    assert "plugin p failed" in problem.what
