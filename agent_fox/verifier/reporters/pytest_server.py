"""A plugin for pytest, run by the project's interpreter: one start of pytest, from which many runs are forked.

It waits where pytest has loaded itself and the installed plugins, and nothing of any project. What a run leaves, its
processes and what it wrote into memory, is ended and removed before the next one; where that cannot be done it serves
no more. AFX_SERVER says what it needs: {"way": a socket, "emptied": folders, "outside": the process namespace of
whoever started it}. It serves in a namespace of its own alone, where all other processes are those of a run.
"""

# ruff: noqa: PTH101, PTH106, PTH108, PTH115, PTH208 - names as the kernel has them

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import json
import os
import random
import re
import resource
import select
import signal
import socket
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

SETTINGS: dict[str, Any] = json.loads(os.environ.pop("AFX_SERVER", "{}"))
PR_SET_DUMPABLE = 4
MOST_BYTES = 1 << 20
SECONDS_TO_KILL = 5.0
LEFT_IN_KERNEL = ("net/tcp", "net/tcp6", "net/udp", "net/udp6", "sysvipc/shm", "sysvipc/sem", "sysvipc/msg")
"""Lists below /proc, each with one line above it, of what outlives the process that made it."""


class Prepared(BaseException):
    """Leaves pytest, which takes back what it had begun."""


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_load_initial_conftests() -> Iterator[None]:
    """Before every other plugin is told, and before a file of a project is read."""
    if SETTINGS:
        sys.excepthook = lambda *_: serve(socket.socket(fileno=SETTINGS["way"]))
        raise Prepared
    yield


def serve(way: socket.socket) -> None:
    """Run what is asked for, one after the other, until nobody asks; in each fork, run it and leave."""
    why_not = reason_not_to_serve()
    way.send(json.dumps({"why_not": why_not, "at": time.monotonic()}).encode())
    state = state_now()
    gc.collect()
    gc.freeze()
    while not why_not:
        message, numbers, _, _ = socket.recv_fds(way, MOST_BYTES, 1)
        if not message:
            break
        order, hidden = json.loads(message), hidden_module(Path.cwd())
        if hidden:
            os.close(numbers[0])
            way.send(json.dumps({"why_not": f"{hidden} is loaded already from elsewhere"}).encode())
            continue
        pid = os.fork()
        if pid == 0:
            way.close()
            become(order, numbers[0])
        os.close(numbers[0])
        end = end_of(pid, order["seconds"])
        is_clean = is_clean_now(state)
        way.send(json.dumps({**end, "is_clean": is_clean}).encode())
        why_not = "" if is_clean else "something of it is left"
    os._exit(0)


def reason_not_to_serve() -> str:
    """What a run could reach that is not its own; empty where it is safe to serve."""
    if os.readlink("/proc/self/ns/pid") == SETTINGS["outside"] or os.getppid() != 1:
        return "it has no process namespace of its own"
    if threading.active_count() > 1:
        return "a plugin has started a thread"
    set_readable(False)
    return ""


def hidden_module(tree: Path) -> str:
    """A module of the tree that may be meant, and would not be found: one of its name is there. Empty where none is."""
    for folder, folders, files in os.walk(tree):
        if folder != str(tree) and "__init__.py" in files:
            folders.clear()
            continue
        for name in (*folders, *(file[:-3] for file in files if file.endswith(".py"))):
            if name in sys.modules:
                return f"{folder}/{name}"
    return ""


def set_readable(is_readable: bool) -> None:
    """Whether processes of the same user may look into the memory and the open files of this one."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_DUMPABLE, int(is_readable), 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


def become(order: dict[str, Any], output: int) -> NoReturn:
    """Become the process that was asked for: it begins as if it had been started by itself."""
    set_readable(True)
    for stream in (1, 2):
        os.dup2(output, stream)
    os.close(output)
    sys.excepthook = sys.__excepthook__
    os.environ.update(order["environment"])
    sys.argv[1:] = order["arguments"]
    tempfile.tempdir = None
    random.seed()
    importlib.invalidate_caches()
    recorder: Any = sys.modules.get("sitecustomize")
    if hasattr(recorder, "RECORDER"):
        recorder.RECORDER = recorder.start()
        if recorder.RECORDER is not None:
            recorder.RECORDER.asked.update((recorder.IMPORTED, name, "") for name in sys.modules)
    code: object = 1
    try:
        code = pytest.console_main()
    except SystemExit as left:
        code = left.code
    leave(code)


def leave(code: object) -> NoReturn:
    """End as Python ends, but for taking apart all that was loaded, which takes as long as a short test."""
    if not isinstance(code, int | None):
        sys.stderr.write(f"{code}\n")
        code = 1
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit((code or 0) & 0xFF)


def end_of(pid: int, seconds: float) -> dict[str, Any]:
    """How it ended, with all that it had started."""
    begun = time.monotonic()
    handle = os.pidfd_open(pid)
    is_over = bool(select.select([handle], [], [], seconds)[0])
    took = time.monotonic() - begun
    os.close(handle)
    with suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    return {"code": os.waitstatus_to_exitcode(status), "seconds": took, "is_timed_out": not is_over}


def state_now() -> list[object]:
    """What a run could change for those after it: of this process, which the same user may, and of the sandbox."""
    limits = [resource.getrlimit(getattr(resource, name)) for name in dir(resource) if name.startswith("RLIMIT_")]
    order = os.getpriority(os.PRIO_PROCESS, 0), os.sched_getscheduler(0), os.sched_getaffinity(0)
    left = [lines_of(Path("/proc", name)) > 1 for name in LEFT_IN_KERNEL]
    return [limits, order, Path("/proc/self/oom_score_adj").read_text("utf-8"), left, os.listdir("/dev")]


def is_clean_now(state: list[object]) -> bool:
    """Remove what it left, and look whether anything is otherwise than before."""
    ours = {"1", str(os.getpid())}
    give_up = time.monotonic() + SECONDS_TO_KILL
    while {name for name in os.listdir("/proc") if name.isdigit()} - ours:
        if time.monotonic() > give_up:
            return False
        with suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        time.sleep(0.001)
    try:
        for folder in SETTINGS["emptied"]:
            empty(folder, mounts())
        return state_now() == state
    except OSError:
        return False


def empty(folder: str, mounted: frozenset[str]) -> bool:
    """Remove all that lies in a folder but what is shown there, and where it lies; whether nothing is left."""
    os.chmod(folder, 0o700)
    is_bare = True
    for entry in tuple(os.scandir(folder)):
        if entry.path in mounted:
            is_bare = False
        elif not entry.is_dir(follow_symlinks=False):
            os.unlink(entry.path)
        elif empty(entry.path, mounted):
            os.rmdir(entry.path)
        else:
            is_bare = False
    return is_bare


def mounts() -> frozenset[str]:
    """Where other file systems, or parts of them, are shown."""
    lines = Path("/proc/self/mountinfo").read_text("utf-8").splitlines()
    return frozenset(re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), line.split()[4]) for line in lines)


def lines_of(path: Path) -> int:
    return len(path.read_text("utf-8").splitlines()) if path.exists() else 0
