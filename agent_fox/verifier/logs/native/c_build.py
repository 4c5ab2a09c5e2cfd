"""Logs of C and C++ builds: compiler, linker, make or ninja, CMake and CTest, mixed as they come."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.ground.results import FailureKind, TestSummary
from agent_fox.verifier.logs.drafts import Draft, DraftReader, Findings
from agent_fox.verifier.logs.folders import Folders
from agent_fox.verifier.logs.frames import c_place
from agent_fox.verifier.logs.gathering import Counts
from agent_fox.verifier.logs.line_formats import built_in
from agent_fox.verifier.logs.row_reader import RowReader

if TYPE_CHECKING:
    from agent_fox.verifier.ground.results import Parsed
    from agent_fox.verifier.logs.folders import Folders
    from agent_fox.verifier.logs.protocol import Workspace

_COMMAND = regex(
    r"(?:\[\s*\d+(?:%|/\d+)\] |(?:[\w./-]*/)?(?:[\w-]*gcc|[\w-]*g\+\+|cc|c\+\+|clang|clang\+\+)(?:-\d+)? )"
)


_ENDINGS = (":", "内")


class CBuildReader:
    """Reads what compilers of C and C++ print, alone or within make, ninja and CMake."""

    def __init__(self, workspace: Workspace) -> None:
        self._folders = Folders(workspace)
        self._findings = Findings()
        self._ctest = CtestReader(self._findings, workspace)
        self._workspace = workspace
        self._compiler = self._rows("c_compiler", self._folders.relative)
        cmake = RowReader(built_in("cmake"), self._findings, workspace)
        linker = self._rows("linker", self._folders.source)
        sanitizer = self._rows("sanitizer", self._folders.relative)
        self._open = (self._ctest, cmake, sanitizer, linker, self._compiler)
        make = self._rows("make", self._folders.source)
        self._readers = (self._ctest, cmake, sanitizer, make, linker, self._compiler)
        self._is_open = False  # the next line may belong to the last one

    def _rows(self, name: str, relative: Callable[[str], str]) -> RowReader:
        return RowReader(built_in(name), self._findings, self._workspace, relative)

    def take(self, line: str) -> None:
        if ": " not in line and "：" not in line and _COMMAND.match(line):
            self._folders.note_sources(line)
            self._compiler.finish()
        elif self._is_open or ": " in line or line[-1:] in _ENDINGS or "：" in line:
            self._show(line)

    def _show(self, line: str) -> None:
        if self._folders.feed(line):
            return
        if not any(reader.feed(line) for reader in self._readers):
            self._compiler.finish()
        self._is_open = any(reader.is_open for reader in self._open)

    def parsed(self) -> Parsed:
        for reader in self._open:
            reader.finish()
        return self._findings.parsed(self._ctest.summary())


_RESULT = regex(
    r"\s*\d+/\d+ Test +#\d+: (?P<name>\S[^\n]*) \.+(?P<how> +Passed|[^*\n]{0,60}\*\*\*[A-Za-z -]+(?:\(Disabled\))?)"
    r":?(?: [A-Za-z]\w*)? +[\d.]+ sec"
)
_CTEST_ENDS = regex(r"\s+Start +\d+: |\d+% tests passed|\s*\d+/\d+ Test ")
_KINDS = {"Timeout": FailureKind.TIMEOUT, "Not Run": FailureKind.ENVIRONMENT_FAILURE}
_SKIPPED = ("Skipped", "Not Run (Disabled)")


class CtestReader(DraftReader):
    """Takes CTest's lines out of a build's log; a failed test's output is evidence."""

    def __init__(self, findings: Findings, workspace: Workspace) -> None:
        super().__init__(findings)
        self._workspace = workspace
        self._counts = Counts()
        self._has_tests = False

    def feed(self, line: str) -> bool:
        """Whether the line was CTest's. Output of a failed test belongs to other readers too: it may name a place."""
        if "Test" in line and (match := _RESULT.match(line)):
            self._located(match, line)
            return True
        if self._open is None:
            return False
        if _CTEST_ENDS.match(line):
            self.finish()
            return True
        self._explain(self._open, line)
        return True

    def _explain(self, draft: Draft, line: str) -> None:
        """What a failed test printed may name the place of an assertion."""
        draft.add(line)
        if draft.file is None and draft.kind is FailureKind.TEST_FAILURE and (place := c_place(line, self._workspace)):
            draft.file, draft.line, draft.message = place.file, place.line, line.strip()

    def summary(self) -> TestSummary | None:
        return self._counts.summary() if self._has_tests else None

    def _located(self, found: re.Match[str], line: str) -> None:
        self.finish()
        self._has_tests = True
        how = found["how"].strip()
        word = how.rpartition("***")[2]
        if how == "Passed":
            self._counts.passed += 1
        elif word in _SKIPPED:
            self._counts.skipped += 1
        else:
            self._counts.failures += 1
            name, kind = found["name"], _KINDS.get(word, FailureKind.TEST_FAILURE)
            self._open = Draft(kind, f"{name}: {word}", test_name=name, is_error=word != "Failed", evidence=[line])
