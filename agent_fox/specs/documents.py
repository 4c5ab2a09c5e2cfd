"""The documents of one spec folder: those that could be read, and what was wrong with the others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from agent_fox.core.spec import Problem, Severity
from agent_fox.specs.files import TextFile, read_text_file


@dataclass(slots=True)
class Documents:
    """Texts by their names in the folder (`specs/auth/spec.md` for one further down), and what was wrong."""

    files: dict[str, TextFile] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def first(self, *names: str) -> TextFile | None:
        return next((self.files[name] for name in names if name in self.files), None)

    @property
    def paths(self) -> dict[str, str]:
        """Names to paths relative to the repository's root, as `Spec.documents` has them."""
        return {name: file.where for name, file in self.files.items()}


def read_documents(
    folder: Path, root: Path, names: Iterable[str], can_do_without: frozenset[str] = frozenset()
) -> Documents:
    """Read those of the names that are there. One that can't be read is an error, or a warning if the spec can do
    without it."""
    documents = Documents()
    for name in names:
        path = folder / name
        if not is_there(path):
            continue
        read = read_text_file(path, root)
        if isinstance(read, TextFile):
            documents.files[name] = read
        else:
            documents.problems.append(replace(read, severity=Severity.WARNING) if name in can_do_without else read)
    return documents


def is_there(path: Path) -> bool:
    """Whether something stands there, a link to nowhere too; what can't be asked for is taken to be there."""
    try:
        return path.is_symlink() or path.exists()
    except OSError:
        return True


def about(spec_name: str, problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """The problems as those of a spec."""
    return tuple(replace(problem, spec=spec_name) for problem in problems)
