"""A folder of specs: what is a spec, in what order, and what becomes of those that can't be read."""

from __future__ import annotations

import cProfile
import os
from pathlib import Path

import pytest

from agent_fox.core.spec import Problem, Severity, Spec
from agent_fox.specs.files import MAX_FILE_BYTES
from agent_fox.specs.places import USUAL_PLACES, SpecsMissing, find_places
from agent_fox.specs.reader import BUILT_IN, LateDialect, read_specs
from tests.specs.worlds import TASKS, needs, read_one, requirements, usual, write_spec


@pytest.fixture
def specs(tmp_path: Path) -> Path:
    return tmp_path / "specs"


def names(specs: Path) -> list[str]:
    return [spec.name for spec in read_specs(specs, specs.parent)[0]]


def test_specs_stand_by_number_and_then_by_name(specs: Path) -> None:
    for name in ("10_j", "2_b", "103_x", "103_a", "no_number"):
        usual(specs, name)
    assert names(specs) == ["2_b", "10_j", "103_a", "103_x", "no_number"]


def test_archives_hidden_folders_and_files_are_not_specs(specs: Path) -> None:
    usual(specs, "01_a")
    usual(specs / "archive", "00_old")
    usual(specs, ".02_hidden")
    (specs / "notes").mkdir()
    (specs / "prd.md").write_text("# Everything\n")
    assert names(specs) == ["01_a"]


def test_a_spec_says_where_it_lies_and_what_it_holds(specs: Path) -> None:
    usual(specs, "01_a")
    spec, problems = read_one(specs)
    assert (spec.path, spec.dialect, spec.expected, problems) == ("specs/01_a", "agent-fox", ("01-REQ-1.1",), ())
    assert spec.documents["tasks.md"] == "specs/01_a/tasks.md"


def test_a_folder_without_number_needs_tasks(specs: Path) -> None:
    write_spec(specs, "core", tasks=TASKS)
    write_spec(specs, "ideas", requirements=requirements("01"))
    assert names(specs) == ["core"]


def test_a_numbered_folder_without_requirements_and_tasks_is_a_warning(specs: Path) -> None:
    usual(specs, "01_a")
    write_spec(specs, "02_b", prd="# Later\n")
    _, (problem,) = read_specs(specs, specs.parent)
    assert (problem.severity, problem.where, problem.spec) == (Severity.WARNING, "specs/02_b", "02_b")


@pytest.mark.parametrize("place", USUAL_PLACES)
def test_the_usual_places_are_looked_at(tmp_path: Path, place: str) -> None:
    (tmp_path / place).mkdir(parents=True)
    assert find_places(tmp_path) == (tmp_path / place,)


def test_a_missing_folder_says_where_it_was_looked_and_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(SpecsMissing, match=r"\.agent-fox/specs, \.specs, specs.*--specs"):
        find_places(tmp_path)
    with pytest.raises(SpecsMissing, match="plans"):
        find_places(tmp_path, ["plans"])


def test_an_empty_folder_is_no_plan(specs: Path) -> None:
    with pytest.raises(SpecsMissing, match="no specs in"):
        read_specs(specs, specs.parent)
    specs.mkdir()
    with pytest.raises(SpecsMissing, match=r"no spec in .*tasks\.md"):
        read_specs(specs, specs.parent)


def bad_and_good(specs: Path, content: bytes, name: str = "tasks.md") -> tuple[Spec, tuple[Problem, ...]]:
    usual(specs, "02_good")
    folder = usual(specs, "01_bad")
    (folder / name).write_bytes(content)
    found, problems = read_specs(specs, specs.parent)
    assert found[-1].name == "02_good"
    return found[0], problems


