"""Logs of C and C++ builds: compiler, linker, make or ninja, CMake and CTest, mixed as they come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.logs.drafts import Findings
from agent_fox.verifier.logs.folders import Folders
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
        self._workspace = workspace
        self._ctest = self._rows("ctest", workspace.relative)
        self._compiler = self._rows("c_compiler", self._folders.relative)
        cmake = RowReader(built_in("cmake"), self._findings, workspace)
        linker = self._rows("linker", self._folders.source)
        sanitizer = self._rows("sanitizer", self._folders.relative)
        self._open = (self._ctest, cmake, sanitizer, linker, self._compiler)
        make = self._rows("make", self._folders.source)
        self._readers = (cmake, sanitizer, make, linker, self._compiler)
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
        is_test = self._ctest.is_open or "Test" in line
        if not (is_test and self._ctest.feed(line)) and not any(reader.feed(line) for reader in self._readers):
            self._compiler.finish()
        self._is_open = any(reader.is_open for reader in self._open)

    def parsed(self) -> Parsed:
        for reader in self._open:
            reader.finish()
        return replace(self._ctest.parsed(), is_complete=True)
