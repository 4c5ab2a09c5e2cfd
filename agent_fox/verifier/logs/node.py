"""What Node prints when a script cannot be parsed, cannot load a module, or throws. Test runners are elsewhere."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.drafts import Findings
from agent_fox.verifier.logs.excerpt import Excerpt
from agent_fox.verifier.logs.frames import Place, first_line
from agent_fox.verifier.logs.javascript import LOADING, exception_of, thrown_at

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_HEAD = regex(r"(?:file://|node:|/|[A-Za-z]:[\\/])\S.*:\d+$|\S[^:\n]*\.[cm]?[jt]sx?:\d+$")
_VERSION = regex(r"Node\.js v\d")
_MESSAGE = regex(r"(?:Uncaught )?(?P<message>(?:[A-Za-z_$][\w$.]*)?(?:Error|Exception)\b(?: \[\w+\])?(?:: .*)?)$")
_CARET = regex(r"\s*\^+\s*$")
_IMPORTER = regex(r"imported from (?P<file>\S.*)$|^- (?P<required>\S.*)$", re.MULTILINE)


class NodeLog:
    """Reads uncaught errors, with the place in the project that they came from."""

    tools = ("node", "node-test")

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        findings, crash = Findings(), None
        for line in lines:
            if crash is None and (_HEAD.match(line) or _is_not_loaded(line)):
                crash = Excerpt()
            if crash is not None:
                crash.add(line)
            if _VERSION.match(line):
                _keep(crash, findings, workspace)
                crash = None
        _keep(crash, findings, workspace)
        return findings.parsed()


def node_failure(text: str, workspace: Workspace) -> Failure:
    """An uncaught error, from its first line to the end of its trace."""
    own_message = next((match["message"] for line in text.split("\n") if (match := _MESSAGE.match(line.strip()))), None)
    message = own_message or _thrown(text)
    place, is_loading = thrown_at(text, workspace), bool(LOADING.search(message))
    return Failure(
        FailureKind.COMPILE_ERROR if is_loading else FailureKind.UNKNOWN,
        message,
        file=place.file if place else _importer(text, workspace),
        line=place.line if place else None,
        column=_column(text, place),
        evidence=text,
        exception=exception_of(message),
        is_error=True,
    )


def _is_not_loaded(line: str) -> bool:
    """Whether a runner of tests passes on why a file could not be loaded."""
    return line[:1].isalpha() and bool(_MESSAGE.match(line) and LOADING.search(line))


def _keep(crash: Excerpt | None, findings: Findings, workspace: Workspace) -> None:
    if crash is not None and (_MESSAGE.search(crash.text) or "\n    at " in crash.text or "^\n" in crash.text):
        findings.gathering.fail(node_failure(crash.text, workspace))


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
