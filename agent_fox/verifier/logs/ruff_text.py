"""What ruff prints for people: check as concise, full, grouped, pylint and github, and `format --check`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from agent_fox.verifier.logs.diagnostics import Diagnostics, diagnostic, first_match
from agent_fox.verifier.logs.drafts import Draft
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.results import Failure, FailureKind, Parsed

_CODE = r"(?P<code>[A-Z]{1,5}\d{1,5}|[a-z]+(?:-[a-z]+)+:?|unformatted:|SyntaxError:|E902)"
_AT = r"(?:cell \d+:)?(?P<line>\d+):(?P<column>\d+)"
_CONCISE = re.compile(rf"(?P<file>\S.*?):{_AT}:? {_CODE} (?:\[\*\] )?(?P<message>.*)$")
_HEAD = re.compile(rf"(?:(?P<severity>error|warning)\[)?{_CODE}\]?:? (?:\[\*\] )?(?P<message>.*)$")
_ARROW = re.compile(rf"\s*--> (?P<file>\S.*?):{_AT}$")
_GROUPED = re.compile(rf"\s+{_AT}\s+{_CODE} (?:\[\*\] )?(?P<message>.*)$")
_GROUP = re.compile(r"(?P<file>\S.*):$")
_PYLINT = re.compile(r"(?P<file>\S.*?):(?P<line>\d+): \[(?P<code>[\w-]+)\] (?P<message>.*)$")
_GITHUB = re.compile(
    r"::(?P<severity>error|warning) title=\w+(?: \((?P<code>[\w-]+)\))?,file=(?P<file>[^,]*),line=(?P<line>\d+)"
    r"(?:,col=(?P<column>\d+))?[^:]*::(?P<message>.*)$"
)
_UNREADABLE = re.compile(rf"(?:error|warning): Failed to (?:parse|format) (?P<file>\S.*?)(?::{_AT})?: (?P<message>.*)$")
_PLACED = re.compile(r"::|error: |warning: |\S[^:\n]*:(?:\d+:|cell |\\)")
_WOULD = re.compile(r"Would reformat: (?P<file>.+)$")
_DIFF = re.compile(r"--- (?P<file>\S.*)$")
_FORMATTED = re.compile(r"\d+ files? (?:would be reformatted|already formatted|would be left unchanged)")
_FAILED = re.compile(r"(?:ruff failed|error: (?P<message>.+)$)")
_CAUSE = re.compile(r"\s+Cause: (?P<message>.+)$")


class RuffLog:
    """Reads findings; a syntax error is one of the command that was run. Suggested fixes are not findings."""

    tools = ("ruff", "ruff-format")

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        reader = _Reader(workspace)
        for line in lines:
            reader.take(line)
        return reader.parsed()


class _Reader:
    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._found = Diagnostics()
        self._head: re.Match[str] | None = None
        self._group = ""
        self._is_formatter = False
        self._differing: list[str] = []

    def take(self, line: str) -> None:
        if self._head is not None and (arrow := _ARROW.match(line)):
            self._full(self._head, arrow)
        elif _PLACED.match(line) and (match := first_match((_GITHUB, _UNREADABLE, _CONCISE, _PYLINT), line)):
            self._found.begin(self._draft(match))
        elif line[:1] == " " and (match := _GROUPED.match(line)):
            draft = self._draft(match)
            draft.file = self._workspace.relative(self._group) or None
            self._found.begin(draft)
        elif not self._is_about_formatting(line):
            self._explain(line)

    def _is_about_formatting(self, line: str) -> bool:
        if match := _WOULD.match(line):
            self._found.begin(_unformatted(self._workspace.relative(match["file"]), line))
        elif (match := _DIFF.match(line)) and len(self._differing) < 1_000:
            self._differing.append(self._workspace.relative(match["file"]))
        elif _FORMATTED.match(line):
            self._found.close()
        else:
            return False
        self._is_formatter = self._is_formatter or not _DIFF.match(line)
        return True

    def _explain(self, line: str) -> None:
        """A line that is none of its own: a heading, or what is said about the finding above it."""
        self._head = _HEAD.match(line)
        if self._head is not None:
            self._found.close()
        elif match := _CAUSE.match(line) or _FAILED.match(line):
            self._fail(match["message"], line)
        elif match := _GROUP.match(line):
            self._group = match["file"]
        else:
            self._found.add(line)

    def _full(self, head: re.Match[str], arrow: re.Match[str]) -> None:
        draft = self._draft(arrow)
        draft.message, draft.code = head["message"], head["code"].rstrip(":")
        draft.evidence = [head.string, arrow.string]
        self._found.begin(draft)
        self._head = None

    def _fail(self, message: str | None, line: str) -> None:
        if message:
            self._found.findings.fall_back(Failure(FailureKind.UNKNOWN, message, evidence=line))

    def _draft(self, match: re.Match[str]) -> Draft:
        draft = diagnostic(match, FailureKind.LINT_FAILURE, self._workspace)
        draft.message = draft.message.split("%0A")[0]
        draft.is_warning = False
        return draft

    def parsed(self) -> Parsed:
        self._found.close()
        gathered = self._found.gathering.failures.values()
        if not self._is_formatter and not any(one.code == "unformatted" for one in gathered):
            return self._found.parsed()
        for file in self._differing:
            if all(one.file != file for one in gathered):
                self._found.findings.keep(_unformatted(file, file))
        parsed = self._found.parsed()
        return replace(parsed, failures=tuple(_of_formatter(one) for one in parsed.failures))


def _unformatted(file: str, line: str) -> Draft:
    return Draft(FailureKind.FORMAT_FAILURE, "would be reformatted", file=file, evidence=[line])


def _of_formatter(failure: Failure) -> Failure:
    return failure if failure.file is None else replace(failure, kind=FailureKind.FORMAT_FAILURE)
