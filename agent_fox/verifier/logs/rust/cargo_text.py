"""Logs of cargo and rustc as text: what the compiler says, and the tests of every target, or those of cargo-nextest."""

from __future__ import annotations

from dataclasses import astuple
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Parsed, TestSummary
from agent_fox.verifier.logs.drafts import Findings
from agent_fox.verifier.logs.line_formats import built_in
from agent_fox.verifier.logs.row_reader import RowReader

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_NEXTEST = regex(r"\s+(?:Nextest run ID \S+ with|Starting \d+ tests? across )")
_RUNNING = regex(r"running \d+ tests?$")


class CargoReader:
    """Reads what cargo and rustc print for people."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._findings = Findings()
        self._compiler = RowReader(built_in("rustc"), self._findings, workspace)
        self._target: RowReader | None = None
        self._nextest: RowReader | None = None
        self._summaries: list[TestSummary] = []

    def skip(self, block: str, at: int) -> int:
        """Passes over what tests say that pass."""
        reader = self._nextest or self._target
        return reader.skip(block, at) if reader else at

    def take(self, line: str) -> None:
        if self._nextest is not None:
            self._nextest.take(line)
        elif self._target is not None:
            self._target.feed(line)
            if self._target.tests.has_counts:
                self._end_target(self._target)
        elif line.startswith("running ") and _RUNNING.match(line):
            self._compiler.finish()
            self._target = self._reader("rust_harness")
        elif line[:1] == " " and _NEXTEST.match(line):
            self._nextest = self._reader("nextest")
        else:
            self._compiler.feed(line)

    def parsed(self) -> Parsed:
        self._compiler.finish()
        is_complete = self._target is None and (self._nextest is None or self._nextest.tests.has_counts)
        for reader in filter(None, (self._nextest, self._target)):
            self._end_target(reader)
        columns = zip(*map(astuple, self._summaries), strict=True)
        summary = TestSummary(*map(sum, columns)) if self._summaries else None
        return self._findings.parsed(summary, is_complete=is_complete)

    def _reader(self, name: str) -> RowReader:
        return RowReader(built_in(name), Findings(), self._workspace)

    def _end_target(self, target: RowReader) -> None:
        parsed = target.parsed()
        for failure in parsed.failures:
            self._findings.gathering.fail(failure)
        if parsed.summary:
            self._summaries.append(parsed.summary)
        self._target = None
