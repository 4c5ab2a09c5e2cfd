"""Where the documents of a change or a capability lie. What they say is not here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.specs.document import is_there
from agent_fox.specs.files import error, place_of

if TYPE_CHECKING:
    from agent_fox.core.spec import Problem

OPENSPEC_FOLDER, CHANGES, SPECS, ARCHIVE = "openspec", "changes", "specs", "archive"
SPEC_FILE = "spec.md"
_TOP_FILES = (SPEC_FILE, "specs.md")
_OF_A_CHANGE = ("proposal.md", "tasks.md", SPECS, "specs.md")
_DEEPEST = 6
_LONGEST_NAME = 255


def is_capability(folder: Path) -> bool:
    """Whether it says what is there. Its place decides before its documents do."""
    above = folder.parts[:-1]
    if OPENSPEC_FOLDER in above:
        below = above[len(above) - 1 - above[::-1].index(OPENSPEC_FOLDER) :]
        return SPECS in below and CHANGES not in below[: below.index(SPECS)]
    return not any(is_there(folder / name) for name in _OF_A_CHANGE) and folder.parent.name != CHANGES


def capability_name(folder: Path) -> str:
    """The name of a capability's folder; one in a folder that groups capabilities has that before it."""
    above = folder.parts[:-1]
    if OPENSPEC_FOLDER not in above or SPECS not in above:
        return folder.name
    start = len(above) - above[::-1].index(SPECS)
    return ".".join((*above[start:], folder.name))


def delta_files(folder: Path, root: Path) -> tuple[dict[str, str], list[Problem]]:
    """The files that may hold a change's deltas, by the capability that each is about, in the capabilities' order:
    `specs/platform/auth/spec.md` is about `platform/auth`, and so is `specs/platform/auth.md` where that is not there.

    A name is relative to the folder, such as `specs/auth/spec.md`. What can't be listed is an error.
    """
    problems: list[Problem] = []
    names = [path.relative_to(folder) for path in _markdown_below(folder / SPECS, root, problems, 1)]
    files: dict[str, str] = {}
    for name in sorted(names, key=lambda name: name.name != SPEC_FILE):
        inner = name.parts[1:]
        parts = inner[:-1] if name.name == SPEC_FILE else (*inner[:-1], name.name.removesuffix(".md"))
        files.setdefault("/".join(parts) or folder.name, name.as_posix())
    for top in _TOP_FILES:
        if is_there(folder / top):
            files.setdefault(folder.name, top)
    return dict(sorted(files.items())), problems


def baseline_file(folder: Path, capability: str) -> Path | None:
    """What says what is there of a capability, for a change that lies next to it."""
    if folder.parent.name != CHANGES:
        return None
    path = folder.parent.parent / SPECS / capability / SPEC_FILE
    return path if is_there(path) else None


def is_other_change(folder: Path, name: str) -> bool:
    """Whether a name is that of another change that is not archived."""
    if folder.parent.name != CHANGES or name in (folder.name, ARCHIVE) or name.startswith("."):
        return False
    return len(name.encode()) <= _LONGEST_NAME and _is_folder(folder.parent / name)


def _markdown_below(folder: Path, root: Path, problems: list[Problem], depth: int) -> Iterator[Path]:
    """Markdown files, without going through links to folders: those may lead round in a circle."""
    if not _is_folder(folder) or depth > _DEEPEST:
        return
    try:
        paths = [(path, path.is_dir()) for path in sorted(folder.iterdir())]
    except OSError as refused:
        what = f"this folder can't be read ({refused.strerror}); check its permissions"
        problems.append(error(place_of(folder, root), what))
        return
    for path, is_folder in paths:
        if is_folder and path.name != SPEC_FILE:
            yield from () if path.is_symlink() else _markdown_below(path, root, problems, depth + 1)
        elif path.suffix.lower() == ".md" and not path.name.startswith("."):
            yield path


def _is_folder(path: Path) -> bool:
    """Whether a folder is there; False where nobody can look."""
    try:
        return path.is_dir()
    except OSError:
        return False
