"""A tool is known by how it is called, through whatever wrappers; a word among arguments is no call."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from agent_fox.verifier.ground.command_line import split_command
from agent_fox.verifier.suites.calls import call_of


@pytest.mark.parametrize(
    ("line", "tool", "at"),
    [
        ("pytest", "pytest", 0),
        (".venv/bin/pytest -q", "pytest", 0),
        ("python -m pytest", "pytest", 2),
        ("python3.11 -X dev -m pytest tests", "pytest", 4),
        ("uv run pytest -q", "pytest", 2),
        ("uv run --extra dev python -m pytest", "pytest", 6),
        ("uv run --with pytest python -m unittest", "unittest", 6),
        ("poetry run pytest", "pytest", 2),
        ("env A=1 pytest", "pytest", 2),
        ("env -i A=1 B=2 go test ./...", "go", 4),
        ("coverage run -m pytest", "pytest", 3),
        ("python -m coverage run --branch -m unittest discover", "unittest", 6),
        ("timeout 60 cargo test", "cargo", 2),
        ("npx --yes jest@29 --ci", "jest", 2),
        ("pnpm exec vitest run", "vitest", 2),
        ("npm exec -- mocha", "mocha", 3),
        ("yarn jest", "jest", 1),
        ("node --test tests", "node-test", 0),
        ("node build.js", "node", 0),
        ("./mvnw -q test", "maven", 0),
        ("mvn.cmd verify", "maven", 0),
        ("./gradlew test", "gradle", 0),
        ("make pytest", "make", 0),
        ("cargo test -p pytest", "cargo", 0),
        ("npm test", "npm", 0),
    ],
)
def test_a_tool_is_known_by_how_it_is_called(line: str, tool: str, at: int) -> None:
    call = call_of(split_command(line).argv)
    assert call is not None
    assert (call.tool, call.at) == (tool, at)


@pytest.mark.parametrize(
    "line",
    [
        "pip install pytest",
        "python run_pytest.py",
        "python tests.py -m pytest",
        "sh -c pytest",
        "./check.sh",
        "env",
        "uv sync",
    ],
)
def test_what_only_speaks_of_a_tool_is_no_call_of_it(line: str) -> None:
    assert call_of(split_command(line).argv) is None


@pytest.mark.parametrize(
    ("line", "script", "tool"),
    [
        ("npm test", "node --test", "node-test"),
        ("npm run test -- --ci", "NODE_ENV=test jest", "jest"),
        ("pnpm test", "tsc -p . && vitest run", "vitest"),
        ("npm test", "react-scripts test", "jest"),
        ("npm test", "react-scripts build", "npm"),
        ("yarn run test", "mocha 'test/**/*.js'", "mocha"),
        ("npm test", "jest | tee out", "npm"),
        ("npm test", "", "npm"),
    ],
)
def test_a_script_of_the_manifest_is_a_call_of_its_last_command(
    tmp_path: Path, line: str, script: str, tool: str
) -> None:
    (tmp_path / "package.json").write_text(json.dumps({"scripts": {"test": script}}))
    call = call_of(split_command(line).argv, tmp_path)
    assert call is not None
    assert call.tool == tool


@pytest.mark.parametrize("text", ["", "[]", "{", "[" * 100_000, '{"scripts": []}', '{"scripts": {"test": 3}}'])
def test_a_manifest_that_says_nothing_leaves_the_package_manager(tmp_path: Path, text: str) -> None:
    (tmp_path / "package.json").write_text(text)
    call = call_of(("npm", "test"), tmp_path)
    assert call is not None
    assert (call.tool, call.script) == ("npm", "")
