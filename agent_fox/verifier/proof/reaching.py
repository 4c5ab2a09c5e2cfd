"""What a test may reach by names, in Go, Java and Rust, of which it is not measured what a test executes. Runs nothing.

It is more than what is executed: whatever is named counts. What is called without a name, such as by reflection, is
not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import field
from pathlib import Path, PurePosixPath

from agent_fox.core.regex import regex
from agent_fox.core.values import dataclass
from agent_fox.system.files import content_in

_MODULE_NAME = regex(r"^module[ \t]+(\S+)", re.MULTILINE)
_QUOTED = regex(r'"([^"\s]+)"')
_WORD = regex(r"[\w-]+")
_CRATE_NAME = regex(r'^name\s*=\s*"([^"]+)"', re.MULTILINE)
_MANIFESTS = {".go": "go.mod", ".rs": "Cargo.toml"}


@dataclass(frozen=True, slots=True)
class Unit:
    """What is compiled together: a package of Go, a file of Java, a crate of Rust. `name`: how others ask for it."""

    name: str
    words: set[str] = field(default_factory=set)


class Reach:
    """The units of a tree, by its files of code."""

    def __init__(self, root: Path, files: Iterable[str]) -> None:
        self._root = root
        self._units: dict[str, Unit] = {}
        self._of_file: dict[str, Unit] = {}
        self._manifests: dict[tuple[str, str], str | None] = {}
        for file in sorted(files):
            self.add(file)

    def is_known(self, file: str) -> bool:
        return file in self._of_file

    def reaches(self, test: str, file: str) -> bool:
        """Whether what a test's file is compiled with names the unit of another file, or one that does; True where
        that is not known.
        """
        if file not in self._of_file:
            return True
        goal, waiting, seen = self._of_file[file].name, [self._of_file[test]], set()
        while waiting:
            unit = waiting.pop()
            if unit.name == goal:
                return True
            seen.add(unit.name)
            waiting.extend(self._units[name] for name in unit.words & self._units.keys() - seen)
        return False

    def add(self, file: str) -> None:
        suffix = PurePosixPath(file).suffix
        if suffix == ".java":
            name, words = PurePosixPath(file).stem, _WORD.findall(self._text(file))
        elif suffix == ".go":
            name, words = self.package_of(file), _QUOTED.findall(self._text(file))
        elif suffix == ".rs":
            manifest = self._manifest(file)
            text = self._text(manifest) if manifest is not None else ""
            name, words = next(iter(_CRATE_NAME.findall(text)), ""), _WORD.findall(text)
        else:
            return
        if name:
            unit = self._of_file[file] = self._units.setdefault(name, Unit(name))
            unit.words.update(words)

    def package_of(self, file: str) -> str:
        """The path by which others import it; empty outside of any module."""
        manifest = self._manifest(file)
        module = _MODULE_NAME.search(self._text(manifest)) if manifest is not None else None
        if manifest is None or module is None:
            return ""
        within = PurePosixPath(file).parent.relative_to(PurePosixPath(manifest).parent).as_posix()
        return module[1] if within == "." else f"{module[1]}/{within}"

    def _manifest(self, file: str) -> str | None:
        """The nearest one above the file."""
        name = _MANIFESTS[PurePosixPath(file).suffix]
        folder = PurePosixPath(file).parent
        key = (folder.as_posix(), name)
        if key not in self._manifests:
            above = ((place / name).as_posix() for place in (folder, *folder.parents))
            self._manifests[key] = next((path for path in above if (self._root / path).is_file()), None)
        return self._manifests[key]

    def _text(self, file: str) -> str:
        return (content_in(self._root, file) or b"").decode("utf-8", "replace")
