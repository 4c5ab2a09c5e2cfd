"""Repaired files put in their places: whole or not at all, and never over what someone else wrote meanwhile."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.specs.lint.edits import EditRefused

if TYPE_CHECKING:
    from agent_fox.system import files
else:
    files = late_module("agent_fox.system.files")


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
