"""Edits put into a file's bytes: line ends, a mark in front and everything else stay. Repaired files are put in their
places whole or not at all, and never over what someone else wrote meanwhile."""

from __future__ import annotations

import difflib
import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.regex import regex

if TYPE_CHECKING:
    from agent_fox.specs.lint.values import Edit
    from agent_fox.system import files
else:
    files = late_module("agent_fox.system.files")

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
