"""Calls to the world outside that fail where they are made, in real processes of the program.

A `sitecustomize` on PYTHONPATH listens to Python's own audit events (files, folders, locks, programs, SQLite) in the
program and in the sessions that it starts, and knows the line of the package that asked. It notes each such line, or
fails the one that is named: an error of the system, or SQLite's own.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from agent_fox.testing.worlds import SOURCE, environment, program

HOOK = '''\
import errno, os, sqlite3, sys

PACKAGE = {package!r}
NOTED, WANTED, CODE, ONCE = (os.environ.get(f"FAULTY_{{name}}", "") for name in ("NOTED", "SITE", "CODE", "ONCE"))
EVENTS = frozenset({events!r})
state = {{"seen": set(), "busy": False, "done": False}}


def site():
    """The innermost line of the program, but for the place that starts programs for all others; none in an import."""
    frame = sys._getframe(2)
    while frame is not None:
        name = frame.f_code.co_filename
        if name.startswith("<frozen importlib"):
            return None
        if name.startswith(PACKAGE) and not name.endswith("/system/programs.py"):
            return f"{{name[len(PACKAGE) + 1:]}}:{{frame.f_lineno}}"
        frame = frame.f_back
    return None


def hook(event, arguments):
    if event not in EVENTS or state["busy"] or (event == "open" and isinstance(arguments[0], int)):
        return  # an open file that gets another face is no call to the world
    state["busy"] = True
    try:
        where = site()
        if where is None:
            return
        where = f"{{where}} {{event}}"
        if NOTED and where not in state["seen"]:
            state["seen"].add(where)
            with open(NOTED, "a") as file:
                file.write(where + "\\\\n")
        if where == WANTED and not state["done"]:
            if ONCE:
                try:
                    os.close(os.open(ONCE, os.O_CREAT | os.O_EXCL))  # once in all processes
                except FileExistsError:
                    state["done"] = True
                    return
            if event == "sqlite3.connect":
                error = sqlite3.OperationalError("unable to open database file")
                error.sqlite_errorcode, error.sqlite_errorname = sqlite3.SQLITE_CANTOPEN, "SQLITE_CANTOPEN"
                raise error
            number = getattr(errno, CODE)
            raise OSError(number, os.strerror(number))
    finally:
        state["busy"] = False


sys.addaudithook(hook)
'''
EVENTS = (
    *("open", "os.rename", "os.mkdir", "os.link", "os.symlink", "os.remove", "os.rmdir", "os.listdir", "os.scandir"),
    *(
        "os.chmod",
        "os.truncate",
        "os.utime",
        "shutil.copyfile",
        "shutil.rmtree",
        "tempfile.mkstemp",
        "tempfile.mkdtemp",
    ),
    *("subprocess.Popen", "os.posix_spawn", "os.fork", "sqlite3.connect", "fcntl.flock", "fcntl.lockf", "os.kill"),
    *("os.killpg", "socket.connect", "socket.bind"),
)


def run(root: Path, *arguments: str, **words: str) -> subprocess.CompletedProcess[str]:
    """The program, listened to. `noted`: the file for the lines. `site`: the one that fails, with the error `code`
    (`ENOSPC`); `once`: a file that is made at the first failure, after which the call works.
    """
    folder = root.parent / "hook"
    folder.mkdir(exist_ok=True)
    text = HOOK.format(package=str(SOURCE / "agent_fox"), events=EVENTS)
    (folder / "sitecustomize.py").write_text(text.replace("\\\\n", "\\n"), "utf-8")
    told = {f"FAULTY_{name.upper()}": value for name, value in words.items()}
    told["AGENT_FOX__INFRASTRUCTURE__PATIENCE"] = "1"  # what stays in the way is waited for a second, and no four hours
    around = environment(PYTHONPATH=f"{folder}:{SOURCE}", **told)
    return subprocess.run(
        program(*arguments), cwd=root, env=around, capture_output=True, text=True, timeout=120, check=False
    )


def sites(noted: Path) -> list[str]:
    """`engine/running/run.py:120 open`, each once, in order."""
    return sorted(set(noted.read_text("utf-8").splitlines()))
