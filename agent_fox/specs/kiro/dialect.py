"""Kiro's specs: requirements, design and tasks of one folder, put together."""

from __future__ import annotations

from pathlib import Path

from agent_fox.core.spec import Problem, Spec
from agent_fox.specs.detection import KIRO, claims


class KiroDialect:
    """Kiro's specs: requirements, design and tasks of one folder, put together."""

    @property
    def name(self) -> str:
        return KIRO

    def recognises(self, folder: Path) -> bool:
        return KIRO in claims(folder)

    def read(self, folder: Path, root: Path) -> tuple[Spec | None, tuple[Problem, ...]]:
        return None, ()
