"""`sitecustomize` of one run: notes which functions of a project each Python process executes, and what it opens.

It lies, under that name, in a folder that PYTHONPATH names first, beside `recorder.json` ({"root": the project}). Each
process writes `seen-PID.json` there when it ends. In pytest a plugin tells which test runs; other processes begin with
what PYTEST_CURRENT_TEST says. It runs under the project's interpreter: the standard library alone is used.
"""

# ruff: noqa: PTH100, PTH105, PTH109, PTH118, PTH120, PTH123 - it starts in every process, and pathlib costs as much

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
    from types import CodeType, FrameType

FOLDER = os.path.dirname(os.path.abspath(__file__))
OUTSIDE = ""
"""What is executed outside of any test, such as imports."""


class Recorder:
    """What was seen of each test: {test: {"executed": [[file, first line]], "opened": [[file, file that asked]]}}."""

    def __init__(self, root: str) -> None:
        self.root = root.rstrip(os.sep) + os.sep
        self.cwd = os.getcwd()
        self.test = OUTSIDE
        self.seen: dict[str, tuple[set[CodeType], set[tuple[str, str]]]] = {}
        self.is_watching, self.rests = MONITORING is not None, False
        self.module: object = None
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
        self.codes, self.files = self.seen.setdefault(test, (set(), set()))

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
        if event == "open" and isinstance(given[0], str) and self.place(given[0]):
            self.files.add((given[0], self.opener()))
        elif not self.is_watching and event in BEGINNINGS and self.is_ours(given[0]):
            self.module = given[0] if self.rests else None
            self.watch()

    def is_ours(self, code: object) -> bool:
        """Whether a module or script of the project begins. Before one does, none of its functions is called."""
        return bool(self.place(str(getattr(code, "co_filename", code))))

    def opener(self) -> str:
        """The file of the project that opened it; empty for other code."""
        frame: FrameType | None = sys._getframe()
        while frame is not None:
            file = frame.f_code.co_filename
            if file.startswith(self.root) and file != __file__:
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
            }
            for test, (codes, files) in tuple(self.seen.items())
        }

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


def first_line(code: CodeType) -> int:
    """0 for a module, which begins where its first function may."""
    return 0 if code.co_name == "<module>" else code.co_firstlineno


def start() -> Recorder | None:
    """Begin to record, where the settings are there."""
    try:
        with open(os.path.join(FOLDER, "recorder.json"), encoding="utf-8") as file:
            recorder = Recorder(json.load(file)["root"])
    except (OSError, ValueError, KeyError):
        return None
    sys.addaudithook(recorder.audit)
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


BEGINNINGS = ("exec", "cpython.run_file")
"""What the interpreter says when it begins with a module, and with a script."""
MONITORING: Any = getattr(sys, "monitoring", None)
TOOL = 4
RECORDER = start()
hand_on()
