"""No argument and no variable can make a tool that runs tests run fewer of them."""

from __future__ import annotations

import pytest

from agent_fox.verifier.ground.request import Refused
from agent_fox.verifier.ground.results import Tool
from agent_fox.verifier.projects.skipping import refuse_skipping

SKIPS = [
    "mvn -DskipTests test", "mvn -DskipTests=true test", "mvn -Dmaven.test.skip test",
    "./mvnw -Dmaven.test.skip=true test", "mvn -Dmaven.test.skip.exec=true test", "mvn -DskipITs verify",
    "mvn -fn test", "mvn --fail-never test", "mvn -Pfast test", "mvn -Dmaven.test.failure.ignore=true test",
    "mvn -DtestFailureIgnore test", "mvn -DargLine=-javaagent:x test", "mvn -Dtest=!SlowTest test",
    "mvn -f other.xml test", "mvn -DexcludedGroups=slow test", "mvn -Dgroups=fast test", "gradle test -x test",
    "./gradlew -xtest build", "gradle --exclude-task test", "gradle -m test", "gradle --dry-run test",
    "gradle -I init.gradle test", "gradle --init-script=x test", "gradle -Dtest.ignoreFailures=true test",
    "gradle -PskipTests test", "python -m pytest --collect-only", "python3.11 -m pytest --co", "pytest -k fast",
    "pytest -kfast", "pytest -m 'not slow'", "pytest --deselect a", "pytest --ignore=tests", "pytest --ignore-glob x",
    "pytest -x", "pytest -qx", "pytest --lf", "pytest -p evil", "pytest -pevil", "pytest -c other.ini",
    "pytest -o addopts=-x", "pytest --override-ini=x=y", "pytest --maxfail=1", "pytest --noconftest",
    "python -m unittest -k a", "python -m unittest -f", "go test -skip TestA", "go test --skip=TestA",
    "go test -short ./...", "go test --short", "go test -c", "go test -exec true", "go test -list .",
    "go test -vet=off", "go test -overlay=o.json", "go test -tags=x", "cargo test --no-run", "cargo test -- --skip a",
    "cargo test -- --list", "cargo test --exclude a", "cargo test --config x", "ctest -N", "ctest --show-only=human",
    "ctest -E slow", "ctest -LE slow", "ctest --exclude-regex slow", "ctest --no-tests=ignore", "make -n test",
    "make --just-print test", "make -kn test", "make -i test", "make --ignore-errors test", "make -t test",
    "make TESTS= test", "make -f other.mk test", "make --eval=test: test", "make -C elsewhere test",
    "jest --passWithNoTests", "jest --testPathIgnorePatterns a", "jest --onlyChanged", "jest --shard=1/9", "jest -u",
    "jest --bail", "vitest run --exclude a", "vitest --passWithNoTests", "vitest run --changed", "mocha --exclude a",
    "mocha --dry-run", "mocha --invert", "node --test --test-only", "node --test --test-shard=1/2", "node --eval 0",
    "node -e 0",
]  # fmt: skip
VARIABLES = [
    "MAVEN_OPTS", "MAVEN_ARGS", "JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "GRADLE_OPTS",
    "ORG_GRADLE_PROJECT_skip", "PYTEST_ADDOPTS", "PYTEST_PLUGINS", "PYTEST_DISABLE_PLUGIN_AUTOLOAD", "PYTHONOPTIMIZE",
    "PYTHONSTARTUP", "GOFLAGS", "GOENV", "CARGO_BUILD_TARGET", "CARGO_TEST_ARGS", "RUSTFLAGS", "RUSTC_WRAPPER",
    "RUST_TEST_THREADS", "NODE_OPTIONS", "NODE_PATH", "npm_config_ignore_scripts", "NPM_CONFIG_SCRIPT_SHELL",
    "CTEST_PARALLEL_LEVEL", "GTEST_FILTER", "MAKEFLAGS", "GNUMAKEFLAGS", "BASH_ENV", "LD_PRELOAD", "VITEST_SKIP",
    "JEST_CONFIG", "SKIP_TESTS",
]  # fmt: skip
HONEST = [
    "mvn -B -o -DskipTests=false -Dmaven.test.skip=false -Dtest=AuthTest#a test",
    "gradle --offline --continue cleanTest test --tests=a.B",
    "python3 -m pytest -o junit_family=xunit1 -p no:cacheprovider --maxfail=0 tests/test_a.py::test_x[-x]",
    "python -m unittest discover -v -s tests -t .",
    "go test -json -count=1 -run=^TestA$ ./...",
    "cargo test --offline --no-fail-fast --workspace -- --exact a::b",
    "ctest --test-dir build --output-on-failure --no-tests=error --tests-regex ^a$",
    "make --keep-going test",
    "jest --ci --json --outputFile=x --testNamePattern=a",
    "node --test --test-reporter=spec --test-name-pattern=a test/",
]


def why_refused(line: str) -> str:
    try:
        refuse_skipping(Tool.UNIT_TESTS, tuple(line.split()), {})
    except Refused as refused:
        return refused.code
    return ""


def test_an_argument_that_leaves_tests_out_is_refused() -> None:
    assert {line: why_refused(line) for line in SKIPS} == dict.fromkeys(SKIPS, "test_skipping")


@pytest.mark.parametrize("name", VARIABLES)
def test_a_variable_that_carries_options_is_refused_whatever_it_holds(name: str) -> None:
    with pytest.raises(Refused, match=name):
        refuse_skipping(Tool.SELECTED_TEST, ("pytest",), {name: "anything"})


@pytest.mark.parametrize("line", HONEST)
def test_honest_test_commands_pass(line: str) -> None:
    refuse_skipping(Tool.UNIT_TESTS, tuple(line.split()), {"CI": "true", "CARGO_HOME": "/home/a/.cargo"})


def test_a_compile_may_leave_tests_out() -> None:
    refuse_skipping(Tool.COMPILE, ("mvn", "-DskipTests", "compile"), {"MAVEN_OPTS": "-Xmx1g"})


@pytest.mark.parametrize("program", ["sh", "/bin/bash", "busybox", "npx", "cmd.exe"])
def test_no_tool_is_given_a_shell_or_what_downloads_programs(program: str) -> None:
    with pytest.raises(Refused):
        refuse_skipping(Tool.LINT, (program, "-c", "true"), {})


def test_node_may_be_told_to_read_modules_and_nothing_else() -> None:
    refuse_skipping(Tool.UNIT_TESTS, ("jest",), {"NODE_OPTIONS": "--experimental-vm-modules"})
    with pytest.raises(Refused):
        refuse_skipping(Tool.UNIT_TESTS, ("jest",), {"NODE_OPTIONS": "--experimental-vm-modules --require ./x.js"})
