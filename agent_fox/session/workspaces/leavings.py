"""What tools leave beside a session's work: caches and products of builds, which do not land unless git tracks them.

A folder counts where its name does and git tracks nothing in it; a `.gitignore` that names it with `!` makes it work.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from agent_fox.core.values import dataclass
from agent_fox.core.words import counted

if TYPE_CHECKING:
    from agent_fox.system.git_objects import Store

CACHES = (
    *("__pycache__/", "*.pyc", ".pytest_cache/", ".mypy_cache/", ".ruff_cache/", ".hypothesis/", ".ipynb_checkpoints/"),
    *("node_modules/", ".gradle/", ".venv/", "venv/", ".tox/", ".nox/", ".eggs/", "*.egg-info/", "*.class"),
    *(".coverage", ".coverage.*", "coverage.xml", "coverage.out", "lcov.info", "*.gcda", "*.gcno", "*.profraw"),
    *(".nyc_output/", ".eslintcache", ".parcel-cache/", ".turbo/", "*.tsbuildinfo", "nohup.out"),
    *(".DS_Store", "Thumbs.db", "*.swp", "*.swo", "*~", "*.orig", "*.rej"),
)
PRODUCTS = ("target/", "build/", "dist/", "coverage/", "htmlcov/", "*.log", "*.o")

MOST_NAMED = 10


@dataclass(frozen=True, slots=True)
class Leavings:
    """What is left out, as paths (`a/node_modules/`, `x.log`) with how many files each has."""

    caches: Mapping[str, int] = field(default_factory=dict)
    products: Mapping[str, int] = field(default_factory=dict)

    @property
    def paths(self) -> tuple[str, ...]:
        """Relative to the workspace, a folder without its slash."""
        return tuple(path.rstrip("/") for path in (*self.caches, *self.products))

    def hides(self, path: str) -> bool:
        return any(name in self.caches or name in self.products for name in _with_folders(path))

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for caches and one for products, for whoever reads what came of the session."""
        sentences = []
        if self.caches:
            sentences.append(f"left out what tools leave: {_named(self.caches)}")
        if self.products:
            first = _last(min(self.products))
            example = next(glob for glob in PRODUCTS if fnmatchcase(first, glob))
            how = f"what is work there lands where .gitignore names it with `!`, such as `!{example}`"
            sentences.append(f"left out as made by a build: {_named(self.products)}; {how}")
        return tuple(sentences)


def left_in(store: Store, untracked: Iterable[str], tracked: Iterable[str]) -> Leavings:
    """The leavings of a store's files, but for those that a `.gitignore` names with `!`. Raises GitError."""
    leavings = leavings_of(untracked, tracked)
    work = store.unignored(leavings.paths)
    return Leavings(_without(leavings.caches, work), _without(leavings.products, work))


def _without(found: Mapping[str, int], work: frozenset[str]) -> dict[str, int]:
    return {path: count for path, count in found.items() if path.rstrip("/") not in work}


def leavings_of(untracked: Iterable[str], tracked: Iterable[str]) -> Leavings:
    """Of the files that git does not track, those that tools leave, by the outermost folder that says so."""
    used = {f"{folder}/" for path in tracked for folder in PurePosixPath(path).parents}
    caches, products = Counter[str](), Counter[str]()
    for path in untracked:
        for name in _with_folders(path):
            kind = None if name in used else _kind(name)
            if kind is not None:
                (caches if kind is CACHES else products)[name] += 1
                break
    return Leavings(dict(caches), dict(products))


def _with_folders(path: str) -> Iterator[str]:
    """`a/`, `a/b/`, `a/b/c` for `a/b/c`; a repository inside is listed as `a/` by git."""
    parts = path.rstrip("/").split("/")
    yield from (f"{'/'.join(parts[:end])}/" for end in range(1, len(parts)))
    yield path


def _kind(name: str) -> tuple[str, ...] | None:
    """A link, or a file, in the place of a cache's folder is no work either."""
    last = _last(name)
    if any(fnmatchcase(candidate, glob) for candidate in (last, f"{last}/") for glob in CACHES):
        return CACHES
    return PRODUCTS if any(fnmatchcase(last, glob) for glob in PRODUCTS) else None


def _last(name: str) -> str:
    """Of `a/build/` that is `build/`, of `a/x.log` it is `x.log`."""
    return f"{PurePosixPath(name).name}{'/' if name.endswith('/') else ''}"


def _named(paths: Mapping[str, int]) -> str:
    shown = [f"{path} ({counted(paths[path], 'file')})" for path in sorted(paths)]
    more = [f"{len(shown) - MOST_NAMED} more"] if len(shown) > MOST_NAMED else []
    return ", ".join([*shown[:MOST_NAMED], *more])
