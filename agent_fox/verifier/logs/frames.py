"""The place in a stack trace or message that a person would look at, by the table `data/frames.toml`; of the JVM's,
which name files without folders, by what is usual there. And what Python raised, out of the text of a failed test: of
unittest's, of pytest's in each style, of a crash."""

from __future__ import annotations

import re
from collections import deque
from functools import cache
from itertools import islice
from typing import Any

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind
from agent_fox.verifier.logs.kinds import DATA, patterns_in, with_parts, written
from agent_fox.verifier.logs.protocol import Place, Workspace, at, place_of

_LIKE = patterns_in(__file__)
MOST_SAID = 40  # lines marked E
LAST_SHOWN = 20  # lines of what ended a runner
_OURS = "INTERNALERROR> "
ANY = ("rust", "python", "javascript", "testify", "go", "c")
"""What a text of unknown origin is searched for, the clearest first."""


def place_in(text: str, workspace: Workspace, *languages: str) -> Place | None:
    """The place that a text names, by the first of the tables that finds one; by all of ANY, where none is given."""
    for language in languages or ANY:
        rows, is_last, is_anywhere = _tables()[language]
        places = []  # the first or the last of each row
        for n, (pattern, columns_from) in enumerate(rows):
            ours = (each for each in pattern.finditer(text) if is_anywhere or is_ours(each["file"], workspace))
            for match in deque(ours, 1) if is_last else islice(ours, 1):
                places.append((match.start(), n, place_of(match, workspace, columns_from)))
        if places:
            return (max if is_last else min)(places)[2]
    return None


@cache
def _tables() -> dict[str, tuple[tuple[tuple[re.Pattern[str], int], ...], bool, bool]]:
    """The patterns of each table with what they count columns from; whether the last counts; whether any file does."""
    tables, parts = {}, (of := written(DATA / "frames.toml"))["parts"]
    for name in filter("parts".__ne__, of):
        rows = ((regex(with_parts(row["pattern"], parts)), row.get("columns_from", 1)) for row in of[name]["row"])
        tables[name] = tuple(rows), "last" in of[name], "anywhere" in of[name]
    return tables


def is_ours(path: str, workspace: Workspace) -> bool:
    """Whether a file lies in the workspace and is no library's."""
    clean = path.replace("\\", "/")
    return not _LIKE["not_ours"].search(workspace.relative(clean)) and workspace.holds(clean)


def java_place(text: str, test_class: str, module: str = "") -> Place | None:
    """The frame in the test's class; without one, the first frame that is no library's.

    A trace names a file without its folder: it is put where build tools for the JVM look for it,
    `src/test/java/PACKAGE/`, below the folder of its `module`.
    """
    frames = [
        (match[1].rpartition(".")[0], match)
        for match in _LIKE["java_frame"].finditer(text)
        if not _LIKE["java_libraries"].match(match[1])
    ]
    outer = test_class.partition("$")[0]
    in_test = (frame for frame in frames if outer and frame[0].partition("$")[0] == outer)
    owner, frame = next(in_test, frames[0] if frames else ("", None))
    return Place(java_file(owner, frame[2], module), int(frame[3])) if frame else None


def java_file(class_name: str, file: str = "", module: str = "") -> str:
    """Where the source `file` of a class lies by the conventions of Maven and Gradle."""
    package, _, simple = class_name.partition("$")[0].rpartition(".")
    file = file or f"{simple}.java"
    name, _, ending = file.rpartition(".")
    language = {"kt": "kotlin", "groovy": "groovy", "scala": "scala"}.get(ending, "java")
    kind = "test" if _LIKE["test_class"].search(name) else "main"
    return "/".join(filter(None, (module, "src", kind, language, package.replace(".", "/"), file)))


def in_folder(file: str, folder: str) -> str:
    """The path of a file that is named without its folder; one that has a folder is there already."""
    return f"{folder}/{file}" if folder and "/" not in file else file


def first_line(text: str) -> str:
    """The first line that says something."""
    return next((line.strip() for line in text.splitlines() if line.strip()), "")


def is_file(name: str) -> bool:
    """Whether the name of a test is that of a file of JavaScript or TypeScript."""
    return bool(_LIKE["javascript"].match(name))


def nothing_said(text: str, workspace: Workspace, file: str, name: str) -> Failure:
    """Of a test whose lines tell nothing of why it failed."""
    return Failure(FailureKind.TEST_FAILURE, "")


