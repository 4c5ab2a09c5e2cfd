"""A copy of a repository's places of specs, in which repairs are tried. The repository itself is only read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from agent_fox.specs.files import MAX_FILE_BYTES

_NO_SPECS = frozenset({"node_modules", "__pycache__"})


def mirror(root: Path, places: Iterable[Path], copy: Path) -> dict[str, bytes]:
    """Copy the files of the places below `copy`; what was copied, by path relative to the root.

    What can't be read, is too large, or is reached by a link that leads outside of the repository is left out.
    """
    real = root.resolve()
    copied: dict[str, bytes] = {}
    for path in _files([place for place in places if is_inside(place, root)], real):
        content = _content(path, real)
        name = path.relative_to(root).as_posix()
        if content is not None and name not in copied:
            target = copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            copied[name] = content
    return copied


def is_inside(place: Path, root: Path) -> bool:
    """Whether a place is named as one below the root; where links lead is not asked."""
    return place.is_relative_to(root) and ".." not in place.parts


def _files(places: list[Path], root: Path) -> Iterator[Path]:
    """Every file below the places, through links to other folders of the repository too: each folder once."""
    seen = {os.path.realpath(place) for place in places}
    read = [Path(real) for real in seen]
    for place in places:
        if place.is_file():
            yield place
        for folder, folders, names in os.walk(place, followlinks=True):
            paths = [Path(folder, name) for name in sorted(folders)]
            folders[:] = [path.name for path in paths if _may_hold_specs(path, root, read) and _is_new(path, seen)]
            yield from (Path(folder, name) for name in sorted(names))


def _may_hold_specs(folder: Path, root: Path, read: Iterable[Path]) -> bool:
    """Whether reading goes in there: not where a link leads outside, or to what is read under its own name."""
    if folder.name.startswith(".") or folder.name in _NO_SPECS:
        return False
    real = Path(os.path.realpath(folder))
    is_again = folder.is_symlink() and any(real.is_relative_to(place) or place.is_relative_to(real) for place in read)
    return real.is_relative_to(root) and not is_again


def _is_new(folder: Path, seen: set[str]) -> bool:
    before = len(seen)
    seen.add(os.path.realpath(folder))
    return len(seen) > before


def _content(path: Path, root: Path) -> bytes | None:
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(root) or not real.is_file() or real.stat().st_size > MAX_FILE_BYTES:
            return None
        return real.read_bytes()
    except (OSError, RuntimeError):
        return None
