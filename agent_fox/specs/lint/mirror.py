"""A copy of a repository's places of specs, in which repairs are tried. The repository itself is only read."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from agent_fox.specs.files import MAX_FILE_BYTES


def mirror(root: Path, places: Iterable[Path], copy: Path) -> dict[str, bytes]:
    """Copy the files of the places below `copy`; what was copied, by path relative to the root.

    What can't be read, is too large, or is reached by a link that leads outside of the repository is left out.
    """
    real = root.resolve()
    copied: dict[str, bytes] = {}
    for path in _files(places):
        if not path.is_relative_to(root):
            continue
        content = _content(path, real)
        if content is not None:
            name = path.relative_to(root).as_posix()
            target = copy / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            copied[name] = content
    return copied


def _files(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        if place.is_file():
            yield place
        for folder, _, names in os.walk(place):
            yield from (Path(folder) / name for name in sorted(names))


def _content(path: Path, root: Path) -> bytes | None:
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(root) or not real.is_file() or real.stat().st_size > MAX_FILE_BYTES:
            return None
        return real.read_bytes()
    except (OSError, RuntimeError):
        return None
