"""What mypy prints: one line each, `--pretty`, or `--output json`. Notes belong to the error above them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind
from agent_fox.verifier.logs.diagnostics import DiagnosticReader, diagnostic
from agent_fox.verifier.logs.drafts import Draft
from agent_fox.verifier.logs.line_log import LineLog, LineReader
from agent_fox.verifier.logs.records import Record, number, record_of, text

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

INDENT = 4  # columns before a source line in --pretty
_LINE = regex(
    r"(?P<file>(?:[A-Za-z]:)?[^\s:][^:\n]*):(?:(?P<line>\d+):)?(?:(?P<column>\d+):)?(?:\d+:\d+:)?"
    r" (?P<severity>error|warning|note): (?P<message>.*)$"
)
_CODE = regex(r"  \[(?P<code>[a-z][a-z0-9-]*)\]$")
_CARET = regex(r"\s+\^~*\s*$")
_END = regex(r"(?:Found \d+ errors? in|Success: no issues|\s*$)")
_MAY_END = "FS \t"
_USAGE = regex(r"d?mypy: (?:error: )?(?P<message>.+)$")


class MypyLog(LineLog):
    tools = ("mypy", "dmypy")

    def reader(self, workspace: Workspace) -> LineReader:
        return _Reader(workspace)


class _Reader(DiagnosticReader):
    _is_wrapped = False

    def take(self, line: str) -> None:
        if self.found.gathering.is_full:
            return
        if line.startswith('{"file": ') and (record := record_of(line)):
            self._begin_json(record, line)
        elif "mypy: " in line and (usage := _USAGE.match(line)):
            self.found.findings.fall_back(Failure(FailureKind.UNKNOWN, usage["message"], evidence=line))
        elif (": error: " in line or ": note: " in line or ": warning: " in line) and (match := _LINE.match(line)):
            self._begin(match)
        elif self.found.open is not None:
            self._continue(self.found.open, line)

    def _begin_json(self, record: Record, line: str) -> None:
        if text(record.get("severity")) != "note":
            self.found.begin(_from_json(record, self.workspace, line))
            self.found.close()

    def _begin(self, match: re.Match[str]) -> None:
        if match["severity"] == "note":
            self.found.add(match.string)
            self._is_wrapped = False
            return
        draft = diagnostic(match, FailureKind.LINT_FAILURE, self.workspace)
        self.found.begin(draft)
        self._is_wrapped = not _take_code(draft)

    def _continue(self, draft: Draft, line: str) -> None:
        """`--pretty` breaks long messages, and shows the source and a caret below them."""
        if line[:1] in _MAY_END and _END.match(line):
            self.found.close()
            return
        draft.add(line)
        if line[:1].isspace():
            self._is_wrapped = False
            if draft.column is None and _CARET.match(line):
                draft.column = max(line.index("^") - INDENT, 0) + 1
        elif self._is_wrapped:
            draft.message = f"{draft.message} {line.rstrip()}"
            self._is_wrapped = not _take_code(draft)
        else:
            self.found.close()


def _take_code(draft: Draft) -> bool:
    """Move the error's code from the end of its message to its own field."""
    if code := _CODE.search(draft.message):
        draft.code, draft.message = code["code"], draft.message[: code.start()]
    return code is not None


def _from_json(record: Record, workspace: Workspace, line: str) -> Draft:
    column = record.get("column")
    return Draft(
        FailureKind.LINT_FAILURE,
        text(record.get("message")),
        file=workspace.relative(text(record.get("file"))) or None,
        line=number(record.get("line")),
        column=column + 1 if isinstance(column, int) and column >= 0 else None,
        code=text(record.get("code")) or None,
        is_warning=text(record.get("severity")) != "error",
        evidence=[line],
    )
