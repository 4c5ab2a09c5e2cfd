"""OpenSpec's changes, which are planned, and its capabilities, which say what is there."""

from __future__ import annotations

from pathlib import Path

from agent_fox.core.spec import Problem, Spec
from agent_fox.specs.detection import OPENSPEC, claims


class OpenSpecDialect:
    """OpenSpec's changes, which are planned, and its capabilities, which say what is there."""

    @property
    def name(self) -> str:
        return OPENSPEC

    def recognises(self, folder: Path) -> bool:
        return OPENSPEC in claims(folder)

    def read(self, folder: Path, root: Path) -> tuple[Spec | None, tuple[Problem, ...]]:
        return None, ()
