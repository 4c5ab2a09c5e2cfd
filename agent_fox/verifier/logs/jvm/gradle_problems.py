"""Gradle's last words, `* Where:` and `* What went wrong:`, as failures."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind
from agent_fox.verifier.logs.drafts import Draft, Findings
from agent_fox.verifier.logs.kinds import kind_in

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_HEADING = regex(r"\* (?P<name>Where|What went wrong|Try|Exception is|Get more help at)\b")
_WHERE = regex(
    r"(?:Build|Settings|Script|Initialization|Precompiled script plugin) ?(?:script|file)? ?'"
    r"(?P<file>[^']+)' line: (?P<line>\d+)"
)
_TASK = regex(r"Execution failed for task '(?P<task>[^']+)'")
_UNRESOLVED = regex(r"\s*> (?P<message>(?:Could not (?:resolve|find|get|download)|Cannot resolve|No matching)\b.*)")
_TESTS = regex(r"There were failing tests|No tests found|Test process|failing tests")
_FILE = regex(r"\s{4,}(?P<file>[\w./\\-]+\.\w+)$")
_LONGEST = 60  # lines of one problem


class Problems:
    """Collects the blocks at the end of a log; each becomes a failure, unless the log named a better one before."""

    def __init__(self, findings: Findings, workspace: Workspace) -> None:
        self._findings = findings
        self._workspace = workspace
        self._where: re.Match[str] | None = None
        self._lines: list[str] | None = None
        self._heading = ""
        self.test_tasks: list[str] = []

    @property
    def is_open(self) -> bool:
        """Whether the next line may belong to a block."""
        return self._lines is not None or self._heading == "Where"

    def feed(self, line: str) -> bool:
        """Whether the line belongs to Gradle's last words."""
        if line[:2] == "* " and (match := _HEADING.match(line)):
            self._head(match["name"])
        elif self._heading == "Where":
            self._where = self._where or _WHERE.match(line)
        elif self._lines is not None and len(self._lines) < _LONGEST:
            self._lines.append(line)
        else:
            return False
        return True

    def finish(self) -> None:
        if self._lines:
            self._tell(self._lines)
        self._lines, self._where, self._heading = None, None, ""

    def _head(self, name: str) -> None:
        if name == "What went wrong":
            self._lines = []
        elif name == "Where":
            self.finish()
        else:
            self.finish()
        self._heading = name

    def _tell(self, lines: list[str]) -> None:
        text = "\n".join(lines).strip()
        if match := _TASK.search(text):
            self._note_task(match["task"], text)
        kind = kind_in("gradle", text) or FailureKind.UNKNOWN
        draft = Draft(kind, _message(lines), evidence=[text])
        if self._where:
            draft.file = self._workspace.relative(self._where["file"])
            draft.line = int(self._where["line"])
        if kind is FailureKind.DEPENDENCY_RESOLUTION_FAILURE:
            self._unresolved(draft, lines)
        elif kind is FailureKind.FORMAT_FAILURE and (files := [_FILE.match(line) for line in lines]):
            self._unformatted([match["file"] for match in files if match], draft)
        elif draft.file:
            self._findings.keep(draft)
        else:
            self._findings.fall_back(draft.failure(), on_kind=True)

    def _unresolved(self, draft: Draft, lines: list[str]) -> None:
        """One failure for each dependency that could not be had."""
        messages = [match["message"] for line in lines if line.startswith("> ") and (match := _UNRESOLVED.match(line))]
        for message in messages or [draft.message]:
            single = Draft(draft.kind, message.rstrip("."), draft.file, draft.line, evidence=draft.evidence)
            self._findings.keep(single)

    def _unformatted(self, files: list[str], draft: Draft) -> None:
        for file in files:
            path = self._workspace.relative(file)
            self._findings.keep(Draft(draft.kind, "would be reformatted", path, evidence=draft.evidence))
        self._findings.fall_back(draft.failure(), on_kind=True)

    def _note_task(self, task: str, text: str) -> None:
        if _TESTS.search(text) and len(self.test_tasks) < _LONGEST:
            self.test_tasks.append(task)


def _message(lines: list[str]) -> str:
    """The first line, and the first reason below it."""
    parts = [line.strip().removeprefix("> ") for line in lines if line.strip()]
    return " ".join(parts[:2])
