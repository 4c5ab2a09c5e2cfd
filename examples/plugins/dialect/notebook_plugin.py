"""The notebook dialect: a folder with `notebook.txt`, whose first line is a title and each other line `ID: text`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agent_fox.core.spec import Criterion, Group, Problem, Requirement, Severity, Spec
from agent_fox.plugins import hookimpl
from agent_fox.specs.dialects import Dialect

FILE = "notebook.txt"


class NotebookDialect:
    name = "notebook"

    def recognises(self, folder: Path) -> bool:
        return (folder / FILE).is_file()

    def read(self, folder: Path, root: Path) -> tuple[Spec | None, tuple[Problem, ...]]:
        where = (folder / FILE).relative_to(root).as_posix()
        try:
            title, *lines = (folder / FILE).read_text(encoding="utf-8").splitlines() or [""]
        except (OSError, UnicodeDecodeError) as error:
            return None, (Problem(Severity.ERROR, where, f"cannot be read ({error}); write it again", folder.name),)
        rows = [(number, *line.partition(":")) for number, line in enumerate(lines, 2) if line.strip()]
        problems = tuple(
            Problem(Severity.ERROR, f"{where}:{number}", "expected `ID: text`", folder.name)
            for number, _, colon, _ in rows
            if not colon
        )
        requirements = tuple(
            Requirement(part.strip(), text.strip(), criteria=(Criterion(part.strip(), text.strip()),))
            for _, part, colon, text in rows
            if colon
        )
        group = Group(1, title, requirements=tuple(requirement.id for requirement in requirements))
        path = folder.relative_to(root).as_posix()
        return Spec(folder.name, self.name, path, title, requirements, (group,)), problems


@hookimpl
def agent_fox_dialects() -> Sequence[Dialect]:
    return [NotebookDialect()]
