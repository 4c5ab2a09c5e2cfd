"""Which folder relative paths in a log are meant from: make and ninja say where they go. Nothing here reads a disk."""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING

from agent_fox.core.regex import regex

if TYPE_CHECKING:
    from agent_fox.verifier.logs.protocol import Workspace

MOST_SOURCES = 5_000
_ENTERS = regex(
    r"(?:[\w./+-]*make|ninja)(?:\[(?P<level>\d+)\])?(?:\.exe)?: [^'`‘«„“]*['`‘«„“] ?(?P<folder>[^'’»“”]+?) ?['’»“”]"
)
_ABSOLUTE = regex(r"/|[A-Za-z]:")
_LEAVES = regex(r"Leaving|verlassen|quitte|Saliendo|Saindo|Uscita|离开|離開|出ます|Выход|Opuszczenie")
_SUFFIXES = frozenset(("c", "cc", "cpp", "cxx", "c++", "C", "m", "mm", "s", "S", "f90", "f"))
_NAMED = _SUFFIXES | {"o", "obj"}
_OF_TARGET = regex(r"CMakeFiles/[^/]+\.dir/")
_AROUND = "'\"`(),;"


class Folders:
    """Follows the folders that a build enters, and the sources that its commands name."""

    def __init__(self, workspace: Workspace) -> None:
        self._workspace = workspace
        self._entered: dict[int, str] = {}
        self._sources: dict[str, str] = {}
        self._of_objects: dict[str, str] = {}

    def feed(self, line: str) -> bool:
        """Whether the line names a folder."""
        match = _ENTERS.match(line) if (": " in line and "ake" in line[:20]) or line.startswith("ninja: ") else None
        if not match or not (_ABSOLUTE.match(match["folder"]) or "ntering directory" in line):
            return False
        level = int(match["level"] or 0)
        self._entered = {other: folder for other, folder in self._entered.items() if other < level}
        if not _LEAVES.search(line):
            self._entered[level] = match["folder"]
        return True

    def note_sources(self, line: str) -> None:
        """Remember the sources of a command line, by their names."""
        if len(self._sources) >= MOST_SOURCES:
            return
        for word in line.split():
            if "." in word and word.rpartition(".")[2].strip(_AROUND) in _NAMED:
                self._note_source(word.strip(_AROUND).removesuffix(".o").removesuffix(".obj"))

    def _note_source(self, path: str) -> None:
        name = path.rpartition("/")[2]
        if name not in self._sources and name.rpartition(".")[2] in _SUFFIXES:
            self._sources[name] = self.relative(path)
            if _OF_TARGET.search(path):  # an object of CMake's, which mirrors the project's folders
                self._of_objects[name] = self._workspace.relative(_OF_TARGET.sub("", path))

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

    def holds(self, path: str) -> bool:
        return self._workspace.holds(path)
