"""The key that our marks are signed with: where it is, and that there is one. What is signed is not here."""

from __future__ import annotations

import os
import secrets
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from agent_fox.system.state_folders import default_state
from agent_fox.trackers.github.trouble import SetupTrouble

VARIABLE = "AGENT_FOX_TRACKER_KEY"
BYTES = 32
OTHERS = 0o077


def key_file(environ: Mapping[str, str]) -> Path:
    """Where the key is kept that no variable gives. Nothing is looked at."""
    return default_state(environ) / "tracker.key"


def marker_key(environ: Mapping[str, str]) -> bytes:
    """The key: of the variable, else of the file, which is made on first use. Raises SetupTrouble."""
    reason = environ.get(VARIABLE, "").strip()
    if reason:
        return _key(
            reason, f"the variable {VARIABLE}", f"set it to {BYTES * 2} hex digits (`openssl rand -hex {BYTES}`)"
        )
    path = key_file(environ)
    try:
        return _of_file(path)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else type(error).__name__
        remedy = f"make {path} readable and its folder writable, or set {VARIABLE}"
        raise SetupTrouble(f"the key that marks our issues cannot be had: {path}: {reason}", remedy) from None


def _of_file(path: Path) -> bytes:
    if not path.exists():
        _make(path)
    if path.stat().st_mode & OTHERS:
        raise SetupTrouble(f"{path}, the key that marks our issues, is open to others", f"run `chmod 600 {path}`")
    remedy = f"put the right one back, or delete {path} (issues that are not known by number are then not found)"
    return _key(path.read_text(encoding="ascii").strip(), str(path), remedy)


def _key(text: str, where: str, remedy: str) -> bytes:
    try:
        key = bytes.fromhex(text)
    except ValueError:
        key = b""
    if len(key) != BYTES:
        raise SetupTrouble(f"{where} holds no key of {BYTES} bytes in hex digits", remedy)
    return key


def _make(path: Path) -> None:
    """A new key, whole or not at all. Where two processes make one at once, the first one counts for both."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".", suffix=".tmp")
    try:
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(f"{secrets.token_hex(BYTES)}\n")
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        Path(temporary).unlink()
