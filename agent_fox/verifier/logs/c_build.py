"""Logs of C and C++ builds: compiler, linker, make or ninja, CMake and CTest, mixed as they come."""

from __future__ import annotations

import re
from collections.abc import Iterable

from agent_fox.verifier.logs.c_compiler import CompilerReader
from agent_fox.verifier.logs.cmake import CmakeReader
from agent_fox.verifier.logs.ctest import CtestReader
from agent_fox.verifier.logs.drafts import Findings
from agent_fox.verifier.logs.folders import Folders
from agent_fox.verifier.logs.linker import LinkerReader
from agent_fox.verifier.logs.make import MakeReader
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.results import Parsed

_COMMAND = re.compile(
    r"(?:\[\s*\d+(?:%|/\d+)\] |(?:[\w./-]*/)?(?:[\w-]*gcc|[\w-]*g\+\+|cc|c\+\+|clang|clang\+\+)(?:-\d+)? )"
)


class CBuildLog:
    """Reads what compilers of C and C++ print, alone or within make, ninja and CMake."""

    tools = ("gcc", "g++", "cc", "c++", "clang", "clang++", "ld", "lld", "make", "gmake", "ninja", "cmake", "ctest")

    def parse(self, lines: Iterable[str], workspace: Workspace) -> Parsed:
        reader = _Reader(workspace)
        for line in lines:
            if reader.is_open or ": " in line or line.endswith((":", "内")) or "：" in line or line.startswith("["):
                reader.feed(line)
            elif _COMMAND.match(line):
                reader.folders.note_sources(line)
        return reader.parsed()


class _Reader:
    """Shows each line to the reader of every format, until one takes it."""

    def __init__(self, workspace: Workspace) -> None:
        self.folders = Folders(workspace)
        self._findings = Findings()
        self._ctest = CtestReader(self._findings)
        self._compiler = CompilerReader(self._findings, self.folders)
        cmake = CmakeReader(self._findings, workspace)
        linker = LinkerReader(self._findings, self.folders)
        self._open = (self._ctest, cmake, linker, self._compiler)
        self._readers = (self._ctest, cmake, MakeReader(self._findings, self.folders), linker, self._compiler)
        self.is_open = False  # the next line may belong to the last one

    def feed(self, line: str) -> None:
        if self.folders.feed(line):
            return
        if ": " not in line and _COMMAND.match(line):
            self.folders.note_sources(line)
            self._compiler.finish()
        elif not any(reader.feed(line) for reader in self._readers):
            self._compiler.feed("")
        self.is_open = any(reader.is_open for reader in self._open)

    def parsed(self) -> Parsed:
        for reader in self._open:
            reader.finish()
        return self._findings.parsed(self._ctest.summary())
