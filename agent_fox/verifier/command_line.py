"""Command lines as people write them: split without a shell, made to write a report. Runs nothing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath

_SHELL_SIGNS = frozenset("();<>|&")
_ASSIGNMENT = re.compile(r"^([A-Za-z_]\w*)=(.*)$", re.DOTALL)
_RUNNERS = frozenset({"uv", "poetry", "pdm", "pipenv", "hatch", "rye", "pixi"})
_PYTEST_NAMES = frozenset({"pytest", "py.test"})
_NOT_A_SUITE = frozenset({"single_test", "linter", "lint", "type_check", "build"})


class CommandRefused(ValueError):
    """A command line that can't be run without a shell, or says nothing."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command: as written, as argv, and the variables set in front of it (`NAME=value pytest`)."""

    line: str
    argv: tuple[str, ...]
    variables: dict[str, str]

    @property
    def pytest_at(self) -> int | None:
        """Where in argv pytest stands, None if this is not a call of pytest."""
        return next((i for i, _ in enumerate(self.argv) if _calls_pytest(self.argv, i)), None)


def split_command(line: str) -> Command:
    """Split a command line as a shell would. Raises CommandRefused for what only a shell can do."""
    words = _words(line)
    refused = next((word for word in words if set(word) <= _SHELL_SIGNS), None)
    if refused is not None:
        raise CommandRefused(
            f"`{line}` needs a shell ({refused}), and commands run without one; "
            "put it in a script, or name the commands one by one in [verify] commands"
        )
    variables = _leading_variables(words)
    argv = tuple(words[len(variables) :])
    if not argv:
        raise CommandRefused(f"`{line}` names no command")
    return Command(line, argv, variables)


def suites(commands: Mapping[str, str]) -> tuple[str, ...]:
    """The command lines that run tests: the spec's own, then all tests, else every other suite."""
    by_label = {_label(label): line for label, line in commands.items()}
    preferred = [by_label[label] for label in ("spec_tests", "all_tests") if label in by_label]
    others = [line for label, line in by_label.items() if "test" in label and label not in _NOT_A_SUITE]
    return tuple(dict.fromkeys(preferred or others))


def with_report(command: Command, report: str) -> tuple[str, ...]:
    """argv that also writes JUnit XML to `report`, where the tool is pytest; argv as it is for other tools.

    Nothing is kept between runs, one bad file doesn't hide the others, and no failure hides the next.
    """
    if command.pytest_at is None:
        return command.argv
    added = (f"--junitxml={report}", "-o", "junit_family=xunit1", "-p", "no:cacheprovider")
    end = command.argv.index("--") if "--" in command.argv else len(command.argv)
    return (
        *command.argv[:end],
        *added,
        "--continue-on-collection-errors",
        "--maxfail=0",
        *command.argv[end:],
    )


def reproduction(command: Command, tests: Iterable[str]) -> str:
    """The command line that shows it again: for pytest only `tests` (node ids), else as written."""
    wanted = list(tests)
    if command.pytest_at is None or not wanted:
        return command.line
    variables = [f"{name}={shlex.quote(value)}" for name, value in command.variables.items()]
    return " ".join([*variables, shlex.join([*command.argv[: command.pytest_at + 1], *wanted])])


def _words(line: str) -> list[str]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError as error:
        raise CommandRefused(f"`{line}` can't be split into words: {error}") from error


def _leading_variables(words: list[str]) -> dict[str, str]:
    variables: dict[str, str] = {}
    for word in words:
        found = _ASSIGNMENT.match(word)
        if found is None or found[1] in variables:
            break
        variables[found[1]] = found[2]
    return variables


def _label(label: str) -> str:
    return re.sub(r"[\s-]+", "_", label.strip().lower())


def _calls_pytest(argv: tuple[str, ...], at: int) -> bool:
    if PurePath(argv[at]).name not in _PYTEST_NAMES:
        return False
    before = argv[:at]
    return not before or before[-1] == "-m" or before[0] == "env" or (before[0] in _RUNNERS and "run" in before)
