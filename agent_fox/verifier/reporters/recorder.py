"""`sitecustomize` of one run: notes which functions of a project each Python process executes, what it opens, lists,
looks for and imports, and what it does that cannot be seen from here.

It lies, under that name, in a folder that PYTHONPATH names first, beside `recorder.json` ({"root": the project,
"whenever": also where each call costs, "trims": whether pytest's end may be cut short}). Each
process writes `seen-PID.json` there when it ends. In pytest a plugin tells which test runs; other processes begin with
what PYTEST_CURRENT_TEST says. It runs under the project's interpreter: the standard library alone is used.
"""

# ruff: noqa: PTH100, PTH105, PTH109, PTH118, PTH119, PTH120, PTH123 - it starts in every process, and pathlib costs as much

from __future__ import annotations

import atexit
import json
import os
import sys
import threading
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import CodeType, FrameType

FOLDER = os.path.dirname(os.path.abspath(__file__))
OUTSIDE = ""
"""What is executed outside of any test, such as imports."""


class Recorder:
    """What was seen of each test: {test: {"executed": [[file, first line]], "opened": [[file, file that asked]],
    "asked": [[LISTED | LOOKED | READ | IMPORTED | CHILD | WATCHED | UNSEEN, what, file that asked]]}}. Tests are named
    as pytest does; COLLECTING and a file name what is done to find its tests."""

    def __init__(self, root: str) -> None:
        self.root = root.rstrip(os.sep) + os.sep
        self.lent = tuple(place for place in INSTALLED if place.startswith(self.root) and place != self.root)
        self.cwd = os.getcwd()
        self.test = OUTSIDE
        self.seen: dict[str, tuple[set[CodeType], set[tuple[str, str]], set[tuple[str, str, str]]]] = {}
        self.is_watching, self.rests, self.has_begun = MONITORING is not None, False, False
        self.module: object = None
        self.children, self.trims = 0, True
        self._note(os.environ.get("PYTEST_CURRENT_TEST", OUTSIDE).rpartition(" (")[0])

    def begin(self, test: str) -> None:
        """From now on it is this test, or none."""
        self._note(test)
        if MONITORING is not None:
            MONITORING.restart_events()
        elif not self.rests:
            self.watch()

    def _note(self, test: str) -> None:
        self.test = test
        self.codes, self.files, self.asked = self.seen.setdefault(test, (set(), set(), set()))

    def watch(self) -> None:
        """Note every call from now on, in this thread and those to come."""
        if MONITORING is None:
            self.is_watching = True
            sys.setprofile(self.called)
            threading.setprofile(self.called)

    def rest(self) -> None:
        """Nothing of the project runs for now. Where each call is noted, that saves half of the start of pytest."""
        if MONITORING is None:
            self.is_watching, self.module = False, None
            sys.setprofile(None)

    def started(self, code: CodeType, _offset: int) -> object:
        self.codes.add(code)
        disable: object = MONITORING.DISABLE
        return disable

    def called(self, frame: FrameType, event: str, _arg: object) -> None:
        if event == "call":
            self.codes.add(frame.f_code)
        elif event == "return" and self.module is not None and frame.f_code is self.module:
            self.rest()  # to ask a frame for its code is audited as well, and costs more than all the rest

    def audit(self, event: str, given: tuple[Any, ...]) -> None:
        if event == ATTRIBUTE:  # first, for `called` asks each frame for its code
            if given[1] == "__code__":
                self.watched(file_of(sys._getframe().f_back))
        elif event in OPENS:
            path = path_of(given[0])
            if not path.startswith(self.lent) and self.place(path):
                self.files.add((path, self.opener()))
                if path.endswith(".py") and not file_of(sys._getframe().f_back).startswith(IMPORTING):
                    self.ask(READ, path)
        elif event in NOTED:
            NOTED[event](self, given)
        elif event in BEGINNINGS and not (self.is_watching and self.has_begun) and self.is_ours(given[0]):
            self.has_begun = True
            if not self.is_watching:
                self.module = given[0] if self.rests else None
                self.watch()

    def ask(self, kind: str, what: str) -> None:
        """Note it where code of the project asked for it, or a test runs; what a runner does for itself is not."""
        opener = self.opener()
        if opener or self.test:
            self.asked.add((kind, what, opener))

    def listed(self, given: tuple[Any, ...]) -> None:
        """Import machinery lists folders to find modules, which their names tell better."""
        if sys._getframe(2).f_code.co_filename.startswith(IMPORTING):
            return
        path = path_of(given[0] if given[0] is not None else ".")
        if not path:
            self.ask(UNSEEN, "lists a folder by its open file")
        elif self.place(os.path.join(path, "x")):
            self.ask(LISTED, path)

    def imported(self, given: tuple[Any, ...]) -> None:
        name, file = given[0], given[1]
        self.asked.add((IMPORTED, name, self.opener()))  # of the runner too: a file of that name would take its place
        if name.startswith("multiprocessing.popen_"):
            self.ask(UNSEEN, "starts processes by multiprocessing")
        if file and not file.startswith(STANDARD) and name.partition(".")[0] not in QUIET:
            self.ask(UNSEEN, f"runs native code of {name.partition('.')[0]}, which may read files")

    def started_process(self, given: tuple[Any, ...]) -> None:
        """Python of the same kind, with this recorder on its path, tells for itself what it does."""
        executable, words, _, variables = given
        name = os.fsdecode(executable or words[0])
        path = (os.environ if variables is None else variables).get("PYTHONPATH", "")
        is_python = os.path.realpath(name) == os.path.realpath(sys.executable)
        is_seen = is_python and FOLDER in os.fsdecode(path).split(os.pathsep) and not DEAF.intersection(words)
        self.children += 1
        self.ask(
            *((CHILD, f"{os.getpid()}.{self.children}") if is_seen else (UNSEEN, f"starts {os.path.basename(name)}"))
        )

    def unseen(self, what: str) -> None:
        self.ask(UNSEEN, what)

    def looked(self, path: object) -> None:
        """Whether there is such a file, or what it is like, was asked by code of the project."""
        place = path_of(path) if self.has_begun else ""
        if place and self.place(place) and (opener := self.opener()):
            self.asked.add((LOOKED, place, opener))

    def watched(self, watcher: str) -> None:
        """Code of the project looks at code, or at each line that runs, and not at what it comes to."""
        if self.place(watcher):
            self.asked.add((WATCHED, "", watcher))

    def is_ours(self, code: object) -> bool:
        """Whether a module or script of the project begins. Before one does, none of its functions is called."""
        file = str(getattr(code, "co_filename", code))
        return not file.startswith(self.lent) and bool(self.place(file))

    def opener(self) -> str:
        """The file of the project that opened it; empty for other code, of which the start of a runner is full."""
        frame: FrameType | None = sys._getframe() if self.has_begun else None
        while frame is not None:
            file = frame.f_code.co_filename
            if file.startswith(self.root) and file != __file__ and not file.startswith(self.lent):
                return file
            frame = frame.f_back
        return ""

    def document(self) -> dict[str, dict[str, list[Any]]]:
        return {
            test: {
                "executed": sorted(
                    {(place, first_line(code)) for code in tuple(codes) if (place := self.place(code.co_filename))}
                ),
                "opened": sorted({(self.place(file), self.place(opener)) for file, opener in tuple(files)}),
                "asked": sorted(
                    {(kind, self.shown(kind, what), self.place(by)) for kind, what, by in tuple(asked)}
                    | {(UNSEEN, f"runs {file}, outside of the tree", "") for file in self.elsewhere(codes)}
                ),
            }
            for test, (codes, files, asked) in tuple(self.seen.items())
        }

    def elsewhere(self, codes: set[CodeType]) -> set[str]:
        """Files of code that belong neither to the project nor to an installation, such as another checkout of it."""
        files = {code.co_filename for code in tuple(codes)}
        return {
            file
            for file in files
            if file.startswith(os.sep) and not self.place(file) and not file.startswith(INSTALLED)
        }

    def shown(self, kind: str, what: str) -> str:
        return self.place(what) if kind in (LISTED, LOOKED, READ) else what

    def place(self, file: str) -> str:
        """The path below the project; empty elsewhere."""
        if file.startswith("<"):
            return ""
        path = os.path.normpath(os.path.join(self.cwd, file))
        return path[len(self.root) :].replace(os.sep, "/") if path.startswith(self.root) else ""

    def write(self) -> None:
        sys.setprofile(None)
        part = os.path.join(FOLDER, f"part-{os.getpid()}")
        with open(part, "w", encoding="utf-8") as file:
            json.dump(self.document(), file)
        os.replace(part, os.path.join(FOLDER, f"seen-{os.getpid()}.json"))