@pytest.mark.parametrize(
    ("content", "where", "word"),
    [
        (b"\x00\x01", "specs/01_bad/tasks.md", "binary"),
        (b"ok\nno\xff\n", "specs/01_bad/tasks.md:2", "UTF-8"),
        (b"a" * (MAX_FILE_BYTES + 1), "specs/01_bad/tasks.md", "limit"),
    ],
    ids=["binary", "not UTF-8", "huge"],
)
def test_one_bad_spec_never_hides_another(specs: Path, content: bytes, where: str, word: str) -> None:
    first, (problem,) = bad_and_good(specs, content)
    assert first.name == "02_good"
    assert (problem.severity, problem.where, problem.spec) == (Severity.ERROR, where, "01_bad")
    assert word in problem.what


def test_a_design_that_can_not_be_read_is_only_a_warning(specs: Path) -> None:
    spec, (problem,) = bad_and_good(specs, b"\x00", "design.md")
    assert spec.name == "01_bad"
    assert problem.severity is Severity.WARNING


def test_a_folder_and_a_pipe_are_not_documents(specs: Path) -> None:
    usual(specs, "02_good")
    (specs / "01_bad" / "tasks.md").mkdir(parents=True)
    (specs / "03_bad").mkdir()
    os.mkfifo(specs / "03_bad" / "tasks.md")
    found, problems = read_specs(specs, specs.parent)
    assert [spec.name for spec in found] == ["02_good"]
    assert [problem.spec for problem in problems] == ["01_bad", "03_bad"]


def test_a_link_to_nowhere_is_an_error(specs: Path) -> None:
    usual(specs, "02_good")
    folder = write_spec(specs, "01_bad", requirements=requirements("01"))
    (folder / "tasks.md").symlink_to("gone.md")
    _, problems = read_specs(specs, specs.parent)
    assert [(p.severity, p.where) for p in problems] == [(Severity.ERROR, "specs/01_bad/tasks.md")]


def test_marks_of_other_systems_are_forgiven(specs: Path) -> None:
    folder = write_spec(specs, "01_a", requirements=requirements("01"))
    (folder / "tasks.md").write_bytes(b"\xef\xbb\xbf# P\r\n\r\n- [x] 1. A\r\n\t- [x] 1.1 B\r\n")
    spec, problems = read_one(specs)
    assert [subtask.number for subtask in spec.groups[0].subtasks] == ["1.1"]
    assert problems == ()


def test_a_merge_conflict_is_an_error_of_its_spec(specs: Path) -> None:
    _, problems = bad_and_good(specs, b"- [ ] 1. A\n<<<<<<< HEAD\n=======\n>>>>>>> b\n")
    assert [(p.where, p.spec) for p in problems] == [("specs/01_bad/tasks.md:2", "01_bad")]


def test_a_merge_conflict_in_what_is_not_read_further_is_a_warning(specs: Path) -> None:
    folder = write_spec(specs, "01_a", requirements=requirements("01"), tasks=TASKS)
    (folder / "design.md").write_text("# D\n\n```\n<<<<<<< a sample\n```\n\n<<<<<<< HEAD\n=======\n>>>>>>> b\n")
    (folder / "test_spec.md").write_text("# T\n\n```\n<<<<<<< a sample\n```\n")
    spec, (problem,) = read_one(specs)
    assert spec.groups
    assert (problem.severity, problem.where, problem.spec) == (Severity.WARNING, "specs/01_a/design.md:7", "01_a")


@pytest.mark.parametrize(
    ("place", "name", "is_told"),
    [
        (".kiro/specs", "door", True),
        ("openspec/changes", "add-door", True),
        ("specs", "door", False),  # other things may be kept there
        ("openspec/changes", "_template", False),
    ],
)
def test_a_folder_of_documents_that_no_dialect_reads_is_named(
    place: str, name: str, is_told: bool, tmp_path: Path
) -> None:
    (tmp_path / place / name / "parts").mkdir(parents=True)
    (tmp_path / place / name / "notes.md").write_text("# N\n")
    (tmp_path / place / name / "parts" / "a.md").write_text("# A\n")
    (tmp_path / place / "group" / "good").mkdir(parents=True)
    (tmp_path / place / "group" / "README.md").write_text("# What these have in common\n")
    (tmp_path / place / "group" / "good" / "tasks.md").write_text("- [ ] 1. A\n")
    (tmp_path / place / "group" / "good" / "proposal.md" if "open" in place else tmp_path / "x").write_text("# Why\n")
    _, problems = read_specs(tmp_path / place, tmp_path)
    told = [problem for problem in problems if "not planned (docs/dialects.md)" in problem.what]
    assert [(p.severity, p.where, p.spec) for p in told] == (
        [(Severity.WARNING, f"{place}/{name}", name)] if is_told else []
    )


