"""What `prettier --check` and `--list-different` print."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.diagnostics import diagnostic, first_match
from agent_fox.verifier.logs.drafts import Draft, Findings
from agent_fox.verifier.logs.gathering import MOST_KEPT

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_NAME = r"[^\s\[\]>:][^\[\]>:\n]*\.\w+"
_CHECKED = regex(r"\[warn\] (?P<file>(?:[A-Za-z]:)?\S(?:.*\S)?)$")
_LISTED = regex(rf"(?P<file>(?:[A-Za-z]:)?{_NAME})$")
_IS_PATH = regex(r"(?:\.\w+|(?:^|[/\\])\w+)$")
_SENTENCE = regex(r"Code style issues|Ignored unknown option|Forgot to run|Error occurred|.* is deprecated")
_UNREADABLE = regex(r"\[error\] (?P<file>\S.*?): (?P<message>\w*Error: .*?)(?: \((?P<line>\d+):(?P<column>\d+)\))?$")
_UNKNOWN_TYPE = regex(r"\[error\] (?P<message>No parser could be inferred for file [\"“]?(?P<file>[^\"”]+)[\"”]?.*)$")
_FAILED = regex(r"\[error\] (?P<message>(?!\s*(?:>\s*)?\d* ?\|)\S.*)$")
_ASIDE = regex(r"\s*$|> |npm (?:warn|notice|error|ERR!)")


class PrettierLog:
    """Reads the files that are not formatted, and those that prettier could not read.

    `--list-different` prints bare paths: they count only where the log holds nothing else.
    """

    tools = ("prettier",)

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        findings, listed, is_list = Findings(), list[re.Match[str]](), True
        for line in lines:
            if _take(line, findings, workspace) or _ASIDE.match(line):
                continue
            match = _LISTED.match(line)
            is_list = is_list and match is not None
            if match and len(listed) < MOST_KEPT:
                listed.append(match)
        for match in listed if is_list else ():
            _keep_file(findings, match, workspace)
        return findings.parsed()


def _take(line: str, findings: Findings, workspace: Workspace) -> bool:
    """Whether the line is one that prettier marks as its own."""
    if match := first_match((_UNREADABLE, _UNKNOWN_TYPE), line):
        findings.keep(diagnostic(match, FailureKind.FORMAT_FAILURE, workspace))
    elif match := _FAILED.match(line):
        findings.fall_back(Failure(FailureKind.UNKNOWN, match["message"], evidence=line))
    elif match := _CHECKED.match(line):
        _keep_file(findings, match, workspace)
    return line.startswith(("[error]", "[warn]"))


def _keep_file(findings: Findings, match: re.Match[str], workspace: Workspace) -> None:
    file = match["file"]
    if _IS_PATH.search(file) and not _SENTENCE.match(file):
        message = "not formatted as prettier would"
        draft = Draft(FailureKind.FORMAT_FAILURE, message, file=workspace.relative(file), evidence=[match.string])
        findings.keep(draft)
