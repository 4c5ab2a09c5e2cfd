"""What make and ninja say themselves, beside what the commands print that they run."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind
from agent_fox.verifier.logs.drafts import Draft, Findings

if TYPE_CHECKING:
    from agent_fox.verifier.logs.folders import Folders

_MAKE = r"(?:[\w./+-]*make)(?:\[\d+\])?(?:\.exe)?: "
_RECIPE = regex(_MAKE + r"\*\*\* \[(?:(?P<file>[^\]\s:][^\]:]*):(?P<line>\d+): )?(?P<target>[^\]]+)\] (?P<how>.*)")
_STOP = regex(_MAKE + r"\*\*\* (?P<message>.*?)(?:  ?(?:Stop|Schluss|Arrêt|中止)\.?)?$")
_SYNTAX = regex(
    r"(?P<file>(?:[A-Za-z]:)?[^\s:][^:]*):(?P<line>\d+): \*\*\* (?P<message>.*?)(?:  ?(?:Stop|Schluss|Arrêt)\.?)?$"
)
_MISSING = regex(
    _MAKE + r"(?P<program>[^\s:]+): (?:No such file or directory|Command not found|Permission denied"
    r"|Datei oder Verzeichnis nicht gefunden)"
    r"|(?:/bin/)?(?:sh|bash|dash): (?:line )?(?:\d+: )?(?P<shell>[^\s:]+): (?:command )?(?:not found|nicht gefunden)"
)
_WAITING = regex(r"(?:Waiting for|Warten auf|Attente|未完了)")
_ASSERTION = regex(
    r"(?:[^\s:]+: )?(?P<file>[^\s:][^:\n]*\.\w+):(?P<line>\d+): (?:(?P<function>[^\n]*?): )?Assertion [`'‘]"
    r"(?P<message>.*)['’] failed\.?$"
)
_NINJA = regex(r"ninja: (?:error|fatal): (?:(?P<file>[^\s:]+):(?P<line>\d+): )?(?P<message>.*)")
_TEST_TARGET = regex(r"(?:run[-_]?)?(?:test|tests|check|unittest)s?(?:[-_]\w+)?$")


def _may_be_missing(line: str) -> bool:
    """Cheaper than the pattern."""
    return "ound" in line or "o such" in line or "denied" in line or "efunden" in line


class MakeReader:
    """Takes make's and ninja's own lines out of a build's log, and failed assertions of programs that they ran.

    Each line stands for itself.
    """

    def __init__(self, findings: Findings, folders: Folders) -> None:
        self._findings = findings
        self._folders = folders

    def feed(self, line: str) -> bool:
        """Whether the line was make's."""
        if "*** " in line:
            return self._stop(line)
        if _may_be_missing(line) and (match := _MISSING.match(line)):
            program = match["program"] or match["shell"]
            self._fail(FailureKind.ENVIRONMENT_FAILURE, f"{program}: not found", line)
        elif "Assertion " in line and (match := _ASSERTION.match(line)):
            self._asserted(match, line)
        elif line.startswith("ninja: ") and (match := _NINJA.match(line)):
            self._fail(FailureKind.COMPILE_ERROR, match["message"], line, match)
        else:
            return False
        return True

    def _stop(self, line: str) -> bool:
        if match := _RECIPE.match(line):
            self._findings.fall_back(self._recipe(match, line))
        elif match := _STOP.match(line):
            if not _WAITING.match(match["message"]):
                is_lost = "no makefile found" in match["message"] or "o such file" in match["message"]
                kind = FailureKind.ENVIRONMENT_FAILURE if is_lost else FailureKind.COMPILE_ERROR
                self._fail(kind, match["message"], line)
        elif match := _SYNTAX.match(line):
            self._fail(FailureKind.COMPILE_ERROR, match["message"], line, match)
        return match is not None

    def _recipe(self, found: re.Match[str], line: str) -> Failure:
        """A command failed without a word that another reader knows: all that is known is which."""
        target = found["target"]
        is_test = bool(_TEST_TARGET.match(target))
        kind = FailureKind.TEST_FAILURE if is_test else FailureKind.UNKNOWN
        message = f"{target}: {found['how']}"
        file = self._folders.relative(found["file"]) if found["file"] else None
        return Failure(kind, message, file=file, line=int(found["line"]) if found["line"] else None, evidence=line)

    def _asserted(self, found: re.Match[str], line: str) -> None:
        self._findings.keep(
            Draft(
                kind=FailureKind.TEST_FAILURE,
                message=f"Assertion `{found['message']}' failed",
                file=self._folders.source(found["file"]),
                line=int(found["line"]),
                symbol=found["function"],
                evidence=[line],
            )
        )

    def _fail(self, kind: FailureKind, message: str, line: str, place: re.Match[str] | None = None) -> None:
        draft = Draft(kind, message, evidence=[line])
        if place is not None and place["file"]:
            draft.file, draft.line = self._folders.relative(place["file"]), int(place["line"])
        self._findings.keep(draft)
