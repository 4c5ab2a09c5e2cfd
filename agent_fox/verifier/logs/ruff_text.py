"""What ruff prints for people: check as concise, full, grouped, pylint, github and azure, and `format --check`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.diagnostics import DiagnosticReader, diagnostic, first_match
from agent_fox.verifier.logs.drafts import Draft
from agent_fox.verifier.logs.line_log import LineLog, LineReader

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_CODE = r"(?P<code>[A-Z]{1,5}\d{1,5}|[a-z]+(?:-[a-z]+)+:?|unformatted:|SyntaxError:|E902)"
_AT = r"(?:cell \d+:)?(?P<line>\d+):(?P<column>\d+)"
_CONCISE = regex(rf"(?P<file>\S.*?):{_AT}:? {_CODE} (?:\[\*\] )?(?P<message>.*)$")
_HEAD = regex(rf"(?:(?P<severity>error|warning)\[)?{_CODE}\]?:? (?:\[\*\] )?(?P<message>.*)$")
_ARROW = regex(rf"\s*--> (?P<file>\S.*?):{_AT}$")
_GROUPED = regex(rf"\s+{_AT}\s+{_CODE} (?:\[\*\] )?(?P<message>.*)$")
_GROUP = regex(r"(?P<file>\S.*):$")
_PYLINT = regex(r"(?P<file>\S.*?):(?P<line>\d+): \[(?P<code>[\w-]+)\] (?P<message>.*)$")
_GITHUB = regex(
    r"::(?P<severity>error|warning) title=\w+(?: \((?P<code>[\w-]+)\))?,file=(?P<file>[^,]*),line=(?P<line>\d+)"
    r"(?:,col=(?P<column>\d+))?[^:]*::(?:[^\s:]\S*?:\d+:\d+:? [\w-]+:? )?(?P<message>.*)$"
)
_AZURE = regex(
    r"##vso\[task\.logissue type=(?P<severity>error|warning);sourcepath=(?P<file>[^;]*);linenumber=(?P<line>\d+);"
    r"(?:columnnumber=(?P<column>\d+);)?(?:code=(?P<code>[\w-]+);)?\](?P<message>.*)$"
)
_UNREADABLE = regex(rf"(?:error|warning): Failed to (?:parse|format) (?P<file>\S.*?)(?::{_AT})?: (?P<message>.*)$")
_PLACED = regex(r"::|##|error: |warning: |\S[^:\n]*:(?:\d+:|cell |\\)")
_WOULD = regex(r"Would reformat: (?P<file>.+)$")
_DIFF = regex(r"--- (?P<file>\S.*)$")
_FORMATTED = regex(r"\d+ files? (?:would be reformatted|already formatted|would be left unchanged)")
_FAILED = regex(r"(?:ruff failed|error: (?P<message>.+)$)")
_CAUSE = regex(r"\s+Cause: (?P<message>.+)$")
_NEVER_PLACED = " [|\t"
_OF_FORMATTER = "W-0123456789"


class RuffLog(LineLog):
    """Reads findings; a syntax error is one of the command that was run. Suggested fixes are not findings."""

    tools = ("ruff", "ruff-format")

    def reader(self, workspace: Workspace) -> LineReader:
        return _Reader(workspace)


class _Reader(DiagnosticReader):
    def __init__(self, workspace: Workspace) -> None:
        super().__init__(workspace)
        self._head: re.Match[str] | None = None
        self._group = ""
        self._is_formatter = False
        self._differing: list[str] = []

    def take(self, line: str) -> None:
        if self.found.gathering.is_full:
            return
        if self._head is not None and (arrow := _ARROW.match(line)):
            self._full(self._head, arrow)
        elif (
            line[:1] not in _NEVER_PLACED
            and _PLACED.match(line)
            and (match := first_match((_GITHUB, _AZURE, _UNREADABLE, _CONCISE, _PYLINT), line))
        ):
            self.found.begin(self._draft(match))
        elif line[:1] == " " and (match := _GROUPED.match(line)):
            draft = self._draft(match)
            draft.file = self.workspace.relative(self._group) or None
            self.found.begin(draft)
        elif not self._is_about_formatting(line):
            self._explain(line)

    def _is_about_formatting(self, line: str) -> bool:
        if line[:1] not in _OF_FORMATTER:
            return False
        if match := _WOULD.match(line):
            self.found.begin(_unformatted(self.workspace.relative(match["file"]), line))
        elif (match := _DIFF.match(line)) and len(self._differing) < 1_000:
            self._differing.append(self.workspace.relative(match["file"]))
        elif _FORMATTED.match(line):
            self.found.close()
        else:
            return False
        self._is_formatter = self._is_formatter or not _DIFF.match(line)
        return True

    def _explain(self, line: str) -> None:
        """A line that is not a finding itself: a heading, or a detail of the finding above."""
        self._head = _HEAD.match(line) if line[:1] not in _NEVER_PLACED else None
        if self._head is not None:
            self.found.close()
        elif ("Cause" in line or line[:1] in "re") and (match := _CAUSE.match(line) or _FAILED.match(line)):
            self._fail(match["message"], line)
        elif line[-1:] == ":" and (match := _GROUP.match(line)):
            self._group = match["file"]
        else:
            self.found.add(line)

    def _full(self, head: re.Match[str], arrow: re.Match[str]) -> None:
        draft = self._draft(arrow)
        draft.message, draft.code = head["message"], head["code"].rstrip(":")
        draft.evidence = [head.string, arrow.string]
        self.found.begin(draft)
        self._head = None

    def _fail(self, message: str | None, line: str) -> None:
        if message:
            self.found.findings.fall_back(Failure(FailureKind.UNKNOWN, message, evidence=line))

    def _draft(self, match: re.Match[str]) -> Draft:
        draft = diagnostic(match, FailureKind.LINT_FAILURE, self.workspace)
        draft.message = draft.message.split("%0A")[0]
        draft.is_warning = False
        return draft

    def parsed(self) -> Parsed:
        self.found.close()
        gathered = self.found.gathering.failures.values()
        if not self._is_formatter and not any(each.code == "unformatted" for each in gathered):
            return self.found.parsed()
        for file in self._differing:
            if all(each.file != file for each in gathered):
                self.found.findings.keep(_unformatted(file, file))
        parsed = self.found.parsed()
        return replace(parsed, failures=tuple(_of_formatter(each) for each in parsed.failures))


def _unformatted(file: str, line: str) -> Draft:
    return Draft(FailureKind.FORMAT_FAILURE, "would be reformatted", file=file, evidence=[line])


def _of_formatter(failure: Failure) -> Failure:
    return failure if failure.file is None else replace(failure, kind=FailureKind.FORMAT_FAILURE)
