"""What flake8 and its kin print: `file:line:column: CODE message`, and pylint's two forms of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind, Parsed
from agent_fox.verifier.logs.diagnostics import Diagnostics, diagnostic, first_match

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_PLACE = r"(?P<file>(?:[A-Za-z]:)?[^\s:][^:\n]*):(?P<line>\d+):"
_PLACED = regex(rf"{_PLACE}(?:\d+:)? [A-Z\[]")
_PYLINT = regex(rf"{_PLACE}(?P<column>\d+): (?P<code>[CRWEFI]\d{{4}}): (?P<message>.*)$")
_PARSEABLE = regex(rf"{_PLACE} \[(?P<code>[\w-]+)(?:\([\w-]+\), ?[\w.]*)?\] (?P<message>.*)$")
_FLAKE8 = regex(rf"{_PLACE}(?:(?P<column>\d+):)? (?P<code>[A-Z]{{1,4}}\d{{1,5}}):? (?P<message>.*)$")


class Flake8Log:
    """Reads findings; every one of them fails these tools. pylint counts columns from 0, the others from 1."""

    tools = ("flake8", "pycodestyle", "pyflakes", "pylint")

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        diagnostics = Diagnostics()
        for line in lines:
            if not _PLACED.match(line):
                continue
            if match := first_match((_PYLINT, _PARSEABLE, _FLAKE8), line):
                draft = diagnostic(match, FailureKind.LINT_FAILURE, workspace)
                if match.re == _PYLINT:
                    draft.column = int(match["column"]) + 1
                diagnostics.begin(draft)
        return diagnostics.parsed()
