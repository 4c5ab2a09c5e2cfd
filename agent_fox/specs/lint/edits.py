"""A copy of a repository's places of specs, in which repairs are tried; and edits put into a file's bytes: line ends, a
mark in front and everything else stay. Repaired files are put in their places whole or not at all, and never over what
someone else wrote meanwhile."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.regex import regex
from agent_fox.specs.files import MAX_FILE_BYTES

if TYPE_CHECKING:
    from agent_fox.specs.lint.values import Edit
    from agent_fox.system import files
else:
    files = late_module("agent_fox.system.files")

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
    read = [Path(os.path.realpath(place)) for place in places]
    seen = set(read)

    def is_read(folder: Path) -> bool:
        """Not where a link leads outside, or to what is read under its own name."""
        real = Path(os.path.realpath(folder))
        is_again = folder.is_symlink() and any(real.is_relative_to(at) or at.is_relative_to(real) for at in read)
        may_hold_specs = not folder.name.startswith(".") and folder.name not in _NO_SPECS
        if not may_hold_specs or is_again or not real.is_relative_to(root) or real in seen:
            return False
        seen.add(real)
        return True

    for place in places:
        if place.is_file():
            yield place
        for folder, folders, names in os.walk(place, followlinks=True):
            folders[:] = [name for name in sorted(folders) if is_read(Path(folder, name))]
            yield from (Path(folder, name) for name in sorted(names))


def _content(path: Path, root: Path) -> bytes | None:
    try:
        real = path.resolve(strict=True)
        if not real.is_relative_to(root) or not real.is_file() or real.stat().st_size > MAX_FILE_BYTES:
            return None
        return real.read_bytes()
    except (OSError, RuntimeError):
        return None


_BOM = "\ufeff"
_END = regex(r"(\r\n|\r|\n)")


class EditRefused(ValueError):
    """A file is not as the edit has it. The message says which, and what to do."""


def edited(content: bytes, edits: Iterable[Edit]) -> bytes:
    """The bytes with each line changed that an edit names. Raises EditRefused where one is not as it was read."""
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as wrong:
        where = next((edit.path for edit in edits), "a file")
        raise EditRefused(f"{where} is not UTF-8; save the file as UTF-8") from wrong
    mark = _BOM if text.startswith(_BOM) else ""
    lines = _END.split(text.removeprefix(_BOM))  # each line with its end behind it; the last has none
    usual = lines[1] if len(lines) > 1 else "\n"
    for edit in edits:
        place = 2 * (edit.line - 1)
        if not 0 <= place < len(lines) or lines[place] != edit.old:
            raise EditRefused(f"{edit.path}:{edit.line} is not as it was read; run the command again")
        lines[place] = (edit.new or "").replace("\n", usual)
        if edit.new is None and place + 1 < len(lines):
            lines[place + 1] = ""
    return (mark + "".join(lines)).encode("utf-8")


def difference(path: str, before: bytes, after: bytes) -> str:
    """What would change, as a unified diff that `git apply` and `patch -p1` take."""
    old, new = (list(StringIO(content.decode("utf-8"))) for content in (before, after))
    name = f"{path}\t" if " " in path else path  # patch takes the name to end at a space otherwise
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def write_repaired(root: Path, path: str, before: bytes, after: bytes) -> None:
    """Put `after` in the place of `before`, with the file's own mode and owner. Raises EditRefused where that can't be
    done.

    A link inside the repository is kept, and its target is written; one that leads outside is never followed.
    """
    target = _target(root, path)
    try:
        was = target.stat()
        with files.replacing(target, stat.S_IMODE(was.st_mode)) as file:
            file.write(after)
            with suppress(PermissionError):  # only the superuser gives files away, and repairs other people's too
                os.chown(file.fileno(), was.st_uid, was.st_gid)
            if target.read_bytes() != before:
                raise EditRefused(f"{path} was changed meanwhile, and is left as it is; run the command again")
    except OSError as refused:
        raise EditRefused(f"{path} can't be written ({refused.strerror}); check its permissions") from refused


def _target(root: Path, path: str) -> Path:
    try:
        target = (root / path).resolve(strict=True)
    except (OSError, RuntimeError) as refused:
        raise EditRefused(f"{path} is not there any more; run the command again") from refused
    if not target.is_relative_to(root.resolve()):
        raise EditRefused(f"{path} leads outside of the repository, and is left as it is; repair it there")
    if not os.access(target, os.W_OK):
        raise EditRefused(f"{path} can't be written; check its permissions")
    return target
