"""What Python raised, out of the text of a failed test: of unittest's, of pytest's in each style, of a crash."""

from __future__ import annotations

from typing import Any

from agent_fox.verifier.ground.results import Failure, FailureKind
from agent_fox.verifier.logs.frames import first_line, place_in
from agent_fox.verifier.logs.kinds import patterns_in
from agent_fox.verifier.logs.protocol import Workspace, at, place_of

_LIKE = patterns_in(__file__)
MOST_SAID = 40  # lines marked E
LAST_SHOWN = 20  # lines of what ended a runner
_OURS = "INTERNALERROR> "


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
    below the source it shows.
    """
    marked, ending = _marked(text)
    message = marked[-1] if marked and marked[0].startswith('File "') else next(filter(None, marked), first_line(text))
    known = {**_pytest_place(text, workspace), "evidence": "\n".join(marked)}
    return Failure(FailureKind.TEST_FAILURE, message, **known, exception=python_exception(message) or ending)


def _marked(text: str) -> tuple[list[str], str | None]:
    """The last passage marked `E`, and the exception that the last line with a place names. In `--tb=native` and of
    exception groups, what was raised follows its frames.
    """
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
    lines = [line.removeprefix(_OURS) for line in text.split("\n") if line.startswith(_OURS)]
    lines = [line for line in lines if line.strip()]
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
