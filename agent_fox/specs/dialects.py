"""What a dialect is: one way to write specs. The dialects themselves are not here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem, Spec


@runtime_checkable
class Dialect(Protocol):
    """Recognises its own folders and reads them as values.

    `recognises` is asked of every folder in a place of specs. `read` never raises for what is found there: whatever is
    wrong is a `Problem` that names the file (and line), relative to `root`. The spec is None where the problems leave
    nothing that could be planned.
    """

    @property
    def name(self) -> str: ...

    def recognises(self, folder: Path) -> bool: ...

    def read(self, folder: Path, root: Path) -> tuple[Spec | None, tuple[Problem, ...]]: ...


@runtime_checkable
class Collection(Dialect, Protocol):
    """A dialect that keeps several specs in one file: `read_all` is asked in the place of `read`.

    Its `recognises` is asked of every Markdown and TOML file in a place, too.
    """

    def read_all(self, path: Path, root: Path) -> tuple[tuple[Spec, ...], tuple[Problem, ...]]: ...
