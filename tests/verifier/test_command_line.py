"""Command lines are split without a shell, and pytest is made to write a report however it is called."""

from __future__ import annotations

import pytest

from agent_fox.verifier.command_line import (
    CommandRefused,
    reproduction,
    split_command,
    suites,
    with_report,
)


@pytest.mark.parametrize(
    "line",
    [
        "a && b",
        "a&&b",
        "a | b",
        "a > out",
        "a 2>&1",
        "a; b",
        "echo $(pwd)",
        "(a)",
        "a &",
        "a < in",
        "",
        "X=1",
        "a 'b",
    ],
)
def test_what_only_a_shell_can_do_is_refused(line: str) -> None:
    with pytest.raises(CommandRefused, match=r"needs a shell|names no command|can't be split"):
        split_command(line)


def test_quoted_words_and_leading_variables_need_no_shell() -> None:
    command = split_command("PYTHONPATH=src LEVEL='a b' pytest -k 'one or (two | three)' # not a comment")
    assert command.variables == {"PYTHONPATH": "src", "LEVEL": "a b"}
    assert command.argv[:3] == ("pytest", "-k", "one or (two | three)")


@pytest.mark.parametrize(
    ("line", "at"),
    [
        ("pytest", 0),
        (".venv/bin/pytest -q", 0),
        ("python -m pytest", 2),
        ("python3.11 -X dev -m pytest tests", 4),
        ("uv run pytest -q", 2),
        ("uv run --extra dev python -m pytest", 6),
        ("poetry run pytest", 2),
        ("env A=1 pytest", 2),
        ("coverage run -m pytest", 3),
        ("make pytest", None),
        ("pip install pytest", None),
        ("cargo test -p pytest", None),
    ],
)
def test_pytest_is_known_by_how_it_is_called(line: str, at: int | None) -> None:
    assert split_command(line).pytest_at == at


def test_only_pytest_is_given_options_and_they_come_before_a_double_dash() -> None:
    assert with_report(split_command("make test"), "r.xml") == ("make", "test")
    argv = with_report(split_command("pytest -q -- tests"), "r.xml")
    assert argv[:3] == ("pytest", "-q", "--junitxml=r.xml")
    assert argv[-2:] == ("--", "tests")


def test_a_reproduction_runs_the_failing_tests_alone() -> None:
    command = split_command("A=1 uv run pytest -q tests")
    assert reproduction(command, ["tests/a.py::b[x y]"]) == "A=1 uv run pytest 'tests/a.py::b[x y]'"
    assert reproduction(command, []) == "A=1 uv run pytest -q tests"
    assert reproduction(split_command("make test"), ["a"]) == "make test"


def test_the_specs_own_tests_come_first_and_linters_never() -> None:
    commands = {"All tests": "a", "Linter": "l", "Spec tests": "s", "Unit tests": "u", "Single test": "x"}
    assert suites(commands) == ("s", "a")
    assert suites({"Unit tests": "u", "Linter": "l", "Single test": "x", "Property tests": "p"}) == ("u", "p")
    assert suites({"spec_tests": "s", "all_tests": "s"}) == ("s",)
    assert suites({"Linter": "l"}) == ()
