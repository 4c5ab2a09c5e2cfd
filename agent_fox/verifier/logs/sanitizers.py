"""What the sanitizers of gcc and clang say of a program that they stopped, and where in the project that was."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind
from agent_fox.verifier.logs.drafts import Draft, DraftReader, Findings

if TYPE_CHECKING:
    from agent_fox.verifier.logs.folders import Folders

_BEGINS = regex(r"(?:==\d+==)?(?:ERROR|WARNING): (?P<message>\w+Sanitizer: .*)")
_FRAME = regex(r"\s+#\d+ 0x[0-9a-f]+ in (?P<function>.+) (?P<file>[^\s:]+\.\w+):(?P<line>\d+)(?::(?P<column>\d+))?$")
_ENDS = regex(r"(?:SUMMARY: \w+Sanitizer|==\d+==ABORTING)")


class SanitizerReader(DraftReader):
    """Takes a report, from its first line to its summary, out of a build's log."""

    def __init__(self, findings: Findings, folders: Folders) -> None:
        super().__init__(findings)
        self._folders = folders

    def feed(self, line: str) -> bool:
        """Whether the line was of a report."""
        if "Sanitizer: " in line and (match := _BEGINS.match(line)):
            self.finish()
            message = re.sub(r" on (?:unknown )?address .*", "", match["message"])
            self._open = Draft(FailureKind.TEST_FAILURE, message, is_error=True, evidence=[line])
        elif self._open is None:
            return False
        elif _ENDS.match(line):
            self.finish()
        else:
            self._explain(self._open, line)
        return True

    def _explain(self, draft: Draft, line: str) -> None:
        draft.add(line)
        match = _FRAME.match(line) if draft.file is None else None
        if match and self._folders.holds(path := self._folders.relative(match["file"])):
            draft.file, draft.line, draft.symbol = path, int(match["line"]), match["function"]
            draft.column = int(match["column"]) if match["column"] else None