@pytest.mark.parametrize("document", ["prd", "requirements", "tasks"])
def test_a_superseded_spec_expects_nothing(specs: Path, document: str) -> None:
    texts = {"prd": "# P\n", "requirements": requirements("01"), "tasks": TASKS}
    texts[document] = f"> **SUPERSEDED** by spec `09_new`.\n\n{texts[document]}"
    write_spec(specs, "01_a", **texts)
    spec, (problem,) = read_one(specs)
    assert (spec.requirements, spec.withdrawn, spec.is_withdrawn) == ((), ("01-REQ-1.1",), True)
    assert problem.severity is Severity.WARNING


def test_dependencies_of_both_documents_are_one_list(specs: Path) -> None:
    write_spec(
        specs,
        "02_b",
        requirements=requirements("02"),
        prd=needs("01_a | 1 | 1"),
        tasks=TASKS + needs("01_a | 1 | 1", "01_a | 2 | 2"),
    )
    spec, _ = read_one(specs)
    assert [(d.spec, d.from_group, d.to_group) for d in spec.dependencies] == [("01_a", 1, 1), ("01_a", 2, 2)]


def test_what_lies_in_the_archive_is_known_to_be_done(specs: Path) -> None:
    usual(specs, "05_b", "01_old | 2 | 1", "2 | 1 | 1", "03_gone | 1 | 1")
    usual(specs / "archive", "01_old")
    usual(specs / "archive", "02_older")
    spec, _ = read_one(specs)
    assert [d.is_archived for d in spec.dependencies] == [True, True, False]


class LetterDialect:
    """A dialect of another package: one file, one requirement."""

    @property
    def name(self) -> str:
        return "letter"

    def recognises(self, folder: Path) -> bool:
        return (folder / "letter.txt").exists()

    def read(self, folder: Path, root: Path) -> tuple[Spec | None, tuple[Problem, ...]]:
        return Spec(folder.name, self.name, folder.name, title=(folder / "letter.txt").read_text()), ()


def test_another_dialect_reads_its_own_folders(specs: Path) -> None:
    (specs / "hello").mkdir(parents=True)
    (specs / "hello" / "letter.txt").write_text("Dear")
    (spec,), problems = read_specs(specs, specs.parent, [LetterDialect()])
    assert (spec.dialect, spec.title, problems) == ("letter", "Dear", ())


def test_every_dialect_of_the_table_can_be_loaded_and_is_called_so() -> None:
    late = [one for one in BUILT_IN if isinstance(one, LateDialect)]
    assert [one.place.load().__name__ for one in late] == [f"read_{one.name.replace('-', '_')}" for one in late]
    assert len(late) == len(BUILT_IN) - 1


def test_each_document_is_looked_at_once_for_its_reader_and_its_account(specs: Path) -> None:
    folder = usual(specs, "01_a")
    (folder / "prd.md").write_text("# A\n\n| Spec | Dependency |\n|---|---|\n")
    (folder / "tasks.md").write_text(f"{TASKS}\n## Other\n\n- [ ] Paint every door of the house\n")
    watched = cProfile.Profile()
    _, problems = watched.runcall(read_specs, specs, specs.parent)
    scans = [called for called in watched.getstats() if getattr(called.code, "co_name", "") == "scan"]
    assert [called.callcount for called in scans] == [3]
    what = "the task 'Paint every door of the house' belongs to no group: it is not planned. Give it a number"
    assert [problem.what for problem in problems] == [what]
