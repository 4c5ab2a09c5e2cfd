"""One start of pytest for many runs: it waits in a sandbox, and each run is forked from it. See `docs/proof.md`.

Nothing of a project is loaded before the fork, and runs come one after the other. Between two of them all that the
first has left is removed, here and by `reporters/pytest_server.py`; where that cannot be done, or anything else is not
as it should be, runs start by themselves.
"""

from __future__ import annotations

import json
import os
import select
import shutil
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event, Lock, Thread
from time import monotonic
from typing import TYPE_CHECKING, Any

from agent_fox.core.json_text import json_object
from agent_fox.system.files import remove_tree
from agent_fox.system.relay import CHUNK, TICK
from agent_fox.system.sandbox.bubblewrap import Container, in_words, is_used
from agent_fox.verifier.ground.command_line import CommandRefused, split_command
from agent_fox.verifier.proof.kept import Shelf
from agent_fox.verifier.running.commands import LOG_LIMIT, OUTPUT_LIMIT, Bounds, Ended, Excerpt, Place, run_logged
from agent_fox.verifier.running.output import BoundedLog
from agent_fox.verifier.source.base_tree import BORROWED
from agent_fox.verifier.suites.calls import call_of, tool_name
from agent_fox.verifier.suites.running_suites import REPORTERS, joined

if TYPE_CHECKING:
    from agent_fox.verifier.running.commands import Ground
    from agent_fox.verifier.suites.calls import Call
    from agent_fox.verifier.suites.suite import SuiteRun

NAME = "warm"
"""Of the run's folder, and of the tree below the folder of trees."""

MOST_STARTS = 3
SECONDS_TO_START = 20.0
SECONDS_TO_ANSWER = 10.0
"""After a run's time is over: what is left of it is removed meanwhile."""

LONGEST_SESSION = 3600.0
LONGEST_READING = 6.0
"""Times the start, as long as it took beside the reading: runs of a longer one take less time beside each other."""

_IN_MEMORY = ("home", "tmp")
"""In the folder of a run; the sandbox has its own in their place, and empties them itself."""


class Cold(Exception):
    """The run could not be forked, or what it showed may not count: it is to start by itself."""


