"""From requests to command lines, for every profile; programs are stand-ins here, and none is started."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from agent_fox.verifier.ground.request import Refused, Request, Unavailable, Why
from agent_fox.verifier.ground.results import Scope, Tool
from agent_fox.verifier.profiles.loading import load_profile
from agent_fox.verifier.profiles.narrowing import Allowed, narrowed
from agent_fox.verifier.profiles.prepare import prepare
from tests.verifier.profiles import projects
from tests.verifier.profiles.projects import ask, command, project, reports_of, stand_in

BIN = "node_modules/.bin"
PACKAGE = '{"scripts": {"test": "%s"}, "devDependencies": {"eslint": "9", "prettier": "3"}}'
MVN = "mvn -B -o --fail-at-end"
MVN_TEST = f"{MVN} -DskipTests=false -Dmaven.test.skip=false"
GRADLE = "gradle --offline --no-daemon --console=plain"
UNITTEST = "python3 REPORTERS/unittest_junit.py REPORTS/unittest.xml"
PYTEST = (
    "python3 -m pytest --junitxml=REPORTS/pytest.xml -o junit_family=xunit1 -p no:cacheprovider "
    "--continue-on-collection-errors --maxfail=0 --color=no"
)
PROGRAMS = (
    "mvn",
    "gradle",
    "npm",
    "node",
    "python3",
    "ruff",
    "mypy",
    "black",
    "go",
    "gofmt",
    "cargo",
    "cmake",
    "ctest",
    "meson",
    "make",
    "gcc",
)


def shown(root: Path, profile: str, tool: Tool, module: str | None = None, selector: str | None = None) -> str:
    prepared = command(root, profile, tool, module, selector, stand_in(root, *PROGRAMS))
    assert len(prepared.argv) == len(prepared.display)
    assert prepared.cwd == root / (module if prepared.cwd != root and module else ".")
    return " ".join(prepared.display)


@pytest.mark.parametrize(
    ("files", "profile", "tool", "module", "selector", "line"),
    [
        (projects.MAVEN, "java-maven", "run_compile", None, None, f"{MVN} test-compile"),
        (projects.MAVEN, "java-maven", "run_compile", "service-a", None, f"{MVN} -pl service-a -am test-compile"),
        (projects.MAVEN, "java-maven", "run_unit_tests", None, None, f"{MVN_TEST} test"),
        (projects.MAVEN, "java-maven", "run_unit_tests", "libs/core", None, f"{MVN_TEST} -pl libs/core -am test"),
        (
            projects.MAVEN, "java-maven", "run_selected_test", "service-a", "ATest#one",
            f"{MVN_TEST} -DfailIfNoTests=false -Dsurefire.failIfNoSpecifiedTests=false "
            "-pl service-a -am -Dtest=ATest#one test",
        ),
        (projects.GRADLE, "java-gradle", "run_compile", None, None, f"{GRADLE} --continue testClasses"),
        (
            projects.GRADLE, "java-gradle", "run_unit_tests", "libs/core", None,
            f"{GRADLE} --no-build-cache --continue cleanTest test",
        ),
        (
            projects.GRADLE, "java-gradle", "run_selected_test", "service-a", "a.BTest.c",
            f"{GRADLE} --no-build-cache --continue cleanTest test --tests=a.BTest.c",
        ),
        (projects.PYTEST, "python", "run_unit_tests", None, None, PYTEST),
        (
            projects.PYTEST, "python", "run_selected_test", None, "tests/test_calc.py::test_adds[2]",
            f"{PYTEST} tests/test_calc.py::test_adds[2]",
        ),
        (projects.PYTEST, "python", "run_format_check", None, None, "ruff format --check --no-cache ."),
        (projects.PYTEST, "python", "run_format_apply", None, None, "ruff format --no-cache ."),
        (
            projects.PYTEST, "python", "run_lint", None, None,
            "mypy --show-column-numbers --no-pretty --cache-dir=/dev/null .",
        ),
        (projects.UNITTEST, "python", "run_unit_tests", None, None, f"{UNITTEST} discover -v -s tests"),
        (
            projects.DJANGO, "python", "run_unit_tests", None, None,
            "python3 manage.py test --verbosity=2 --noinput",
        ),
        (
            projects.DJANGO, "python", "run_selected_test", None, "cart.tests.CartTest.test_total",
            "python3 manage.py test --verbosity=2 --noinput cart.tests.CartTest.test_total",
        ),
        (
            projects.UNITTEST, "python", "run_selected_test", None, "test_calc.CalcTest.test_adds",
            f"{UNITTEST} -v test_calc.CalcTest.test_adds",
        ),
        (projects.GO, "go", "run_compile", None, None, "go test -exec=true -run=^$ ./..."),
        (projects.GO, "go", "run_unit_tests", None, None, "go test -json -count=1 ./..."),
        (
            projects.GO, "go", "run_selected_test", None, "calc::TestAdds/one two",
            "go test -json -count=1 -run=^TestAdds$/^one_two$ ./calc",
        ),
        (projects.GO, "go", "run_format_check", None, None, "gofmt -l calc/calc.go calc/calc_test.go"),
        (projects.CARGO, "rust-cargo", "run_unit_tests", None, None, "cargo test --offline --no-fail-fast --workspace"),
        (projects.CARGO, "rust-cargo", "run_unit_tests", "crates/calc", None, "cargo test --offline --no-fail-fast"),
        (
            projects.CARGO, "rust-cargo", "run_selected_test", "crates/calc", "tests::adds",
            "cargo test --offline --no-fail-fast -- --exact tests::adds",
        ),
        (projects.CARGO, "rust-cargo", "run_format_check", None, None, "cargo fmt --all -- --check"),
        (projects.CMAKE, "c-cmake", "run_compile", None, None, "cmake --build build/verifier --parallel 2"),
        (
            projects.CMAKE, "c-cmake", "run_selected_test", None, "is.wrong",
            "ctest --test-dir build/verifier --output-on-failure --no-tests=error --output-junit REPORTS/ctest.xml "
            "--tests-regex ^is\\.wrong$",
        ),
        (projects.MESON, "c-meson", "run_compile", None, None, "meson compile -C build/verifier"),
        (
            projects.MESON, "c-meson", "run_selected_test", None, "is.wrong",
            "meson test -C build/verifier --print-errorlogs is.wrong",
        ),
        (projects.MAKE, "c-make", "run_compile", None, None, "make --keep-going"),
        (projects.MAKE, "c-make", "run_unit_tests", None, None, "make --keep-going test"),
        (projects.NODE, "javascript-npm", "run_dependency_tree", "packages/cli", None, "npm ls --all"),
    ],
)  # fmt: skip
def test_each_profile_has_a_command_for_all_one_module_and_one_test(
    tmp_path: Path, files: dict[str, str], profile: str, tool: str, module: str | None, selector: str | None, line: str
) -> None:
    assert shown(project(tmp_path / "root", files), profile, Tool(tool), module, selector) == line


@pytest.mark.parametrize(
    ("script", "runner", "line"),
    [
        (
            "jest --config j.json",
            "jest",
            "./node_modules/.bin/jest --config j.json --ci --json --outputFile=REPORTS/jest.json",
        ),
        (
            "vitest run",
            "vitest",
            "./node_modules/.bin/vitest run --reporter=default --reporter=junit --outputFile.junit=REPORTS/vitest.xml",
        ),
        (
            "mocha --recursive spec",
            "mocha",
            "./node_modules/.bin/mocha --recursive --forbid-only --reporter=xunit "
            "--reporter-options=output=REPORTS/mocha.xml spec",
        ),
        ("nyc tape 'test/*.js'", "tape", "./node_modules/.bin/tape test/*.js"),
        ("tap -R spec --jobs 2 test", "tap", "./node_modules/.bin/tap --jobs 2 --reporter=tap test"),
        ("ava --tap --serial", "ava", "./node_modules/.bin/ava --serial"),
        ("uvu -r esm test", "uvu", "./node_modules/.bin/uvu -r esm test"),
    ],
)
def test_the_runner_that_package_json_names_is_called_itself(
    tmp_path: Path, script: str, runner: str, line: str
) -> None:
    root = project(tmp_path / "root", {"package.json": PACKAGE % script, f"{BIN}/{runner}": ""})
    (root / BIN / runner).chmod(0o755)
    assert shown(root, "javascript-npm", Tool.UNIT_TESTS) == line


def test_the_linter_passes_by_what_a_run_with_coverage_wrote(tmp_path: Path) -> None:
    root = project(tmp_path / "root", {"package.json": PACKAGE % "jest", f"{BIN}/eslint": ""})
    (root / BIN / "eslint").chmod(0o755)
    line = shown(root, "javascript-npm", Tool.LINT)
    assert line.endswith("--ignore-pattern coverage/ --ignore-pattern .nyc_output/ .")


def test_a_runner_of_the_workspace_serves_its_packages(tmp_path: Path) -> None:
    root = project(tmp_path / "root", {**projects.NODE, f"{BIN}/jest": ""})
    (root / BIN / "jest").chmod(0o755)
    prepared = command(root, "javascript-npm", Tool.UNIT_TESTS, "packages/cli")
    assert (prepared.argv[0], prepared.cwd) == (str(root / BIN / "jest"), root / "packages/cli")


def test_programs_of_the_project_stand_before_the_machine_s_for_its_tests(tmp_path: Path) -> None:
    inner = f"packages/cli/{BIN}"
    root = project(tmp_path / "root", {**projects.NODE, f"{BIN}/jest": "", f"{inner}/tsc": "", ".venv/bin/python": ""})
    (root / BIN / "jest").chmod(0o755)
    programs = stand_in(root, "node")
    deep = command(root, "javascript-npm", Tool.UNIT_TESTS, "packages/cli", search=f"{programs}::.")
    assert deep.environment["PATH"] == f"{root / inner}:{root / BIN}:{programs}"
    assert command(root, "javascript-npm", Tool.UNIT_TESTS, search=programs).environment["PATH"] == (
        f"{root / BIN}:{programs}"
    )
    other = project(tmp_path / "other", {**projects.PYTEST, ".venv/bin/tool": "", "venv/bin/tool": ""})
    path = command(other, "python", Tool.UNIT_TESTS).environment["PATH"]
    assert path.split(":")[:2] == [str(other / ".venv/bin"), str(other / "venv/bin")]
    maven = project(tmp_path / "maven", {**projects.MAVEN, "mvnw": ""})
    assert "PATH" not in command(maven, "java-maven", Tool.UNIT_TESTS, search=stand_in(maven, "mvn")).environment


def test_a_selected_file_stands_instead_of_what_the_script_names(tmp_path: Path) -> None:
    root = project(tmp_path / "root", projects.NODE)
    prepared = command(root, "javascript-npm", Tool.SELECTED_TEST, None, "test/calc.test.js::adds (1 + 1)")
    assert prepared.argv[-2:] == (r"--test-name-pattern=adds \(1 \+ 1\)", "test/calc.test.js")


def test_of_a_runner_that_knows_files_alone_a_name_is_refused(tmp_path: Path) -> None:
    root = project(tmp_path / "root", {"package.json": PACKAGE % "tape test", "test/a.js": "", f"{BIN}/tape": ""})
    (root / BIN / "tape").chmod(0o755)
    assert command(root, "javascript-npm", Tool.SELECTED_TEST, None, "test/a.js").argv[1:] == ("test/a.js",)
    with pytest.raises(Refused, match="by their file alone"):
        command(root, "javascript-npm", Tool.SELECTED_TEST, None, "test/a.js::adds")


@pytest.mark.parametrize(
    ("runner", "log", "is_idle"),
    [
        ("uvu", "  Total:     0\n  Passed:    0\n  Skipped:   0\n", True),
        ("uvu", "  Total:     12\n  Passed:    12\n  Skipped:   0\n", False),
        ("ava", "\n  3 tests skipped\n", True),
        ("jasmine", "No specs found\nFinished in 0.01 seconds\n", True),
        ("jasmine", "Started\n\n0 specs, 0 failures\n", True),
        ("jasmine", "Started\n..\n\n12 specs, 0 failures, 1 pending spec\n", False),
        ("ava", "  ✔ adds\n  ─\n\n  1 test passed\n", False),
    ],
)
def test_a_runner_that_counts_nothing_says_whether_a_test_ran(
    tmp_path: Path, runner: str, log: str, is_idle: bool
) -> None:
    root = project(tmp_path / "root", {"package.json": PACKAGE % runner, f"{BIN}/{runner}": ""})
    (root / BIN / runner).chmod(0o755)
    idle = command(root, "javascript-npm", Tool.UNIT_TESTS).idle
    assert idle is not None
    assert bool(re.search(idle, log, re.MULTILINE)) is is_idle


def test_scope_tells_all_from_a_module_from_a_test(tmp_path: Path) -> None:
    root = project(tmp_path / "root", projects.CARGO)
    programs = stand_in(root, "cargo")
    scopes = [
        command(root, "rust-cargo", Tool.UNIT_TESTS, None, None, programs).scope,
        command(root, "rust-cargo", Tool.UNIT_TESTS, "crates/calc", None, programs).scope,
        command(root, "rust-cargo", Tool.SELECTED_TEST, None, "tests::adds", programs).scope,
        command(root, "rust-cargo", Tool.COMPILE, None, None, programs).scope,
    ]
    assert scopes == [Scope.FULL, Scope.MODULE, Scope.SELECTED, None]


def test_the_wrapper_is_taken_first_if_it_may_be_executed(tmp_path: Path) -> None:
    root = project(tmp_path / "root", {**projects.MAVEN, "mvnw": "#!/bin/sh\n"})
    programs = stand_in(root, "mvn")
    before = command(root, "java-maven", Tool.COMPILE, search=programs)
    (root / "mvnw").chmod(0o755)
    after = command(root, "java-maven", Tool.COMPILE, search=programs)
    assert (before.display[0], after.display[0], after.argv[0]) == ("mvn", "./mvnw", str(root / "mvnw"))
    assert before.notes == ("./mvnw is there, but it may not be executed, so it was not used",)


def test_a_program_that_the_search_path_finds_in_the_workspace_is_not_taken(tmp_path: Path) -> None:
    root = project(tmp_path / "root", {**projects.MAKE, "bin/make": ""})
    (root / "bin/make").chmod(0o755)
    assert ask(root, "c-make", Tool.COMPILE, search=f"{root / 'bin'}::.") == Unavailable(
        "make or gmake was not found", Why.NO_PROGRAM
    )


def test_a_system_in_a_folder_runs_there_and_its_reports_are_found_there(tmp_path: Path) -> None:
    root = project(tmp_path / "root", {f"backend/{name}": text for name, text in projects.MAVEN.items()})
    prepared = command(root, "java-maven", Tool.UNIT_TESTS, search=stand_in(root, "mvn"))
    assert (prepared.cwd, prepared.reports) == (root / "backend", ("backend/**/target/surefire-reports/TEST-*.xml",))


def test_a_second_project_of_the_kind_is_reached_as_a_module(tmp_path: Path) -> None:
    root = project(tmp_path / "root", {"a/go.mod": "module a", "b/go.mod": "module b"})
    programs = stand_in(root, "go")
    assert command(root, "go", Tool.COMPILE, search=programs).notes == ("this reaches a alone; name a module for: b",)
    assert command(root, "go", Tool.COMPILE, "b", search=programs).cwd == root / "b"


def test_src_layout_is_on_the_import_path(tmp_path: Path) -> None:
    root = project(tmp_path / "root", projects.UNITTEST)
    prepared = command(root, "python", Tool.UNIT_TESTS)
    assert prepared.environment["PYTHONPATH"] == f"{root}/src:{root}/tests"


def test_what_a_makefile_makes_is_told_apart_from_source(tmp_path: Path) -> None:
    root = project(tmp_path / "root", projects.MAKE)
    assert command(root, "c-make", Tool.COMPILE, search=stand_in(root, "make")).products == ("all", "calc", "test")


@pytest.mark.parametrize(
    ("tool", "module", "selector", "code"),
    [
        ("run_selected_test", None, None, "selector_missing"),
        ("run_unit_tests", None, "ATest", "selector_not_taken"),
        ("run_compile", "service-b", None, "unknown_module"),
        ("run_compile", "../elsewhere", None, "unknown_module"),
        ("run_selected_test", None, "-Dx=y", "selector_invalid"),
    ],
)
def test_a_request_out_of_form_is_refused(
    tmp_path: Path, tool: str, module: str | None, selector: str | None, code: str
) -> None:
    root = project(tmp_path / "root", projects.MAVEN)
    with pytest.raises(Refused) as refused:
        ask(root, "java-maven", Tool(tool), module, selector, stand_in(root, "mvn"))
    assert refused.value.code == code


def test_a_module_that_became_a_link_out_of_the_root_is_refused(tmp_path: Path) -> None:
    root = project(tmp_path / "root", projects.CARGO)
    (root / "crates/calc").rename(tmp_path / "calc")
    (root / "crates/calc").symlink_to(tmp_path / "calc")
    with pytest.raises(Refused, match="no module"):
        ask(root, "rust-cargo", Tool.COMPILE, "crates/calc", search=stand_in(root, "cargo"))


@pytest.mark.parametrize(
    ("files", "profile", "tool", "kind"),
    [
        (projects.MAVEN, "java-maven", "run_lint", Why.NOT_CONFIGURED),
        (projects.MAVEN, "java-maven", "run_static_policy_checks", Why.NO_COMMAND),
        (projects.MAKE, "c-make", "run_security_scan", Why.NO_COMMAND),
        (projects.NODE, "javascript-npm", "run_compile", Why.NOT_CONFIGURED),
        (projects.GO, "java-maven", "run_compile", Why.NO_PROJECT),
        (projects.GO, "go", "run_compile", Why.NO_PROGRAM),
        *((projects.GO, "go", "run_security_scan", Why.NO_DATA),),
        *((projects.PYTEST, "python", "run_security_scan", Why.NO_DATA),),
        *((projects.MAVEN, "java-maven", "run_security_scan", Why.NO_DATA),),
        *((projects.CARGO, "rust-cargo", "run_security_scan", Why.NO_DATA),),
    ],
)
def test_a_capability_that_is_not_there_is_told_apart_from_one_that_passed(
    tmp_path: Path, files: dict[str, str], profile: str, tool: str, kind: Why
) -> None:
    root = project(tmp_path / "root", files)
    missing = ask(root, profile, Tool(tool), search=str(tmp_path))
    assert isinstance(missing, Unavailable)
    assert missing.kind is kind


def test_a_scanner_runs_where_there_is_advisory_data(tmp_path: Path) -> None:
    root = project(tmp_path / "root", projects.CARGO)
    advisories = project(tmp_path / "data", {"rustsec/a.toml": ""})
    prepared = prepare(
        load_profile("rust-cargo"), root, Request(Tool.SECURITY_SCAN), reports_of(root),
        search=stand_in(root, "cargo-audit"), advisories=advisories,
    )  # fmt: skip
    assert not isinstance(prepared, Unavailable)
    assert prepared.argv[-2:] == ("--db", str(advisories / "rustsec"))
    assert prepared.display[-2:] == ("--db", "ADVISORIES/rustsec")


def test_a_formatter_changes_source_only_where_the_policy_lets_it(tmp_path: Path) -> None:
    root = project(tmp_path / "root", projects.PYTEST)
    careful = narrowed(load_profile("python"), {}, Allowed())
    with pytest.raises(Refused) as refused:
        prepare(careful, root, Request(Tool.FORMAT_APPLY), reports_of(root))
    assert refused.value.code == "format_apply_denied"


@pytest.mark.parametrize("sign", ["{reports}", "{argv}", "{module...}"])
def test_what_a_client_says_is_never_filled_again(tmp_path: Path, sign: str) -> None:
    root = project(tmp_path / "root", projects.NODE)
    prepared = command(root, "javascript-npm", Tool.SELECTED_TEST, None, f"adds {sign}")
    assert any("adds \\{" in one for one in prepared.argv)
    assert not any("adds /" in one for one in prepared.argv)


@pytest.mark.parametrize(("there", "missing"), [("ruff", "mypy"), ("mypy", "ruff")])
def test_a_linter_that_is_there_runs_though_the_other_is_missing_and_that_is_said(
    tmp_path: Path, there: str, missing: str
) -> None:
    root = project(tmp_path / "root", {"pyproject.toml": "[tool.ruff]\n[tool.mypy]\n", "a.py": "x = 1\n"})
    prepared = command(root, "python", Tool.LINT, search=stand_in(root, there))
    assert (prepared.display[0], prepared.before) == (there, ())
    assert prepared.missing.startswith(f"./.venv/bin/{missing} or")


def test_no_formatter_stands_in_for_the_one_that_the_project_chose(tmp_path: Path) -> None:
    root = project(tmp_path / "root", {"pyproject.toml": "[tool.ruff]\n[tool.black]\n", "a.py": "x = 1\n"})
    assert isinstance(ask(root, "python", Tool.FORMAT_CHECK, search=stand_in(root, "ruff")), Unavailable)


def test_packages_of_the_project_that_are_missing_come_with_their_remedy(tmp_path: Path) -> None:
    root = project(tmp_path / "root", {"package.json": '{"scripts": {"test": "mocha"}}', "test/a.js": "1\n"})
    missing = ask(root, "javascript-npm", Tool.UNIT_TESTS, search=stand_in(root, "node", "npm"))
    assert isinstance(missing, Unavailable)
    told = "./node_modules/.bin/mocha was not found; install the project's packages: npm"
    assert missing.reason == f"{told} install"
    (root / "package-lock.json").write_text("{}")
    locked = ask(root, "javascript-npm", Tool.UNIT_TESTS, search=stand_in(root, "node", "npm"))
    assert isinstance(locked, Unavailable)
    assert locked.reason == f"{told} ci"
    (root / "pnpm-workspace.yaml").write_text("packages: []\n")
    pnpm = ask(root, "javascript-pnpm", Tool.UNIT_TESTS, search=stand_in(root, "node", "pnpm"))
    assert isinstance(pnpm, Unavailable)
    assert pnpm.reason.endswith(": pnpm install")


@pytest.mark.parametrize(
    ("ignored", "is_skipped"),
    [
        ("*.d.ts\n*.map\n", True),
        ("node_modules/\n**/*.d.ts\n", True),
        ("dist/\n", False),
        ("# *.d.ts\n", False),
        ("", False),
    ],
)
def test_declarations_that_git_ignores_as_products_are_not_checked_and_that_is_said(
    tmp_path: Path, ignored: str, is_skipped: bool
) -> None:
    files = {"package.json": "{}", "tsconfig.json": "{}", ".gitignore": ignored, "node_modules/.bin/tsc": ""}
    root = project(tmp_path / "root", files)
    (root / "node_modules/.bin/tsc").chmod(0o755)
    prepared = command(root, "javascript-npm", Tool.COMPILE)
    assert ("--skipLibCheck" in prepared.argv) == is_skipped
    assert any("git ignores *.d.ts" in note for note in prepared.notes) == is_skipped