def asserted_c(text: str, workspace: Workspace, file: str, name: str) -> Failure:
    """The first line with a place."""
    places = ((place_in(line, workspace, "c"), line.strip()) for line in text.split("\n"))
    place, message = next((each for each in places if each[0]), (None, ""))
    return Failure(FailureKind.TEST_FAILURE, message, **at(place))


def python_exception(message: str) -> str | None:
    """The exception that a message begins with; pytest leaves it out where an `assert` failed."""
    if message.startswith("assert "):
        return "AssertionError"
    typed = _LIKE["typed"].match(message)
    return typed[1] if typed else None


def thrown_python(text: str, workspace: Workspace, file: str, name: str) -> Failure:
    """What was raised last follows its frames, further out than they."""
    raised, exception, is_below_frame = "", None, False
    for line in text.split("\n"):
        if line.startswith("  "):
            is_below_frame = True
        elif is_below_frame and (match := _LIKE["raised"].match(line)):
            raised, exception, is_below_frame = line.strip(), match[1], False
    message = raised or first_line(text)
    place, exception = at(place_in(text, workspace, "python")), exception or python_exception(message)
    return Failure(FailureKind.TEST_FAILURE, message, **place, exception=exception)


def thrown_pytest(text: str, workspace: Workspace, file: str, name: str) -> Failure:
    """What the last passage marked `E` says, for the causes of an exception come before it. A syntax error's stands
    below the source it shows."""
    marked, ending = _marked(text)
    message = marked[-1] if marked and marked[0].startswith('File "') else next(filter(None, marked), first_line(text))
    known = {**_pytest_place(text, workspace), "evidence": "\n".join(marked)}
    return Failure(FailureKind.TEST_FAILURE, message, **known, exception=python_exception(message) or ending)


def _marked(text: str) -> tuple[list[str], str | None]:
    """The last passage marked `E`, and the exception that the last line with a place names. In `--tb=native` and of
    exception groups, what was raised follows its frames."""
    marked, ending, was_marked, is_below_frame = list[str](), None, False, False
    for line in text.split("\n"):
        is_marked = bool(_LIKE["said"].match(line))
        if is_marked:
            marked = [*(marked if was_marked else ()), line[1:].strip()][:MOST_SAID]
        elif match := _LIKE["ending"].match(line):
            ending = match[1]
        was_marked = is_marked
        if _LIKE["frame"].match(line):
            is_below_frame = True
        elif is_below_frame and (raised := _LIKE["pytest_raised"].match(line)):
            marked, is_below_frame = [raised["message"]], False
    return marked, ending


def _pytest_place(text: str, workspace: Workspace) -> dict[str, Any]:
    for line in reversed(text.split("\n")):
        if (fixture := _LIKE["fixture"].match(line)) and workspace.holds(fixture["file"]):
            return at(place_of(fixture, workspace))
    return at(place_in(_LIKE["group_mark"].sub("", text), workspace, "python"))


def thrown_doctest(text: str, workspace: Workspace, file: str, name: str) -> Failure:
    lines = [line.strip() for line in text.split("\n")]
    start = next((at for at, line in enumerate(lines) if line.startswith(("Expected", "UNEXPECTED"))), 0)
    end = next((at for at, line in enumerate(lines) if at > start and not line), len(lines))
    message = lines[start] if lines[start].startswith("UNEXPECTED") else " ".join(lines[start:end])
    exception = python_exception(message) or _marked(text)[1]
    return Failure(FailureKind.TEST_FAILURE, message, **_pytest_place(text, workspace), exception=exception)


def thrown_by_runner(text: str, workspace: Workspace, file: str, name: str) -> Failure | None:
    """What pytest itself died of, in lines that it marks."""
    marked = (line.removeprefix(_OURS) for line in text.split("\n") if line.startswith(_OURS))
    lines = [line for line in marked if line.strip()]
    raised = next((line for line in reversed(lines) if not line[0].isspace()), lines[-1] if lines else "")
    return _broken(raised, lines, workspace) if lines else None


def where_it_stuck(text: str, workspace: Workspace, file: str, name: str) -> Failure:
    """A time limit shows the innermost frame last, a crash first."""
    lines = text.split("\n")
    is_crash = lines[0].startswith("Fatal Python error: ")
    return _broken(lines[0] if is_crash else "", lines[::-1] if is_crash else lines, workspace)


def _broken(message: str, lines: list[str], workspace: Workspace) -> Failure:
    known = {**at(place_in("\n".join(lines), workspace, "python")), "evidence": "\n".join(lines[-LAST_SHOWN:])}
    return Failure(FailureKind.UNKNOWN, message, **known, exception=python_exception(message))
