"""Temporary folders that tell by their names whose they are: what a killed process left is removed by a later one."""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from agent_fox.core.late import late_module
from agent_fox.core.regex import regex
from agent_fox.system.files import remove_tree

if TYPE_CHECKING:
    import tempfile

    from agent_fox.system import processes
else:
    processes = late_module("agent_fox.system.processes")
    tempfile = late_module("tempfile")

_NAME = regex(r"agent-fox-[a-z]+-(?P<pid>\d+)-(?P<start>[0-9a-f]{12})-(?P<world>[0-9a-f]+)-.+")
UNKNOWN = "0"
_SWEPT: set[str] = set()


@contextmanager
def own_folder(kind: str) -> Iterator[Path]:
    """A temporary folder, removed when the block is left. `kind`: what for, in small letters."""
    with made_folder(kind) as made:
        try:
            yield Path(made)
        finally:
            remove_tree(Path(made), ignore_errors=True)


def made_folder(kind: str) -> tempfile.TemporaryDirectory[str]:
    """The same for whoever keeps it longer than a block: it goes with the object. A process's first one sweeps."""
    if (place := _place()) not in _SWEPT:
        _SWEPT.add(place)
        sweep()
    pid = os.getpid()
    prefix = f"agent-fox-{kind}-{pid}-{_digest(processes.start_time(pid))}-{_world()}-"
    return tempfile.TemporaryDirectory(prefix=prefix, ignore_cleanup_errors=True)


def sweep() -> None:
    """Remove our folders whose process is no more: another that has its number now began at another time. What nobody
    can tell of stays.
    """
    for path in Path(_place()).glob("agent-fox-*"):
        named = _NAME.fullmatch(path.name)
        with suppress(OSError):
            is_ours = named is not None and named["world"] == _world() != UNKNOWN and path.lstat().st_uid == os.getuid()
            if named and is_ours and _digest(processes.start_time(int(named["pid"]))) != named["start"]:
                remove_tree(path)


def _place() -> str:
    """Where temporary files lie. Raises OSError, with ENOSPC where nothing can be written: the library calls it a file
    that is not there.
    """
    try:
        return tempfile.gettempdir()
    except FileNotFoundError as error:
        missing = "no place for temporary files can be written to, nor is there one in TMPDIR"
        raise OSError(errno.ENOSPC, missing) from error


def _world() -> str:
    """Which numbering of processes ours belongs to: a container that has the same folder sees others, or none."""
    try:
        return f"{Path('/proc/self/ns/pid').stat().st_ino:x}"
    except OSError:
        return UNKNOWN


def _digest(start: str | None) -> str:
    return hashlib.sha256((start or "").encode()).hexdigest()[:12]
