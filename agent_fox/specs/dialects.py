"""What a dialect is: one way to write specs in a folder. The dialects themselves are not here."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol, runtime_checkable

from agent_fox.core.spec import Problem, Spec


@runtime_checkable
class Dialect(Protocol):
    """Recognises its own folders and reads them as values.

    `read` never raises for what a folder holds: whatever is wrong is a `Problem` that names the file (and
    line), relative to `root`. The spec is None where the problems leave nothing that could be planned.
    """

    @property
    def name(self) -> str: ...

    def recognises(self, folder: Path) -> bool: ...

    def read(self, folder: Path, root: Path) -> tuple[Spec | None, tuple[Problem, ...]]: ...
