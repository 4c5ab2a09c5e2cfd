"""The plain dialect: one file that is a whole spec, in Markdown or TOML; a Markdown file may hold several."""

from __future__ import annotations

from pathlib import Path

from agent_fox.core.spec import Problem, Spec

PLAIN = "plain"


class PlainDialect:
    """Files `NAME.md` that begin with `# Spec:`, and files `NAME.toml` with requirements or groups."""

    @property
    def name(self) -> str:
        return PLAIN

    def recognises(self, folder: Path) -> bool:
        return False

    def read(self, folder: Path, root: Path) -> tuple[Spec | None, tuple[Problem, ...]]:
        return None, ()

    def read_all(self, path: Path, root: Path) -> tuple[tuple[Spec, ...], tuple[Problem, ...]]:
        return (), ()
