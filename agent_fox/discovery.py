"""Which plugins are installed: their entry points, looked up once and remembered until what is installed changes."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple
from pathlib import Path

from agent_fox.core.values import dataclass

ENTRY_POINTS = "entry_points.txt"
METADATA = (".dist-info", ".egg-info", "egg-info")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry point: its name, `module` or `module:object`, and the package that brings it."""

    name: str
    value: str
    package: str

    @property
    def plugin(self) -> str:
        """What a plugin is called: the name of its entry point, and of the package to uninstall."""
        return f"{self.name} ({self.package})" if self.package else self.name

    def load(self, group: str) -> object:
        """Import it. Raises whatever its module raises."""
        from importlib.metadata import EntryPoint  # noqa: PLC0415 - slow to import, and most have no plugin

        plugin: object = EntryPoint(self.name, self.value, group).load()
        return plugin


def installed(group: str, environ: Mapping[str, str]) -> tuple[Entry, ...]:
    """The entry points of a group, as importlib.metadata finds them. A cache that cannot be used is no failure."""
    now, file = stamp(sys.path), cache_file(environ)
    entries = remembered(file, now) if file else None
    if entries is None:
        entries = looked_up(group)
        if file:
            remember(file, now, entries)
    return entries


def looked_up(group: str) -> tuple[Entry, ...]:
    from importlib.metadata import entry_points  # noqa: PLC0415 - slow to import, and needed once

    points = entry_points(group=group)
    return tuple(Entry(point.name, point.value, str(point.dist.name) if point.dist else "") for point in points)


def stamp(path: Sequence[str]) -> str:
    """Another one as soon as anything changes that entry points are read from: a package comes, goes, or is edited."""
    lines = [sys.version, *path, *(line for place in path for line in _marks(place or os.getcwd()))]  # noqa: PTH109 - faster
    return hashlib.sha256("\n".join(lines).encode(errors="surrogateescape")).hexdigest()


def _marks(place: str) -> Iterator[str]:
    """A folder of packages, or a file of them, and the list of entry points of each package in it."""
    yield _mark(place)
    try:
        names = sorted(child.name for child in Path(place).iterdir() if child.name.lower().endswith(METADATA))
    except OSError:
        return
    for name in names:
        yield _mark(f"{place}/{name}/{ENTRY_POINTS}")


def _mark(path: str) -> str:
    try:
        state = os.stat(path)  # noqa: PTH116 - a hundred of them at each start
    except OSError:
        return f"{path} -"
    return f"{path} {state.st_mtime_ns} {state.st_size}"


def cache_file(environ: Mapping[str, str]) -> Path | None:
    """Where the entry points of this Python are remembered, the last `sys.path` that they were asked for; None where a
    person has no folder for such files.

    That folder is never made: a home may be a repository, or a checkout that is being looked at.
    """
    base = environ.get("XDG_CACHE_HOME") or (f"{environ['HOME']}/.cache" if environ.get("HOME") else "")
    if not (base and Path(base).is_absolute() and Path(base).is_dir()):
        return None
    name = hashlib.sha256(sys.prefix.encode(errors="surrogateescape")).hexdigest()[:16]
    return Path(base) / "agent-fox" / f"plugins-{name}.json"


def remembered(file: Path, now: str) -> tuple[Entry, ...] | None:
    """What was found under this very stamp; None where nothing is remembered that can be used."""
    try:
        document = json.loads(file.read_bytes())
        if document["stamp"] != now:
            return None
        entries = tuple(Entry(*row) for row in document["entries"])
    except (OSError, ValueError, KeyError, TypeError):
        return None
    is_sound = all(isinstance(part, str) for entry in entries for part in astuple(entry))
    return entries if is_sound else None


def remember(file: Path, now: str, entries: Sequence[Entry]) -> None:
    """Write it down, whole or not at all; by hand, for `system.files` lies above."""
    document = {"stamp": now, "entries": [astuple(entry) for entry in entries]}
    new = file.with_suffix(f".{os.getpid()}")
    try:
        file.parent.mkdir(exist_ok=True)
        new.write_text(json.dumps(document), encoding="utf-8")
        new.replace(file)
    except OSError:
        return
