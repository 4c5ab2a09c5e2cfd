"""A tool that can write a report is asked for one, and nothing else about what it runs changes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.verifier.ground.cases import Case
from agent_fox.verifier.ground.command_line import split_command
from agent_fox.verifier.suites.asking import with_report, with_tests
from agent_fox.verifier.suites.calls import Call, call_of

REPORT = Path("/r")


def _call(line: str, workspace: Path | None = None) -> Call:
    call = call_of(split_command(line).argv, workspace)
    assert call is not None
    return call


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("make test", "make test"),
        ("mvn -q test", "mvn -q test"),
        ("go test -race ./...", "go test -json -race ./..."),
        ("go vet ./...", "go vet ./..."),
        ("go test -json ./...", "go test -json ./..."),
        ("cargo test -q --all -- --nocapture", "cargo test --all --no-fail-fast -- --nocapture"),
        ("cargo build", "cargo build"),
        ("npx jest --ci", "npx jest --ci --json --outputFile=/r"),
        ("npx vitest run", "npx vitest run --reporter=default --reporter=junit --outputFile.junit=/r"),
        ("npx vitest run --reporter=dot", "npx vitest run --reporter=dot --reporter=junit --outputFile.junit=/r"),
        ("npx mocha test", "npx mocha test --reporter xunit --reporter-options output=/r"),
        ("npx mocha -R dot -O output=x test", "npx mocha test --reporter xunit --reporter-options output=/r"),
        ("npx jest --json --outputFile x a", "npx jest a --json --outputFile=/r"),
        ("npx jest --outputFile=x --silent", "npx jest --silent --json --outputFile=/r"),
        (
            "npx vitest run --reporter=junit --reporter dot --outputFile=x --outputFile.junit=y",
            "npx vitest run --reporter dot --reporter=junit --outputFile.junit=/r",
        ),
        ("go test ./... -args -json", "go test -json ./... -args -json"),
        ("cargo test -- --format terse --nocapture", "cargo test --no-fail-fast -- --nocapture"),
        ("cargo test --no-fail-fast -- --format=json", "cargo test --no-fail-fast --"),
        ("ctest --test-dir build", "ctest --test-dir build --output-junit /r"),
    ],
)
def test_a_tool_is_asked_for_a_report_in_its_own_way(line: str, asked: str) -> None:
    assert " ".join(with_report(_call(line), REPORT).argv) == asked


def test_pytest_gets_its_options_before_a_double_dash() -> None:
    argv = with_report(_call("pytest -q -- tests"), REPORT).argv
    assert argv[:3] == ("pytest", "-q", "--junitxml=/r")
    assert argv[-2:] == ("--", "tests")


def test_unittest_runs_under_a_program_that_writes_a_report() -> None:
    argv = with_report(_call("coverage run -m unittest discover -s tests"), REPORT).argv
    assert argv[:2] == ("coverage", "run")
    assert Path(argv[2]).is_file()
    assert argv[3:] == ("/r", "discover", "-s", "tests")


def test_node_gets_a_second_reporter_and_in_a_script_by_the_environment(tmp_path: Path) -> None:
    argv = with_report(_call("node --test tests"), REPORT).argv
    assert argv[2:5] == ("--test-reporter-destination=/r", "--test-reporter=spec", "--test-reporter-destination=stdout")
    assert argv[-2:] == ("--test", "tests")
    (tmp_path / "package.json").write_text(json.dumps({"scripts": {"test": "node --test"}}))
    script = with_report(_call("npm test", tmp_path), REPORT)
    assert script.argv == ("npm", "test")
    assert "--test-reporter-destination=/r" in script.variables["NODE_OPTIONS"]


OWN_REPORTERS = {
    "": 2,
    " --test-reporter=spec": 2,
    " --test-reporter tap": 2,
    " --test-reporter=tap --test-reporter-destination=out.tap": 2,
    " --test-reporter=spec --test-reporter-destination=stdout --test-reporter=tap --test-reporter-destination=o": 3,
}


@pytest.mark.parametrize("own", OWN_REPORTERS)
@pytest.mark.parametrize("is_script", [False, True])
def test_nodes_reporters_and_destinations_are_paired_with_ours_first(tmp_path: Path, own: str, is_script: bool) -> None:
    (tmp_path / "package.json").write_text(json.dumps({"scripts": {"test": f"node --test{own}"}}))
    call = with_report(_call("npm test" if is_script else f"node --test{own} tests", tmp_path), REPORT)
    read = [*call.variables.get("NODE_OPTIONS", "").split(), *(f"node --test{own}".split() if is_script else call.argv)]
    words = " ".join(read).replace("--test-reporter ", "--test-reporter=").split()
    reporters = [word for word in words if word.startswith("--test-reporter=")]
    destinations = [word.partition("=")[2] for word in words if word.startswith("--test-reporter-destination=")]
    assert "node_junit.mjs" in reporters[0]
    assert destinations[0] == "/r"
    assert len(reporters) == len(destinations) == OWN_REPORTERS[own]


def test_arguments_reach_a_script_as_each_package_manager_wants_them(tmp_path: Path) -> None:
    (tmp_path / "package.json").write_text(json.dumps({"scripts": {"test": "jest"}}))
    asked = {line: with_report(_call(line, tmp_path), REPORT).argv[-3:] for line in ("npm test", "yarn test")}
    assert asked == {
        "npm test": ("--", "--json", "--outputFile=/r"),
        "yarn test": ("test", "--json", "--outputFile=/r"),
    }


@pytest.mark.parametrize(
    ("line", "test", "asked"),
    [
        ("A=1 uv run pytest -q tests", Case((), "b[x y]", "tests/a.py"), "uv run pytest tests/a.py::b[x y]"),
        ("python -m unittest", Case(("T",), "test_a", "t.py"), "python -m unittest -k *T.test_a"),
        ("go test ./...", Case(("TestA",), "sub", "a_test.go"), "go test -count=1 -run=^(TestA)$ ./..."),
        ("cargo test", Case(("tests",), "a", "src/lib.rs"), "cargo test -- --exact tests::a"),
        ("npx jest", Case(("Cart",), "adds (1)"), r"npx jest -t ^(Cart adds \(1\))$"),
        ("node --test", Case(("Cart",), "adds"), "node --test-name-pattern=adds$ --test"),
        (
            "mvn test",
            Case(("com", "shop", "CartTest", "Inner"), "adds()"),
            "mvn test -Dtest=com.shop.CartTest$Inner#adds "
            "-Dsurefire.failIfNoSpecifiedTests=false -DfailIfNoTests=false",
        ),
        (
            "./gradlew test",
            Case(("shop", "CartTest"), "adds"),
            "./gradlew test --rerun-tasks --tests shop.CartTest.adds",
        ),
    ],
)
def test_some_tests_alone_are_named_in_the_tools_own_way(line: str, test: Case, asked: str) -> None:
    selected = with_tests(_call(line), [test])
    assert selected is not None
    assert " ".join(selected.argv) == asked


def test_an_example_in_a_comment_of_rust_runs_with_all_others() -> None:
    call = _call("cargo test")
    assert with_tests(call, [Case((), "total (line 3)", "src/lib.rs"), Case((), "a", "src/lib.rs")]) in (None, call)


@pytest.mark.parametrize("line", ["make test", "go vet ./...", "cargo build", "npm test"])
def test_a_tool_whose_tests_cant_be_named_is_not_guessed_at(line: str) -> None:
    assert with_tests(_call(line), [Case((), "a")]) is None
