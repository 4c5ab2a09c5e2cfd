"""Which repositories a task is about, and what each looked like when it was registered. Nothing is compared here.

Repositories are told by whoever started the server, else by the client's roots, else it is one folder.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from pathlib import Path
from urllib.parse import unquote, urlsplit

from agent_fox.core.values import dataclass
from agent_fox.review.looking import look
from agent_fox.review.snapshot import Snapshot, snapshot
from agent_fox.system import git
from agent_fox.system.git_objects import GITLINK

MOST = 20
"""Repositories of one task."""

DEEPEST = 3
"""Submodules within submodules that are looked at."""

MOST_DIRTY = 1000
"""Files that were changed already, of which it is kept what they held."""


class NoRepository(Exception):
    """A folder that cannot be reviewed. Its text says which, why, and what to do."""


@dataclass(frozen=True, slots=True)
class Registered:
    """A repository when the task was registered. `base` is empty where there was no commit yet.

    dirty: what files that differed from the base held then. nested: its submodules that are looked at on their own.
    ignored: a hash of what git ignores there beside .gitignore, which nobody sees in a diff.
    """

    path: str
    base: str
    fingerprint: str
    dirty: Mapping[str, str] = field(default_factory=dict)
    nested: tuple[str, ...] = ()
    ignored: str = ""


def read_registered(text: str) -> tuple[Registered, ...]:
    """The repositories as documents, as they are kept in a task's row."""
    return tuple(Registered(**{**row, "nested": tuple(row["nested"])}) for row in json.loads(text))


def choose(
    configured: Sequence[str], roots: Sequence[str], single: str | None, project: str | None, here: Path
) -> tuple[Path, ...]:
    """The first that says something: configured folders, the client's roots, one folder, the project, where we are."""
    for named in (configured, [folder_of_root(root) for root in roots], [single or ""], [project or ""]):
        if any(named):
            return tuple(Path(path) for path in named if path)
    return (here,)


def folder_of_root(uri: str) -> str:
    """The folder of a root as the protocol names it. Raises NoRepository for what is no folder of this machine."""
    parts = urlsplit(uri)
    if parts.scheme != "file" or parts.netloc not in ("", "localhost"):
        raise NoRepository(f"{uri[:200]}: the client's root is no folder of this machine; name the folders by --repo")
    return unquote(parts.path)


def repositories(folders: Sequence[Path]) -> tuple[Path, ...]:
    """The roots of the work trees that these folders are in, each once, with their submodules behind them."""
    roots = dict.fromkeys(work_tree(folder) for folder in folders)
    paths = dict.fromkeys(path for root in roots for path in (root, *submodules(root, DEEPEST)))
    if len(paths) > MOST:
        raise NoRepository(
            f"{len(paths)} repositories are more than one task can be about ({MOST}); name them by --repo"
        )
    return tuple(paths)


def work_tree(folder: Path) -> Path:
    """Raises NoRepository, with the remedy."""
    if not folder.is_dir():
        raise NoRepository(f"{folder}: there is no such folder; correct --repo, `project_dirs` or the client's roots")
    try:
        if git.call(folder, "rev-parse", "--is-bare-repository", allowed=(0, 128)).text == "true":
            raise NoRepository(f"{folder}: a bare repository has no files to review; name a checkout of it")
        root = git.root_of(folder)
    except git.GitError as error:
        raise NoRepository(str(error)) from error
    if root is not None and not str(root).isprintable():
        raise NoRepository(f"{str(root)!r}: its path has characters that cannot be printed; move it")
    if root is None:
        raise NoRepository(
            f"{folder}: not a git repository, so nobody can see what changed; run `git init` there first"
        )
    return root.resolve()


def submodules(root: Path, depth: int) -> Iterator[Path]:
    """Submodules that are checked out, and theirs."""
    for path in links(root) if depth else ():
        below = root / path
        if not below.is_symlink() and (below / ".git").exists() and git.root_of(below) == below:
            yield below
            yield from submodules(below, depth - 1)


def links(root: Path) -> Iterator[str]:
    """The paths that the index has as commits of other repositories."""
    for facts, _, path in (record.partition("\t") for record in git.call(root, "ls-files", "--stage", "-z").records):
        if facts.startswith(f"{GITLINK} "):
            yield path


def register(root: Path, all_roots: Sequence[Path], largest: int) -> Registered:
    """What this repository looks like now. Raises GitError."""
    base = git.head(root) or ""
    nested = tuple(str(other.relative_to(root)) for other in all_roots if root in other.parents)
    seen = _seen(root, base, largest, nested)
    dirty = {file.path: file.state for file in seen.changed[:MOST_DIRTY]}
    dirty |= {file.path: file.state for file in seen.unshown[:MOST_DIRTY]}
    return Registered(str(root), base, seen.fingerprint, dirty, nested, seen.ignored)


def _seen(root: Path, base: str, largest: int, nested: tuple[str, ...]) -> Snapshot:
    with look(root) as our_look:
        return snapshot(our_look, base, largest, frozenset(nested))
