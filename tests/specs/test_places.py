"""Where specs lie: every usual place that is there, or what a person names."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from agent_fox.core.spec import Severity
from agent_fox.specs.places import USUAL_PLACES, SpecsMissing, find_places, place_kept, places_kept
from agent_fox.specs.reader import read_specs

DELTA = (
    "## ADDED Requirements\n\n### Requirement: Ring\nIt SHALL ring.\n\n"
    "#### Scenario: One\n- **WHEN** pulled\n- **THEN** rings\n"
)
CAPABILITY = DELTA.replace("## ADDED Requirements", "# Bell\n\n## Requirements")
KIRO = "# Requirements\n\n### Requirement 1: Ring\n\n1. WHEN pulled THE bell SHALL ring.\n"


def write(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    write(
        tmp_path,
        {
            "openspec/changes/add-bell/specs/bell/spec.md": DELTA,
            "openspec/changes/archive/2025-01-01-old/specs/bell/spec.md": DELTA,
            "openspec/specs/bell/spec.md": CAPABILITY,
            ".kiro/specs/door/requirements.md": KIRO,
            ".kiro/steering/product.md": "# Product\n",
            "specs/README.md": "# What is here\n",
        },
    )
    return tmp_path


def read(root: Path, *given: str) -> list[tuple[str, str]]:
    specs, _ = read_specs(find_places(root, given), root)
    return [(spec.name, spec.path) for spec in specs]


CHANGE = ("add-bell", "openspec/changes/add-bell")
DOOR = ("door", ".kiro/specs/door")
BELL = ("bell", "openspec/specs/bell")


def test_all_usual_places_that_are_there_are_read(repository: Path) -> None:
    assert read(repository) == [DOOR, CHANGE, BELL]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ([".kiro/specs"], [DOOR]),
        ([".kiro/specs/door"], [DOOR]),
        (["openspec"], [CHANGE, BELL]),
        (["openspec/changes"], [CHANGE]),
        (["openspec/changes/add-bell"], [CHANGE]),
        (["openspec/specs", ".kiro/specs"], [DOOR, BELL]),
        (["."], [DOOR, CHANGE, BELL]),
    ],
)
def test_a_place_is_a_folder_of_specs_one_spec_or_a_repository(
    given: list[str], found: list[tuple[str, str]], repository: Path
) -> None:
    assert read(repository, *given) == found


def test_a_repository_elsewhere_is_read_by_its_usual_places(
    repository: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    here = tmp_path_factory.mktemp("elsewhere")
    names = [name for name, _ in read(here, str(repository))]
    assert names == ["door", "add-bell", "bell"]


def test_folders_that_only_group_specs_are_looked_into(tmp_path: Path) -> None:
    write(tmp_path, {"specs/backend/auth/login/requirements.md": KIRO, "specs/a/b/c/d/requirements.md": KIRO})
    assert read(tmp_path) == [("login", "specs/backend/auth/login")]


def test_a_name_that_is_not_there_is_said(repository: Path) -> None:
    with pytest.raises(SpecsMissing, match="plans"):
        find_places(repository, ["plans"])


def test_two_specs_of_one_name_are_an_error_that_says_where_both_are(repository: Path) -> None:
    write(repository, {"specs/door/requirements.md": KIRO})
    specs, problems = read_specs(find_places(repository), repository)
    (problem,) = [problem for problem in problems if problem.severity is Severity.ERROR]
    assert (problem.where, problem.spec) == (".kiro/specs/door", "door")
    assert "specs/door" in problem.what
    assert [spec.name for spec in specs] == ["door", "add-bell", "bell"]


def test_a_capability_gives_way_to_a_change_of_its_name(repository: Path) -> None:
    write(repository, {"openspec/changes/bell/specs/bell/spec.md": DELTA})
    assert read(repository, "openspec") == [CHANGE, ("bell", "openspec/changes/bell"), ("specs.bell", BELL[1])]


def test_one_folder_of_two_dialects_is_an_error_and_hides_nothing(repository: Path) -> None:
    write(repository, {".kiro/specs/door/spec.md": "# Feature Specification: Door\n"})
    specs, problems = read_specs(find_places(repository), repository)
    (problem,) = [problem for problem in problems if problem.severity is Severity.ERROR]
    assert problem.where == ".kiro/specs/door"
    assert "kiro and spec-kit" in problem.what
    assert [spec.name for spec in specs] == ["add-bell", "bell"]


def test_a_link_to_a_usual_place_is_one_place(repository: Path) -> None:
    shutil.rmtree(repository / "specs")
    (repository / "specs").symlink_to(repository / ".kiro" / "specs")
    assert read(repository) == [("door", "specs/door"), CHANGE, BELL]


@pytest.mark.parametrize(
    ("path", "kept"),
    [("specs/01_a", "specs"), ("01_a", "01_a"), ("plans/bell.md", "plans/bell.md"), ("bell.toml", "bell.toml")],
)
def test_what_a_coder_may_only_tick_boxes_in(path: str, kept: str) -> None:
    assert place_kept(path) == kept


def test_the_usual_places_are_as_the_page_says() -> None:
    page = (Path(__file__).resolve().parents[2] / "docs" / "dialects.md").read_text()
    assert [place for place in USUAL_PLACES if f"`{place}`" not in page] == []


def test_what_a_link_leads_to_is_kept_as_the_link_is(tmp_path: Path) -> None:
    (tmp_path / "docs/all/01_a").mkdir(parents=True)
    (tmp_path / "docs/locks.md").write_text("# Spec: Locks\n")
    (tmp_path / ".specs").symlink_to("docs/all")
    (tmp_path / "specs").mkdir()
    (tmp_path / "specs/locks.md").symlink_to("../docs/locks.md")
    kept = places_kept(tmp_path, [".specs/01_a", "specs/locks.md"], [".specs/01_a/tasks.md", "specs/locks.md"])
    assert kept == (".specs", "specs/locks.md", "docs/all", "docs/locks.md")


def test_a_linked_document_of_a_spec_is_kept(tmp_path: Path) -> None:
    (tmp_path / ".kiro/specs/a").mkdir(parents=True)
    (tmp_path / "wanted.md").write_text("")
    (tmp_path / ".kiro/specs/a/requirements.md").symlink_to("../../../wanted.md")
    kept = places_kept(tmp_path, [".kiro/specs/a"], [".kiro/specs/a/requirements.md"])
    assert kept == (".kiro/specs", "wanted.md")


def test_a_link_out_of_the_repository_or_to_its_root_keeps_nothing_more(tmp_path: Path) -> None:
    root = tmp_path / "repo"
    root.mkdir()
    (tmp_path / "other/a").mkdir(parents=True)
    (root / ".specs").symlink_to("../other")
    (root / "specs").symlink_to(".")
    assert places_kept(root, [".specs/a", "specs/b"], ["/elsewhere/c.md"]) == (".specs", "specs", "b")


def test_what_is_there_is_kept_beside_the_changes_of_it(tmp_path: Path) -> None:
    assert places_kept(tmp_path, ["openspec/changes/a"], []) == ("openspec/changes", "openspec/specs")
    assert places_kept(tmp_path, ["x/openspec/changes/a"], []) == ("x/openspec/changes", "x/openspec/specs")
    assert places_kept(tmp_path, ["my-openspec/changes/a"], []) == ("my-openspec/changes",)
