"""A copy of a repository's places of specs, in which repairs are tried; and edits put into a file's bytes: line ends, a
mark in front and everything else stay. Repaired files are put in their places whole or not at all, and never over what
someone else wrote meanwhile."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
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


_BOM = "\ufeff"
_END = regex(r"\r\n|\r|\n")


class EditRefused(ValueError):
    """A file is not as the edit has it. The message says which, and what to do."""


def edited(content: bytes, edits: Iterable[Edit]) -> bytes:
    """The bytes with each line changed that an edit names. Raises EditRefused where one is not as it was read."""
    text = _decoded(content, edits)
    mark = _BOM if text.startswith(_BOM) else ""
    lines = _lines(text.removeprefix(_BOM))
    usual = next((end for _, end in lines if end), "\n")
    for edit in edits:
        if not 0 < edit.line <= len(lines) or lines[edit.line - 1][0] != edit.old:
            raise EditRefused(f"{edit.path}:{edit.line} is not as it was read; run the command again")
        lines[edit.line - 1] = _new(edit, lines[edit.line - 1][1], usual)
    return (mark + "".join(text + end for text, end in lines)).encode("utf-8")


def _decoded(content: bytes, edits: Iterable[Edit]) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as wrong:
        where = next((edit.path for edit in edits), "a file")
        raise EditRefused(f"{where} is not UTF-8; save the file as UTF-8") from wrong


def _lines(text: str) -> list[tuple[str, str]]:
    """Each line with its end, as they stand. The last one has none."""
    lines, begin = [], 0
    for end in _END.finditer(text):
        lines.append((text[begin : end.start()], end[0]))
        begin = end.end()
    return [*lines, (text[begin:], "")]


def _new(edit: Edit, end: str, usual: str) -> tuple[str, str]:
    if edit.new is None:
        return "", ""
    return edit.new.replace("\n", usual), end


def difference(path: str, before: bytes, after: bytes) -> str:
    """What would change, as a unified diff that `git apply` and `patch -p1` take."""
    old, new = (_kept(content) for content in (before, after))
    name = f"{path}\t" if " " in path else path  # patch takes the name to end at a space otherwise
    lines = difflib.unified_diff(old, new, f"a/{name}", f"b/{name}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _kept(content: bytes) -> list[str]:
    """Lines that end with `\\n` alone, as diff has them."""
    parts = content.decode("utf-8").split("\n")
    return [f"{part}\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


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
