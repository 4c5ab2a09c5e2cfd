"""spec-kit's specs: spec.md, plan.md and tasks.md of one folder, put together."""

from __future__ import annotations

from pathlib import Path

from agent_fox.core.spec import Problem, Spec
from agent_fox.specs.detection import SPEC_KIT, claims


class SpecKitDialect:
    """spec-kit's specs: spec.md, plan.md and tasks.md of one folder, put together."""

    @property
    def name(self) -> str:
        return SPEC_KIT

    def recognises(self, folder: Path) -> bool:
        return SPEC_KIT in claims(folder)

    def read(self, folder: Path, root: Path) -> tuple[Spec | None, tuple[Problem, ...]]:
        return None, ()
