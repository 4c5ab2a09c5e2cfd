"""A folder of specs, read: finds the spec folders, asks the dialects; one bad spec never hides another."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from agent_fox.core.spec import Dependency, Problem, Spec
from agent_fox.specs.agent_fox import NUMBERED, AgentFoxDialect
from agent_fox.specs.dialects import Dialect
from agent_fox.specs.files import error, place_of, warning

USUAL_PLACES = (".agent-fox/specs", ".specs", "specs")
BUILT_IN: tuple[Dialect, ...] = (AgentFoxDialect(),)

_ARCHIVE = "archive"


class SpecsMissing(ValueError):
    """There is no spec to plan. The message says where it was looked, and what to do."""


def find_specs(root: Path, given: str | Path | None = None) -> Path:
    """The folder of specs: the one given (relative to `root`), else the first usual place that is there.

    Raises SpecsMissing where there is none.
    """
    places = [Path(given)] if given is not None else [Path(place) for place in USUAL_PLACES]
    for place in places:
        if (root / place).is_dir():
            return root / place
    looked = ", ".join(str(place) for place in places)
    raise SpecsMissing(f"no folder of specs in {root}: looked for {looked}. Make one, or name yours with --specs DIR")


def read_specs(
    folder: Path, root: Path, dialects: Sequence[Dialect] = BUILT_IN
) -> tuple[tuple[Spec, ...], tuple[Problem, ...]]:
    """Every spec below `folder`, by number and then by name, and everything that is wrong with any of them.

    Raises SpecsMissing where the folder is absent, unreadable, or holds no spec at all.
    """
    folders = _spec_folders(folder)
    archived = frozenset(path.name for path in _children(folder / _ARCHIVE))
    specs: list[Spec] = []
    problems: list[Problem] = []
    is_any = False
    for path in folders:
        dialect = next((dialect for dialect in dialects if dialect.recognises(path)), None)
        if dialect is None:
            problems += _unrecognised(path, root)
            continue
        is_any = True
        spec, found = dialect.read(path, root)
        problems += found
        specs += [_with_archive(spec, archived)] if spec is not None else []
    if not is_any:
        raise SpecsMissing(f"no spec in {folder}: expected folders such as 01_name with a tasks.md. Write one first")
    return tuple(specs), tuple(problems)


def _spec_folders(folder: Path) -> list[Path]:
    try:
        paths = [path for path in folder.iterdir() if not path.name.startswith(".") and path.name != _ARCHIVE]
    except OSError as refused:
        raise SpecsMissing(f"no specs in {folder}: {refused.strerror}. Name the folder with --specs DIR") from refused
    return sorted((path for path in paths if path.is_dir()), key=_rank)


def _rank(path: Path) -> tuple[int, int, str]:
    """By number; those without one come last, by name."""
    numbered = NUMBERED.fullmatch(path.name)
    return (0, int(numbered[1]), path.name) if numbered else (1, 0, path.name)


def _children(folder: Path) -> Iterable[Path]:
    try:
        return list(folder.iterdir())
    except OSError:
        return []


def _unrecognised(path: Path, root: Path) -> list[Problem]:
    """A folder that looks like a spec but holds none is worth a word; any other is not."""
    where = place_of(path, root)
    if not os.access(path, os.R_OK | os.X_OK):
        return [replace(error(where, "this folder can't be read; check its permissions"), spec=path.name)]
    if NUMBERED.fullmatch(path.name) is None:
        return []
    what = "has neither requirements nor tasks: not planned. Write tasks.md, or move the folder away"
    return [replace(warning(where, what), spec=path.name)]


def _with_archive(spec: Spec, archived: frozenset[str]) -> Spec:
    """Rows that name a spec in `archive/` are about something that is done."""
    dependencies = tuple(_marked(dependency, archived) for dependency in spec.dependencies)
    return replace(spec, dependencies=dependencies) if dependencies != spec.dependencies else spec


def _marked(dependency: Dependency, archived: frozenset[str]) -> Dependency:
    number = int(dependency.spec) if dependency.spec.isdecimal() else None
    by_number = {int(name.partition("_")[0]) for name in archived if NUMBERED.fullmatch(name)}
    is_archived = dependency.spec in archived or (number is not None and number in by_number)
    return replace(dependency, is_archived=True) if is_archived else dependency
