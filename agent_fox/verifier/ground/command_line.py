"""Command lines as people write them: split without a shell; and which of a spec's are test suites. Runs nothing."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

_SHELL_SIGNS = frozenset("();<>|&")
_ASSIGNMENT = regex(r"^([A-Za-z_]\w*)=(.*)$", re.DOTALL)
_NOT_A_SUITE = frozenset({"single_test", "linter", "lint", "type_check", "build"})


class CommandRefused(ValueError):
    """A command line that can't be run without a shell, or says nothing."""


@dataclass(frozen=True, slots=True)
class Command:
    """One command: as written, as argv, and the variables set in front of it (`NAME=value pytest`)."""

    line: str
    argv: tuple[str, ...]
    variables: dict[str, str]

    def shown(self, argv: tuple[str, ...]) -> str:
        """Another `argv` as a line, with the same variables in front."""
        variables = [f"{name}={shlex.quote(value)}" for name, value in self.variables.items()]
        return " ".join([*variables, shlex.join(argv)])


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
        match = _ASSIGNMENT.match(word)
        if match is None or match[1] in variables:
            break
        variables[match[1]] = match[2]
    return variables


def _label(label: str) -> str:
    return re.sub(r"[\s-]+", "_", label.strip().lower())
