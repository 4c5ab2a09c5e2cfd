"""The place in a stack trace or message that a person would look at, by the table `data/frames.toml`; of the JVM's,
which name files without folders, by what is usual there."""

from __future__ import annotations

import re
from collections import deque
from functools import cache
from itertools import islice

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind
from agent_fox.verifier.logs.kinds import DATA, patterns_in, with_parts, written
from agent_fox.verifier.logs.protocol import Place, Workspace, at, place_of

_LIKE = patterns_in(__file__)
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
