"""Command lines as people write them: split, and filled with names of files, without a shell; and which of a spec's are
test suites. Runs nothing.
"""

from __future__ import annotations

import glob
import os
import re
import shlex
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path, PurePath

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass

_SHELL_SIGNS = frozenset("();<>|&")
_ASSIGNMENT = regex(r"^([A-Za-z_]\w*)=(.*)$", re.DOTALL)
_NOT_A_SUITE = frozenset({"single_test", "linter", "lint", "type_check", "build"})


_DEEPEST = 4
"""How often `**` may stand in a glob: each one more costs as much again."""


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


def expanded(argv: tuple[str, ...], folder: Path) -> tuple[str, ...]:
    """The words with names of files of `folder` in the place of globs; one that matches none stays, as in a shell.

    `**` is any number of folders: no hidden ones, none behind links, and no packages that are installed. Quotes are
    gone by now: a word that was quoted is filled in too.
    """
    words = list[str]()
    for word in argv:
        is_glob = glob.has_magic(word) and not word.startswith(("-", "/")) and ".." not in word.split("/")
        files = sorted(_named(word, folder)) if is_glob else []
        words += [f"./{each}" if each.startswith("-") else each for each in files] or [word]  # no file is an option
    return tuple(words)


def _named(word: str, folder: Path) -> Iterator[str]:
    given = [part for part in word.split("/") if part != "."]
    parts = [part for part, following in pairwise([*given, ""]) if (part, following) != ("**", "**")]
    if "**" not in parts:
        yield from glob.glob(word, root_dir=folder)  # noqa: PTH207 (no error for any word)
        return
    if parts.count("**") > _DEEPEST:
        return
    start = next(number for number, part in enumerate(parts) if glob.has_magic(part))
    for place, folders, names in os.walk(folder.joinpath(*parts[:start])):
        folders[:] = [name for name in folders if not name.startswith(".") and name != "node_modules"]
        inside = PurePath(place).relative_to(folder)
        yield from (str(inside / name) for name in names if _fits((*inside.parts, name), parts))


def _fits(path: tuple[str, ...], parts: list[str]) -> bool:
    """Whether a path is one that these parts of a glob mean; the last one means a file."""
    if not parts or not path:
        return not parts and not path
    if parts[0] == "**":
        return any(_fits(path[number:], parts[1:] or ["*"]) for number in range(len(path)))
    is_shown = parts[0].startswith(".") or not path[0].startswith(".")
    return is_shown and fnmatchcase(path[0], parts[0]) and _fits(path[1:], parts[1:])


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
