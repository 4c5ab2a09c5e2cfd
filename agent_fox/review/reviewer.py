"""The reviewer as a program: found once, run in a folder of its own, bounded, and killed with all it started.

What it is told and what its answer means is not here.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import threading
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from agent_fox.core.values import dataclass
from agent_fox.system.files import read_regular
from agent_fox.system.processes import Command, ProcessEnd, started
from agent_fox.system.redaction.masking import redact

OUTPUT_LIMIT = 256 * 1024
"""Bytes of its output; a longer answer does not count."""

GRACE = 1.0
LONGEST_COMPLAINT = 300

INHERITED = ("HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TMPDIR", "SHELL", "TERM", "SSL_CERT_FILE", "SSL_CERT_DIR")
INHERITED_PREFIX = "XDG_"

_FEED = """\
import os, sys
prompt = os.open(sys.argv[1], os.O_RDONLY)
os.unlink(sys.argv[1])
os.dup2(prompt, 0)
os.close(prompt)
try:
    os.execve(sys.argv[2], sys.argv[2:], dict(os.environ))
except OSError as error:
    sys.exit(f"cannot be started: {error.strerror}")
"""
"""Gives the program the prompt as standard input; the file is gone before the program begins."""


class ReviewerTrouble(Exception):
    """A reviewer that cannot be used. Its text says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Reviewer:
    """A program with its arguments, by its absolute path. `seen` tells it from another that takes its place."""

    argv: tuple[str, ...]
    seen: tuple[int, ...]
    environment: Mapping[str, str]
    seconds: float


@dataclass(frozen=True, slots=True)
class Printed:
    """The reviewer ended as it should, and this is what it printed."""

    text: str


@dataclass(frozen=True, slots=True)
class Silent:
    """The reviewer could not speak: why, and what a person can do."""

    why: str
    remedy: str


def resolved(
    argv: Sequence[str],
    environ: Mapping[str, str],
    workspaces: Iterable[Path],
    *,
    seconds: float,
    inherit: Sequence[str] = (),
) -> Reviewer:
    """The program by its absolute path, as it is found now. Raises ReviewerTrouble.

    Looked for in PATH without folders of a workspace; a program inside of a workspace has to be named absolutely.
    """
    folders = tuple(folder.resolve() for folder in workspaces)
    path = safe_path(environ.get("PATH", os.defpath), folders)
    name = argv[0] if argv else ""
    if os.sep in name and not Path(name).is_absolute():
        raise ReviewerTrouble(f"reviewer {name!r}: name it absolutely, or by a name that is found on PATH")
    path_found = shutil.which(name, path=path) if name else None
    if path_found is None:
        raise ReviewerTrouble(
            f"reviewer {name!r}: not found on PATH outside of the workspace; install it, or name it absolutely"
        )
    if not Path(name).is_absolute() and is_within(Path(path_found), folders):
        raise ReviewerTrouble(
            f"reviewer {path_found}: lies in the workspace that it is to review; name it absolutely if you mean it"
        )
    kept = {key: environ[key] for key in environ if key in (*INHERITED, *inherit) or key.startswith(INHERITED_PREFIX)}
    program = str(Path(path_found).absolute())
    return Reviewer((program, *argv[1:]), _identity(program), kept | {"PATH": path}, seconds)


def safe_path(path: str, workspaces: Sequence[Path]) -> str:
    """PATH without relative folders and without those of a workspace."""
    folders = [entry for entry in path.split(os.pathsep) if entry and Path(entry).is_absolute()]
    return os.pathsep.join(folder for folder in folders if not is_within(Path(folder), workspaces))


def is_within(path: Path, folders: Sequence[Path]) -> bool:
    places = (path.absolute(), path.resolve())
    return any(place == folder or folder in place.parents for place in places for folder in folders)


def ask(reviewer: Reviewer, prompt: str, state: Path, stop: threading.Event) -> Printed | Silent:
    """Run it once on the prompt, in a fresh folder below `state`; ended when `stop` is set."""
    if _identity(reviewer.argv[0]) != reviewer.seen:
        return Silent(
            f"{reviewer.argv[0]} is not the program any more that was found when the server was started",
            "restart the server (in the client: reconnect it) if it was updated; else find out who replaced it",
        )
    state.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(prefix="reviewer-", dir=state, ignore_cleanup_errors=True) as made:
        return _asked(reviewer, prompt, Path(made), stop)


def _asked(reviewer: Reviewer, prompt: str, folder: Path, stop: threading.Event) -> Printed | Silent:
    room, ours = folder / "room", folder / "process"
    room.mkdir()
    given = folder / "prompt"
    given.write_text(prompt, encoding="utf-8", errors="replace")
    argv = (sys.executable, "-I", "-S", "-c", _FEED, str(given), *reviewer.argv)
    command = Command(argv, reviewer.environment, room, ours, reviewer.seconds, OUTPUT_LIMIT, GRACE)
    with started(command) as running:
        over = threading.Event()
        watch = threading.Thread(target=_stop_with, args=(running.stop, stop, over))
        watch.start()
        try:
            running.go()
            end = running.wait()
        finally:
            over.set()
            watch.join()
    return _what_came(reviewer, end, ours)


def _stop_with(end: object, stop: threading.Event, over: threading.Event) -> None:
    assert callable(end)
    while not over.wait(0.05):
        if stop.is_set():
            end()
            return


def _what_came(reviewer: Reviewer, end: ProcessEnd | None, folder: Path) -> Printed | Silent:
    program = Path(reviewer.argv[0]).name
    again = f"run it by hand with a prompt on its standard input: {' '.join(reviewer.argv)}"
    if end is None or end.stopped:
        return Silent("the review was cancelled", "call todoCompleteAndVerify again")
    if end.timed_out:
        remedy = "give it more time by `timeout` in the review settings, split the task, or choose a quicker reviewer"
        return Silent(f"the reviewer {program} did not answer within {reviewer.seconds:.0f} seconds", remedy)
    file = folder / "stderr"
    text = redact((read_regular(file, OUTPUT_LIMIT) or b"").decode("utf-8", "replace")).strip()
    complaint = f": {' '.join(text.split())[-LONGEST_COMPLAINT:]}" if text else ""
    if end.start_error or end.write_error:
        return Silent(f"the reviewer {program} could not be run: {end.start_error or end.write_error}", again)
    if end.exit_status != 0:
        how = f"exit status {end.exit_status}" if end.signal is None else f"signal {end.signal}"
        return Silent(f"the reviewer {program} failed with {how}{complaint}", again)
    if end.stdout_left_out:
        return Silent(f"the reviewer {program} printed more than {OUTPUT_LIMIT:,} bytes", again)
    return Printed((read_regular(folder / "stdout", OUTPUT_LIMIT) or b"").decode("utf-8", "replace"))


def _identity(program: str) -> tuple[int, ...]:
    """What changes when another file takes the program's place; empty where there is none."""
    try:
        seen = Path(program).stat()
    except OSError:
        return ()
    return (seen.st_dev, seen.st_ino, seen.st_size, seen.st_mtime_ns)
