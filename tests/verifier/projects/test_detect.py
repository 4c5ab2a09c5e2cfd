"""Build systems are found by manifests, and no manifest can break the finding."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from agent_fox.verifier.projects.detect import detect
from agent_fox.verifier.projects.systems import BuildSystem, Detection, NoteKind, SystemKind
from tests.verifier.made_projects import write
from tests.verifier.profiles import projects


def found(root: Path, files: dict[str, str]) -> Detection:
    return detect(write(root, files))


def only(detection: Detection) -> BuildSystem:
    (system,) = detection.systems
    return system


@pytest.mark.parametrize(
    ("files", "kind", "manifest", "modules", "profile"),
    [
        (projects.MAVEN, "maven", "pom.xml", ("service-a", "libs/core"), "java-maven"),
        (projects.GRADLE, "gradle", "settings.gradle", ("service-a", "libs/core"), "java-gradle"),
        (projects.NODE, "npm", "package.json", ("packages/cli",), "javascript-npm"),
        (projects.PYTEST, "python", "pyproject.toml", (), "python"),
        (projects.UNITTEST, "python", "setup.py", (), "python"),
        (projects.GO, "go", "go.mod", (), "go"),
        (projects.CARGO, "cargo", "Cargo.toml", ("crates/calc",), "rust-cargo"),
        (projects.CMAKE, "cmake", "CMakeLists.txt", (), "c-cmake"),
        (projects.MESON, "meson", "meson.build", (), "c-meson"),
        (projects.MAKE, "make", "Makefile", (), "c-make"),
        ({"tests/test_a.py": ""}, "python", "tests/test_a.py", (), "python"),
        ({"requirements.txt": "pytest"}, "python", "requirements.txt", (), "python"),
        ({"package.json": "{}", "pnpm-lock.yaml": ""}, "pnpm", "package.json", (), "javascript-pnpm"),
        ({"package.json": '{"packageManager": "yarn@4"}'}, "yarn", "package.json", (), "javascript-yarn"),
        ({"build.gradle.kts": ""}, "gradle", "build.gradle.kts", (), "java-gradle"),
    ],
)
def test_a_build_system_is_found_by_its_manifest(
    tmp_path: Path, files: dict[str, str], kind: str, manifest: str, modules: tuple[str, ...], profile: str
) -> None:
    assert only(found(tmp_path, files)) == BuildSystem(SystemKind(kind), ".", manifest, modules, None, profile)


def test_a_wrapper_is_named(tmp_path: Path) -> None:
    assert only(found(tmp_path, {**projects.MAVEN, "mvnw": "#!/bin/sh\n"})).wrapper == "./mvnw"


def test_several_systems_are_found_the_root_first(tmp_path: Path) -> None:
    systems = found(tmp_path, {"go.mod": "module a", "web/package.json": "{}", "tool/Cargo.toml": "[package]"}).systems
    assert [(one.kind, one.root) for one in systems] == [("go", "."), ("cargo", "tool"), ("npm", "web")]


def test_a_module_is_no_system_of_its_own(tmp_path: Path) -> None:
    files = {"Cargo.toml": '[workspace]\nmembers = ["a"]', "a/Cargo.toml": "[package]"}
    assert only(found(tmp_path, files)).modules == ("a",)


def test_nested_maven_modules_are_found_once(tmp_path: Path) -> None:
    poms = {
        "pom.xml": "<project><modules><module>a</module><module>./a/</module></modules></project>",
        "a/pom.xml": "<project><modules><module>b/pom.xml</module><module>../a</module></modules></project>",
        "a/b/pom.xml": "<project/>",
    }
    assert only(found(tmp_path, poms)).modules == ("a", "a/b")


def test_modules_of_maven_profiles_count(tmp_path: Path) -> None:
    profile = "<profiles><profile><modules><module>a</module></modules></profile></profiles>"
    files = {"pom.xml": f"<project>{profile}</project>", "a/pom.xml": "<project/>"}
    assert only(found(tmp_path, files)).modules == ("a",)


def test_a_gradle_project_may_lie_elsewhere(tmp_path: Path) -> None:
    settings = "include(\n  'x',\n  \"y\"\n)\nproject(':x').projectDir = file('moved/x')\n/* include 'z' */"
    files = {"settings.gradle": settings, "moved/x/a.txt": "", "y/a.txt": "", "z/a.txt": ""}
    assert only(found(tmp_path, files)).modules == ("moved/x", "y")


@pytest.mark.parametrize(
    ("package", "more", "kinds"),
    [
        ('{"name": "a", "repo": "b/a", "src": ["a.c"]}', {}, ["make"]),
        ('{"name": "a", "src": ["a.c"], "scripts": {"test": "jest"}}', {}, ["npm", "make"]),
        ('{"name": "a", "src": ["a.c"]}', {"index.js": ""}, ["npm", "make"]),
        ('{"name": "a", "src": ["a.c"]}', {"package-lock.json": "{}"}, ["npm", "make"]),
        ('{"name": "a"}', {}, ["npm", "make"]),
    ],
)
def test_a_package_json_that_lists_files_of_c_is_no_project_of_node(
    tmp_path: Path, package: str, more: dict[str, str], kinds: list[str]
) -> None:
    root = write(tmp_path, {"package.json": package, "Makefile": "test:\n", "a.c": "", **more})
    assert [system.kind for system in detect(root).systems] == kinds


def test_pnpm_packages_are_read_without_those_left_out(tmp_path: Path) -> None:
    workspace = "packages:\n  - 'packages/*'  # all\n  - \"!packages/old\"\ncatalog: {}\n"
    files = {"package.json": "{}", "pnpm-workspace.yaml": workspace}
    files |= {f"packages/{name}/package.json": "{}" for name in ("new", "old")}
    assert only(found(tmp_path, files)).modules == ("packages/new",)


def test_modules_of_go_work_are_found(tmp_path: Path) -> None:
    files = {
        "go.work": "go 1.19\nuse (\n\t./a // one\n\t./b\n)\nuse ../c\n",
        "a/go.mod": "module a",
        "b/go.mod": "module b",
    }
    detection = found(tmp_path, files)
    assert only(detection).modules == ("a", "b")
    assert [note.kind for note in detection.notes] == [NoteKind.OUTSIDE]


def test_members_of_a_uv_workspace_are_found(tmp_path: Path) -> None:
    files = {"pyproject.toml": '[tool.uv.workspace]\nmembers = ["libs/*"]', "libs/a/pyproject.toml": ""}
    assert only(found(tmp_path, files)).modules == ("libs/a",)


def test_what_is_written_for_people_is_not_read(tmp_path: Path) -> None:
    assert found(tmp_path, {"README.md": "Build with `mvn package`, test with `make test`."}) == Detection()


def test_a_makefile_without_c_is_no_build(tmp_path: Path) -> None:
    assert found(tmp_path, {"Makefile": "deploy:\n\tssh host\n"}) == Detection()


@pytest.mark.parametrize(
    ("files", "kind"),
    [
        ({"pom.xml": "<project><modules><module>../../x</module></modules></project>"}, NoteKind.OUTSIDE),
        ({"pom.xml": "<project><modules><module>/etc</module></modules></project>"}, NoteKind.OUTSIDE),
        ({"pom.xml": "<project><modules><module>gone</module></modules></project>"}, NoteKind.MISSING),
        ({"pom.xml": "<project><modules>"}, NoteKind.INVALID),
        ({"pom.xml": '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><project>&b;</project>'}, NoteKind.INVALID),
        ({"pom.xml": "<project>" + " " * 2_000_001 + "</project>"}, NoteKind.TOO_LARGE),
        ({"package.json": "{"}, NoteKind.INVALID),
        ({"package.json": "[]"}, NoteKind.INVALID),
        ({"package.json": "[" * 100_000}, NoteKind.INVALID),
        ({"package.json": '{"a": ' + "9" * 10_000 + "}"}, NoteKind.INVALID),
        ({"package.json": '{"workspaces": ["../../*"]}'}, NoteKind.OUTSIDE),
        ({"pyproject.toml": "[tool"}, NoteKind.INVALID),
        ({"pyproject.toml": "a = " + "[" * 10_000}, NoteKind.INVALID),
        ({"Cargo.toml": "workspace = ["}, NoteKind.INVALID),
        ({"settings.gradle": "include ':gone'"}, NoteKind.MISSING),
        ({"settings.gradle": "include '..:..:etc'"}, NoteKind.OUTSIDE),
    ],
)
def test_a_hostile_manifest_gives_a_note_and_its_system_still(
    tmp_path: Path, files: dict[str, str], kind: NoteKind
) -> None:
    detection = found(tmp_path, files)
    assert only(detection).modules == ()
    assert [note.kind for note in detection.notes] == [kind]


def test_a_circle_of_modules_ends(tmp_path: Path) -> None:
    pom = "<project><modules><module>a</module></modules></project>"
    deep = {"/".join(["a"] * level) + "/pom.xml" if level else "pom.xml": pom for level in range(30)}
    detection = found(tmp_path, deep)
    assert {note.kind for note in detection.notes} == {NoteKind.TOO_DEEP}
    assert len(only(detection).modules) < 20


def test_a_link_out_of_the_root_is_not_followed(tmp_path: Path) -> None:
    outside, root = tmp_path / "outside", tmp_path / "root"
    write(outside, {"pom.xml": "<project/>", "package.json": "{}"})
    write(root, {"go.mod": "module a"})
    (root / "pom.xml").symlink_to(outside / "pom.xml")
    (root / "web").symlink_to(outside)
    detection = detect(root)
    assert only(detection).kind is SystemKind.GO
    assert {note.kind for note in detection.notes} == {NoteKind.OUTSIDE}


def test_a_pipe_in_place_of_a_manifest_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pom.xml")
    (tmp_path / "package.json").mkdir()
    assert detect(tmp_path) == Detection()


def test_a_root_that_vanished_has_no_systems(tmp_path: Path) -> None:
    assert detect(tmp_path / "gone") == Detection()
