"""What CMake prints while it configures: errors and warnings with the place in a CMakeLists.txt."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind
from agent_fox.verifier.logs.drafts import Draft, DraftReader, Findings
from agent_fox.verifier.logs.kinds import kind_in

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

_HEAD = regex(
    r"CMake (?P<severity>Error|Warning|Deprecation Warning|Internal Error|Deprecation Error)(?: \(dev\))?"
    r"(?: (?:at|in) (?P<file>[^\n]+?):(?P<line>\d+)(?: \((?P<command>[^)]*)\))?)?:(?: (?P<message>.*))?"
)
_CALLED = regex(r"  (?P<file>\S.*?):(?P<line>\d+) \([^)]*\)$")


class CmakeReader(DraftReader):
    """Takes CMake's own messages out of a build's log."""

    def __init__(self, findings: Findings, workspace: Workspace) -> None:
        super().__init__(findings)
        self._workspace = workspace
        self._is_trace = False
        self._is_first = True  # paragraph of the message
        self._is_blank = False  # the line before

    def feed(self, line: str) -> bool:
        """Whether the line was CMake's."""
        if line.startswith("CMake ") and (match := _HEAD.match(line)):
            self._located(match, line)
        elif self._open is None:
            return False
        elif line.startswith("  "):
            self._continue(self._open, line)
        elif line.startswith("Call Stack"):
            self._is_trace = True
        elif line.strip() or self._is_blank:
            self.finish()
            return False
        else:
            self._is_blank, self._is_first = True, False
        return True

    def finish(self) -> None:
        if self._open is not None:
            self._open.kind = kind_in("cmake", "\n".join(self._open.evidence)) or FailureKind.COMPILE_ERROR
        super().finish()

    def _located(self, found: re.Match[str], line: str) -> None:
        self.finish()
        self._is_trace, self._is_first, self._is_blank = False, True, False
        self._open = Draft(
            kind=FailureKind.COMPILE_ERROR,
            message=(found["message"] or "").strip(),
            file=self._workspace.relative(found["file"]) if found["file"] else None,
            line=int(found["line"]) if found["line"] else None,
            symbol=found["command"],
            is_warning="Warning" in found["severity"],
            evidence=[line],
        )

    def _continue(self, draft: Draft, line: str) -> None:
        draft.add(line)
        self._is_blank = False
        if self._is_trace:
            self._called(draft, line)
        elif self._is_first:
            draft.message = f"{draft.message} {line.strip()}".strip()

    def _called(self, draft: Draft, line: str) -> None:
        """An error in a module of CMake itself is placed where the project called it."""
        match = _CALLED.match(line)
        if match and draft.file and not self._workspace.holds(draft.file) and self._workspace.holds(match["file"]):
            draft.file, draft.line = self._workspace.relative(match["file"]), int(match["line"])
