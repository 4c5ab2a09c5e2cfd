"""What JavaScript's test runners share: what was thrown, and where; what does not load; what Node prints when a script
dies."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from agent_fox.verifier.ground.results import Failure, FailureKind
from agent_fox.verifier.logs.frames import first_line, is_file, place_in
from agent_fox.verifier.logs.kinds import kind_in, patterns_in
from agent_fox.verifier.logs.protocol import Place, Workspace, at

_LIKE = patterns_in(__file__)
LOADING = "javascript loading"


def exception_of(message: str) -> str | None:
    """The class of the error that a message begins with."""
    match = _LIKE["exception"].match(message)
    return match[1] if match else None


def named_file(message: str, workspace: Workspace) -> str | None:
    """The test file that mocha names at the end of a message where no trace tells it."""
    match = _LIKE["named_file"].search(message)
    return workspace.relative(match["file"] or match["other"]) if match else None


def thrown_javascript(text: str, workspace: Workspace, file: str, name: str) -> Failure:
    """What was thrown. Where a file did not load, jest explains itself before it says why."""
    lines = [line.strip() for line in text.split("\n")] if "Details:" in text else []
    details = lines[lines.index("Details:") :] if "Details:" in lines else []
    message = next((line for line in details if "Error: " in line), first_line(text)).removesuffix(":")
    place = at(thrown_at(text, workspace), named_file(message, workspace))
    return Failure(FailureKind.TEST_FAILURE, message, **place, exception=exception_of(message))


def thrown_vitest(text: str, workspace: Workspace, file: str, name: str) -> Failure:
    """The first frame of the project. A function's name may stand before a path, which may hold spaces."""
    message, place = first_line(text), None
    for match in _LIKE["vitest_frame"].finditer(text):
        path = match["frame"] if match["frame"] == file else _LIKE["function"].sub("", match["frame"], count=1)
        place = place or place_in(f"at ({path}:{match['line']}:{match['column']})", workspace, "javascript")
    place = place or place_in(text, workspace, "loader")
    return Failure(FailureKind.TEST_FAILURE, message, **at(place), exception=exception_of(message))


def thrown_at(text: str, workspace: Workspace) -> Place | None:
    """Where an error came from: its trace, or the place that a loader names in front of it."""
    frames = "\n".join(line for line in text.split("\n") if line.lstrip().startswith("at "))
    return place_in(text, workspace, "loader") or place_in(frames, workspace, "javascript")


def uncaught(text: str, workspace: Workspace, file: str, name: str) -> Failure | None:
    """An uncaught error; None for another text."""
    is_error = _LIKE["message"].search(text) or "\n    at " in text or "^\n" in text
    return node_failure(text, workspace) if is_error else None


def node_failure(text: str, workspace: Workspace, file: str = "", name: str = "") -> Failure:
    """An uncaught error, from its first line to the end of its trace. What is thrown and is no error stands below the
    caret."""
    lines = text.split("\n")
    messages = (match[1] for line in lines if (match := _LIKE["message"].match(line.strip())))
    message = next(messages, None) or first_line(text.partition("^\n")[2]) or first_line(text)
    known = {**at(thrown_at(text, workspace)), "exception": exception_of(message), "evidence": text, "is_error": True}
    if not known["file"]:
        match = _LIKE["importer"].search(text)
        path = (match["file"] or match["required"]) if match else ""
        known["file"] = workspace.relative(path) if workspace.holds(path) else None
    elif known["column"] is None:
        caret = next((line for line in lines if _LIKE["caret"].match(line)), "")
        known["column"] = caret.find("^") + 1 or None
    return Failure(kind_in(LOADING, message) or FailureKind.UNKNOWN, message, **known)


def kind_of_broken(text: str) -> FailureKind:
    """What cannot be parsed or resolved never ran: that is no failed test."""
    return kind_in(LOADING, text) or FailureKind.TEST_FAILURE


def broken_file(name: str, before: Sequence[str], text: str, declared: Place | None, workspace: Workspace) -> Failure:
    """A file that stands for a test that failed: Node's own words, printed before, say why it could not be loaded."""
    if not error_line(before):
        message = first_line(text).strip("'") or "the file could not be run"
        failure = Failure(kind_of_broken(text), message, evidence=text)
    else:
        failure = node_failure("\n".join(before), workspace)
    if failure.line is None:
        file = failure.file or (declared.file if declared else workspace.relative(name))
        failure = replace(failure, file=file, line=declared.line if declared and declared.file == file else None)
    kind = FailureKind.TEST_FAILURE if failure.kind is FailureKind.UNKNOWN else failure.kind
    return replace(failure, kind=kind, test_name=workspace.relative(name))


def error_line(lines: Iterable[str]) -> str:
    """The line that names the error that Node died of, empty without one."""
    return next((match[1] for line in lines if (match := _LIKE["error"].match(line))), "")


def test_path(names: Iterable[str]) -> str:
    """Names of groups and of a test as one, without files that only wrap them."""
    parts = [part for name in names for part in name.split(" > ") if part]
    return " > ".join([*(part for part in parts[:-1] if not is_file(part)), *parts[-1:]])