class Warm:
    """The start for one command of a verification. `tree`: where its runs have their tree; `lent`: the folders of
    dependencies that it may read.
    """

    def __init__(self, ground: Ground, call: Call, variables: Mapping[str, str]) -> None:
        self.tree = ground.private / "trees" / NAME
        folders = (ground.workspace / name for name in BORROWED)
        self.lent = tuple(folder.resolve() for folder in folders if folder.exists())
        self._ground, self._words = ground, call.argv[: call.at + 1]
        self._folder, self._lock, self._starts = ground.private / NAME, Lock(), 0
        path = os.pathsep.join(str(self._folder / name) for name in ("controls", "seen"))
        ours = {"PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}
        self._variables = joined(ours, {**ground.order.environment, **variables})
        self._server: _Server | None = None

    def serves(self, run: SuiteRun) -> bool:
        is_same = run.call is not None and run.call.argv[: run.call.at + 1] == self._words and _is_plain(run.call)
        return is_same and (self._server is not None or self._starts < MOST_STARTS)

    def begin(self) -> None:
        """Start it already, while something else runs."""
        with self._lock, suppress(Cold, OSError):
            self._start()

    @contextmanager
    def cleared(self, reading: float) -> Iterator[None]:
        """The tree and the run's folder, empty, for a run of tests whose reading took so many seconds. Raises Cold."""
        with self._lock:
            try:
                if self._server is not None and not self._server.is_as_it_was():
                    self._retire()
                start = (self._server or self._start()).wait()
                _clear(self.tree)
                _clear(self._folder, _IN_MEMORY)
            except (OSError, Cold) as error:
                self._retire()
                raise Cold from error
            if reading > LONGEST_READING * start:
                raise Cold
            yield

    def launch(
        self, argv: tuple[str, ...], place: Place, variables: Mapping[str, str], timeout: float, _bounds: Bounds,
        stop: Event | None,
    ) -> Ended:  # fmt: skip
        """Run these words as `run_logged` does, forked. Raises Cold."""
        size = len(self._words)
        if argv[:size] != self._words or any(variables.get(name) != self._variables[name] for name in self._variables):
            raise Cold
        order = {"arguments": argv[size:], "environment": dict(variables), "seconds": timeout}
        if self._server is None:
            raise Cold
        with place.log.open("wb", buffering=0) as file:
            kept = Excerpt(OUTPUT_LIMIT, file)
            try:
                end = self._server.run(order, BoundedLog(kept, LOG_LIMIT), stop or Event())
            except (OSError, Cold) as error:
                self._retire()
                raise Cold from error
        if "why_not" in end:
            raise Cold
        if not end["is_clean"]:
            self._retire()
        isolation = in_words(self._ground.order.sandbox, network=False)
        code = end["code"] if end["code"] >= 0 else 128 - end["code"]
        is_timed_out = bool(end["is_timed_out"])
        return Ended(None if is_timed_out else code, kept.text(), end["seconds"], is_timed_out, isolation=isolation)

    def _start(self) -> _Server:
        if self._starts >= MOST_STARTS:
            raise Cold
        self._starts += 1
        for folder in (self.tree, self._folder):
            remove_tree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
        for lent in self.lent:
            (self.tree / lent.name).symlink_to(lent)
        for name in ("controls", "seen", *_IN_MEMORY):
            (self._folder / name).mkdir()
        shutil.copyfile(REPORTERS / "recorder.py", self._folder / "seen" / "sitecustomize.py")
        shutil.copyfile(REPORTERS / "pytest_server.py", self._folder / "seen" / "afx_pytest_server.py")
        self._server = _Server(self._ground, self._words, self._variables, (self.tree, self._folder), self.lent)
        return self._server

    def _retire(self) -> None:
        if self._server is not None:
            self._server.close()
            self._server = None

    def close(self) -> None:
        with self._lock:
            self._starts = MOST_STARTS
            self._retire()


class _Server:
    """A process that waits. `folders`: its tree, and the folder of its runs."""

    def __init__(
        self, ground: Ground, words: tuple[str, ...], variables: Mapping[str, str], folders: tuple[Path, Path],
        lent: Sequence[Path],
    ) -> None:  # fmt: skip
        self._folders, self._stop, self._begun, self._took = folders, Event(), monotonic(), 0.0
        self._state = [_state(folder) for folder in folders]
        tree, folder = folders
        self._way, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        emptied = ["/tmp", "/dev/shm", *(str(folder / name) for name in _IN_MEMORY)]
        outside = str(Path("/proc/self/ns/pid").readlink())
        settings = {"way": theirs.fileno(), "emptied": emptied, "outside": outside}
        order = ground.order
        readable = (*(Path(each) for each in order.readable), *lent, REPORTERS)
        bounds = Bounds(order.sandbox, order.network, order.memory, order.processes, readable)
        place = Place(tree, folder)
        argv, given = (*words, "-p", "afx_pytest_server"), {**variables, "AFX_SERVER": json.dumps(settings)}

        def run() -> None:
            with theirs:
                run_logged(argv, place, given, LONGEST_SESSION, bounds, self._stop, (theirs.fileno(),))

        self._thread = Thread(target=run, name="warm start", daemon=True)
        self._thread.start()

    def is_as_it_was(self) -> bool:
        """Whether no run has changed more of its folders than what they hold."""
        return [_state(folder) for folder in self._folders] == self._state

    def wait(self) -> float:
        """Until it has loaded all; how many seconds that took. Raises Cold where it does not serve."""
        if not self._took:
            ready = self._answer(SECONDS_TO_START)
            if ready["why_not"]:
                raise Cold
            self._took = ready["at"] - self._begun
        return self._took

    def run(self, order: Mapping[str, Any], log: BoundedLog, stop: Event) -> dict[str, Any]:
        """How a run ended. Raises Cold where that is not known."""
        with ExitStack() as stack:
            reading, writing = os.pipe()
            stack.callback(os.close, reading)
            try:
                socket.send_fds(self._way, [json.dumps(order).encode()], [writing])
            finally:
                os.close(writing)
            give_up, waiting = monotonic() + float(order["seconds"]) + SECONDS_TO_ANSWER, [reading, self._way.fileno()]
            while not stop.is_set() and monotonic() < give_up:
                ready = select.select(waiting, [], [], TICK)[0]
                if reading in ready:
                    data = os.read(reading, CHUNK)
                    log.add(data)
                    waiting = waiting if data else waiting[1:]
                elif ready:
                    log.close()
                    return self._answer(SECONDS_TO_ANSWER)
        raise Cold

    def _answer(self, seconds: float) -> dict[str, Any]:
        self._way.settimeout(seconds)
        answer = json_object(self._way.recv(CHUNK))
        if answer is None:
            raise Cold
        return answer

    def close(self) -> None:
        self._stop.set()
        self._way.close()
        self._thread.join()


def _state(folder: Path) -> tuple[object, ...]:
    """What a run could change of a folder for those after it."""
    its = folder.stat()
    return its.st_mode, its.st_uid, its.st_gid, {name: os.getxattr(folder, name) for name in os.listxattr(folder)}


def _clear(folder: Path, kept: Sequence[str] = ()) -> None:
    for path in folder.iterdir():
        if path.name in kept:
            continue
        remove_tree(path)


def _is_plain(call: Call) -> bool:
    """Whether nothing stands between us and pytest but an interpreter without options."""
    before = call.argv[: call.at]
    is_module = len(before) == 2 and before[1] == "-m" and tool_name(before[0]).startswith("python")
    return call.tool == "pytest" and not call.script and (not before or is_module)


@contextmanager
def prepared(ground: Ground, line: str) -> Iterator[Warm | None]:
    """A start that runs of this command may share, ended with the block; None where they start by themselves."""
    warm = None
    with suppress(CommandRefused):
        command = split_command(line)
        call = call_of(command.argv, ground.workspace)
        is_here = not isinstance(ground.order.sandbox, Container)  # a start that is shared is one of our own Python
        is_apart = is_here and not ground.order.network and is_used(ground.order.sandbox)
        warm = Warm(ground, call, command.variables) if call and _is_plain(call) and is_apart else None
    if warm is None:
        yield None
        return
    folder = ground.order.proofs_folder
    if not Shelf(Path(folder) if folder else None).has(line):  # else little may be left to run
        warm.begin()
    try:
        yield warm
    finally:
        warm.close()
