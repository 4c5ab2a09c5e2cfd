"""What JavaScript's test runners share: places in V8 stack traces, syntax errors of loaders, names of exceptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.logs.frames import Place, javascript_place

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

LOADING = regex(
    r"SyntaxError|Cannot find (?:module|package)|Failed to (?:resolve|load)|Parse failure|Transform failed|ParseError"
    r"|Unexpected token|does not provide an export|ERR_MODULE_NOT_FOUND|error TS\d+|Expression expected"
    r"|Jest encountered an unexpected token"
)
_EXCEPTION = regex(r"(?:Uncaught )?(?P<exception>[A-Za-z_$][\w$.]*(?:Error|Exception)?)(?: \[\w+\])?(?::|$)")
_PATH = r"(?P<file>(?:file://)?(?:/|\./|[A-Za-z]:[\\/])?[^\s:()][^:()\n]*\.\w+)"
_BABEL = regex(rf"\w*Error: {_PATH}: .*?\((?P<line>\d+):(?P<column>\d+)\)")
_LOADER = regex(rf"\s*(?:At file|File): {_PATH}:(?P<line>\d+):(?P<column>\d+)$")
_ESBUILD = regex(rf"\s*(?:✘ \[ERROR\] .*|{_PATH}:(?P<line>\d+):(?P<column>\d+): ERROR: .*)$")
_OXC = regex(rf"\s*[╭,┌]─+\[ ?{_PATH}:(?P<line>\d+):(?P<column>\d+) ?\]$")
_NODE = regex(rf"\s*{_PATH}:(?P<line>\d+)$")
_FROM_ZERO = (_BABEL, _LOADER, _ESBUILD)


def exception_of(message: str) -> str | None:
    """The class of the error that a message begins with."""
    match = _EXCEPTION.match(message)
    is_class = match is not None and match["exception"].endswith(("Error", "Exception"))
    return match["exception"] if match and is_class else None


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