def file_of(frame: FrameType | None) -> str:
    """Empty where the interpreter itself asks, as for the script that it begins with."""
    return frame.f_code.co_filename if frame is not None else ""


def path_of(path: Any) -> str:  # noqa: ANN401 - whatever was passed to be opened
    """The whole path, by where the process stands now; empty for an open file's number."""
    try:
        text = os.fsdecode(path)
        return text if text.startswith(os.sep) else os.path.join(os.getcwd(), text)
    except (TypeError, OSError):
        return ""


def watch_looks(recorder: Recorder) -> None:
    """That a file is looked for is not audited."""
    for name in ("stat", "lstat", "access", "readlink"):
        setattr(os, name, looking(recorder, getattr(os, name)))


def looking(recorder: Recorder, function: Any) -> Any:  # noqa: ANN401 - as it was
    def look(path: Any, *given: Any, **named: Any) -> Any:  # noqa: ANN401
        recorder.looked(path)
        return function(path, *given, **named)

    look.__name__, look.__doc__ = function.__name__, function.__doc__
    for able in (os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks, os.supports_effective_ids):
        if function in able:
            able.add(look)
    return look


def first_line(code: CodeType) -> int:
    """0 for a module, which begins where its first function may."""
    return 0 if code.co_name == "<module>" else code.co_firstlineno


