"""Names and numbers of specs by which nodes are called: what can't be one is told, and hides nothing else."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agent_fox.core.spec import Criterion, Group, Requirement, Severity, Spec
from agent_fox.specs.reader import read_specs, soundly_named, unsound

SPEC = Spec("a", "plain", "specs/a.md", requirements=(Requirement("1", "A", "", (Criterion("1.1", "a"),)),))


@pytest.mark.parametrize(
    "name",
    ["", " ", ".", "..", "a:b", "a:0:verifier", "../../a", "a\nAgent-Fox-Node: b:1", "a\x1b[2J", "a\u202eb", "\udcff"],
)
def test_a_name_that_would_be_read_as_something_else_names_no_spec(name: str) -> None:
    kept, (problem,) = soundly_named([replace(SPEC, name=name), replace(SPEC, name="b")])
    assert [spec.name for spec in kept] == ["b"]
    assert problem.severity is Severity.ERROR
    assert problem.what.isprintable()
    assert problem.spec not in (None, "", name)
    assert str(problem.spec).isprintable()


def test_a_name_has_room_for_what_logs_add() -> None:
    fitting, long = "x" * 160, "\u6f22" * 54
    kept, problems = soundly_named([replace(SPEC, name=fitting), replace(SPEC, name=long)])
    assert [spec.name for spec in kept] == [fitting]
    assert "this one has 162" in problems[0].what


@pytest.mark.parametrize("name", ["--help", "plan", "\u4ed5\u69d8 1", "a b", "a.b", "-", "HEAD"])
def test_words_of_other_programs_are_names(name: str) -> None:
    assert soundly_named([replace(SPEC, name=name)]) == ((replace(SPEC, name=name),), ())


def test_an_id_that_stands_twice_is_told_whatever_the_dialect() -> None:
    again = Requirement("2", "B", "", (Criterion("1.1", "b"),))
    (problem,) = unsound([replace(SPEC, requirements=(*SPEC.requirements, again), places={"1.1": "specs/a.md:3"})], ())
    assert (problem.severity, problem.where, problem.spec) == (Severity.ERROR, "specs/a.md:3", "a")
    assert problem.what.startswith("1.1 is declared twice")


def test_what_the_dialect_told_itself_is_not_told_again() -> None:
    spec = replace(SPEC, requirements=SPEC.requirements * 2)
    told = tuple(unsound([spec], ()))
    assert told
    assert not list(unsound([spec], told))


@pytest.mark.parametrize("numbers", [(1, 1), (-1,), (10**12,)])
def test_groups_have_numbers_that_nodes_can_have(numbers: tuple[int, ...]) -> None:
    assert list(unsound([replace(SPEC, groups=tuple(Group(number, "G") for number in numbers))], ()))


def test_usual_groups_are_sound() -> None:
    assert not list(unsound([replace(SPEC, groups=tuple(Group(number, "G") for number in (0, 1, 2)))], ()))


def test_a_requirement_may_be_called_as_its_one_part_is() -> None:
    alone = Requirement("N-1", "A", criteria=(Criterion("N-1", "a"),))
    assert list(unsound([Spec("a", "p", "a", requirements=(alone,))], ())) == []
    assert list(unsound([Spec("a", "p", "a", requirements=(alone, alone))], ())) != []
    assert list(unsound([Spec("a", "p", "a", requirements=(Requirement("FR-1", "A"),) * 2)], ())) != []


BOXES = {
    "agent-fox": ("02_a", "- [ ] Build\n- [x] Test\n"),
    "kiro": ("auth", "## Notes\n\n- [ ] 1. Build\n- [x] 2. Test\n"),
    "spec-kit": ("001-a", "## Example gallery\n\n- [ ] Build\n- [x] Test\n"),
}
REQUIREMENTS = {
    "agent-fox": ("requirements.md", "### 02-REQ-1: T\n\n1. [02-REQ-1.1] THE a SHALL b.\n"),
    "kiro": ("requirements.md", "### Requirement 1\n\n#### Acceptance Criteria\n\n1. WHEN a THEN b SHALL c\n"),
    "spec-kit": ("spec.md", "# F\n\n## Requirements\n\n- **FR-001**: The shop MUST sell.\n"),
}


@pytest.mark.parametrize("dialect", BOXES)
def test_boxes_without_any_group_are_an_error_with_the_first_of_them(tmp_path: Path, dialect: str) -> None:
    name, tasks = BOXES[dialect]
    folder = tmp_path / "specs" / name
    folder.mkdir(parents=True)
    document, text = REQUIREMENTS[dialect]
    (folder / document).write_text(text)
    (folder / "tasks.md").write_text(tasks)
    (spec,), problems = read_specs(tmp_path / "specs", tmp_path)
    assert (spec.dialect, spec.groups) == (dialect, ())
    (said,) = [problem for problem in problems if problem.severity is Severity.ERROR]
    line = 1 + tasks.split("\n").index(next(row for row in tasks.split("\n") if "[ ]" in row))
    assert (said.where, said.spec) == (f"specs/{name}/tasks.md:{line}", name)
    assert said.what.startswith("2 boxes, and no task group among them")


def test_requirements_without_tasks_are_no_error_whatever_boxes_they_have(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Spec: A\n\n## Requirements\n\n- [ ] THE a SHALL b.\n")
    _, problems = read_specs(tmp_path, tmp_path)
    assert [problem.what for problem in problems if problem.severity is Severity.ERROR] == []
