"""Where the passphrase of a key comes from: the terminal, or a file; never an argument or a variable."""

from __future__ import annotations

import getpass
import os
from pathlib import Path

from agent_fox.cli.errors import UserError

LONGEST = 4096
SHORTEST = 8


def asked(path: Path, file: Path | None) -> str:
    """The passphrase of a key that is there. Raises UserError."""
    return _in_file(file) if file else _typed(f"passphrase of {path}: ", path)


def chosen(path: Path, file: Path | None) -> str:
    """The passphrase for a new key, typed twice. Raises UserError."""
    if file:
        return _long_enough(_in_file(file))
    first = _long_enough(_typed(f"new passphrase for {path}: ", path))
    if _typed("the same again: ", path) != first:
        raise UserError("the two passphrases differ; nothing was made, try again")
    return first


def _long_enough(passphrase: str) -> str:
    if len(passphrase) < SHORTEST:
        raise UserError(f"a passphrase has at least {SHORTEST} characters; nothing was made, try again")
    return passphrase


def _in_file(file: Path) -> str:
    try:
        with file.open(encoding="utf-8") as opened:
            return opened.read(LONGEST).splitlines()[0]
    except (OSError, UnicodeDecodeError, IndexError) as error:
        raise UserError(f"{file}: no passphrase can be read there ({error}); write it in one line") from error


def _typed(prompt: str, path: Path) -> str:
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError as error:
        raise UserError(
            f"{path}: there is no terminal to ask for its passphrase; use one, or --passphrase-file"
        ) from error
    return getpass.getpass(prompt)
