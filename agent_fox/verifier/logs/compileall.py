"""What `python -m compileall` and `py_compile` print: files that Python cannot compile."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind
from agent_fox.verifier.logs.diagnostics import DiagnosticReader
from agent_fox.verifier.logs.drafts import Draft
from agent_fox.verifier.logs.line_log import LineLog, LineReader

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_NAMED = regex(r"\*\*\* Error compiling ['\"](?P<file>.+?)['\"]\.\.\.")
_COMPILING = regex(r"Compiling ['\"](?P<file>.+?)['\"]\.\.\.")
_PLACE = regex(r'(?:\*\*\* )?\s*File "(?P<file>.+)", line (?P<line>\d+)')
_MESSAGE = regex(r"(?:\*\*\* )?(?:Sorry: )?(?P<message>(?P<exception>\w*(?:Error|Exception))(?:: .*)?)$")
_OLD_PLACE = regex(r"\((?P<file>[^()]+), line (?P<line>\d+)\)$")
_UNLISTED = regex(r"(?P<message>Can't list .+)$")


class CompileallLog(LineLog):
    tools = ("compileall", "py_compile")

    def reader(self, workspace: Workspace) -> LineReader:
        return _Reader(workspace)


class _Reader(DiagnosticReader):
    _file: str | None = None

    def take(self, line: str) -> None:
        if match := _NAMED.match(line) or _COMPILING.match(line):
            self.found.close()
            self._file = self.workspace.relative(match["file"])
        elif match := _PLACE.match(line):
            self._begin(line, self.workspace.relative(match["file"]), int(match["line"]))
        elif match := _MESSAGE.match(line):
            self._end(match)
        elif match := _UNLISTED.match(line):
            self.found.findings.fall_back(Failure(FailureKind.UNKNOWN, match["message"], evidence=line))
        else:
            self.found.add(line)

    def _begin(self, line: str, file: str | None, number: int | None) -> None:
        self.found.begin(Draft(FailureKind.COMPILE_ERROR, "", file=file, line=number, evidence=[line]))

    def _end(self, match: re.Match[str]) -> None:
        """The exception's line ends an error; one without a place above it may name the place itself."""
        if self.found.open is None:
            place = _OLD_PLACE.search(match["message"])
            self._begin(match.string, self._file, int(place["line"]) if place else None)
        else:
            self.found.add(match.string)
        if self.found.open is not None:
            self.found.open.message, self.found.open.exception = match["message"], match["exception"]
        self.found.close()
