"""Logs of C and C++ builds: compiler, linker, make or ninja, CMake and CTest, mixed as they come; and which folder the
relative paths in them are meant from: make and ninja say where they go. Nothing here reads a disk."""

from __future__ import annotations

import posixpath
import re
from dataclasses import replace

from agent_fox.verifier.ground.results import Parsed
from agent_fox.verifier.logs.gathering import Gathering
from agent_fox.verifier.logs.kinds import patterns_in
from agent_fox.verifier.logs.protocol import Workspace
from agent_fox.verifier.logs.row_reader import RowReader, built_in

_LIKE = patterns_in(__file__)


class CBuildReader:
    """Reads what compilers of C and C++ print, alone or within make, ninja and CMake."""

    def __init__(self, workspace: Workspace) -> None:
        self._folders, findings = _Folders(workspace), Gathering()
        own, source = self._folders.relative, self._folders.source
        paths = {"ctest": None, "cmake": None, "sanitizer": own, "make": source, "linker": source, "c_compiler": own}
        of = {name: RowReader(built_in(name), workspace, findings, path) for name, path in paths.items()}
        self._ctest, self._compiler = of["ctest"], of["c_compiler"]
        self._open = [reader for name, reader in of.items() if name != "make"]
        self._readers = [reader for name, reader in of.items() if name != "ctest"]
        self._is_open = False  # the next line may belong to the last one

    def skip(self, block: str, at: int) -> int:
        """Passes over commands, whose sources are noted."""
        match = _LIKE["commands"].match(block, at)
        if match is None:
            return at
        self._folders.note_sources(match[0])
        self._compiler.finish()
        return match.end()

    def take(self, line: str) -> None:
        if ": " not in line and "：" not in line and _LIKE["command"].match(line):
            self._folders.note_sources(line)
            self._compiler.finish()
        elif not (self._is_open or ": " in line or line.endswith((":", "内")) or "：" in line) or self._folders.feed(
            line
        ):
            return
        else:
            is_test = (self._ctest.is_open or "Test" in line) and self._ctest.feed(line)
            if not is_test and not any(reader.feed(line) for reader in self._readers):
                self._compiler.finish()
            self._is_open = any(reader.is_open for reader in self._open)

    def parsed(self) -> Parsed:
        for reader in self._open:
            reader.finish()
        return replace(self._ctest.parsed(), is_complete=True)


MOST_SOURCES = 5_000


class _Folders:
    """Follows the folders that a build enters, and the sources that its commands name."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._entered: dict[int, str] = {}
        self._sources: dict[str, str] = {}
        self._of_objects: dict[str, str] = {}

    def feed(self, line: str) -> bool:
        """Whether the line names a folder."""
        may_enter = (": " in line and "ake" in line[:20]) or line.startswith("ninja: ")
        match = _LIKE["enters"].match(line) if may_enter else None
        if not match or not (_LIKE["absolute"].match(match["folder"]) or "ntering directory" in line):
            return False
        level = int(match["level"] or 0)
        self._entered = {other: folder for other, folder in self._entered.items() if other < level}
        if not _LIKE["leaves"].search(line):
            self._entered[level] = match["folder"]
        return True

    def note_sources(self, line: str) -> None:
        """Remember the sources of a command line, by their names."""
        for match in _LIKE["source"].finditer(line):
            path, name = match[1], match[1].rpartition("/")[2]
            if len(self._sources) >= MOST_SOURCES:
                return
            if name not in self._sources:
                self._sources[name] = self.relative(path)
                if _LIKE["of_target"].search(path):  # an object of CMake's, which mirrors the project's folders
                    self._of_objects[name] = self._workspace.relative(_LIKE["of_target"].sub("", path))

    def source(self, name: str) -> str:
        """The path of a source that the linker names without a folder; the name itself where no command does."""
        path = self.relative(name)
        return self._of_objects.get(name) or (self._sources.get(path, path) if "/" not in path else path)

    def relative(self, path: str) -> str:
        """`path`, meant from the folder that was entered last, relative to the workspace."""
        clean = path.replace("\\", "/")
        if not self._entered or clean.startswith("/") or re.match(r"[A-Za-z]:/", clean):
            return self._workspace.relative(clean)
        folder = self._entered[max(self._entered)].replace("\\", "/")
        return self._workspace.relative(posixpath.normpath(posixpath.join(folder, clean)))
