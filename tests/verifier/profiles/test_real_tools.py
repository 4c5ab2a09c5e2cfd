"""Prepared commands do what they say, with the real tools, where they are on this machine."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agent_fox.verifier.ground.request import Prepared
from agent_fox.verifier.ground.results import Tool
from tests.verifier.profiles import projects
from tests.verifier.profiles.projects import command, needs, project, run

Ran = tuple[int, str, Prepared]
Runner = Callable[..., Ran]


@pytest.fixture
def ran(tmp_path: Path) -> Runner:
    """Runs one request in a project of these files; the project stays for the next."""
    home = tmp_path / "home"
    home.mkdir()

    def start(
        files: dict[str, str], profile: str, tool: Tool, module: str | None = None, selector: str | None = None
    ) -> Ran:
        root = tmp_path / "root"
        prepared = command(root if root.exists() else project(root, files), profile, tool, module, selector)
        code, output = run(prepared, home)
        return code, output, prepared

    return start


def report(prepared: Prepared) -> str:
    return Path(prepared.reports[0]).read_text()


def test_pytest_writes_its_report_and_one_test_runs_alone(ran: Runner) -> None:
    code, _, prepared = ran(projects.PYTEST, "python", Tool.UNIT_TESTS)
    assert (code, 'tests="3"' in report(prepared)) == (1, True)
    code, _, prepared = ran(projects.PYTEST, "python", Tool.SELECTED_TEST, None, "tests/test_calc.py::test_adds[2]")
    assert (code, 'tests="1"' in report(prepared)) == (0, True)


def test_a_test_starts_a_program_of_its_packages_by_name(tmp_path: Path, ran: Runner) -> None:
    spawned = "import subprocess\ndef test_tool():\n    assert subprocess.check_output(['tool', 'x']) == b'made x\\n'\n"
    tool = {"pyproject.toml": "[tool.pytest.ini_options]\n", "venv/bin/tool": "#!/bin/sh\necho made $1\n"}
    root = project(tmp_path / "root", {**tool, "test_a.py": spawned})
    (root / "venv/bin/tool").chmod(0o755)
    code, output, _ = ran({}, "python", Tool.UNIT_TESTS)
    assert (code, "1 passed" in output) == (0, True)


def test_python_is_compiled_linted_and_formatted(ran: Runner) -> None:
    assert ran(projects.PYTEST, "python", Tool.COMPILE)[0] == 0
    assert ran(projects.PYTEST, "python", Tool.FORMAT_CHECK)[0] == 1
    assert ran(projects.PYTEST, "python", Tool.FORMAT_APPLY)[0] == 0
    assert ran(projects.PYTEST, "python", Tool.FORMAT_CHECK)[0] == 0
    code, output, prepared = ran(projects.PYTEST, "python", Tool.LINT)
    assert (code, "no issues found" in output, report(prepared).strip()) == (0, True, "[]")


def test_a_python_file_that_cannot_be_compiled_is_found(ran: Runner) -> None:
    code, output, prepared = ran({**projects.PYTEST, "broken.py": "def f(:\n"}, "python", Tool.COMPILE)
    assert (code, "broken.py" in output, list(prepared.cwd.glob("**/*.pyc"))) == (1, True, [])


def test_unittest_finds_tests_beside_a_src_folder(ran: Runner) -> None:
    code, output, _ = ran(projects.UNITTEST, "python", Tool.UNIT_TESTS)
    assert (code, "Ran 2 tests" in output) == (1, True)
    code, output, _ = ran(projects.UNITTEST, "python", Tool.SELECTED_TEST, None, "test_calc.CalcTest.test_adds")
    assert (code, "Ran 1 test " in output) == (0, True)


def test_go_builds_vets_tests_and_selects(ran: Runner) -> None:
    needs("go", "gofmt")
    assert ran(projects.GO, "go", Tool.COMPILE)[0] == 0
    assert ran(projects.GO, "go", Tool.LINT)[0] == 0
    assert ran(projects.GO, "go", Tool.UNIT_TESTS)[0] == 1
    code, output, _ = ran(projects.GO, "go", Tool.SELECTED_TEST, None, "calc::TestAdds/one two")
    assert (code, "TestAdds/one_two" in output, "TestIsWrong" in output) == (0, True, False)


def test_gofmt_says_what_it_would_change_though_it_exits_with_0(ran: Runner) -> None:
    needs("gofmt")
    files = {**projects.GO, "calc/ugly.go": "package calc\nfunc  Sub( a int ) int { return a }\n"}
    code, output, prepared = ran(files, "go", Tool.FORMAT_CHECK)
    assert (code, output.split(), prepared.fails_on_output) == (0, ["calc/ugly.go"], True)


def test_cargo_builds_tests_and_selects(ran: Runner) -> None:
    needs("cargo")
    assert ran(projects.CARGO, "rust-cargo", Tool.COMPILE)[0] == 0
    code, output, _ = ran(projects.CARGO, "rust-cargo", Tool.UNIT_TESTS, "crates/calc")
    assert (code, "1 passed; 1 failed" in output) == (101, True)
    code, output, _ = ran(projects.CARGO, "rust-cargo", Tool.SELECTED_TEST, None, "tests::adds")
    assert (code, "1 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out" in output) == (0, True)


def test_make_builds_with_the_compiler_that_is_there(ran: Runner) -> None:
    needs("make", "gcc")
    assert ran(projects.MAKE, "c-make", Tool.COMPILE)[0] == 0
    assert ran(projects.MAKE, "c-make", Tool.UNIT_TESTS)[0] == 0


def test_cmake_is_configured_built_and_tested_in_its_own_folder(ran: Runner) -> None:
    needs("cmake", "gcc", "make")
    code, _, prepared = ran(projects.CMAKE, "c-cmake", Tool.UNIT_TESTS)
    assert (code, 'tests="2"' in report(prepared)) == (8, True)
    assert sorted(path.name for path in prepared.cwd.iterdir()) == ["CMakeLists.txt", "build", "main.c"]
    assert ran(projects.CMAKE, "c-cmake", Tool.SELECTED_TEST, None, "adds")[0] == 0
    assert ran(projects.CMAKE, "c-cmake", Tool.SELECTED_TEST, None, "add")[0] == 8


def test_node_runs_its_own_tests_and_selects_by_name(ran: Runner) -> None:
    needs("node")
    code, _, prepared = ran(projects.NODE, "javascript-npm", Tool.UNIT_TESTS)
    assert (code, report(prepared).count("<testcase ")) == (1, 2)
    code, output, _ = ran(projects.NODE, "javascript-npm", Tool.SELECTED_TEST, None, "test/calc.test.js::adds (1 + 1)")
    assert (code, "pass 1" in output) == (0, True)


@pytest.mark.slow
def test_maven_compiles_and_tests_offline(ran: Runner) -> None:
    needs("mvn")
    code, output, prepared = ran(projects.MAVEN, "java-maven", Tool.UNIT_TESTS, "service-a")
    if "offline" in output and "Tests run" not in output:
        pytest.skip("Maven's local repository has not the plugins that the test project names")
    reports = [path.name for path in prepared.cwd.glob(prepared.reports[0])]
    assert (code, "Tests run: 2, Failures: 1" in output, reports) == (1, True, ["TEST-ATest.xml"])


@pytest.mark.slow
def test_gradle_compiles_one_module_offline(ran: Runner) -> None:
    needs("gradle")
    code, output, prepared = ran(projects.GRADLE, "java-gradle", Tool.COMPILE, "libs/core")
    assert (code, "BUILD SUCCESSFUL" in output) == (0, True)
    assert list(prepared.cwd.glob("build/classes/**/B.class"))
