"""Where specs lie in a repository: the usual places of every dialect, or those that a person names."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import product
from pathlib import Path

from agent_fox.specs.detection import claims

USUAL_PLACES = (".agent-fox/specs", ".specs", "specs", ".kiro/specs", "openspec/changes", "openspec/specs")

SPEC_FILES = (".md", ".toml")

_OPENSPEC = "openspec"
_OF_OPENSPEC = ("changes", "specs")
_CHANGES, _SPECS = (f"{_OPENSPEC}/{name}" for name in _OF_OPENSPEC)


class SpecsMissing(ValueError):
    """There is no spec to plan. The message says where it was looked, and what to do."""


def taken_by(root: Path, name: str) -> Path | None:
    """The spec that has this name already, wherever specs usually lie."""
    places = (Path(place) / f"{name}{ending}" for place, ending in product(USUAL_PLACES, ("", *SPEC_FILES)))
    return next((there for there in places if (root / there).exists()), None)


def find_places(root: Path, given: Iterable[str | Path] = ()) -> tuple[Path, ...]:
    """The places given (relative to `root`), else every usual place that is there: specs of several dialects make one
    plan. A folder that is a repository of its own, or OpenSpec's, stands for the places inside.

    Raises SpecsMissing where there is none.
    """
    named = tuple(root / place for place in given)
    missing = [str(place) for place in given if not (root / place).exists()]
    if missing:
        raise SpecsMissing(f"no folder of specs in {root}: looked for {', '.join(missing)}. Correct the name")
    places = tuple(place for name in named for place in _inside(name)) if named else tuple(_usual(root))
    if not places:
        looked = ", ".join(USUAL_PLACES)
        what = "Make one, start with `agent-fox init --spec`, or name yours with --specs DIR"
        raise SpecsMissing(f"no folder of specs in {root}: looked for {looked}. {what}")
    return tuple(dict.fromkeys(places))


def _usual(root: Path) -> Iterator[Path]:
    """Two names of one folder (a link) are one place."""
    seen: set[str] = set()
    for place in USUAL_PLACES:
        path = root / place
        real = os.path.realpath(path)
        if path.is_dir() and real not in seen:
            seen.add(real)
            yield path


def _inside(place: Path) -> Iterator[Path]:
    if place.name == _OPENSPEC:
        of_openspec = [place / name for name in _OF_OPENSPEC if (place / name).is_dir()]
        yield from of_openspec or [place]
        return
    usual = [*_usual(place)] if place.is_dir() and not claims(place) and not any(place.glob("*/tasks.*")) else []
    yield from usual or [place]


def places_kept(root: Path, paths: Iterable[str], documents: Iterable[str]) -> tuple[str, ...]:
    """What a coder may only tick boxes in, for the paths of specs and of their documents.

    A link is kept, and so is what it leads to inside the repository: there stands what is to be proven. With changes of
    OpenSpec what is there already is kept too.
    """
    given = tuple(paths)
    kept = dict.fromkeys(map(place_kept, dict.fromkeys(given)))
    kept |= {f"{place.removesuffix(_CHANGES)}{_SPECS}": None for place in kept if f"/{place}".endswith(f"/{_CHANGES}")}
    real_folder = cache(os.path.realpath)
    top = f"{real_folder(root).rstrip('/')}/"
    for path in (*kept, *given, *documents):
        place = os.path.join(top, path)
        folder, name = os.path.split(place.rstrip("/"))
        real = f"{real_folder(folder).rstrip('/')}/{name}"
        if name in (".", "..") or os.path.islink(real):
            real = os.path.realpath(place)
        inside = real.removeprefix(top)
        parts = inside.split("/")
        above = ("/".join(parts[:end]) for end in range(len(parts), 0, -1))  # itself first, then what it lies in
        if inside not in (real, "") and not any(each in kept for each in above):
            kept[inside] = None
    return tuple(kept)


def place_kept(path: str) -> str:
    """What a coder may only tick boxes in, for a spec's path: the folder that its folder lies in, where there is one
    below the root; a file, where a file is the spec."""
    folder = Path(path).parent
    return folder.as_posix() if folder.parts and not path.endswith(SPEC_FILES) else path
