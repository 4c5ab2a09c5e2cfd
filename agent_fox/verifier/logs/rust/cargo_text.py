"""Logs of cargo and rustc as text: what the compiler and clippy print, long or short, tests of every target, rustfmt's
check, and cargo's own errors."""

from __future__ import annotations

import re
from dataclasses import astuple
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed, TestSummary
from agent_fox.verifier.logs.drafts import Draft, Findings
from agent_fox.verifier.logs.kinds import kind_in
from agent_fox.verifier.logs.line_formats import built_in
from agent_fox.verifier.logs.row_reader import RowReader

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_HEAD = regex(r"(?P<severity>error|warning)(?:: internal compiler error)?(?:\[(?P<code>[\w:]+)\])?: (?P<message>.+)")
_SHORT = regex(
    r"(?P<file>(?:[A-Za-z]:)?[^\s:][^:\n]*\.(?:rs|toml)):(?P<line>\d+):(?P<column>\d+): (?P<severity>error"
    r"|warning)(?:\[(?P<code>[\w:]+)\])?: (?P<message>.+)"
)
_ARROW = regex(r"\s*--> (?P<file>.+?):(?P<line>\d+):(?P<column>\d+)$")
_LEVEL = regex(
    r"`#\[(?:warn|deny|forbid)\((?P<code>[\w:]+)\)\]`|requested on the command line with `-[DWF] (?P<flag>[\w:-]+)`"
)
_CLIPPY = regex(r"rust-clippy/\S*#(?P<lint>\w+)")
_LINKED = regex(r"referenced by [^\s(]+ \((?P<file>[^():]+):(?P<line>\d+)\)")
_SYMBOL = regex(r"(?:undefined symbol: |undefined reference to [`'])(?P<symbol>[^\s'`]+)")
_SUMMARY = regex(
    r"`[^`]+` \([^)]*\) generated \d+ warning|\d+ warnings? emitted|aborting due to|build failed, waiting"
    r"|could not compile"
    r"|Some errors have detailed|test failed, to rerun|doctest failed|\d+ targets? failed|unused manifest key"
)
_BODY = regex(r"\s|\d+ |= |note: |help: |For more information|\.\.\.")


class RustcReader:
    """Takes the compiler's diagnostics out of a log. What has no place is left to cargo's reader, as `bare`."""

    def __init__(self, findings: Findings, workspace: Workspace) -> None:
        self._findings = findings
        self._workspace = workspace
        self._open: Draft | None = None
        self.bare: list[Draft] = []

    def feed(self, line: str) -> bool:
        """Whether the line was the compiler's."""
        if line[:1] in "ew" and (match := _HEAD.match(line)):
            self.finish()
            if not _SUMMARY.match(match["message"]):
                self._open = _draft(match, line)
        elif ": " in line and (match := _SHORT.match(line)):
            self.finish()
            self._findings.keep(self._placed(_draft(match, line), match))
        elif self._open is None:
            return False
        elif not line.strip():
            self.finish()
        elif _BODY.match(line) or self._open.file is None:
            self._continue(self._open, line)
        else:
            self.finish()
            return False
        return True

    def finish(self) -> None:
        draft, self._open = self._open, None
        if draft is None:
            return
        if draft.code and draft.code.startswith("clippy::"):
            draft.kind = FailureKind.LINT_FAILURE
        if draft.file or draft.is_warning or draft.message.startswith("linking with"):
            self._findings.keep(draft)
        else:
            self.bare.append(draft)

    def _placed(self, draft: Draft, found: re.Match[str]) -> Draft:
        draft.file = self._workspace.relative(found["file"])
        draft.line, draft.column = int(found["line"]), int(found["column"])
        return draft

    def _continue(self, draft: Draft, line: str) -> None:
        """The first arrow is the place; later ones belong to notes. A lint's name stands in a note too."""
        draft.add(line)
        if draft.file is None and (match := _ARROW.match(line)):
            self._placed(draft, match)
        elif clippy := _CLIPPY.search(line):
            draft.code = f"clippy::{clippy['lint']}"
        elif draft.code is None and (level := _LEVEL.search(line)):
            draft.code = (level["code"] or level["flag"]).replace("-", "_")
        elif draft.message.startswith("linking with"):
            self._linked(draft, line)

    def _linked(self, draft: Draft, line: str) -> None:
        if draft.symbol is None and (symbol := _SYMBOL.search(line)):
            draft.symbol = symbol["symbol"]
            draft.message = f"{draft.message}: undefined symbol {draft.symbol}"
        elif draft.file is None and (match := _LINKED.search(line)):
            draft.file, draft.line = self._workspace.relative(match["file"]), int(match["line"])


