"""Ports of our loopback lent to a container that has no network: what comes to the same ports inside is handed on."""

from __future__ import annotations

import contextlib
import socket
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from agent_fox.system import programs

DOORWAY = Path(__file__).with_name("doorway.py")
LOOPBACK = "127.0.0.1"
LONGEST_START = 120.0
BETWEEN_LOOKS = 0.1
ANSWER_SECONDS = 30.0
CHUNK = 1 << 16


@contextlib.contextmanager
def lent(program: str, name: str, shut: Path, ports: tuple[int, ...]) -> Iterator[None]:
    """Lend the ports to the container of this name as soon as it runs, until the block is left. Then the file `shut` is
    removed, on which the container waits.
    """
    doors: list[socket.socket] = []
    is_over = threading.Event()

    def open_up() -> None:
        pid = first_process(program, name, is_over)
        if pid is not None:
            doors.extend(opened_inside(pid, ports))
            for door, port in zip(doors, ports, strict=True):
                threading.Thread(target=serve, args=(door, port), daemon=True).start()
            shut.unlink(missing_ok=True)

    opening = threading.Thread(target=open_up, daemon=True)
    opening.start()
    try:
        yield
    finally:
        is_over.set()
        opening.join(ANSWER_SECONDS)
        for door in doors:
            with contextlib.suppress(OSError):
                door.shutdown(socket.SHUT_RDWR)
            door.close()


def first_process(program: str, name: str, is_over: threading.Event) -> int | None:
    """The container's first process, as this machine counts; None where it never comes."""
    give_up = time.monotonic() + LONGEST_START
    words = [programs.of_the_machine(program) or program, "inspect", "--format", "{{.State.Pid}}", name]
    while time.monotonic() < give_up and not is_over.wait(BETWEEN_LOOKS):
        answer = programs.run(words, ANSWER_SECONDS).out.strip()
        if answer.isdigit() and int(answer):
            return int(answer)
    return None


def opened_inside(pid: int, ports: tuple[int, ...]) -> list[socket.socket]:
    """Listening sockets on the loopback of the process's network. Raises OSError."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        words = [sys.executable, "-I", "-S", "-B", str(DOORWAY), str(theirs.fileno()), str(pid), *map(str, ports)]
        ended = programs.run(words, ANSWER_SECONDS, descriptors=(theirs.fileno(),))
        if ended.status:
            raise OSError(f"the container's network cannot be entered: {ended.err.decode('utf-8', 'replace')[-200:]}")
        descriptors = socket.recv_fds(ours, 1, len(ports))[1]
    return [socket.socket(fileno=descriptor) for descriptor in descriptors]


def serve(door: socket.socket, port: int) -> None:
    """Until the door is shut: each connection that comes in is one to the port of ours."""
    while True:
        try:
            guest, _ = door.accept()
        except OSError:
            return
        try:
            host = socket.create_connection((LOOPBACK, port))
        except OSError:
            guest.close()
            continue
        for source, target in ((guest, host), (host, guest)):
            threading.Thread(target=hand_on, args=(source, target), daemon=True).start()


def hand_on(source: socket.socket, target: socket.socket) -> None:
    """What comes from the source goes to the target, with its end."""
    with contextlib.suppress(OSError):
        while data := source.recv(CHUNK):
            target.sendall(data)
    with contextlib.suppress(OSError):
        target.shutdown(socket.SHUT_WR)
