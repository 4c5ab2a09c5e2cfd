"""Where a profile's programs are on this machine: the project's own first, then the search path. Starts nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path, PurePosixPath

from agent_fox.core.values import dataclass

_OWN = "./"


@dataclass(frozen=True, slots=True)
class Program:
    """A program that was found. `path` is absolute and not resolved; `shown` is how people write it."""

    path: str
    shown: str


@dataclass(frozen=True, slots=True)
class Search:
    """Where to look: from the command's folder up to the workspace's root, then along `path`."""

    folder: Path
    root: Path
    path: str

    def find(self, choices: Iterable[str]) -> Program | None:
        """The first of several ways to name a program that leads to one."""
        candidates = (self._own(choice) if choice.startswith(_OWN) else self._common(choice) for choice in choices)
        return next((program for program in candidates if program), None)

    def unusable(self, choices: Iterable[str]) -> list[str]:
        """The project's own programs that are there, but may not be executed."""
        own = [choice for choice in choices if choice.startswith(_OWN)]
        return [
            choice for choice in own if not self._own(choice) and any((at / choice).is_file() for at in self._folders())
        ]

    def with_own(self, choices: Iterable[str]) -> str:
        """`path` behind the folders in which the project keeps programs of these: `node_modules/.bin`, `.venv/bin`.

        Scripts of npm and an activated virtual environment have them there, and tests start programs by their names.
        """
        kept = dict.fromkeys(PurePosixPath(choice).parent for choice in choices if choice.startswith(_OWN))
        own = [str(at / folder) for at in self._folders() for folder in kept if folder.parts and (at / folder).is_dir()]
        return os.pathsep.join([*own, *self._absolute()]) if own else ""

    def _own(self, choice: str) -> Program | None:
        for place in (folder / choice for folder in self._folders()):
            if place.is_file() and os.access(place, os.X_OK):
                return Program(str(place), choice)
        return None

    def _common(self, name: str) -> Program | None:
        """A program of the machine: never one that the search path finds within the workspace."""
        outside = (entry for entry in self._absolute() if not Path(entry).resolve().is_relative_to(self.root))
        program = shutil.which(name, path=os.pathsep.join(outside))
        return Program(program, name) if program else None

    def _absolute(self) -> list[str]:
        return [entry for entry in self.path.split(os.pathsep) if Path(entry).is_absolute()]

    def _folders(self) -> list[Path]:
        folders = [self.folder, *self.folder.parents]
        return folders[: folders.index(self.root) + 1] if self.root in folders else [self.folder]


def find_all(programs: Mapping[str, Iterable[str]], names: Iterable[str], search: Search) -> dict[str, Program | None]:
    """Each of these programs, None for one that is not there."""
    return {name: search.find(programs[name]) for name in names}