def _draft(found: re.Match[str], line: str) -> Draft:
    is_warning = found["severity"] == "warning"
    message = found["message"].strip()
    return Draft(FailureKind.COMPILE_ERROR, message, code=found["code"], is_warning=is_warning, evidence=[line])


_NEXTEST = regex(r"\s+(?:Nextest run ID \S+ with|Starting \d+ tests? across )")
_RUNNING = regex(r"running \d+ tests?$")
_UNBUILT = regex(r"error: (?P<message>could not compile .*|(?:test|doctest) failed, to rerun.*)")
_DIFF = regex(r"Diff in (?P<file>.+?)(?::(?P<line>\d+):| at line (?P<at>\d+):)$")
_TOML_PLACE = regex(r"TOML parse error at line (?P<line>\d+), column (?P<column>\d+)")
_MANIFEST = regex(
    r"(?:failed to parse manifest at|error: failed to parse lock file at:?|in) `?(?P<file>[^`\s]+\.(?:toml|lock))`?"
)
_PANICKED = regex(
    r"^[ \t]+thread 'main'(?: \(\d+\))? panicked at (?P<file>[^\s':]+\.rs):(?P<line>\d+):(?P<column>\d+):",
    re.MULTILINE,
)
_SIGNAL = regex(r"\s*process didn't exit successfully: `.*` \((?P<how>signal: .*)\)$")
_SCRIPT = regex(r"failed to run custom build (?:command|script)")


class CargoReader:
    """Reads what cargo and rustc print for people."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._findings = Findings()
        self._compiler = RustcReader(self._findings, workspace)
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
        elif line.startswith("error: ") and (match := _UNBUILT.match(line)):
            self._compiler.finish()
            self._unbuilt(match["message"], line)
        elif line.startswith("Diff in ") and (diff := _DIFF.match(line)):
            self._unformatted(diff)
        elif not self._compiler.feed(line):
            self._after(line)
        elif line.startswith("error") or not line.strip():
            self._settle()

    def parsed(self) -> Parsed:
        self._compiler.finish()
        self._settle(is_over=True)
        is_complete = self._target is None and (self._nextest is None or self._nextest.tests.has_counts)
        for reader in filter(None, (self._nextest, self._target)):
            self._end_target(reader)
        return self._findings.parsed(self._summary(), is_complete=is_complete)

    def _reader(self, name: str) -> RowReader:
        return RowReader(built_in(name), Findings(), self._workspace)

    def _end_target(self, target: RowReader) -> None:
        found = target.parsed()
        for failure in found.failures:
            self._findings.gathering.fail(failure)
        if found.summary:
            self._summaries.append(found.summary)
        self._target = None

    def _unbuilt(self, message: str, line: str) -> None:
        """Cargo's last lines count only where neither the compiler nor a test reported a failure."""
        kind = FailureKind.COMPILE_ERROR if message.startswith("could not compile") else FailureKind.TEST_FAILURE
        self._findings.fall_back(Failure(kind, message, evidence=line))

    def _unformatted(self, found: re.Match[str]) -> None:
        file = self._workspace.relative(found["file"])
        draft = Draft(FailureKind.FORMAT_FAILURE, "would be reformatted", file, int(found["line"] or found["at"]))
        self._findings.keep(draft)

    def _settle(self, *, is_over: bool = False) -> None:
        """Errors without an arrow are cargo's own; more about them may follow a blank line."""
        while self._compiler.bare and (is_over or len(self._compiler.bare) > 1):
            self._findings.keep(_classified(self._compiler.bare.pop(0), self._workspace))

    def _after(self, line: str) -> None:
        """What cargo says below an error of its own: causes, and what a build script printed."""
        if match := _SIGNAL.match(line):
            self._findings.fall_back(Failure(FailureKind.TEST_FAILURE, match["how"], is_error=True, evidence=line))
        elif self._compiler.bare:
            self._compiler.bare[-1].add(line)

    def _summary(self) -> TestSummary | None:
        columns = zip(*map(astuple, self._summaries), strict=True)
        return TestSummary(*map(sum, columns)) if self._summaries else None


def _classified(draft: Draft, workspace: Workspace) -> Draft:
    """The kind of an error of cargo's own, and the place that its causes name."""
    text = "\n".join(draft.evidence)
    kind = None if _SCRIPT.match(draft.message) else kind_in("cargo", text)
    draft.kind = kind or kind_in("cargo command", draft.message) or draft.kind
    if match := _PANICKED.search(text):
        draft.file = workspace.relative(match["file"])
        draft.line, draft.column = int(match["line"]), int(match["column"])
    elif (place := _TOML_PLACE.search(text)) and (manifest := _MANIFEST.search(text)):
        draft.file = workspace.relative(manifest["file"])
        draft.line, draft.column = int(place["line"]), int(place["column"])
    return draft
