"""What npm, yarn, pnpm, pip, uv and Poetry print when they cannot find or fit together what a project needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import Failure, FailureKind, Parsed
from agent_fox.verifier.logs.drafts import Findings
from agent_fox.verifier.logs.kinds import kind_in
from agent_fox.verifier.logs.line_formats import built_in
from agent_fox.verifier.logs.row_reader import RowReader

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_NPM = regex(r"npm (?:error|ERR!) ?(?P<text>.*)$")
_NPM_CODE = regex(r"code (?P<code>E[A-Z0-9_]+|ERESOLVE)$")
_NPM_NOISE = regex(r"(?:code|syscall|errno|path|command|cwd|dest|file|network|A complete log|Lifecycle|enoent)\b")
_NPM_LABEL = regex(r"(?:notarget|404|JSON\.parse|network|ERESOLVE|enoent|\d{3})\s+")
_OF_SCRIPT = regex(r"ELIFECYCLE$|\d+$")
_SCRIPT = ("Lifecycle script", "command failed", "Test failed.")  # of the project: its own output says why


class DependencyReader:
    """Reads why packages could not be installed. A script that failed, not an installation, says why itself.

    npm marks the lines of its error: a code, then what happened, then advice.
    """

    def __init__(self, workspace: Workspace) -> None:
        self._findings = Findings()
        self._rows = RowReader(built_in("packages"), self._findings, workspace)
        self._code: str | None = None
        self._lines: list[str] = []

    def skip(self, block: str, at: int) -> int:
        """Passes over lines that are neither npm's nor have a mark of the rows."""
        if block.startswith("npm ", at):
            return at
        start = self._rows.skip(block, at)
        return block.find("\nnpm ", at, start) + 1 or start

    def take(self, line: str) -> None:
        if match := _NPM.match(line):
            self._take_npm(match["text"])
        else:
            self._rows.feed(line)

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
            kind, evidence = kind_in("npm codes", code) or FailureKind.UNKNOWN, "\n".join(self._lines[:10])
            failure = Failure(kind, message.strip(), evidence=evidence, code=self._code, is_error=True)
            (self._findings.gathering.fail if code else self._findings.fall_back)(failure)
        return self._findings.parsed()
