"""What cargo-nextest prints: a line for each test, what the failed ones printed, and the summary."""

from __future__ import annotations

import re
import textwrap
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind, TestSummary
from agent_fox.verifier.logs.gathering import MOST_KEPT
from agent_fox.verifier.logs.rust.rust_tests import MOST_LINES, draft_of

if TYPE_CHECKING:
    from agent_fox.verifier.logs.drafts import Draft
    from agent_fox.verifier.logs.protocol import Workspace

_BEGINS = regex(r"\s+(?:Nextest run ID \S+ with|Starting \d+ tests? across )")
_RESULT = regex(
    r"\s+(?P<how>[A-Z][A-Z0-9-]*(?: \d+ [A-Z]+)?) \[[> ]*[\d.]+s\](?: \([ \d/]+\))? "
    r"(?P<binary>\S+)(?: (?P<name>\S.*))?$"
)
_OUTPUT = regex(r"--- (?:TRY \d+ )?(?:STDOUT|STDERR|OUTPUT): +(?P<binary>\S+) (?P<name>\S.*?) +---$")
_LABEL = regex(r" +(?:stdout|stderr|output) ─{3,}$")
_RULE = regex(r"(?:-{4,}|─{4,})$")
_SUMMARY = regex(r"\s+Summary \[[ \d.]+s\] +(?:\d+/)?\d+ tests? run: (?P<counts>.*)$")
_COUNT = regex(r"(\d+) (passed|failed|timed out|exec failed|skipped)")
_FINE = ("PASS", "SKIP", "SLOW", "LEAK", "FLAKY", "SETUP", "SETUP PASS")


class NextestReader:
    """Takes every line after nextest has begun."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._outputs: dict[tuple[str, str], list[str]] = {}
        self._failed: dict[tuple[str, str], str] = {}
        self._open: list[str] | None = None
        self._latest = ("", "")
        self.summary: TestSummary | None = None

    @staticmethod
    def begins(line: str) -> bool:
        return bool(_BEGINS.match(line))

    def take(self, line: str) -> None:
        if self.summary is not None:
            return
        if line.startswith("--- ") and (match := _OUTPUT.match(line)):
            self._output((match["binary"], match["name"]))
        elif "s] " in line and (match := _RESULT.match(line)):
            self._result(match)
        elif "Summary [" in line and (match := _SUMMARY.match(line)):
            self._end({word: int(number) for number, word in _COUNT.findall(match["counts"])})
        elif _LABEL.match(line):
            self._output(self._latest)
        elif _RULE.match(line):
            self._open = None
        elif self._open is not None and len(self._open) < 2 * MOST_LINES:
            self._open.append(line)

    def failures(self) -> list[Draft]:
        return [self._draft(test, how) for test, how in self._failed.items()]

    def _result(self, found: re.Match[str]) -> None:
        self._open, self._latest = None, (found["binary"], found["name"] or "")
        how = re.sub(r"^TRY \d+ ", "", found["how"])
        if how in _FINE:
            self._failed.pop(self._latest, None)  # it failed at first, and was tried again
        elif len(self._failed) < MOST_KEPT:
            self._failed.setdefault(self._latest, how)

    def _output(self, test: tuple[str, str]) -> None:
        self._open = self._outputs.setdefault(test, []) if len(self._outputs) < MOST_KEPT else None

    def _end(self, counts: dict[str, int]) -> None:
        of = counts.get
        failed = of("failed", 0) + of("timed out", 0) + of("exec failed", 0)
        passed, skipped = of("passed", 0), of("skipped", 0)
        self.summary = TestSummary(passed + failed + skipped, passed, failed, 0, skipped)

    def _draft(self, test: tuple[str, str], how: str) -> Draft:
        binary, name = test
        lines = textwrap.dedent("\n".join(self._outputs.get(test, []))).split("\n")
        draft = draft_of(name or binary, lines, self._workspace)
        if how == "TIMEOUT":
            draft.kind = FailureKind.TIMEOUT
        if how != "FAIL":
            draft.message = f"{how}: {draft.message}"
        return draft
