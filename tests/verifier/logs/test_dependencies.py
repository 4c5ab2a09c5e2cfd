"""What package managers and shells print: dependencies that cannot be had, tools that are missing."""

from __future__ import annotations

import pytest

from agent_fox.verifier.logs.row_reader import built_in
from tests.verifier.logs.samples import kinds, messages, parser_of, read, read_text


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pip-missing", "No matching distribution found for agent-fox-no-such-package==1.0"),
        ("pip-version", "No matching distribution found for pytest==999.0"),
        (
            "pip-conflict2",
            "Cannot install pytest<8 and pytest>=9 because these package versions have conflicting dependencies.",
        ),
        ("pip-conflict", "metadata-generation-failed"),
        ("npm-etarget", "No matching version found for typescript@^999.0.0."),
        ("npm-e404", "Not Found - GET https://registry.npmjs.org/@agent-fox-none%2fnothing"),
        ("npm-ci", "The `npm ci` command can only install with an existing package-lock.json or"),
    ],
)
def test_what_cannot_be_resolved_is_named_once(name: str, message: str) -> None:
    found = read(parser_of("npm"), f"dependencies/{name}", "/workspace/deps")
    assert (messages(found), kinds(found)) == ([message], {"dependency_resolution_failure"})


def test_a_registry_that_does_not_answer_is_a_failure_of_resolution() -> None:
    (failure,) = read(parser_of("npm"), "dependencies/npm-offline", "/workspace/deps").failures
    assert (failure.kind.value, failure.code) == ("dependency_resolution_failure", "ECONNREFUSED")


@pytest.mark.parametrize("name", ["npm-json", "npm-script", "pip-nofile"])
def test_what_is_no_matter_of_packages_is_unknown(name: str) -> None:
    assert kinds(read(parser_of("npm"), f"dependencies/{name}", "/workspace/deps")) == {"unknown"}


def test_a_script_that_failed_says_why_itself() -> None:
    assert read(parser_of("npm"), "dependencies/npm-exit", "/workspace/deps").failures == ()
    old = "npm ERR! code ELIFECYCLE\nnpm ERR! errno 1\nnpm ERR! x@1.0.0 test: `jest`\nnpm ERR! Test failed."
    assert read_text(parser_of("npm"), old).failures == ()


@pytest.mark.parametrize(
    "line",
    [
        'error Couldn\'t find any versions for "left-pad" that matches "^999.0.0"',
        "➤ YN0035: │ nothing@npm:1.0.0: Package not found",
        " ERR_PNPM_NO_MATCHING_VERSION  No matching version found for left-pad@999.0.0",
        "  × No solution found when resolving dependencies:",
        "Because app depends on nothing (1.0) which doesn't match any versions, version solving failed.",
    ],
)
def test_other_package_managers_are_read_too(line: str) -> None:
    assert kinds(read_text(parser_of("npm"), line)) == {"dependency_resolution_failure"}


@pytest.mark.parametrize(
    "line",
    [
        "sh: 1: jest: not found",
        "/bin/sh: 1: pytest: not found",
        "bash: line 1: pytest: command not found",
        "zsh: command not found: mvn",
        "'jest' is not recognized as an internal or external command,",
        "/usr/bin/python3: No module named pytest",
        "env: 'node': No such file or directory",
        "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory",
        "OSError: [Errno 28] No space left on device",
    ],
)
def test_a_missing_tool_or_a_machine_without_room_is_the_environment(line: str) -> None:
    assert kinds(read_text(built_in("environment"), f"before\n{line}\nafter")) == {"environment_failure"}


def test_a_test_that_is_not_found_is_not_the_environment() -> None:
    assert read_text(built_in("environment"), "assert 'x' not found in 'y'\nuser: not found").failures == ()
