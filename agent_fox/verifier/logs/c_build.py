"""Logs of C and C++ builds: compiler, linker, make or ninja, CMake and CTest, mixed as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_fox.core.regex import regex
from agent_fox.verifier.logs.c_compiler import CompilerReader
from agent_fox.verifier.logs.cmake import CmakeReader
from agent_fox.verifier.logs.ctest import CtestReader
from agent_fox.verifier.logs.drafts import Findings
from agent_fox.verifier.logs.folders import Folders
from agent_fox.verifier.logs.line_log import LineLog, LineReader
from agent_fox.verifier.logs.linker import LinkerReader
from agent_fox.verifier.logs.make import MakeReader
from agent_fox.verifier.logs.sanitizers import SanitizerReader

if TYPE_CHECKING:
    from agent_fox.verifier.ground.results import Parsed
    from agent_fox.verifier.logs.protocol import Workspace

_COMMAND = regex(
    r"(?:\[\s*\d+(?:%|/\d+)\] |(?:[\w./-]*/)?(?:[\w-]*gcc|[\w-]*g\+\+|cc|c\+\+|clang|clang\+\+)(?:-\d+)? )"
)


_ENDINGS = (":", "内")


class CBuildLog(LineLog):
    """Reads what compilers of C and C++ print, alone or within make, ninja and CMake."""

    tools = (
        "gcc",
        "g++",
        "cc",
        "c++",
        "clang",
        "clang++",
        "ld",
        "lld",
        "make",
        "gmake",
        "ninja",
        "cmake",
        "ctest",
        "clang-tidy",
        "clang-format",
    )

    def reader(self, workspace: Workspace) -> LineReader:
        return _Reader(workspace)


class _Reader:
    """Shows each line to the reader of every format, until one takes it."""

    def __init__(self, workspace: Workspace) -> None:
        self._folders = Folders(workspace)
        self._findings = Findings()
        self._ctest = CtestReader(self._findings, workspace)
        self._compiler = CompilerReader(self._findings, self._folders)
        cmake = CmakeReader(self._findings, workspace)
        linker = LinkerReader(self._findings, self._folders)
        sanitizer = SanitizerReader(self._findings, self._folders)
        self._open = (self._ctest, cmake, sanitizer, linker, self._compiler)
        self._readers = (
            self._ctest,
            cmake,
            sanitizer,
            MakeReader(self._findings, self._folders),
            linker,
            self._compiler,
        )
        self._is_open = False  # the next line may belong to the last one

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
            self._compiler.feed("")
        self._is_open = any(reader.is_open for reader in self._open)

    def parsed(self) -> Parsed:
        for reader in self._open:
            reader.finish()
        return self._findings.parsed(self._ctest.summary())
