"""What JavaScript's test runners share: places in V8 stack traces, names of exceptions, what does not load, and what
Node prints when a script dies."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind
from agent_fox.verifier.logs.frames import Place, at, first_line, javascript_place
from agent_fox.verifier.logs.kinds import kind_in

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

LOADING = "javascript loading"
_EXCEPTION = regex(r"(?:Uncaught )?(?P<exception>[A-Za-z_$][\w$.]*(?:Error|Exception)?)(?: \[\w+\])?(?::|$)")
_PATH = r"(?P<file>(?:file://)?(?:/|\./|[A-Za-z]:[\\/])?[^\s:()][^:()\n]*\.\w+)"
_BABEL = regex(rf"\w*Error: {_PATH}: .*?\((?P<line>\d+):(?P<column>\d+)\)")
_LOADER = regex(rf"\s*(?:At file|File): {_PATH}:(?P<line>\d+):(?P<column>\d+)$")
_ESBUILD = regex(rf"\s*(?:✘ \[ERROR\] .*|{_PATH}:(?P<line>\d+):(?P<column>\d+): ERROR: .*)$")
_OXC = regex(rf"\s*[╭,┌]─+\[ ?{_PATH}:(?P<line>\d+):(?P<column>\d+) ?\]$")
_NODE = regex(rf"\s*{_PATH}:(?P<line>\d+)$")
_NAMED_FILE = regex(r"\((?P<file>[^()\n]+\.[cm]?[jt]sx?)\)$|of file (?P<other>\S.*\.[cm]?[jt]sx?)$")
_VITEST_FRAME = regex(r"^ +❯ (?P<frame>\S.*):(?P<line>\d+):(?P<column>\d+)$", re.MULTILINE)
_FUNCTION = regex(r"(?:async |new )?[^\s/\\]+ (?=\S)")
_FROM_ZERO = (_BABEL, _LOADER, _ESBUILD)


def exception_of(message: str) -> str | None:
    """The class of the error that a message begins with."""
    match = _EXCEPTION.match(message)
    is_class = match is not None and match["exception"].endswith(("Error", "Exception"))
    return match["exception"] if match and is_class else None


def named_file(message: str, workspace: Workspace) -> str | None:
    """The test file that mocha names at the end of a message where no trace tells it."""
    match = _NAMED_FILE.search(message)
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
    for match in _VITEST_FRAME.finditer(text):
        path = match["frame"] if match["frame"] == file else _FUNCTION.sub("", match["frame"], count=1)
        place = place or javascript_place(f"at ({path}:{match['line']}:{match['column']})", workspace)
    place = place or loader_place(text, workspace)
    return Failure(FailureKind.TEST_FAILURE, message, **at(place), exception=exception_of(message))


def uncaught(text: str, workspace: Workspace, file: str, name: str) -> Failure | None:
    """An uncaught error; None for another text."""
    is_error = _MESSAGE.search(text) or "\n    at " in text or "^\n" in text
    return node_failure(text, workspace) if is_error else None


def thrown_at(text: str, workspace: Workspace) -> Place | None:
    """Where an error came from: its trace, or the place that a loader names in front of it."""
    frames = "\n".join(line for line in text.split("\n") if line.lstrip().startswith("at "))
    return loader_place(text, workspace) or javascript_place(frames, workspace)


def loader_place(text: str, workspace: Workspace) -> Place | None:
    """The place of what could not be parsed. Most loaders count columns from 0."""
    for line in text.split("\n"):
        for pattern in (*_FROM_ZERO, _OXC, _NODE):
            match = pattern.match(line.strip() if pattern is not _NODE else line)
            if match and match["file"] and workspace.holds(match["file"]) and "node_modules" not in match["file"]:
                column = int(match["column"]) + (pattern in _FROM_ZERO) if pattern is not _NODE else None
                return Place(workspace.relative(match["file"]), int(match["line"]), column)
    return None


_MESSAGE = regex(r"(?:Uncaught )?(?P<message>(?:[A-Za-z_$][\w$.]*)?(?:Error|Exception)\b(?: \[\w+\])?(?:: .*)?)$")
_CARET = regex(r"\s*\^+\s*$")
_IMPORTER = regex(r"imported from (?P<file>\S.*)$|^- (?P<required>\S.*)$", re.MULTILINE)


def node_failure(text: str, workspace: Workspace, file: str = "", name: str = "") -> Failure:
    """An uncaught error, from its first line to the end of its trace."""
    own_message = next((match["message"] for line in text.split("\n") if (match := _MESSAGE.match(line.strip()))), None)
    message = own_message or _thrown(text)
    place = thrown_at(text, workspace)
    return Failure(
        kind_in(LOADING, message) or FailureKind.UNKNOWN,
        message,
        file=place.file if place else _importer(text, workspace),
        line=place.line if place else None,
        column=_column(text, place),
        evidence=text,
        exception=exception_of(message),
        is_error=True,
    )


def _thrown(text: str) -> str:
    """What was thrown that is no error: the line below the caret."""
    _, _, below = text.partition("^\n")
    return first_line(below) or first_line(text)


def _column(text: str, place: Place | None) -> int | None:
    if place is None or place.column is not None:
        return place.column if place else None
    caret = next((line for line in text.split("\n") if _CARET.match(line)), None)
    return None if caret is None else caret.index("^") + 1


def _importer(text: str, workspace: Workspace) -> str | None:
    match = _IMPORTER.search(text)
    path = (match["file"] or match["required"]) if match else ""
    return workspace.relative(path) if workspace.holds(path) else None


_FILE = regex(r"^(?:[A-Za-z]:)?[^:*?<>|]*\.[cm]?[jt]sx?$")
_ERROR = regex(r"^(?:Uncaught )?((?:[A-Za-z_$][\w$.]*)?(?:Error|Exception)(?: \[\w+\])?: .+)$")


def is_file(name: str) -> bool:
    """Whether the name of a test is that of a file of JavaScript or TypeScript."""
    return bool(_FILE.match(name))


def kind_of_broken_file(text: str) -> FailureKind:
    """What cannot be parsed or resolved never ran: that is no failed test."""
    return kind_in(LOADING, text) or FailureKind.TEST_FAILURE


def broken_file(name: str, before: Sequence[str], text: str, declared: Place | None, workspace: Workspace) -> Failure:
    """A file that stands for a test that failed: Node's own words, printed before, say why it could not be loaded."""
    if not error_line(before):
        message = first_line(text).strip("'") or "the file could not be run"
        failure = Failure(kind_of_broken_file(text), message, evidence=text)
    else:
        failure = node_failure("\n".join(before), workspace)
    if failure.line is None:
        file = failure.file or (declared.file if declared else workspace.relative(name))
        is_same = declared is not None and declared.file == file
        failure = replace(failure, file=file, line=declared.line if declared and is_same else None)
    kind = FailureKind.TEST_FAILURE if failure.kind is FailureKind.UNKNOWN else failure.kind
    return replace(failure, kind=kind, test_name=workspace.relative(name))


def error_line(lines: Sequence[str]) -> str:
    """The line that names the error that Node died of, empty without one."""
    return next((match[1] for line in lines if (match := _ERROR.match(line))), "")


def test_path(names: Sequence[str]) -> str:
    """Names of groups and of a test as one, without files that only wrap them."""
    parts = [part for name in names for part in name.split(" > ") if part]
    return " > ".join([*(part for part in parts[:-1] if not is_file(part)), *parts[-1:]])
