"""`agent-fox` for tests without the start of a Python: each call is a fork of one process that has imported it all.

A call has what a process has: a folder, an environment, standard streams, signals and an exit code of its own, and it
comes through the same door (`python -m MODULE`). What a start imports can't be seen here: tests/cli/test_starts.py is
for that.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import pkgutil
import random
import runpy
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import BinaryIO, NoReturn

from pydantic import BaseModel

import agent_fox
from agent_fox.core.late import LateAdapter
from agent_fox.core.regex import Regex
from agent_fox.core.values import dataclass

PROGRAM = "agent_fox.cli.main"
SOURCE = Path(__file__).resolve().parents[2]
MOST_BYTES = 1 << 17
"""Bytes of a call: its words, its folder and its environment."""

_SET_AT_START = ("PYTHON", "LC_", "LANG", "LD_")
_LEFT_OUT = ("agent_fox.testing", "agent_fox.mcp")


@dataclass(slots=True)
class Call:
    """One call under way, with the methods of `subprocess.Popen` that tests use. `pid` is its process."""

    pid: int
    _answer: socket.socket
    returncode: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        """Its exit code, negative where a signal ended it. Raises subprocess.TimeoutExpired."""
        if self.returncode is None:
            self._answer.settimeout(timeout)
            try:
                message = self._answer.recv(MOST_BYTES)
            except TimeoutError:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0) from None
            self._answer.close()
            self.returncode = os.waitstatus_to_exitcode(int(message))
        return self.returncode

    def poll(self) -> int | None:
        """Its exit code; None while it runs."""
        is_told = self.returncode is None and select.select([self._answer], [], [], 0)[0]
        return self.wait() if is_told else self.returncode

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def can_be_forked(environment: Mapping[str, str]) -> bool:
    """Whether a process of this environment differs from the prepared one in nothing that Python reads at its start."""
    ours = _environment()
    names = {name for name in {*environment, *ours} if name.startswith(_SET_AT_START)}
    return all(environment.get(name) == ours.get(name) for name in names)


def run(
    arguments: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    data: bytes = b"",
    timeout: float = 120,
    module: str = PROGRAM,
) -> subprocess.CompletedProcess[str]:
    """Like `subprocess.run([python, "-m", module, *arguments], ...)` with text. Raises subprocess.TimeoutExpired."""
    with contextlib.ExitStack() as stack:
        given, out, err = (stack.enter_context(tempfile.TemporaryFile()) for _ in range(3))
        given.write(data)
        given.seek(0)
        call = begin(arguments, cwd=cwd, env=env, streams=(given, out, err), module=module)
        try:
            code = call.wait(timeout)
        except subprocess.TimeoutExpired:
            call.kill()
            call.wait()
            raise subprocess.TimeoutExpired([module, *arguments], timeout, text_of(out), text_of(err)) from None
        return subprocess.CompletedProcess([module, *arguments], code, text_of(out), text_of(err))


def text_of(stream: BinaryIO) -> str:
    stream.seek(0)
    return io.TextIOWrapper(stream, encoding="utf-8").read()


def begin(
    arguments: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    streams: tuple[BinaryIO, BinaryIO, BinaryIO],
    module: str = PROGRAM,
    is_leader: bool = False,
) -> Call | subprocess.Popen[bytes]:
    """Start a call whose standard input, output and error are these open files. `is_leader`: of a session of its own.

    Where the environment says something that Python reads at its start, it is a process in the ordinary way.
    """
    if not can_be_forked(env):
        given, out, err = streams
        return subprocess.Popen(
            [sys.executable, "-m", module, *arguments], cwd=cwd, env=dict(env), stdin=given, stdout=out, stderr=err,
            start_new_session=is_leader,
        )  # fmt: skip
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    call = Order(module, [*arguments], str(cwd), dict(env), is_leader)
    with theirs:
        message = json.dumps(asdict(call)).encode()
        socket.send_fds(_server(), [message], [*(stream.fileno() for stream in streams), theirs.fileno()])
    return Call(int(ours.recv(MOST_BYTES)), ours)


@dataclass(frozen=True, slots=True)
class Order:
    """What a fork is to become."""

    module: str
    arguments: list[str]
    cwd: str
    env: dict[str, str]
    is_leader: bool


@cache
def _server() -> socket.socket:
    """The way to the prepared process, which ends with this one."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    number = theirs.fileno()
    command = [sys.executable, "-m", "agent_fox.testing.prefork", str(number)]
    prepared = subprocess.Popen(
        command, env=_environment(), pass_fds=[number], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    theirs.close()
    atexit.register(_finish, ours, prepared)
    return ours


def _finish(way: socket.socket, prepared: subprocess.Popen[bytes]) -> None:
    way.close()
    prepared.wait(10)


def _environment() -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "PYTHONPATH": str(SOURCE)}


