"""Where git keeps what decides about a checkout, and what of it is watched. Git itself is never asked.

Watched are which commit is checked out, what git runs and what it overlooks; of the index what is staged and flagged,
not how fresh it is.
"""

from __future__ import annotations

from pathlib import Path

from agent_fox.core.values import dataclass
from agent_fox.verifier.source.files import Seen, look
from agent_fox.verifier.source.git_index import GitIndex, IndexUnreadable, read_index

GIT = ".git"

_OWN = ("HEAD", "config.worktree")
_COMMON = ("config", "packed-refs", "objects/info/alternates")
_COMMON_FOLDERS = ("hooks", "info")
_REFS = ("refs", "reftable")

LONGEST_POINTER = 4096  # bytes


@dataclass(frozen=True, slots=True)
class Watched:
    """Files and folders of a repository by the name that they are told under, each with the place where it lies."""

    files: tuple[tuple[str, str], ...] = ()
    folders: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Staged:
    """An index as it was read. `said` is None where it is none that can be understood."""

    raw: Seen
    said: GitIndex | None

    def as_seen(self) -> Seen:
        return Seen(None, 0, self.said.digest) if self.said else self.raw


def inside(label: str, place: str) -> Watched:
    """What is watched in a repository's own folder at `place`. The label ends without a slash, like the place."""
    return Watched(_within(label, place, _OWN + _COMMON), _within(label, place, _COMMON_FOLDERS + _REFS))


def beside(root: Path) -> Watched:
    """The same where `.git` is a file that leads elsewhere (a linked worktree, a submodule); else nothing.

    The branches of a linked worktree's repository are moved by its other worktrees too, and are not watched.
    """
    own = folder_of(root)
    if own is None or own == root / GIT:
        return Watched()
    pointer = _pointer(own / "commondir", "")
    if pointer is None:
        return inside(GIT, str(own))
    common = str(own / pointer)
    files = _within(GIT, str(own), _OWN) + _within(GIT, common, ("config", "objects/info/alternates"))
    return Watched(files, _within(GIT, common, _COMMON_FOLDERS))


def _within(label: str, place: str, names: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    return tuple((f"{label}/{name}", f"{place}/{name}") for name in names)


def folder_of(root: Path) -> Path | None:
    """The repository's own folder of the checkout at `root`; None where there is none."""
    own = root / GIT
    if own.is_symlink():
        return None
    if own.is_dir():
        return own
    pointer = _pointer(own, "gitdir:")
    led = root / pointer if pointer else None
    return led if led is not None and (led / "HEAD").is_file() else None


def _pointer(file: Path, mark: str) -> str | None:
    try:
        with file.open("rb") as opened:
            text = opened.read(LONGEST_POINTER).decode("utf-8", "surrogateescape").strip()
    except OSError:
        return None
    return text.removeprefix(mark).strip() if text.startswith(mark) and "\0" not in text else None


def staged(root: Path, earlier: Staged | None) -> Staged | None:
    """The index of the checkout at `root`; None where there is none. What kept its stamp is not read again."""
    folder = folder_of(root)
    if folder is None:
        return None
    file = folder / "index"
    raw = look(str(file), known=earlier.raw if earlier else None)
    if raw is None:
        return None
    if earlier is not None and raw.content == earlier.raw.content:
        return Staged(raw, earlier.said)
    try:
        return Staged(raw, read_index(file))
    except (IndexUnreadable, OSError):
        return Staged(raw, None)
