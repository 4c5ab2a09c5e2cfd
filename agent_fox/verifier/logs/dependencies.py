"""What npm, yarn, pnpm, pip, uv and Poetry print when they cannot find or fit together what a project needs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.drafts import Findings
from agent_fox.verifier.logs.kinds import kind_in

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_NPM = regex(r"npm (?:error|ERR!) ?(?P<text>.*)$")
_NPM_CODE = regex(r"code (?P<code>E[A-Z0-9_]+|ERESOLVE)$")
_NPM_NOISE = regex(r"(?:code|syscall|errno|path|command|cwd|dest|file|network|A complete log|Lifecycle|enoent)\b")
_NPM_LABEL = regex(r"(?:notarget|404|JSON\.parse|network|ERESOLVE|enoent|\d{3})\s+")
_OF_SCRIPT = regex(r"ELIFECYCLE$|\d+$")
_SCRIPT = ("Lifecycle script", "command failed", "Test failed.")  # of the project: its own output says why
_NOTABLE = regex(r"error |ERROR: |error: |➤ YN|ERR_PNPM_|No solution found|version solving failed")
_LINES = (
    regex(r"error (?P<message>(?:Couldn't find|An unexpected error occurred: \"http|No matching).*)$"),
    regex(
        r"error (?P<message>.*(?:Incompatible module|incompatible with this module|lockfile needs to be updated).*)$"
    ),
    regex(r"➤ (?P<code>YN00(?:16|27|28|35|41|60|66|82)): [^\w@]*(?P<message>\S.*)$"),
    regex(
        r"\s*(?:ERROR\s+)?(?P<code>ERR_PNPM_(?:FETCH|META_FETCH|NO_MATCHING|PEER_DEP|OUTDATED_LOCK|NO_LOCK|LOCKFILE|TARBALL"
        r"|NO_OFFLINE|UNSUPPORTED_ENGINE|BROKEN_LOCK|FROZEN_LOCK)\w*)\s+(?P<message>.*)$"
    ),
    regex(r"ERROR: (?P<message>No matching distribution found for .*)$"),
    regex(r"ERROR: (?P<message>Cannot install .* because .*conflicting dependencies\.)$"),
    regex(r"ERROR: (?P<message>Package '.*' requires a different Python: .*)$"),
    regex(
        r"ERROR: (?P<message>Failed building wheel for .*|Could not build wheels for .*|THESE PACKAGES DO NOT MATCH.*)$"
    ),
    regex(r"ERROR: (?P<message>(?:Invalid requirement|Cannot determine archive|Directory '.*' is not install).*)$"),
    regex(r"error: (?P<message>metadata-generation-failed|subprocess-exited-with-error)$"),
    regex(r"\s*[×x] (?P<message>No solution found when resolving .*?):?$"),
    regex(r"(?P<message>.*version solving failed\.?)$"),
)
_FALLBACKS = (
    regex(r"ERROR: (?P<message>Could not find a version that satisfies .*?)(?: \(from versions: .*)?$"),
    regex(r"ERROR: (?P<message>ResolutionImpossible: .*)$"),
    regex(r"ERROR: (?P<message>HTTP error \d+ while getting .*|Could not install packages due to an .*)$"),
)
_FILES = regex(r"ERROR: (?P<message>Could not open requirements file: .*'(?P<file>[^']+)')$")


class DependencyReader:
    """Reads why packages could not be installed. A script that failed, not an installation, says why itself.

    npm marks the lines of its error: a code, then what happened, then advice.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._findings = Findings()
        self._code: str | None = None
        self._lines: list[str] = []

    def take(self, line: str) -> None:
        if match := _NPM.match(line):
            self._take_npm(match["text"])
        elif _NOTABLE.search(line):
            kind = FailureKind.DEPENDENCY_RESOLUTION_FAILURE
            if match := _first_match(_LINES, line):
                code = match.groupdict().get("code")
                self._findings.gathering.fail(_failure(kind, match["message"], line, code))
            elif match := _first_match(_FALLBACKS, line):
                self._findings.fall_back(_failure(kind, match["message"], line))
            elif match := _FILES.match(line):
                self._findings.fall_back(_failure(FailureKind.UNKNOWN, match["message"], line))

    def _take_npm(self, text: str) -> None:
        if (code := _NPM_CODE.match(text)) and self._code is None:
            self._code = code["code"]
        elif len(self._lines) < 30 and text.strip():
            self._lines.append(text)

    def parsed(self) -> Parsed:
        code = self._code or ""
        if self._lines and not _OF_SCRIPT.match(code) and not any(line.startswith(_SCRIPT) for line in self._lines):
            first_line = next((line for line in self._lines if not _NPM_NOISE.match(line)), self._lines[0])
            message = _NPM_LABEL.sub("", first_line, count=1)
            failure = _failure(
                kind_in("npm codes", code) or FailureKind.UNKNOWN, message, "\n".join(self._lines[:10]), self._code
            )
            (self._findings.gathering.fail if code else self._findings.fall_back)(failure)
        return self._findings.parsed()


def _failure(kind: FailureKind, message: str, evidence: str, code: str | None = None) -> Failure:
    return Failure(kind, message.strip(), evidence=evidence, code=code, is_error=True)


def _first_match(patterns: Iterable[re.Pattern[str]], line: str) -> re.Match[str] | None:
    return next((match for pattern in patterns if (match := pattern.match(line))), None)