def start() -> Recorder | None:
    """Begin to record, where the settings are there."""
    try:
        with open(os.path.join(FOLDER, "recorder.json"), encoding="utf-8") as file:
            settings = json.load(file)
        if MONITORING is None and not settings.get("whenever", True):
            return None  # to watch each call would take longer than the tests may
        recorder = Recorder(settings["root"])
        recorder.trims = settings.get("trims", True)
    except (OSError, ValueError, KeyError):
        return None
    sys.addaudithook(recorder.audit)
    watch_looks(recorder)
    if MONITORING is not None:
        MONITORING.use_tool_id(TOOL, "recorder")
        MONITORING.register_callback(TOOL, MONITORING.events.PY_START, recorder.started)
        MONITORING.set_events(TOOL, MONITORING.events.PY_START)
    atexit.register(recorder.write)
    return recorder


def hand_on() -> None:
    """Run the `sitecustomize` that would have run without this one."""
    spec = PathFinder.find_spec("sitecustomize", [place for place in sys.path if os.path.abspath(place) != FOLDER])
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


LISTED, LOOKED, IMPORTED, CHILD, UNSEEN = "listed", "looked", "imported", "child", "unseen"
READ, WATCHED = "read", "watched"
ATTRIBUTE = "object.__getattr__"
IMPORTING = "<frozen importlib"
COLLECTING = "collecting "
OPENS = ("open", "sqlite3.connect")
DEAF = frozenset({"-I", "-E", "-S", "-IS", "-IE", "-ES"})
STANDARD = os.path.dirname(os.__file__) + os.sep + "lib-dynload"
INSTALLED = tuple(
    os.path.join(place, "")
    for place in {sys.prefix, sys.base_prefix, sys.exec_prefix, os.path.dirname(os.__file__), os.path.dirname(FOLDER)}
    | {os.path.realpath(sys.prefix), os.path.realpath(sys.base_prefix)}
    | {place for place in sys.path if os.path.basename(place) in ("site-packages", "dist-packages")}
)
QUIET = frozenset(
    {"coverage", "markupsafe", "pydantic_core", "rpds", "orjson", "ujson", "msgpack", "regex", "wrapt", "greenlet"}
    | {"simplejson", "charset_normalizer", "multidict", "frozenlist", "yarl", "propcache", "zope", "_cffi_backend"}
)
"""Modules in native code that take values, and no paths."""


def unseen(what: str) -> Callable[[Recorder, tuple[Any, ...]], None]:
    return lambda recorder, _: recorder.unseen(what)


NOTED: dict[str, Callable[[Recorder, tuple[Any, ...]], None]] = {
    **dict.fromkeys(("os.listdir", "os.scandir"), Recorder.listed),
    "import": Recorder.imported,
    "subprocess.Popen": Recorder.started_process,
    **dict.fromkeys(
        ("sys.settrace", "sys.monitoring.register_callback"), lambda recorder, _: recorder.watched(recorder.opener())
    ),
    "ctypes.dlopen": lambda recorder, given: recorder.unseen("loads native code") if given[0] else None,
    **{name: unseen("starts another process") for name in ("os.system", "os.exec", "os.posix_spawn", "os.spawn")},
    **{name: unseen("starts another process") for name in ("os.fork", "os.forkpty", "pty.spawn")},
    **{f"socket.{name}": unseen("uses the network") for name in ("connect", "bind", "sendto", "sendmsg")},
    **{f"socket.{name}": unseen("uses the network") for name in ("getaddrinfo", "gethostbyname", "gethostbyaddr")},
}
"""What the interpreter says of the ways out of a process, and of those to other files."""
BEGINNINGS = ("exec", "cpython.run_file")
"""What the interpreter says when it begins with a module, and with a script."""
MONITORING: Any = getattr(sys, "monitoring", None)
TOOL = 4
RECORDER = start()
hand_on()
