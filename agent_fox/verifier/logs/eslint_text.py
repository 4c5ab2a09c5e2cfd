"""What eslint prints for people: stylish, compact, unix and visualstudio. Its JSON is read elsewhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.diagnostics import DiagnosticReader, diagnostic, first_match
from agent_fox.verifier.logs.line_log import SkippingLog, SkippingReader

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_ENTRY = r"\s+(?P<line>\d+):(?P<column>\d+)\s+(?P<severity>error|warning)\s+"
_WITH_RULE = regex(rf"{_ENTRY}(?P<message>\S.*?)\s{{2,}}(?P<code>[@\w][\w@./-]*)\s*$")
_BARE = regex(rf"{_ENTRY}(?P<message>\S.*)$")
_COMPACT = regex(
    r"(?P<file>\S.*?): line (?P<line>\d+), col (?P<column>\d+), (?P<severity>Error|Warning) - "
    r"(?P<message>.*?)(?: \((?P<code>[@\w][\w@./-]*)\))?$"
)
_UNIX = regex(
    r"(?P<file>\S.*?):(?P<line>\d+):(?P<column>\d+): (?P<message>.*) "
    r"\[(?P<severity>Error|Warning)(?:/(?P<code>[\w@./-]+))?\]$"
)
_VISUAL_STUDIO = regex(
    r"(?P<file>\S.*?)\((?P<line>\d+),(?P<column>\d+)\): (?P<severity>error|warning) (?P<code>\S*) ?: (?P<message>.*)$"
)
_PLACED = regex(r", col \d|\[(?:Error|Warning)[\]/]|,\d+\): (?:error|warning) ")
_CRASH = regex(r"Oops! Something went wrong")
_VERSION = regex(r"ESLint: \d")
_TOO_MANY = regex(r"ESLint found too many warnings")


def _dull_lines(*severities: str) -> re.Pattern[str]:
    """Lines without a place, and problems of `severities` in the format stylish."""
    problems = "".join(rf"|[ ]+\d+:\d+[ ]+{severity}[ ][^\n]*+\n" for severity in severities)
    return re.compile(
        rf"""(?>(?:\n{problems}
           |(?![\sEO])[^\n,\[)]*+(?>(?:(?:,(?![ ]col[ ])|\[(?!Error|Warning)|\)(?!:[ ]))[^\n,\[)]*+)*)\n)*)""",
        re.VERBOSE,
    )


_DULL_LINES = {  # by whether no error and no warning more is kept
    (False, False): _dull_lines(),
    (True, False): _dull_lines("error"),
    (False, True): _dull_lines("warning"),
    (True, True): _dull_lines("error", "warning"),
}


class EslintLog(SkippingLog):
    """Reads problems. Warnings fail the run only where eslint says that they are too many."""

    tools = ("eslint",)

    def reader(self, workspace: Workspace) -> SkippingReader:
        return _Reader(workspace)


class _Reader(DiagnosticReader):
    _file = ""
    _is_crash = False
    _has_too_many = False

    def skip(self, block: str, at: int) -> int:
        """Passes over lines without a problem, of which the last names the file of those that follow."""
        gathering = self.found.gathering
        dull = _DULL_LINES[gathering.is_full, gathering.is_warned].match(block, at)
        if self._is_crash or dull is None:
            return at
        self._file = next((line for line in reversed(dull[0].split("\n")) if line[:1].strip()), self._file)
        return dull.end()

    def take(self, line: str) -> None:
        if self._is_crash and line.strip() and not _VERSION.match(line):
            self.found.findings.fall_back(Failure(FailureKind.UNKNOWN, line.strip(), evidence=line))
            self._is_crash = False
        elif line[:1].isspace():
            if match := first_match((_WITH_RULE, _BARE), line):
                self._problem(match, self._file)
        elif _PLACED.search(line) and (match := first_match((_COMPACT, _UNIX, _VISUAL_STUDIO), line)):
            self._problem(match, match["file"])
        elif line:
            self._heading(line)

    def _problem(self, match: re.Match[str], file: str) -> None:
        draft = diagnostic(match, FailureKind.LINT_FAILURE, self.workspace)
        draft.file = self.workspace.relative(file) or None
        draft.message = draft.message.removesuffix(".")  # as stylish prints it
        self.found.begin(draft)

    def _heading(self, line: str) -> None:
        self._file = line
        self._is_crash = self._is_crash or bool(_CRASH.match(line))
        self._has_too_many = self._has_too_many or bool(_TOO_MANY.match(line))

    def parsed(self) -> Parsed:
        if self._has_too_many:
            self.found.close()
            for warning in self.found.gathering.warnings.values():
                self.found.gathering.fail(warning)
            self.found.gathering.warnings.clear()
        return self.found.parsed()