def serve(way: socket.socket) -> None:
    """Fork for each call until the other side is gone; then end what still runs. Returns in each fork."""
    calls: dict[int, socket.socket] = {}
    woken, wake = os.pipe()
    os.set_blocking(woken, False)
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    while True:
        ready, _, _ = select.select([way.fileno(), woken], [], [])
        if woken in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(woken, MOST_BYTES)
            _tell_ends(calls)
        if way.fileno() not in ready:
            continue
        message, numbers, _, _ = socket.recv_fds(way, MOST_BYTES, 4)
        if not message:
            break
        pid = os.fork()
        if pid == 0:
            signal.set_wakeup_fd(-1)
            for other in (way, *calls.values()):
                other.close()
            os.close(woken)
            os.close(wake)
            become(Order(**json.loads(message)), numbers)
        calls[pid] = socket.socket(fileno=numbers.pop())
        calls[pid].send(str(pid).encode())
        for number in numbers:
            os.close(number)
    for pid in calls:
        os.kill(pid, signal.SIGKILL)


def _tell_ends(calls: dict[int, socket.socket]) -> None:
    while calls:
        pid, status = os.waitpid(-1, os.WNOHANG)
        if pid == 0:
            return
        with calls.pop(pid) as answer, contextlib.suppress(OSError):  # nobody waits for it any more
            answer.send(str(status).encode())


def become(order: Order, numbers: Sequence[int]) -> NoReturn:
    """Turn this fork into the process that was asked for, and leave as it leaves."""
    *streams, answer = numbers
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.close(answer)
    if order.is_leader:
        os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(order.env)
    os.chdir(order.cwd)
    sys.path[0] = order.cwd
    sys.argv = [order.module, *order.arguments]
    tempfile.tempdir = None
    random.seed()
    time.tzset()
    sys.modules.pop(order.module, None)
    try:
        runpy.run_module(order.module, run_name="__main__", alter_sys=True)
    except SystemExit as left:
        leave(left)
    sys.exit(0)


def leave(left: SystemExit) -> NoReturn:
    """End as Python ends, but for taking apart all that was prepared, which takes longer than most commands."""
    if not isinstance(left.code, int | None):
        raise left
    for thread in threading.enumerate():
        if thread is not threading.current_thread() and not thread.daemon:
            thread.join()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(left.code or 0)


def prepare() -> None:
    """Import all that a command may import, and build what it would build at its first use, so that no call has to."""
    for module in pkgutil.walk_packages(agent_fox.__path__, "agent_fox."):
        if not module.name.startswith(_LEFT_OUT) and not module.name.endswith(".__main__"):
            importlib.import_module(module.name)
    for thing in gc.get_objects():
        if isinstance(thing, Regex):
            thing.compile()
        elif isinstance(thing, LateAdapter):
            thing.build()
        elif isinstance(thing, type) and issubclass(thing, BaseModel) and thing is not BaseModel:
            thing.model_rebuild()
    gc.collect()
    gc.freeze()


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a Ctrl-C in the terminal is for the tests
    prepare()
    serve(socket.socket(fileno=int(sys.argv[1])))
