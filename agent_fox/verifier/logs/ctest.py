"""What CTest prints: a line for each test, and a list of the failed ones at the end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind, TestSummary
from agent_fox.verifier.logs.drafts import Draft, DraftReader, Findings
from agent_fox.verifier.logs.frames import c_place
from agent_fox.verifier.logs.gathering import Counts

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_RESULT = regex(
    r"\s*\d+/\d+ Test +#\d+: (?P<name>\S[^\n]*) \.+(?P<how> +Passed|[^*\n]{0,60}\*\*\*[A-Za-z -]+(?:\(Disabled\))?)"
    r":?(?: [A-Za-z]\w*)? +[\d.]+ sec"
)
_ENDS = regex(r"\s+Start +\d+: |\d+% tests passed|\s*\d+/\d+ Test ")
_KINDS = {"Timeout": FailureKind.TIMEOUT, "Not Run": FailureKind.ENVIRONMENT_FAILURE}
_SKIPPED = ("Skipped", "Not Run (Disabled)")


class CtestReader(DraftReader):
    """Takes CTest's lines out of a build's log; a failed test's output is evidence."""

    def __init__(self, findings: Findings, workspace: Workspace) -> None:
        super().__init__(findings)
        self._workspace = workspace
        self._counts = Counts()
        self._has_tests = False

    def feed(self, line: str) -> bool:
        """Whether the line was CTest's. Output of a failed test belongs to other readers too: it may name a place."""
        if "Test" in line and (match := _RESULT.match(line)):
            self._begin(match, line)
            return True
        if self._open is None:
            return False
        if _ENDS.match(line):
            self.finish()
            return True
        self._explain(self._open, line)
        return True

    def _explain(self, draft: Draft, line: str) -> None:
        """What a failed test printed may name the place of an assertion."""
        draft.add(line)
        if draft.file is None and draft.kind is FailureKind.TEST_FAILURE and (place := c_place(line, self._workspace)):
            draft.file, draft.line, draft.message = place.file, place.line, line.strip()

    def summary(self) -> TestSummary | None:
        return self._counts.summary() if self._has_tests else None

    def _begin(self, found: re.Match[str], line: str) -> None:
        self.finish()
        self._has_tests = True
        how = found["how"].strip()
        word = how.rpartition("***")[2]
        if how == "Passed":
            self._counts.passed += 1
        elif word in _SKIPPED:
            self._counts.skipped += 1
        else:
            self._counts.failures += 1
            self._open = _draft(found["name"], word, line)


def _draft(name: str, word: str, line: str) -> Draft:
    kind = _KINDS.get(word, FailureKind.TEST_FAILURE)
    is_error = word != "Failed"
    return Draft(kind, f"{name}: {word}", test_name=name, is_error=is_error, evidence=[line])
